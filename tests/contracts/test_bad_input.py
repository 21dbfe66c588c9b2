"""Bad input: a clear error that names what is wrong and what to do, and nothing is changed."""

import numpy as np
import pytest
from contract_cases import TARGETS, Case, contract, plain_cases
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

import kernelsieve
from kernelsieve import Candidates
from kernelsieve.exceptions import (
    FewerFeaturesWarning,
    InvalidDataError,
    InvalidParameterError,
    KernelError,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning"),
]


def refused(message, estimator, X, y, **kwargs):
    """The error matches, and the estimator is as it was before, fitted or not."""
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, **kwargs)
    assert list(vars(estimator)) == list(before)
    assert all(vars(estimator)[name] is value for name, value in before.items())


def has(*names):
    return lambda case: case.parameters.issuperset(names)


def needs_target(case):
    return get_tags(case.make()).target_tags.required


@contract(plain_cases)
def test_values_that_are_not_finite_are_found(case: Case):
    X, y = case.data()
    model = case.make().fit(X, y)
    before = model.transform(X)
    for value, name in ((np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")):
        bad = X.copy()
        bad[7, 2] = value
        for estimator in (case.make(), model):
            refused(f"X contains {name} in row 7, column 2", estimator, bad, y)
        if get_tags(model).input_tags.sparse:
            refused(f"X contains {name} in row 7, column 2", case.make(), sparse.csr_matrix(bad), y)
        with pytest.raises(ValueError, match="row 7"):
            model.transform(bad)
    np.testing.assert_array_equal(model.transform(X), before)  # the refused fits left no trace


@contract(plain_cases, when=needs_target)
def test_targets_that_are_not_finite_are_found(case: Case):
    X, y = case.data()
    bad = y.astype(float if y.dtype.kind == "f" else object)
    bad[5] = np.nan
    refused("y contains NaN.*row 5", case.make(), X, bad)


@contract(plain_cases)
def test_sizes(case: Case):
    X, y = case.data()
    refused("0 sample", case.make(), X[:0], y[:0])
    refused("minimum of 2 is required", case.make(), X[:1], y[:1])
    refused("0 feature", case.make(), X[:, :0], y)
    refused("shape", case.make(), X, y, sample_weight=np.ones(len(X) - 1))


@contract(plain_cases, when=needs_target)
def test_targets(case: Case):
    X, y = case.data()
    refused("71 entries and X has 72 rows", case.make(), X, y[:71])
    refused("requires y to be passed", case.make(), X, None)
    constant = np.full(len(X), y[0])
    refused("y is constant|one class", case.make(), X, constant)
    first = np.arange(len(X)) < 10
    refused(
        "y is constant|one class", case.make(), X, np.where(first, y[0], y), sample_weight=1.0 * first
    )


@contract(plain_cases)
def test_weights(case: Case):
    X, y = case.data()
    weight = np.ones(len(X))
    refused("weights are zero", case.make(), X, y, sample_weight=0 * weight)
    weight[3] = -1
    refused("-1.0 in row 3.*not negative", case.make(), X, y, sample_weight=weight)


@contract(plain_cases, when=has("class_weight"))
def test_class_weights(case: Case):
    X, y = case.data()
    refused("class_weight", case.make(class_weight={7: 2.0}), X, y)


@contract(plain_cases, when=has("n_components"))
def test_numbers_of_components(case: Case):
    X, y = case.data()
    refused("n_components", case.make(n_components=0), X, y)
    refused("n_components=True", case.make(n_components=True), X, y)
    made = [case.make(n_components=73)]
    if case.pool:
        made += [case.pooled(5, n_components=6), case.pooled(X[:5], n_components=6)]
    for model in made:
        with pytest.warns(FewerFeaturesWarning, match="components asked for") as caught:
            model.fit(X, y)
        assert model.n_components_ < model.n_components
        assert len([w for w in caught if w.category is FewerFeaturesWarning]) == 1


@contract(plain_cases, when=has("kernel"))
def test_kernels(case: Case):
    X, y = case.data()
    refused("Did you mean 'rbf'", case.make(kernel="rfb"), X, y)
    for gamma in (0, -1.0, np.nan, np.inf, "wide"):
        refused("gamma", case.make(gamma=gamma), X, y)
    refused("square", case.make(kernel="precomputed"), X, y)
    refused("needs dense input", case.make(kernel="chi2"), sparse.csr_matrix(abs(X)), y)


@contract(plain_cases, when=has("kernel"))
def test_rows_that_have_no_features(case: Case):
    X, y = case.data()
    refused("No feature could be found|positive for some", case.make(kernel="linear"), 0 * X, y)


@contract(plain_cases, when=lambda case: case.pool)
def test_candidates(case: Case):
    X, y = case.data()
    refused(f"{case.pool} has 3 columns and X has 4", case.pooled(X[:5, :3]), X, y)
    refused(case.pool, case.pooled("some"), X, y)
    bad = X[:5].copy()
    bad[1, 2] = np.nan
    refused(f"{case.pool} contains NaN in row 1, column 2", case.pooled(bad), X, y)
    if "pool" in case.parameters:
        refused("pool", case.pooled(20, candidates=Candidates(how="magic")), X, y)


@contract(plain_cases)
def test_before_a_fit_and_with_other_rows(case: Case):
    X, y = case.data()
    for name, arguments in (("transform", [X]), ("truncate", [1]), ("projector", []), ("predict", [X])):
        if hasattr(case.make(), name):
            with pytest.raises(NotFittedError):
                getattr(case.make(), name)(*arguments)
    assert not hasattr(case.make(), "landmarks_")
    model = case.make().fit(X, y)
    k = model.n_components_
    names = ("transform", "predict", "reconstruction_error")
    for method in (getattr(model, name) for name in names if hasattr(model, name)):
        with pytest.raises(ValueError, match=f"3 features, but {case.entry.__name__} is expecting 4"):
            method(X[:, :3])
        for wrong in (0, k + 1):
            with pytest.raises(ValueError, match=f"n_components={wrong}.*between 1 and"):
                method(X, n_components=wrong)


@contract(plain_cases, when=lambda case: case.pool and hasattr(case.make(), "partial_fit"))
def test_pieces(case: Case):
    X, y = case.data()
    classes = None if y.dtype.kind == "f" else np.unique(y)
    if case.pool == "candidates":
        assert not hasattr(case.pooled("all"), "partial_fit")
    with pytest.raises(ValueError, match="80 are drawn from the first batch, which has 72"):
        case.pooled(80).partial_fit(X, y)
    with pytest.raises(ValueError, match="no batch"):
        case.make().fit_batches([])
    model = case.pooled(X[:30]).partial_fit(X, y, classes)
    before = model.transform(X)
    bad = X.copy()
    bad[7, 2] = np.nan
    for rows, message in ((bad, "row 7"), (X[:, :3], "expecting 4 features")):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, y)
    if needs_target(case):
        with pytest.raises(
            ValueError, match=r"'c' in row 0.*pass classes|could not convert string.*'c'"
        ):
            model.partial_fit(X, np.array(["c"] * len(X)))
    np.testing.assert_array_equal(model.transform(X), before)  # what was refused has left no trace


@contract(plain_cases, when=needs_target)
def test_a_target_of_another_kind(case: Case):
    """Numbers for those that tell classes apart are refused; for all others they are a target."""
    X, _ = case.data()
    model = case.make()
    if get_tags(model).target_tags.multi_output or case.target == "numbers":
        assert model.fit(X, TARGETS["numbers"]).n_components_ >= 1
    else:
        refused("continuous", model, X, TARGETS["numbers"])


@contract(plain_cases)
def test_weights_that_cannot_be_squared(case: Case):
    X, y = case.data()
    for extreme in (1e-300, 1e300):
        weight = np.ones(len(X))
        weight[3] = extreme
        with pytest.raises(InvalidDataError, match=r"sample_weight has 1e.*in row 3.*divide"):
            case.make().fit(X, y, sample_weight=weight)


@contract(plain_cases, when=lambda case: "kernel" in case.parameters)
def test_kernels_that_are_none(case: Case):
    X, y = case.data()

    def constant(A, B):
        return np.ones((len(A), len(B)))

    def one_sided(A, B):
        return np.exp(-((A[:, None, 0] - B[None, :, 0] - 1) ** 2))

    def greedy(A, B):
        raise MemoryError("no memory is left")

    with pytest.raises(KernelError, match="'one_sided' is not symmetric"):
        case.make(kernel=one_sided).fit(X, y)
    with pytest.raises(MemoryError, match="no memory is left"):
        case.make(kernel=greedy).fit(X, y)
    try:
        features = case.make(kernel=constant).fit(X, y).transform(X)
    except (InvalidDataError, InvalidParameterError):
        return
    assert np.isfinite(features).all()


@contract(plain_cases)
def test_inputs_that_cannot_be_squared(case: Case):
    X, y = case.data()
    for factor in (1e160, 1e-160):
        try:
            features = case.make().fit(X * factor, y).transform(X * factor)
        except (InvalidDataError, KernelError):
            continue
        assert np.isfinite(features).all()


def test_labels_of_several_types():
    X = np.random.default_rng(0).standard_normal((40, 3))
    labels = np.array(["a", 1] * 20, dtype=object)
    for entry in (kernelsieve.KernelPLSClassifier, kernelsieve.SparseMaximalAlignment):
        with pytest.raises(InvalidDataError, match="several types, int and str"):
            entry(2).fit(X, labels)
