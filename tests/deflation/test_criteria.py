"""Criteria keep their word: they see what they declare, and a fit does not change them."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kernelsieve import AcceleratedKernelFeatureAnalysis, Candidates, KernelFeatureExtraction
from kernelsieve.deflation import (
    CRITERIA,
    Criterion,
    DirectionVariance,
    ExpansionVariance,
    FixedCandidates,
    IdentityMetric,
    LossGradient,
    Needs,
    RidgeAlignment,
    ScoringCriterion,
    StoredColumns,
    View,
    extract,
)
from kernelsieve.exceptions import CriterionError

UNSEEN = {
    "target_products": "needs = Needs(targets=True)",
    "targets": "needs = Needs(targets=True)",
    "residual_targets": "needs = Needs(targets=True)",
    "raw_targets": "needs = Needs(rows=True)",
    "root_weight": "needs = Needs(rows=True)",
    "residual_lengths": "deflation = SymmetricDeflation()",
    "expansion_norms": "deflation = SymmetricDeflation()",
}
UNSCREENED = ["columns", "column_products", "features", "n_components", "targets", "residual_targets"]


class Looking(ScoringCriterion):
    """Looks at something before it scores."""

    needs = Needs(targets=False)

    def __init__(self, name="residual_squared_norms"):
        self.name = name

    def score(self, view):
        getattr(view, self.name)
        return view.residual_squared_norms


class LookingAtTargets(Looking):
    needs = Needs()


class Screening(LookingAtTargets):
    can_screen = True


class Combining(Looking):
    def score(self, view):
        view.metric.among(np.arange(2))
        return view.residual_squared_norms


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 3))
    return X, X[:, 0] + np.sin(X[:, 1])


WAYS = {
    "exact": {"candidates": "all"},
    "pool": {"candidates": 30},
    "fresh": {"candidates": Candidates(30, resample=True)},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_not_declared_is_not_seen(name, way, data):
    model = KernelFeatureExtraction(Looking(name), 3, random_state=0, **WAYS[way])
    with pytest.raises(
        CriterionError, match=re.escape(f"view.{name} and has not declared it; write `{UNSEEN[name]}`")
    ):
        model.fit(*data)
    assert not hasattr(model, "landmarks_")


@pytest.mark.parametrize("name", ["raw_targets", "root_weight", "residual_lengths"])
def test_targets_are_not_all(name, data):
    for way in WAYS.values():
        with pytest.raises(CriterionError, match=UNSEEN[name][:10]):
            KernelFeatureExtraction(LookingAtTargets(name), 3, random_state=0, **way).fit(*data)


@pytest.mark.parametrize("way", WAYS)
def test_kernel_values_between_candidates_are_declared(way, data):
    with pytest.raises(CriterionError, match=r"needs = Needs\(metric=True\)"):
        KernelFeatureExtraction(Combining(), 3, random_state=0, **WAYS[way]).fit(*data)


@pytest.mark.parametrize("pool", ["random", "screen"])
@pytest.mark.parametrize("name", UNSCREENED)
def test_a_screen_and_the_loop_show_the_same(name, pool, data):
    model = KernelFeatureExtraction(
        Screening(name), 3, candidates=Candidates(30, how=pool), random_state=0
    )
    with pytest.raises(CriterionError, match="can_screen = False"):
        model.fit(*data)
    unscreened = KernelFeatureExtraction(LookingAtTargets(name), 3, candidates=30, random_state=0)
    assert unscreened.fit(*data).n_components_ == 3


def test_a_name_that_no_view_has(data):
    with pytest.raises(AttributeError, match="scores"):
        KernelFeatureExtraction(Looking("scores"), 3).fit(*data)


def test_every_attribute_of_a_view_is_documented():
    for name in View.__annotations__:
        assert f"    {name} : " in View.__doc__


def test_rows_that_are_declared_and_not_there(rng):
    columns = StoredColumns(rng.standard_normal((9, 4)), np.zeros(4), centred=False)
    Y = rng.standard_normal((9, 1))
    candidates = FixedCandidates(columns, IdentityMetric(4), Y, 2)
    with pytest.raises(CriterionError, match="needs rows"):
        extract(candidates, Y, LossGradient(), 2, total_weight=9.0, floor=0.0)


@pytest.mark.parametrize("name", CRITERIA)
def test_a_fit_does_not_change_a_criterion(name, data):
    X, y = data
    criterion = CRITERIA[name]()
    before = dict(vars(criterion))
    model = KernelFeatureExtraction(criterion, candidates=X[:20])
    first = model.fit(X, y).transform(X)
    assert vars(criterion) == before
    model.fit(X[::-1], np.cos(y))
    assert_array_equal(model.fit(X, y).transform(X), first)


@pytest.mark.parametrize(
    "criterion",
    [*(make() for make in dict.fromkeys(CRITERIA.values())), RidgeAlignment(0.5, stop_tol=0.1)],
    ids=lambda criterion: type(criterion).__name__,
)
def test_criteria_have_parameters(criterion):
    copied = clone(criterion)
    assert isinstance(copied, Criterion)
    assert copied is not criterion
    assert copied.get_params() == criterion.get_params()
    assert vars(copied) == vars(criterion)


def test_parameters_of_a_criterion_can_be_searched(data):
    X, _ = data
    model = KernelFeatureExtraction(DirectionVariance(), None, center=False, gamma=0.5)

    def few_features(model, X):
        return -model.n_components_

    search = GridSearchCV(model, {"criterion__cutoff": [0.0, 0.5]}, scoring=few_features, cv=2).fit(X)
    assert search.best_params_ == {"criterion__cutoff": 0.5}
    same = AcceleratedKernelFeatureAnalysis(cutoff=0.5, gamma=0.5).fit(X)
    assert_array_equal(search.best_estimator_.landmark_indices_, same.landmark_indices_)
    model.set_params(criterion=ExpansionVariance(), criterion__centred=False)
    assert not model.criterion.centred_scores


def test_a_former_declaration_names_its_new_place():
    with pytest.raises(TypeError, match=r"declares needs_rows.*needs = Needs\(rows=\.\.\.\)"):
        type("Former", (ScoringCriterion,), {"needs_rows": True})
