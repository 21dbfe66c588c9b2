"""What is checked about inputs when a model is fitted."""

import numpy as np
import pytest
from scipy import sparse

from kernelsieve import KernelPLS, SparseMaximalAlignment
from kernelsieve.exceptions import InputScaleWarning, InvalidDataError

pytestmark = [
    pytest.mark.filterwarnings("error::kernelsieve.exceptions.InputScaleWarning"),
    pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning"),
]
TOLD = r"feature [13]\) to .*feature [013]\).*StandardScaler"


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 4)) + 5
    X[:, 2] = 1  # a constant has no scale
    return X, X[:, 0]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
@pytest.mark.parametrize("factor", [2e3, 1 / 2e3])
def test_inputs_of_very_different_scales_are_warned_of(kernel, factor, data):
    X, y = data
    X[:, 3] *= factor
    with pytest.warns(
        InputScaleWarning, match=r"feature [13]\) to .*feature [013]\).*StandardScaler"
    ) as seen:
        KernelPLS(2, kernel=kernel, gamma=1e-4).fit(X, y)
    assert seen[0].filename == __file__
    with pytest.warns(InputScaleWarning):
        SparseMaximalAlignment(2, kernel=kernel, gamma=1e-4, candidates=X[:20]).partial_fit(X, y)


def test_text_is_named_with_its_column():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"size": ["1", "2", "3"], "colour": ["3", "red", "blue"]})
    with pytest.raises(
        InvalidDataError, match=r"text in column 'colour' of X \('red'\).*OneHotEncoder"
    ):
        SparseMaximalAlignment(1).fit(table, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidDataError, match=r"text in column 1 of X \('red'\).*SieveRegressor"):
        SparseMaximalAlignment(1).fit(table.to_numpy(), [1.0, 2.0, 3.0])


def test_other_inputs_are_not(data):
    X, y = data
    SparseMaximalAlignment(2).fit(X * [1, 500, 1, 1], y)
    unlike = X * [1, 1e4, 1, 1]
    SparseMaximalAlignment(2, kernel="linear").fit(unlike, y)
    SparseMaximalAlignment(2, kernel="chi2").fit(np.abs(unlike), y)
    SparseMaximalAlignment(2).fit(sparse.csr_matrix(unlike), y)
    SparseMaximalAlignment(2, kernel="precomputed").fit(unlike @ unlike.T, y)


def test_wild_extrapolation_is_left_out(rng):
    """Columns of very wide kernels are polynomials; the last of them are rounding."""
    X = rng.standard_normal((300, 3)) * [1, 1, 1e-2]
    y = np.sin(X[:, 0]) + X[:, 1]
    new = rng.standard_normal((300, 3)) * [3, 3, 3e-2]
    parameters = {"gamma": 1e-3, "scale": "unit_variance"}
    careful = SparseMaximalAlignment(40, **parameters).fit(X, y)
    reckless = SparseMaximalAlignment(40, tol=1e-20, **parameters).fit(X, y)
    assert careful.n_components_ < reckless.n_components_
    size = [np.abs(model.transform(new)).max() for model in (careful, reckless)]
    assert size[0] < 0.1 * size[1]
