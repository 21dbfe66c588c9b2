"""What the kernel estimators settle before they fit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelsieve import KernelPLS, SparseMaximalAlignment


@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("n_rows", [80, 1200])  # fewer and more than "median" looks at
@pytest.mark.parametrize("make", [SparseMaximalAlignment, KernelPLS])
def test_rows_of_weight_zero_are_as_good_as_absent(make, n_rows, gamma, rng):
    X = rng.standard_normal((n_rows + 300, 3))
    X[n_rows:] += 100
    y = np.sin(X[:, 0])
    weight = np.repeat([1.0, 0.0], [n_rows, 300])
    models = [make(3, gamma=gamma, candidates=40, random_state=0) for _ in range(2)]
    models[0].fit(X, y, weight)
    models[1].fit(X[:n_rows], y[:n_rows])
    assert_array_equal(models[0].landmark_indices_, models[1].landmark_indices_)
    assert_array_equal(models[0].transform(X), models[1].transform(X))


def test_whole_weights_are_repeated_rows_for_the_median_too(rng):
    X = rng.standard_normal((60, 3))
    y, weight = np.sin(X[:, 0]), rng.integers(1, 4, 60)
    weighted = SparseMaximalAlignment(5, gamma="median").fit(X, y, weight)
    repeated = SparseMaximalAlignment(5, gamma="median").fit(X.repeat(weight, 0), y.repeat(weight))
    assert_array_equal(weighted.landmarks_, repeated.landmarks_)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-9)


def test_the_settled_kernel_and_its_width(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(3, gamma="scale/2").fit(X, y)
    assert model.gamma_ == model.kernel_.gamma == 0.5 / (X.shape[1] * X.var())
    linear = SparseMaximalAlignment(3, kernel="linear").fit(X, y)
    with pytest.raises(AttributeError, match=r"Linear.* has no width"):
        linear.gamma_  # noqa: B018
    assert not hasattr(SparseMaximalAlignment(candidates="all"), "partial_fit")
    assert hasattr(SparseMaximalAlignment(candidates=X), "partial_fit")
