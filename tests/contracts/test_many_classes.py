"""Many classes: the same results as with a column for each, without one."""

import tracemalloc
import warnings

import numpy as np
import pytest
from configured import fit_with
from numpy.testing import assert_allclose, assert_array_equal

import kernelsieve
from kernelsieve.data import targets as module
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.rayleigh import DecisionRule

METHODS = {
    "SparseMaximalAlignment": {"target": "classes"},
    "SparseMaximalCovariance": {"target": "classes"},
    "KernelPLSClassifier": {},
    "ReducedKernelOPLS": {"target": "classes"},
    "KernelFisherDiscriminant": {},
    "GreedyKernelFisherDiscriminant": {},
    "KernelOrthogonalCentroid": {},
    "KernelDiscriminantQR": {},
    "SubspaceKernelFeatures": {},
}
LABELS, COLUMNS = 2, 10**6  # classes from which on they are labels


def samples(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = 2 * rng.standard_normal((n_classes, 5))[y] + rng.standard_normal((n, 5))
    return X, y


def model_of(name, n_candidates=40, **options):
    cls = getattr(kernelsieve, name)
    size = "n_landmarks" if name == "ReducedKernelOPLS" else "candidates"
    return cls(6, random_state=0, **{size: n_candidates}, **METHODS[name], **options)


def fitted(model, how, X, y, weight):
    half = len(X) // 2
    first, second = slice(None, half), slice(half, None)
    if how == "fit":
        return model.fit(X, y)
    if how == "weights":
        return model.fit(X, y, sample_weight=weight)
    if how == "partial_fit":
        model.partial_fit(X[first], y[first], classes=np.unique(y), sample_weight=weight[first])
        return model.partial_fit(X[second], y[second], sample_weight=weight[second])
    parts = [(X[first], y[first]), (X[second], y[second])]
    return model.fit_batches(parts, classes=np.unique(y))


@pytest.mark.parametrize("how", ["fit", "weights", "partial_fit", "fit_batches"])
@pytest.mark.parametrize("name", METHODS)
def test_labels_give_what_columns_give(name, how, monkeypatch):
    X, y = samples(150, 15)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    models = []
    for most in (LABELS, COLUMNS):
        monkeypatch.setattr(module, "MANY_CLASSES", most)
        models.append(fitted(model_of(name), how, X, y, weight))
        models[-1].transform(X[:1])  # where out of core features are found
    labels, columns = models
    assert_array_equal(labels.landmark_indices_, columns.landmark_indices_)
    for values in ("criterion_path_", "explained_target_ratio_", "explained_variance_ratio_"):
        assert_allclose(getattr(labels, values), getattr(columns, values), atol=1e-8)
    expected = columns.transform(X)
    assert_allclose(labels.transform(X), expected, atol=1e-8 * np.abs(expected).max())
    if hasattr(labels, "predict"):
        assert_array_equal(labels.predict(X), columns.predict(X))


def test_parts_of_a_statistic_of_labels(tmp_path):
    X, y = samples(600, 150)
    model = model_of("KernelPLSClassifier")
    plan = model.prepare(X, y)
    here, there = plan.statistic(X[:300], y[:300]), plan.statistic(X[300:], y[300:])
    there.save(tmp_path / "part")
    both = here.merge(type(there).load(tmp_path / "part"))
    whole = model_of("KernelPLSClassifier").fit_batches(iter([(X, y)]))
    assert_allclose(model.finish(plan, both).transform(X), whole.transform(X), atol=1e-8)
    rest = model.finish(plan, both.subtract(there))
    assert_allclose(rest.transform(X), model.finish(plan, here).transform(X), atol=1e-8)


@pytest.mark.parametrize("precision", ["fast", "safe"])
@pytest.mark.parametrize("center", [True, False])
def test_labels_give_what_columns_give_in_either_precision(precision, center, monkeypatch, configured):
    configured(precision=precision)
    X, y = samples(400, 60)
    features = []
    for most in (LABELS, COLUMNS):
        monkeypatch.setattr(module, "MANY_CLASSES", most)
        model = model_of("SparseMaximalAlignment", center=center, gamma=0.02)
        features.append(model.fit(X, y).transform(X))
    assert_allclose(*features, atol=1e-8)


def test_class_weights_of_labels(monkeypatch):
    X, y = samples(400, 60)
    y = np.where(y < 20, 0, y)  # a large class
    features = []
    for most in (LABELS, COLUMNS):
        monkeypatch.setattr(module, "MANY_CLASSES", most)
        model = model_of("KernelFisherDiscriminant", class_weight="balanced")
        features.append(model.fit(X, y).transform(X))
    assert_allclose(*features, atol=1e-8)


@pytest.mark.parametrize("name", METHODS)
def test_no_array_of_samples_by_classes(name):
    n, n_classes = 8000, 2500
    X, y = samples(n, n_classes)
    model = model_of(name, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn asks if these are classes
        model_of(name, 50).fit(X[:300], y[:300])  # compiles
        tracemalloc.start()
        model.fit(X, y)
        (model.predict if hasattr(model, "predict") else model.transform)(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * n * n_classes


@pytest.mark.parametrize(
    ("name", "options", "remedy"),
    [
        ("KernelFisherDiscriminant", {"decision": DecisionRule(multi_class="ovr")}, "joint"),
        ("SparseKernelFisherDiscriminant", {}, "KernelFisherDiscriminant"),
        ("KernelBoostedLatentFeaturesClassifier", {}, "max_memory"),
        ("SubspaceKernelFeatures", {"objective": "large_margin", "candidates": 20}, "alignment"),
    ],
)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_model_for_each_class_is_refused_before_the_work(name, options, remedy):
    X, y = samples(2400, 1200)
    with pytest.raises(InvalidParameterError, match=remedy):
        fit_with({"max_memory": 2**24}, getattr(kernelsieve, name)(**options), X, y)


def test_an_unknown_label_names_a_few_classes_only(monkeypatch):
    X, y = samples(400, 200)
    model = model_of("KernelPLSClassifier").partial_fit(X, y)
    with pytest.raises(ValueError, match="label 999 in row 0") as caught:
        model.partial_fit(X[:1], [999])
    assert len(str(caught.value)) < 400
