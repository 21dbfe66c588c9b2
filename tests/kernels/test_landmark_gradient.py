"""Derivatives of kernel values by the landmarks, against complex steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from kernelsieve.kernels import RBF, Laplacian, Linear, Polynomial

FORMULAS = [
    (Linear(), lambda x, z: x @ z),
    (RBF(0.3), lambda x, z: np.exp(-0.3 * (x - z) @ (x - z))),
    (Polynomial(0.2, 3, 1.0), lambda x, z: (0.2 * x @ z + 1) ** 3),
]


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_gradients_match_complex_steps(kernel, formula, layout, rng):
    X, Z, slopes = (rng.standard_normal(shape) for shape in ((8, 3), (4, 3), (8, 4)))
    expected = np.empty((4, 3))
    for j, i in np.ndindex(4, 3):
        moved = Z[j].astype(complex)
        moved[i] += 1e-30j
        expected[j, i] = sum(slopes[n, j] * formula(X[n], moved).imag for n in range(8)) / 1e-30
    values = kernel.block(X, Z)
    assert_allclose(kernel.landmark_gradient(layout(X), Z, values, slopes), expected, rtol=1e-11)


def test_a_kernel_without_a_derivative_is_refused(rng):
    X = rng.standard_normal((3, 2))
    with pytest.raises(ValueError, match="'laplacian' has no derivative"):
        Laplacian(1.0).landmark_gradient(X, X, X @ X.T, X @ X.T)
