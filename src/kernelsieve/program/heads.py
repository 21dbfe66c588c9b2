"""Linear predictors of scikit-learn as steps: an affine map and a link."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .steps.affine import AffineMap
from .steps.link import Link, Logistic, Probabilities, Softmax, outputs_agree
from .steps.step import ProgramStep

_PROBES, _CLOSE = 16, 1e-8  # random features by which a head is told to be linear, and how nearly


def read_head(head: Any, n_inputs: int) -> list[ProgramStep]:
    """Return the steps of a fitted linear predictor; empty if its outputs are not linear."""
    classes = getattr(head, "classes_", None)
    needed = ("coef_", "intercept_", "predict" if classes is None else "decision_function")
    if not all(hasattr(head, name) for name in needed):
        return []
    coefficients = head.coef_.toarray() if sparse.issparse(head.coef_) else head.coef_
    coefficients = np.asarray(coefficients, dtype=np.float64).reshape(-1, n_inputs).T
    intercepts = np.broadcast_to(np.ravel(head.intercept_).astype(np.float64), coefficients.shape[1])
    linear = AffineMap(coefficients, shift=intercepts)
    probe = np.random.default_rng(0).standard_normal((_PROBES, n_inputs))
    scores = linear.run(probe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an array has no names of features
        predicted = head.predict(probe)
        flat = np.ndim(predicted) == 1
        link = Link(scores.shape[1], flat, classes, _probabilities_of(head, probe, scores))
        expected = predicted if classes is None else head.decision_function(probe)
    found = link.run(scores) if classes is None else link.decide(scores)
    return [linear, link] if outputs_agree(found, expected, _CLOSE) else []


def _probabilities_of(head: Any, probe: np.ndarray, scores: np.ndarray) -> Probabilities | None:
    """Return the known probability function that a head uses; None for any other."""
    if not hasattr(head, "predict_proba"):
        return None
    expected = head.predict_proba(probe)
    known = (Logistic(), Softmax())
    return next((link for link in known if outputs_agree(link(scores), expected, _CLOSE)), None)
