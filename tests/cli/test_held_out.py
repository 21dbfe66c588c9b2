"""Scores in reports against those of scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

from kernelsieve.cli.held_out import classification_scores, regression_scores

RANDOM = np.random.default_rng(0)
WEIGHT = RANDOM.uniform(0.5, 2, 60)


def test_numbers():
    y = RANDOM.normal(size=60)
    predicted = y + RANDOM.normal(size=60)
    found = regression_scores(y, predicted, WEIGHT)
    assert found["R2"] == pytest.approx(metrics.r2_score(y, predicted, sample_weight=WEIGHT))
    expected = metrics.root_mean_squared_error(y, predicted, sample_weight=WEIGHT)
    assert found["RMSE"] == pytest.approx(expected)
    expected = metrics.mean_absolute_error(y, predicted, sample_weight=WEIGHT)
    assert found["MAE"] == pytest.approx(expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels(n_classes):
    classes = np.array(["a", "b", "c"][:n_classes])
    proba = RANDOM.dirichlet(np.ones(n_classes), 60)
    y, predicted = classes[RANDOM.integers(n_classes, size=60)], classes[proba.argmax(axis=1)]
    found = classification_scores(y, predicted, proba, classes, WEIGHT)
    told = {"sample_weight": WEIGHT}
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, predicted, **told))
    expected = metrics.balanced_accuracy_score(y, predicted, **told)
    assert found["balanced accuracy"] == pytest.approx(expected)
    assert found["log loss"] == pytest.approx(metrics.log_loss(y, proba, labels=classes, **told))
    p = proba[:, 1] if n_classes == 2 else proba
    expected = metrics.roc_auc_score(y, p, multi_class="ovr", labels=classes, **told)
    assert found["ROC AUC"] == pytest.approx(expected)


def test_labels_that_are_new_or_absent():
    classes, proba = np.array(["a", "b"]), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    predicted = np.array(["a", "b", "a"])
    found = classification_scores(np.array(["a", "b", "new"]), predicted, proba, classes)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["ROC AUC"] == 1
    found = classification_scores(np.array(["a", "a", "a"]), predicted, proba, classes)
    assert "ROC AUC" not in found
    assert "log loss" not in classification_scores(np.array(["new"] * 3), predicted, proba, classes)
    assert set(classification_scores(predicted, predicted, None, classes)) == {
        "accuracy",
        "balanced accuracy",
    }
