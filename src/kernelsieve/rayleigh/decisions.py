"""How the classifiers of this room decide: thresholds, probabilities, held-out outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import check_array

from .._sklearn import Interval, StrOptions, fit_context
from ..estimators import KernelEstimator, all_or_nothing
from ..exceptions import InvalidParameterError
from ..model import Decision, Fit
from .outputs import (
    Moments,
    decision_heads,
    gaussian_heads,
    indicator_heads,
    logit_heads,
    logits_of_outputs,
    winning_logits,
)

#: Gives features, indicators of classes and weights of all samples: what the margin looks at.
FeaturesOf = Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray | None]]


DECISION_CONSTRAINTS: dict[str, list] = {
    "threshold": [StrOptions({"auto", "margin", "midpoint", "least_squares", "gaussian"})],
    "nu": [Interval(Real, 0, 1, closed="right"), StrOptions({"cv"})],
}


@fit_context(prefer_skip_nested_validation=True)
@all_or_nothing
def fit_discriminant(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Find features that separate classes, and how to decide by them.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Training samples; kernel values for a precomputed kernel.
    y : array-like of shape (n_samples,)
        Class labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights; a whole number counts as that many equal samples.

    Returns
    -------
    self
    """
    KernelEstimator.fit(self, X, y, sample_weight)
    if self.probability_cv is not None:
        _hold_out(self, X, y, sample_weight)
    return self


def _hold_out(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Take probabilities from the outputs of samples that were held out."""
    folds = model.probability_cv
    if model._is_precomputed and not isinstance(model.candidates, (str, Integral)):
        raise InvalidParameterError(
            "probability_cv fits on some of the samples, among which row numbers in candidates are "
            "others; pass candidates as a number or 'all' with kernel='precomputed'."
        )
    encoder = model._encoder(y)
    batch = model._batch(check_array(X, accept_sparse="csr"), y, sample_weight, encoder)
    of_class = batch.Y.sum(axis=0)
    if of_class.min() < folds:
        raise InvalidParameterError(
            f"probability_cv={folds} is more than the {int(of_class.min())} samples of the smallest "
            "class; lower probability_cv, or pass None."
        )
    params = None
    if sample_weight is not None:
        params = {"sample_weight": np.broadcast_to(np.asarray(sample_weight), len(batch))}
    outputs = cross_val_predict(
        clone(model).set_params(probability_cv=None),
        X,
        encoder.classes[batch.Y.argmax(axis=1)],
        cv=StratifiedKFold(folds),
        method="decision_function",
        params=params,
    ).reshape(len(batch), -1)
    fit = model._current_fit()
    if fit.decision.joint:  # log odds against the last class
        outputs = outputs[:, :-1] - outputs[:, -1:]
    moments = Moments.of(outputs, batch.Y, batch.weight)
    logits = logits_of_outputs(fit.heads, moments, joint=fit.decision.joint)
    model._fit = replace(fit, decision=replace(fit.decision, logits=logits))


def check_out_of_core(parameters: dict[str, Any]) -> None:
    """Refuse parameters that need all samples at once."""
    if isinstance(parameters["class_weight"], str):
        raise InvalidParameterError(
            "class_weight='balanced' needs all samples at once, because it counts the classes; out of "
            "core pass a dict with the weight of each label."
        )
    if parameters.get("probability_cv") is not None:
        raise InvalidParameterError(
            f"probability_cv={parameters['probability_cv']} needs all samples at once; out of core "
            "pass None."
        )


def decided(
    fit: Fit,
    moments: Moments,
    n_candidates: int,
    threshold: str,
    nu: float | str,
    *,
    joint: bool,
    features_of: FeaturesOf | None = None,
) -> Fit:
    """Add to a fit how it decides, given the moments of its features.

    Joint features serve several classes together, and the classes are taken for Gaussian. Other
    features separate one class each from the rest (a single one the second of two classes from the
    first), with a threshold of its own. ``features_of`` returns features, indicators of classes
    and weights of all samples, which the margin needs.
    """
    if joint:
        # Features have unit variance with the ridge, and less without it; the ridge must be part of
        # the Gaussians too, or classes that the candidates separate completely leave none.
        unit = replace(moments, covariance=np.eye(len(moments.covariance)))
        heads = logits = gaussian_heads(unit)
        # The mean of a class that weighs less than a sample would be taken for as certain as others.
        light = threshold == "auto" and moments.weights.min() < 1
        if light or threshold == "least_squares":
            heads = indicator_heads(moments, fit.criterion_path)
    else:
        needs_rows = threshold == "margin" and features_of is not None
        outputs, Y, weight = features_of() if needs_rows else (None, None, None)  # type: ignore[misc]
        how = "least_squares" if threshold == "auto" else threshold
        heads = decision_heads(how, moments, outputs, Y, weight, nu)
        logits = winning_logits(heads, logit_heads(moments))
    return replace(fit, heads=heads, decision=Decision(logits, joint, n_candidates))


def thresholds(model: Any) -> np.ndarray:
    """B of each output: a feature decides by the sign of feature + b."""
    fit = model._current_fit()
    if fit.decision.joint or fit.heads is None:
        raise AttributeError("Joint features of several classes have no thresholds of their own.")
    return np.asarray(fit.heads.intercepts[-1] / np.diagonal(fit.heads.coefficients))


def sparsity(model: Any) -> float:
    """Fraction of the candidates whose coefficients are zero."""
    fit = model._current_fit()
    used = np.count_nonzero(fit.model.projection.any(axis=1))
    return 1.0 - used / fit.decision.n_candidates


def predict_proba(self: Any, X: Any, n_components: int | None = None) -> np.ndarray:
    """Return the probability of each class, by a Gaussian model of the outputs.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples, as for ``transform``.
    n_components : int, default=None
        Use the first features only; None for all.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Where each class is compared with the rest, they are normalised to sum 1.
    """
    fitted = self._prefix(n_components)
    decision = fitted._current_fit().decision
    logits = decision.logits.predict(self._features(X, fitted))
    if decision.joint:
        return np.asarray(softmax(logits, axis=1))
    if logits.shape[1] == 1:
        p = expit(logits)
        return np.hstack([1 - p, p])
    return np.asarray(softmax(log_expit(logits), axis=1))  # p over their sum, however small
