"""Class probabilities of the methods that follow a loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..deflation import Loss, resolve_loss
from ..estimators import row_wise


def _has_probabilities(estimator: Any) -> bool:
    if probability_link(estimator) is None:
        raise AttributeError(
            f"loss={estimator.loss!r} gives no probabilities; pass loss='logistic' or "
            "loss='exponential'."
        )
    return True


@available_if(_has_probabilities)
@row_wise
def predict_proba(self: Any, X: Any, n_components: int | None = None) -> np.ndarray:
    """Return the probability of each class under the loss.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples, as for ``transform``.
    n_components : int, default=None
        Use the first features only; None for all.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        More than two classes are each compared with the rest, and normalised to sum 1.
    """
    return self._probability_link()(self._scores(X, n_components))


def probability_link(self: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the function from scores to probabilities; None for a loss that gives none."""
    loss = resolve_loss(self.loss)
    if loss.probabilities(np.zeros(1)) is None:
        return None
    return partial(_probabilities_from_scores, loss)


def _probabilities_from_scores(loss: Loss, scores: np.ndarray) -> np.ndarray:
    p = np.asarray(loss.probabilities(scores))
    if p.shape[1] == 1:
        return np.hstack([1 - p, p])
    return p / p.sum(axis=1, keepdims=True)
