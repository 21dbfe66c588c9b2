"""From parameters to kernels."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from kernelsieve import SieveRegressor, SparseMaximalAlignment
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.kernels import (
    KERNELS,
    RBF,
    CallableKernel,
    Chi2,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    resolve_gamma,
    resolve_kernel,
)


def rows(n_rows: int = 40, n_inputs: int = 5) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.maximum(rng.standard_normal((n_rows, n_inputs)) * [1, 2, 3, 4, 5][:n_inputs], 0.0)


# -- names


def test_every_name_gives_its_kernel_with_its_parameters():
    given = {"gamma": 0.25, "degree": 5, "coef0": -2.0}
    expected = {
        "linear": Linear(),
        "rbf": RBF(0.25),
        "laplacian": Laplacian(0.25),
        "poly": Polynomial(0.25, 5, -2.0),
        "sigmoid": Sigmoid(0.25, -2.0),
        "cosine": Cosine(),
        "chi2": Chi2(0.25),
        "matern": Matern(0.25),
        "rational_quadratic": RationalQuadratic(0.25),
    }
    X = rows()
    assert {name: resolve_kernel(name, X, **given) for name in expected} == expected
    assert isinstance(resolve_kernel("precomputed", X), Precomputed)
    assert set(KERNELS) == {*expected, "precomputed"}
    assert all(kind.name == name for name, kind in KERNELS.items())


def test_parameters_of_its_own_reach_a_kernel_through_kernel_params():
    X = rows()
    assert resolve_kernel("matern", X, gamma=0.25, kernel_params={"nu": 0.5}) == Matern(0.25, 0.5)
    found = resolve_kernel("rational_quadratic", X, gamma=0.25, kernel_params={"alpha": 3.0})
    assert found == RationalQuadratic(0.25, 3.0)
    with pytest.raises(InvalidParameterError, match=r"nu=0\.7.*pass 0\.5, 1\.5 or 2\.5"):
        resolve_kernel("matern", X, kernel_params={"nu": 0.7})
    with pytest.raises(InvalidParameterError, match=r"alpha=0\.0 must be above 0"):
        resolve_kernel("rational_quadratic", X, kernel_params={"alpha": 0.0})


def test_a_kernel_is_passed_through():
    kernel = RBF(2.0)
    assert resolve_kernel(kernel, rows()) is kernel


@pytest.mark.parametrize(
    "ignored",
    [{"gamma": 0.25}, {"gamma": "median"}, {"degree": 2}, {"coef0": 0.0}, {"kernel_params": {"a": 1}}],
    ids=str,
)
def test_parameters_that_a_kernel_object_would_ignore_are_refused(ignored):
    (name,) = ignored
    remedy = r"set it in the kernel, RBF\(gamma=2.0\)"
    with pytest.raises(InvalidParameterError, match=f"{name}=.* would be ignored.*{remedy}"):
        resolve_kernel(RBF(2.0), rows(), **ignored)


@pytest.mark.parametrize("kernel", [RBF(2.0), lambda X, Z: X @ Z.T, "precomputed"])
def test_defaults_of_any_type_are_not_refused(kernel):
    resolve_kernel(kernel, rows(), gamma="scale", degree=3.0, coef0=1, kernel_params={})


def test_a_named_kernel_refuses_parameters_that_it_does_not_have():
    with pytest.raises(InvalidParameterError, match=r"has 'alpha', which kernel='rbf'.*takes nothing"):
        resolve_kernel("rbf", rows(), kernel_params={"alpha": 1.0})


def test_a_callable_is_wrapped_with_its_parameters():
    kernel = resolve_kernel(lambda X, Z, a: a * X @ Z.T, rows(), kernel_params={"a": 3.0})
    assert isinstance(kernel, CallableKernel)
    np.testing.assert_allclose(kernel.block(rows(), rows()), 3.0 * rows() @ rows().T)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gaussian", "rbf"),
        ("rfb", "rbf"),
        ("RBF", "rbf"),
        ("polynomial", "poly"),
        ("lapacian", "laplacian"),
        ("matern3/2", "matern32"),
        ("cauchy", "rational_quadratic"),
    ],
)
def test_a_name_that_is_not_known_gets_a_suggestion(typed, meant):
    with pytest.raises(InvalidParameterError, match=f"'{typed}' is not known. Did you mean '{meant}'"):
        resolve_kernel(typed, rows())


def test_a_name_like_no_other_gets_the_list():
    with pytest.raises(InvalidParameterError, match=r"Pass one of 'chi2'.*a callable, or") as caught:
        resolve_kernel("xyz123", rows())
    assert "Did you mean" not in str(caught.value)


def test_something_that_is_no_name_at_all_is_refused():
    with pytest.raises(InvalidParameterError, match="kernel=None is not known"):
        resolve_kernel(None, rows())


# -- gamma as a number


@pytest.mark.parametrize("gamma", [0.5, 2, np.float32(0.5), np.int64(3), 1e-300])
def test_a_positive_number_is_taken_as_it_is(gamma):
    settled = resolve_gamma(gamma, rows())
    assert type(settled) is float
    assert settled == gamma


@pytest.mark.parametrize("gamma", [-1.0, 0.0, 0, -0.0, np.nan, np.inf, -np.inf, np.float64("nan")])
def test_a_number_that_is_not_positive_and_finite_is_refused(gamma):
    with pytest.raises(InvalidParameterError, match="above 0 and finite; pass a positive number"):
        resolve_gamma(gamma, rows())
    with pytest.raises(InvalidParameterError, match="gamma="):
        resolve_kernel("poly", rows(), gamma=gamma)


@pytest.mark.parametrize("gamma", ["auto", "Scale", None, True, False, [1.0], 1j])
def test_what_is_no_number_and_no_rule_is_refused(gamma):
    with pytest.raises(InvalidParameterError, match="is not known; pass a positive number, 'scale'"):
        resolve_gamma(gamma, rows())


# -- gamma="scale"


def test_scale_is_the_formula_of_support_vector_machines():
    X = rows()
    assert resolve_gamma("scale", X) == pytest.approx(1 / (5 * X.var()), rel=1e-13)
    # and the machine itself agrees: it cannot tell the number from the word
    y = X[:, 0] > X[:, 1]
    by_word = SVC(gamma="scale").fit(X, y).decision_function(X)
    by_number = SVC(gamma=resolve_gamma("scale", X)).fit(X, y).decision_function(X)
    np.testing.assert_allclose(by_number, by_word, rtol=1e-10)


def test_scale_with_weights_is_that_of_repeated_rows():
    X = rows()
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    repeated = resolve_gamma("scale", np.repeat(X, weight, axis=0))
    for form in (np.asarray, sparse.csr_matrix):
        settled = resolve_gamma("scale", form(X), sample_weight=weight.astype(float))
        assert settled == pytest.approx(repeated, rel=1e-12)


def test_scale_does_not_depend_on_the_unit_of_the_weights():
    X = rows()
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(X))
    one = resolve_gamma("scale", X, sample_weight=weight)
    assert resolve_gamma("scale", X, sample_weight=1e6 * weight) == pytest.approx(one, rel=1e-12)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale_of_sparse_rows_is_that_of_dense_rows(form, dtype):
    X = rows().astype(dtype)
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    assert resolve_gamma("scale", form(X)) == pytest.approx(resolve_gamma("scale", X), rel=tolerance)


def test_scale_far_from_the_origin_keeps_its_digits():
    X = rows()
    assert resolve_gamma("scale", X + 1e7) == pytest.approx(resolve_gamma("scale", X), rel=1e-6)


def test_scale_of_float32_rows_is_computed_in_float64():
    X = (rows() + 1e3).astype(np.float32)
    assert resolve_gamma("scale", X) == pytest.approx(resolve_gamma("scale", X.astype(float)), rel=1e-9)


def test_scale_of_more_rows_than_are_looked_at_at_once():
    X = np.random.default_rng(0).standard_normal((1500, 800))
    assert resolve_gamma("scale", X) == pytest.approx(1 / (800 * X.var()), rel=1e-12)


def test_scale_reads_a_memory_map(tmp_path):
    X = rows()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert resolve_gamma("scale", mapped) == resolve_gamma("scale", X)


def test_scale_copies_a_few_float32_rows_at_a_time():
    X = np.ones((200_000, 20), np.float32)
    tracemalloc.start()
    try:
        resolve_gamma("scale", X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_sparse_rows_far_from_zero_keep_their_digits(rule):
    near = sparse.random(80, 6, 0.4, random_state=0).toarray()
    date = 1e8 + np.random.default_rng(0).standard_normal((80, 2))
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 80)
    for X in (date, np.hstack([near, date])):
        for given in (None, weight):
            dense = resolve_gamma(rule, X, sample_weight=given)
            settled = resolve_gamma(rule, sparse.csr_matrix(X), sample_weight=given)
            assert settled == pytest.approx(dense, rel=1e-9)


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("X", [np.ones((6, 2)), np.zeros((6, 2)), np.ones((1, 1))])
def test_rows_without_any_spread_get_one(rule, form, X):
    assert resolve_gamma(rule, form(X)) == 1.0


# -- gamma="median"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_median_is_that_of_all_squared_distances(form):
    X = rows()
    naive = np.median([((x - z) ** 2).sum() for i, x in enumerate(X) for z in X[:i]])
    assert resolve_gamma("median", form(X)) == pytest.approx(1 / naive, rel=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_median_for_the_laplacian_kernel_is_that_of_the_one_norm(form):
    X = rows()
    naive = np.median([np.abs(x - z).sum() for i, x in enumerate(X) for z in X[:i]])
    kernel = resolve_kernel("laplacian", form(X), gamma="median")
    assert kernel.gamma == pytest.approx(1 / naive, rel=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_median_of_many_rows_comes_from_a_sample(form):
    X = rows(3000)
    exact = 1 / np.median(pdist(X, "sqeuclidean"))
    sampled = resolve_gamma("median", form(X), random_state=np.random.RandomState(3))
    assert sampled != exact
    assert sampled == pytest.approx(exact, rel=0.05)
    assert sampled == resolve_gamma("median", form(X), random_state=np.random.RandomState(3))
    assert sampled != resolve_gamma("median", form(X), random_state=np.random.RandomState(4))


def test_median_without_a_random_state_is_repeatable():
    X = rows(1500)
    assert resolve_gamma("median", X) == resolve_gamma("median", X)


def with_long_indices(X: np.ndarray) -> sparse.csr_matrix:
    X = sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_median_of_csr_rows_with_long_indices(kernel):
    dense = resolve_gamma("median", rows(), kernel)
    assert resolve_gamma("median", with_long_indices(rows()), kernel) == pytest.approx(dense, rel=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 40])
def test_median_with_weights_is_that_of_repeated_rows(n_rows, form, kernel):
    X = rows(n_rows)
    for seed in range(5):
        weight = np.random.default_rng(seed).integers(0, 4, n_rows)
        repeated = resolve_gamma("median", form(np.repeat(X, weight, axis=0)), kernel)
        settled = resolve_gamma("median", form(X), kernel, weight.astype(float))
        assert settled == pytest.approx(repeated, rel=1e-12)


def test_rows_of_weight_zero_are_as_good_as_absent_for_the_median():
    X = rows(3000)
    for n_rows in (500, 2000):  # which count: all are looked at, or a sample of them
        weight = np.repeat([1.0, 0.0], [n_rows, 3000 - n_rows])
        alone = resolve_gamma("median", X[:n_rows])
        assert resolve_gamma("median", X, sample_weight=weight) == alone


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_median_of_many_weighted_rows_comes_from_a_sample_by_weight(form):
    X = rows(3000)
    X[1500:] *= 10
    weight = np.repeat([1000.0, 1.0], 1500)
    heavy = 1 / np.median(pdist(X[:1500], "sqeuclidean"))
    settled = resolve_gamma("median", form(X), sample_weight=weight)
    assert settled == pytest.approx(heavy, rel=0.1)
    assert settled == pytest.approx(resolve_gamma("median", form(X), sample_weight=weight / 8))


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_median_takes_weights_of_any_unit(unit):
    X = rows(400)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, 400)
    settled = resolve_gamma("median", X, sample_weight=unit * weight)
    assert settled == pytest.approx(resolve_gamma("median", X, sample_weight=weight), rel=0.02)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_rows_none_of_which_counts_get_one(rule):
    assert resolve_gamma(rule, rows(), sample_weight=np.zeros(40)) == 1.0


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2", "poly"])
@pytest.mark.parametrize("gamma", ["scale", "median", "scale/4", "median*2"])
def test_widths_do_not_depend_on_the_units_of_inputs(kernel, gamma):
    X = np.abs(np.random.default_rng(0).standard_normal((40, 5)))
    values = resolve_kernel(kernel, X, gamma=gamma, coef0=1.0).block(X, X)
    thousandth = resolve_kernel(kernel, X / 1000, gamma=gamma, coef0=1.0).block(X / 1000, X / 1000)
    assert_allclose(thousandth, values, rtol=1e-10)


def test_the_scale_of_an_unsquared_distance_is_the_standard_deviation():
    X = np.random.default_rng(0).standard_normal((40, 5)) * 3
    assert_allclose(resolve_kernel("laplacian", X).gamma, 1 / (5 * X.std()))


def test_parts_and_multiples_of_widths():
    X = np.random.default_rng(0).standard_normal((40, 5))
    for rule in ("scale", "median"):
        whole = resolve_gamma(rule, X)
        assert_allclose(resolve_gamma(f"{rule}/4", X), whole / 4)
        assert_allclose(resolve_gamma(f"{rule} * 2.5e-1", X), whole / 4)
    for wrong in ("scale/0", "scale*", "scale*-1", "mean/2", "scale/4/2"):
        with pytest.raises(InvalidParameterError, match="'scale/4'"):
            resolve_gamma(wrong, X)


@pytest.mark.parametrize(("name", "nu"), [("matern", 1.5), ("matern12", 0.5), ("matern52", 2.5)])
def test_a_name_of_a_matern_kernel_means_the_same_everywhere(name, nu):
    X, y = rows(), rows()[:, 0]
    assert resolve_kernel(name, X, gamma=0.25) == Matern(0.25, nu)
    sieve = SieveRegressor(3, kernel=name, metric=False).fit(X, y)
    assert sieve.kernel_.nu == nu
    assert SparseMaximalAlignment(2, kernel=name).fit(X, y)._current_fit().model.kernel.nu == nu


def test_a_name_with_a_smoothness_takes_no_other():
    with pytest.raises(InvalidParameterError, match=r"'nu', which kernel='matern12' does not take"):
        resolve_kernel("matern12", rows(), kernel_params={"nu": 1.5})
