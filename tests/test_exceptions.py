"""Warnings point at the line of the user's."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import ComponentPathCV, KernelOrthogonalCentroid, SparseMaximalAlignment
from kernelsieve.exceptions import FewerFeaturesWarning

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
