"""The head inside an extractor, alone."""

import numpy as np
import pytest
from configured import fit_with
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve import (
    BoostedLatentFeatures,
    KernelBoostedLatentFeatures,
    KernelBoostedLatentFeaturesClassifier,
    KernelPLS,
    KernelPLSClassifier,
    OrthogonalLoadingsKernelPLS,
    SparseKernelPLS,
)

PREDICTING = [
    KernelPLS(5),
    KernelPLS(5, candidates=40, random_state=0),
    KernelBoostedLatentFeatures(5, loss="absolute"),
    BoostedLatentFeatures(5),
    OrthogonalLoadingsKernelPLS(5),
    SparseKernelPLS(5, random_state=0),
]


@pytest.mark.parametrize(
    ("estimator", "dtype"),
    [
        *((each, "float64") for each in PREDICTING),
        (KernelPLS(5, candidates=40, random_state=0), "float32"),
    ],
    ids=str,
)
def test_a_head_predicts_from_features_what_the_whole_predicts_from_rows(estimator, dtype, diabetes):
    X, y = diabetes
    model = fit_with({"dtype": dtype}, estimator, X, y)
    tolerance = {"rtol": 1e-4} if dtype == "float32" else {"rtol": 1e-10}
    for k in (1, 3, 5):
        head = model.head(k)
        assert head.n_features_in_ == k
        assert_allclose(head.predict(model.transform(X, k)), model.predict(X, k), **tolerance)
        assert head.score(model.transform(X, k), y) == pytest.approx(model.truncate(k).score(X, y))
    assert_allclose(model.head().predict(model.transform(X)), model.predict(X), **tolerance)
    assert model.n_features_in_ == 10  # is as it was


def test_a_head_of_classes(cancer):
    X, y = cancer
    model = KernelBoostedLatentFeaturesClassifier(4, loss="logistic").fit(X, np.array(["b", "m"])[y])
    head, features = model.head(2), model.transform(X, 2)
    assert_array_equal(head.predict(features), model.predict(X, 2))
    assert_allclose(head.predict_proba(features), model.predict_proba(X, 2))
    assert_allclose(head.decision_function(features), model.decision_function(X, 2))
    assert_array_equal(head.classes_, ["b", "m"])
    with pytest.raises(ValueError, match="2 features"):
        head.predict(X)


def test_labels_that_are_objects(cancer):
    X, y = cancer
    objects = y.astype(int).astype(object)
    model = KernelPLSClassifier(3).fit(X, objects)
    assert model.score(X, objects) == model.score(X, y) > 0.8
