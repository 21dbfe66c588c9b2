"""The naive AKFA and SKFA themselves: against kernlab, and against what directions must satisfy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from naive_feature_analysis import naive_akfa, naive_skfa

GOLDEN = json.loads((Path(__file__).parent / "golden" / "kernlab_kfa.json").read_text())


def golden_gram(case):
    X, values = np.array(GOLDEN["X"]), case["parameters"]
    if case["kernel"] == "rbfdot":
        return np.exp(-values["sigma"] * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    return (values["scale"] * X @ X.T + values["offset"]) ** values["degree"]


def circle_gram(n_rows=80, gamma=1 / 32):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    X = 8 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.standard_normal((n_rows, 2))
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


METHODS = {
    "akfa": naive_akfa,
    "ackfa": lambda K, k, **more: naive_akfa(K, k, cutoff=0.2, **more),
    "skfa": naive_skfa,
    "uncentered": lambda K, k, **more: naive_skfa(K, k, variance="uncentered", **more),
}


# -- kernlab


@pytest.fixture(params=GOLDEN["cases"])
def case(request):
    return GOLDEN["cases"][request.param]


def test_skfa_chooses_as_kernlab(case):
    found = naive_skfa(golden_gram(case), len(case["indices"]))
    assert found.indices == case["indices"]


def test_skfa_has_kernlabs_standard_deviations(case):
    n_rows, sd = len(GOLDEN["X"]), np.array(case["sd"])
    found = naive_skfa(golden_gram(case), len(sd))
    np.testing.assert_allclose(np.sqrt(found.scores * n_rows / (n_rows - 1)), sd.max(axis=1), rtol=1e-8)


def test_skfa_has_kernlabs_directions_up_to_length(case):
    alpha = np.array(case["alpha"])
    C = naive_skfa(golden_gram(case), len(alpha)).coefficients
    np.testing.assert_allclose(C / np.abs(C).sum(axis=0), alpha.T, atol=1e-9)


# -- what directions must satisfy


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble])
@pytest.mark.parametrize("method", METHODS)
def test_directions_are_orthonormal_and_upper_triangular(method, dtype):
    K = circle_gram()
    found = METHODS[method](K, 8, dtype=dtype)
    C, chosen = found.coefficients, K[np.ix_(found.indices, found.indices)]
    assert C.dtype == dtype
    assert C.shape == (8, 8)
    np.testing.assert_array_equal(C, np.triu(C))
    np.testing.assert_allclose(C.T @ chosen @ C, np.eye(8), atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_the_deflated_diagonal_is_the_reconstruction_error(method):
    K = circle_gram()
    found = METHODS[method](K, 8)
    features = K[:, found.indices] @ found.coefficients
    np.testing.assert_allclose(found.diagonal, K.diagonal() - (features**2).sum(axis=1), atol=1e-12)


def test_akfas_score_is_the_drop_in_mean_reconstruction_error():
    K = circle_gram()
    errors = [1.0, *(naive_akfa(K, k).diagonal.mean() for k in range(1, 7))]
    np.testing.assert_allclose(naive_akfa(K, 6).scores, -np.diff(errors), atol=1e-14)


def test_akfa_takes_the_best_single_row_at_every_step():
    K = circle_gram(40)
    found = naive_akfa(K, 5)
    for step in range(5):
        errors = []
        for j in range(len(K)):
            rows = [*found.indices[:step], j]
            projected = K[:, rows] @ np.linalg.pinv(K[np.ix_(rows, rows)], rcond=1e-12) @ K[rows]
            errors.append(np.trace(K - projected))
        assert int(np.argmin(errors)) == found.indices[step]


def test_a_cutoff_of_nothing_is_akfa():
    K = circle_gram()
    assert naive_akfa(K, 10, cutoff=1e-6).indices == naive_akfa(K, 10).indices


def test_ackfa_stops_when_every_row_is_within_the_cutoff():
    K = circle_gram()
    found = naive_akfa(K, 60, cutoff=0.3)
    assert len(found.indices) < 20
    assert np.all(found.diagonal < 0.3)


def test_ackfa_chooses_rows_that_were_not_within_the_cutoff():
    K = circle_gram()
    chosen = naive_akfa(K, 60, cutoff=0.3).indices
    for step, p in enumerate(chosen[1:], 1):
        before = naive_akfa(K, step, cutoff=0.3)
        assert before.indices == chosen[:step]
        assert before.diagonal[p] >= 0.3


@pytest.mark.parametrize("method", METHODS)
def test_long_double_agrees_with_double(method):
    K = circle_gram()
    double, long = METHODS[method](K, 8), METHODS[method](K, 8, dtype=np.longdouble)
    assert double.indices == long.indices
    np.testing.assert_allclose(double.scores, long.scores.astype(float), rtol=1e-10)
    np.testing.assert_allclose(
        double.coefficients, long.coefficients.astype(float), rtol=1e-8, atol=1e-8
    )


def test_no_more_directions_than_the_kernel_has_dimensions():
    X = np.random.default_rng(0).standard_normal((30, 3))
    for method in (naive_akfa, naive_skfa):
        found = method(X @ X.T, 10)
        assert len(found.indices) == 3
        np.testing.assert_allclose(found.diagonal, 0, atol=1e-12)
