"""Numbers that cannot be squared, weights that leave classes out, folds that cannot be made."""

import numpy as np
import pytest
from configured import fit_with
from contract_cases import EXTRACTORS
from sklearn.base import is_classifier
from sklearn.datasets import make_classification
from sklearn.model_selection import GroupKFold

import kernelsieve as ks
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError

X, LABELS = make_classification(90, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
NUMBERS = np.sin(X[:, 0]) + X[:, 1]
CLASSIFIERS = [entry for entry in [*EXTRACTORS, ks.SieveClassifier] if is_classifier(entry())]


@pytest.mark.parametrize("size", [1e101, 1e153, 1e200, 1e300, 1e-150])
@pytest.mark.parametrize(
    "entry",
    [
        ks.SparseMaximalAlignment,
        ks.KernelPLS,
        ks.ReducedKernelOPLS,
        ks.GradientMetric,
        ks.SieveRegressor,
    ],
)
def test_targets_that_cannot_be_squared_are_not_called_constant(entry, size):
    with pytest.raises(InvalidDataError, match=r"y has values of up to .*Divide y by its largest"):
        entry().fit(X, NUMBERS * size)


@pytest.mark.parametrize("lost", [0, 1, 2])
@pytest.mark.parametrize("entry", CLASSIFIERS, ids=lambda entry: entry.__name__)
def test_classes_of_no_weight_have_finite_scores_and_are_never_the_one(entry, lost):
    known = {"gamma": 0.1, "n_components": 1, "random_state": 0, "n_landmarks": 10, "cv": 2}
    known |= {"kernel": "rbf", "metric": False}
    model = entry()
    model.set_params(**{name: value for name, value in known.items() if name in model.get_params()})
    model.fit(X, LABELS, sample_weight=(lost != LABELS).astype(float))
    assert lost not in model.predict(X)
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X)
        assert np.isfinite(scores).all()
        assert np.isfinite(scores.astype(np.float32)).all()
    if hasattr(model, "predict_proba"):
        assert np.isfinite(model.predict_proba(X)).all()


FEW = {
    "samples": (
        ks.ComponentPathCV(ks.KernelPLS(2)),
        slice(0, 4),
        NUMBERS,
        None,
        "5 folds of 4 samples",
    ),
    "classes": (
        ks.ComponentPathCV(ks.KernelPLSClassifier(2)),
        slice(0, 6),
        LABELS,
        None,
        "5 folds of 6",
    ),
    "groups": (
        ks.ComponentPathCV(ks.KernelPLS(2), cv=GroupKFold(5)),
        slice(0, 30),
        NUMBERS,
        np.arange(30) % 3,
        "5 folds of 30",
    ),
}


@pytest.mark.parametrize("name", FEW)
def test_folds_that_cannot_be_made(name):
    search, some, y, groups, message = FEW[name]
    with pytest.raises(InvalidParameterError, match=f"cannot make {message}.*smaller number of folds"):
        search.fit(X[some], y[some], groups=groups)


def test_sieves_take_fewer_folds_where_classes_are_small():
    two = np.concatenate([np.flatnonzero(label == LABELS)[:3] for label in (0, 1)])
    sieve = ks.SieveClassifier(5, kernel="rbf", metric=False, random_state=0).fit(X[two], LABELS[two])
    assert set(sieve.predict(X[two])) <= {0, 1}
    with pytest.raises(InvalidDataError, match="2 samples has a label of its own"):
        ks.SieveClassifier().fit(X[:2], ["a", "b"])


def test_inputs_whose_squares_vanish_have_finite_shares_of_variance():
    model = fit_with({"max_memory": 0}, ks.KernelPCA(1), 1e-268 * X)
    assert np.isfinite(model.explained_variance_ratio_).all()
