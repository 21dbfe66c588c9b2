"""A named kernel is one class: nothing else knows its name."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris

from kernelsieve import KernelPCA, SparseMaximalAlignment, SubspaceKernelFeatures
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.kernels import KERNELS, RBF, Kernel, Linear, register_kernel, resolve_kernel

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"


pytestmark = pytest.mark.usefixtures("known_kernels")


@pytest.fixture
def page() -> dict:
    """What is defined on the page about kernels, whose code runs as it is written there."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    namespace = {"__name__": __name__}
    exec("\n".join(blocks), namespace)
    return namespace


@register_kernel
class Overlap(Kernel):
    """The overlap of two histograms."""

    accepts_sparse = False
    non_negative = True

    def against(self, Z, dtype=np.float64):
        def fill(X, out):
            out[...] = np.minimum(Z[:, None], X[None]).sum(axis=2)

        return fill

    def diag(self, X):
        return X.sum(axis=1)


KERNELS.pop(Overlap.name)


def test_the_kernel_of_the_page_is_what_it_says(page, rng):
    X, Z = rng.standard_normal((30, 4)), rng.standard_normal((7, 4))
    squared = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    kernel = resolve_kernel("inverse_multiquadric", X, gamma=0.2, kernel_params={"power": 1.5})
    assert kernel == page["InverseMultiquadric"](0.2, 1.5)
    for form in (np.asarray, sparse.csr_matrix):
        assert_allclose(kernel.block(form(X), form(Z)), (1 + 0.2 * squared) ** -1.5, rtol=1e-12)


def test_the_models_of_the_page_use_it(page):
    X, _ = load_iris(return_X_y=True)
    kernel = page["sma"]._fit.model.kernel
    assert kernel.power == 2.0
    assert kernel.gamma == resolve_kernel("rbf", X, gamma="median").gamma
    assert page["pca"].transform(X).shape == (150, 5)


def test_messages_know_a_new_kernel(page):
    X = np.ones((3, 2))
    with pytest.raises(InvalidParameterError, match=r"Did you mean 'inverse_multiquadric'.*'rbf'"):
        resolve_kernel("inverse_quadric", X)
    with pytest.raises(InvalidParameterError, match="Did you mean 'inverse_multiquadric'"):
        resolve_kernel("imq", X)
    with pytest.raises(InvalidParameterError, match=r"has 'beta'.*multiquadric'.*takes 'power'"):
        resolve_kernel("inverse_multiquadric", X, kernel_params={"beta": 1})
    with pytest.raises(InvalidDataError, match=r"'chi2' needs dense.*'inverse_multiquadric'"):
        KernelPCA(1, kernel="chi2").fit(sparse.eye(5, format="csr"))


def test_tags_and_checks_read_what_the_class_says(rng):
    register_kernel(Overlap)
    X = rng.uniform(size=(20, 3))
    for kernel in ("overlap", Overlap()):
        tags = KernelPCA(kernel=kernel).__sklearn_tags__().input_tags
        assert tags.positive_only
        assert not tags.sparse
        with pytest.raises(InvalidDataError, match="'overlap' needs dense"):
            KernelPCA(2, kernel=kernel).fit(sparse.csr_matrix(X))
        with pytest.raises(InvalidParameterError, match="'overlap' takes no negative"):
            KernelPCA(2, kernel=kernel, fit_inverse_transform=True).fit(X)
        assert SparseMaximalAlignment(2, kernel=kernel).fit_transform(X, X[:, 0]).shape == (20, 2)


def test_a_new_gradient_serves_methods_that_move_landmarks(rng):
    @register_kernel
    class Doubled(Linear):
        def against(self, Z, dtype=np.float64):
            return super().against(2 * Z, dtype)

        def diag(self, X):
            return 2 * super().diag(X)

        def landmark_gradient(self, X, Z, values, slopes):
            return 2 * super().landmark_gradient(X, Z, values, slopes)

    X = rng.standard_normal((40, 3))
    model = SubspaceKernelFeatures(1, kernel="doubled", span="points", random_state=0)
    assert model.fit(X, X[:, 0] > 0).transform(X).shape == (40, 1)
    with pytest.raises(InvalidParameterError, match=r"'laplacian' has no derivative.*'doubled'"):
        resolve_kernel("laplacian", X).landmark_gradient(X, X, X @ X.T, X @ X.T)


def test_a_name_belongs_to_one_class():
    with pytest.raises(InvalidParameterError, match="'rbf' is that of the kernel RBF already"):

        @register_kernel
        class Other(Linear):
            name = "rbf"

    assert KERNELS["rbf"] is RBF
    assert register_kernel(RBF) is RBF
