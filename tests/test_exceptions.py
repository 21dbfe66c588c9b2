"""Warnings point at the line of the user's."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import ComponentPathCV, KernelOrthogonalCentroid, SparseMaximalAlignment
from kernelsieve.exceptions import AmbiguousTargetWarning, FewerFeaturesWarning

X = np.repeat(np.random.default_rng(0).standard_normal((6, 2)), 5, axis=0)
y = X[:, 0]
labels = np.arange(30) % 6


@pytest.mark.parametrize(
    "call",
    [
        lambda: SparseMaximalAlignment(20).fit(X, y),
        lambda: SparseMaximalAlignment(20).fit_transform(X, y),
        lambda: SparseMaximalAlignment(20, candidates=X).fit_batches([(X, y)]),
        lambda: make_pipeline(StandardScaler(), SparseMaximalAlignment(20)).fit(X, y),
        lambda: KernelOrthogonalCentroid(kernel="linear").fit(X, labels),
        lambda: ComponentPathCV(SparseMaximalAlignment(20), Ridge()).fit(X, y),
    ],
)
def test_the_line_that_called(call):
    with pytest.warns(FewerFeaturesWarning) as caught:
        call()
    assert {warning.filename for warning in caught} == {__file__}
    assert len(caught) >= 1


def test_one_warning_for_one_fit():
    with pytest.warns(FewerFeaturesWarning, match="gave 6 of the 20") as caught:
        SparseMaximalAlignment(20, center=False).fit(X, y)
    assert len(caught) == 1


@pytest.mark.filterwarnings("always")
def test_a_search_warns_once():
    rows, few = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 6
    search = GridSearchCV(
        make_pipeline(SparseMaximalAlignment(3), Ridge()),
        {"sparsemaximalalignment__gamma": [0.1, 0.2], "sparsemaximalalignment__n_components": [2, 25]},
        cv=4,  # of two sizes, so that numbers in messages differ
    )
    with pytest.warns() as caught:
        search.fit(rows, few)
    categories = [warning.category for warning in caught]
    assert categories.count(AmbiguousTargetWarning) == 1
    assert categories.count(FewerFeaturesWarning) == 1
    assert {warning.filename for warning in caught} == {__file__}
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
