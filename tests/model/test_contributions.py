"""Contributions of landmarks to scores, against the weights of interpolation solved one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kernelsieve import SieveRegressor
from kernelsieve.kernels import RBF, Laplacian, Linear, Sigmoid
from kernelsieve.model import landmark_contributions


def test_they_are_weights_of_interpolation_times_scores_above_the_mean(rng):
    Z, X, coefficients = (rng.standard_normal(shape) for shape in ((6, 2), (9, 2), (6, 3)))
    for kernel in (RBF(1.0), Laplacian(1.0), Sigmoid(0.5)):
        W, values = kernel.block(Z, Z), kernel.block(X, Z)
        found = landmark_contributions(kernel, Z, coefficients, values)
        scores = np.array([sum(kernel.block(z[None], Z)[0] * c) for c in coefficients.T for z in Z])
        scores = scores.reshape(3, 6).T
        for i, x in enumerate(X):
            weights = np.linalg.solve(W, kernel.block(Z, x[None])[:, 0])
            for j in range(6):
                naive = weights[j] * (scores[j] - scores.mean(axis=0))
                assert_allclose(found[i, j], naive, rtol=1e-3, atol=1e-5)


@given(st.integers(0, 2**16), st.floats(-3, 0))
def test_they_add_up_within_the_landmarks_and_are_not_larger_than_scores(seed, width):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (20, 1))
    kernel = RBF(10.0**width)
    coefficients = 1e5 * rng.standard_normal((20, 1))
    X = rng.uniform(Z.min(), Z.max(), (10, 1))
    values = kernel.block(X, Z)
    found, scores = landmark_contributions(kernel, Z, coefficients, values), values @ coefficients
    at_landmarks = kernel.block(Z, Z) @ coefficients
    spread = np.abs(at_landmarks - at_landmarks.mean()).max()
    rest = scores - found.sum(axis=1) - at_landmarks.mean()
    assert np.abs(rest).max() <= 0.1 * np.abs(at_landmarks).max()
    assert np.abs(found).sum(axis=1).max() <= 100 * spread


def test_a_kernel_of_low_rank_has_them_too(rng):
    Z, X = rng.standard_normal((8, 2)), rng.standard_normal((5, 2))
    coefficients, values = rng.standard_normal((8, 1)), X @ Z.T
    found = landmark_contributions(Linear(), Z, coefficients, values)
    mean = (Z @ Z.T @ coefficients).mean()
    weights = values @ np.linalg.pinv(Z @ Z.T)
    assert_allclose(found[:, :, 0], weights * ((Z @ Z.T @ coefficients)[:, 0] - mean), atol=1e-8)


def test_those_of_a_wide_kernel_do_not_cancel(rng):
    X = rng.uniform(size=(300, 3))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    sieve = SieveRegressor(40, metric=False, kernel="rbf", random_state=0).fit(X, y)
    found = sieve.explain(X[:50])
    assert np.abs(found.contributions).sum(axis=1).max() < 20 * np.ptp(y)
    plain = found.similarities * sieve._sieve.model.projection[:, 0]
    assert np.abs(plain).sum(axis=1).min() > 20 * np.ptp(y)  # what products would be
    assert np.ptp(found.baseline) < 0.1 * np.ptp(y)
    assert len(np.unique(np.abs(found.contributions).argmax(axis=1))) > len(
        np.unique(np.abs(plain).argmax(axis=1))
    )
