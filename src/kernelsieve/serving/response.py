"""What a predictor makes of the scores of its linear head: numbers, labels, probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from ..estimators import PredictMixin
from ..predictors import SieveClassifier
from ..predictors.losses import LARGEST_LOG
from .affine import Affine

_PROBES, _CLOSE = 16, 1e-8  # random features by which a head is told to be linear, and how nearly
Link = Callable[[np.ndarray], np.ndarray]  # from scores (n, q) to probabilities (n, n_classes)


@dataclass(frozen=True)
class Exponential:
    """Means of counts, from scores that are their logarithms; beyond a size these count as that."""

    largest: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(scores, -self.largest, self.largest))


@dataclass(frozen=True)
class Response:
    """What is predicted from scores ``(n, q)``: themselves or a function of them, or labels."""

    one_dimensional: bool
    classes: np.ndarray | None = None
    probabilities: Link | None = None
    mean: Exponential | None = None

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return numbers, or labels: by the sign of a single score, or the largest of several."""
        if self.classes is None:
            scores = scores if self.mean is None else self.mean(scores)
            return scores[:, 0] if self.one_dimensional else scores
        return self.classes[
            (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        ]

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Return one number for two classes, and one for each class otherwise."""
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores[:, 0] if scores.shape[1] == 1 else scores


def read_head(head: Any, n_inputs: int) -> tuple[Affine, Response] | None:
    """Return a fitted predictor as a linear function and what is made of it; None where it is none."""
    return _of_ours(head) if isinstance(head, PredictMixin) else _of_scikit_learn(head, n_inputs)


def response_of_sieve(sieve: Any) -> Response:
    """Return what a fitted sieve makes of its scores."""
    if isinstance(sieve, SieveClassifier):
        return Response(True, sieve.classes_, sieve._calibration.probabilities)
    mean = Exponential(LARGEST_LOG) if sieve.loss == "poisson" else None
    return Response(sieve._one_dimensional_y, mean=mean)


def _of_ours(head: Any) -> tuple[Affine, Response]:
    """Return the head on the features that an estimator has itself."""
    heads = head._current_fit().heads
    link = head._probability_link() if hasattr(head, "predict_proba") else None
    classes = head.classes_ if head._predicts_labels() else None
    linear = Affine(heads.last_coefficients, shift=heads.intercepts[-1])
    return linear, Response(head._one_dimensional_y, classes, link)


def _of_scikit_learn(head: Any, n_inputs: int) -> tuple[Affine, Response] | None:
    """Return a head with coefficients, after a look if its outputs are those of a linear function."""
    classes = getattr(head, "classes_", None)
    needed = ("coef_", "intercept_", "predict" if classes is None else "decision_function")
    if not all(hasattr(head, name) for name in needed):
        return None
    coefficients = head.coef_.toarray() if sparse.issparse(head.coef_) else head.coef_
    coefficients = np.asarray(coefficients, dtype=np.float64).reshape(-1, n_inputs).T
    intercepts = np.broadcast_to(np.ravel(head.intercept_).astype(np.float64), coefficients.shape[1])
    linear = Affine(coefficients, shift=intercepts)
    probe = np.random.default_rng(0).standard_normal((_PROBES, n_inputs))
    scores = linear(probe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an array has no names of features
        predicted = head.predict(probe)
        response = Response(np.ndim(predicted) == 1, classes, _link_of(head, probe, scores))
        expected = predicted if classes is None else head.decision_function(probe)
    found = response.predict(scores) if classes is None else response.decide(scores)
    return (linear, response) if _agree(found, expected) else None


def _link_of(head: Any, probe: np.ndarray, scores: np.ndarray) -> Link | None:
    """Return which of the known ways a head makes probabilities of scores; None for any other."""
    if not hasattr(head, "predict_proba"):
        return None
    expected = head.predict_proba(probe)
    return next((link for link in (one_by_one, jointly) if _agree(link(scores), expected)), None)


def one_by_one(scores: np.ndarray) -> np.ndarray:
    """Return logistic probabilities of each class against the rest, normalised."""
    p = expit(scores)
    return np.hstack([1 - p, p]) if p.shape[1] == 1 else p / p.sum(axis=1, keepdims=True)


def jointly(scores: np.ndarray) -> np.ndarray:
    """Return the softmax of scores."""
    both = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
    return np.asarray(softmax(both, axis=1))


def _agree(found: np.ndarray, expected: np.ndarray) -> bool:
    return found.shape == np.shape(expected) and np.allclose(found, expected, _CLOSE, _CLOSE)
