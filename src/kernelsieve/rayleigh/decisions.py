"""How the classifiers of this room decide: thresholds, probabilities, held-out outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import check_array

from .._sklearn import StrOptions, fit_context
from ..deflation import Heads
from ..estimators import KernelEstimator, all_or_nothing, row_wise
from ..estimators.class_weights import with_class_weight
from ..exceptions import IgnoredParameterWarning, InvalidParameterError, warn
from ..kernels import Rows
from ..model import Decision, Fit
from ..rows import Batch, TargetEncoder
from .calibration import likeliest_slope, probabilities, sample_places
from .decision_rule import THRESHOLDS, DecisionRule
from .invariance_mixin import InvarianceMixin
from .outputs import Moments, Outputs, decision_heads, gaussian_heads, indicator_heads

#: Classes each of which may have a feature, or a programme, of its own.
MOST_ALONE = 1000

DECISION_CONSTRAINTS: dict[str, list] = {"decision": [StrOptions(set(THRESHOLDS)), DecisionRule]}

#: Former parameters of the discriminants.
MOVED_TO_DECISION: dict[str, str] = InvarianceMixin._moved | {
    name: f"pass decision=DecisionRule({new}=...), of kernelsieve.rayleigh."
    for name, new in {
        "threshold": "threshold",
        "nu": "nu",
        "multi_class": "multi_class",
        "probability": "probability",
        "probability_cv": "probability",
    }.items()
}


def program_rule(self: Any) -> DecisionRule:
    """Return how features decide, by the constant of a programme too."""
    return DecisionRule.of(self.decision)


def decision_rule(self: Any) -> DecisionRule:
    """Return how features decide."""
    rule = DecisionRule.of(self.decision)
    if rule.threshold == "intercept":
        raise InvalidParameterError(
            "threshold='intercept' is the constant of a programme, and "
            f"{type(self).__name__} solves none; pass another threshold, such as 'least_squares'."
        )
    return rule


def two_class_rule(self: Any) -> DecisionRule:
    """Return how features decide between two classes."""
    rule = decision_rule(self)
    if rule.multi_class != "auto":
        raise InvalidParameterError(
            f"multi_class={rule.multi_class!r} is for several classes, and {type(self).__name__} takes "
            "two; leave multi_class out."
        )
    return rule


def weighted_batch(self: Any, X: Rows, y: Any, sample_weight: Any, encoder: TargetEncoder) -> Batch:
    """Return samples whose weights are multiplied by those of their classes."""
    batch = KernelEstimator._batch(self, X, y, sample_weight, encoder)
    return with_class_weight(batch, self.class_weight, encoder.classes)


def unweighted_copy(self: Any) -> Any:
    """Return a copy to be fitted to samples whose weights have those of their classes in them."""
    return clone(self).set_params(class_weight=None)


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
    if self._rule.folds is not None:
        _hold_out(self, X, y, sample_weight, self._rule.folds)
    return self


def _hold_out(model: Any, X: Any, y: Any, sample_weight: Any, folds: int) -> None:
    """Take probabilities from the outputs of samples that were held out."""
    if model._is_precomputed and model._candidates().are_points:
        raise InvalidParameterError(
            "Cross-validated probabilities need fits on some of the samples, among which row numbers "
            "in candidates are others; pass candidates as a number or 'all' with kernel='precomputed'."
        )
    encoder = model._encoder(y)
    batch = model._batch(check_array(X, accept_sparse="csr"), y, sample_weight, encoder)
    of_class = replace(batch, weight=None).target_sums
    if of_class.min() < folds:
        raise InvalidParameterError(
            f"probability={folds} folds are more than the {int(of_class.min())} samples of the "
            "smallest class; lower their number, or pass probability='loo'."
        )
    params = None
    if sample_weight is not None:
        params = {"sample_weight": np.broadcast_to(np.asarray(sample_weight), len(batch))}
    outputs = cross_val_predict(
        clone(model).set_params(decision=replace(DecisionRule.of(model.decision), probability="loo")),
        X,
        encoder.classes[batch.Y.argmax(axis=1) if batch.codes is None else batch.codes],
        cv=StratifiedKFold(folds),
        method="decision_function",
        params=params,
    ).reshape(len(batch), -1)
    fit = model._current_fit()
    some = sample_places(len(batch), batch.n_targets)
    slope = likeliest_slope(outputs[some], batch[some].Y, batch.root_weight[some] ** 2)
    # The same factor corrects the slopes with fewer features.
    slopes = fit.decision.slopes * (slope / fit.decision.slopes[-1])
    model._fit = replace(fit, decision=replace(fit.decision, slopes=slopes))


def check_out_of_core(model: Any) -> None:
    """Refuse parameters that need all samples at once."""
    if isinstance(model.class_weight, str):
        raise InvalidParameterError(
            "class_weight='balanced' needs all samples at once, because it counts the classes; out of "
            "core pass a dict with the weight of each label."
        )
    rule = DecisionRule.of(model.decision)
    if rule.folds is not None:
        raise InvalidParameterError(
            f"{rule} needs all samples at once for its folds; out of core pass probability='loo'."
        )


def heads_of_features(
    model: Any,
    moments: Moments,
    ratios: np.ndarray,
    *,
    joint: bool,
    all_outputs: Callable[[], Outputs | None],
) -> Heads:
    """Return how features decide, given their moments.

    Joint features serve several classes together, and the classes are taken for Gaussian. Other
    features separate one class each from the rest (a single one the second of two classes from the
    first), with a threshold of its own.
    """
    rule = DecisionRule.of(model.decision)
    threshold = rule.threshold
    if not joint:
        samples = all_outputs() if threshold == "margin" else None
        return decision_heads(threshold, moments, samples, rule.nu)
    if threshold in ("margin", "midpoint"):
        warn(
            f"threshold={threshold!r} is for features of one class each; joint features of "
            f"{len(moments.weights)} classes are decided by a Gaussian model. Pass "
            "DecisionRule(multi_class='ovr'), or decision='auto'.",
            IgnoredParameterWarning,
        )
    # The mean of a class that weighs less than a sample would be taken for as certain as others.
    if threshold == "least_squares" or (threshold == "auto" and moments.weights.min() < 1):
        return indicator_heads(moments, ratios)
    # Features have unit variance with the ridge, and less without it; the ridge must be part of
    # the Gaussians too, or classes that the candidates separate completely leave none.
    return gaussian_heads(replace(moments, covariance=np.eye(len(moments.covariance))))


def held_out(model: Any, outputs: Outputs, wanted: np.ndarray, leverages: np.ndarray) -> Outputs:
    """Return the outputs that probabilities are made of, as the parameters say.

    ``wanted`` are the targets of the samples.
    """
    if DecisionRule.of(model.decision).probability == "in_sample":
        return outputs
    leverages = leverages.reshape(len(outputs.weight), -1)
    return outputs.left_out(wanted, left_weights(model, outputs)[:, None] * leverages)


def left_weights(model: Any, outputs: Outputs) -> np.ndarray:
    """Return the weight of each sample that is left out: of several equal samples, one."""
    if model.class_weight is None:
        return np.minimum(outputs.weight, 1.0)
    of_class = outputs.weight @ outputs.indicators
    counts = np.maximum(outputs.indicators.sum(axis=0), 1)
    return np.minimum(outputs.weight, outputs.indicators @ (of_class / counts))


def held_out_moments(model: Any, moments: Moments, targets: np.ndarray, leverage: float) -> Outputs:
    """Return outputs that probabilities are made of where samples cannot be passed over again."""
    if DecisionRule.of(model.decision).probability != "in_sample":
        moments = moments.left_out(targets, leverage)
    return Outputs.drawn(moments)


def check_few_classes(n_classes: int, what: str, remedy: str) -> None:
    """Refuse work on each of many classes alone, before it is begun."""
    if n_classes > MOST_ALONE:
        raise InvalidParameterError(
            f"y has {n_classes} classes, and {what} for each of them; that is for {MOST_ALONE} at "
            f"most. {remedy}"
        )


def thinned(batch: Batch) -> Batch:
    """Return as many samples, from all over the batch, as probabilities need."""
    places = sample_places(len(batch), batch.n_targets)
    return batch if len(places) == len(batch) else batch[places]


def decided(fit: Fit, heads: Heads, outputs: Outputs, n_candidates: int, *, joint: bool) -> Fit:
    """Add to a fit how it decides, and how probable that is by outputs of samples."""
    k = outputs.values.shape[1]
    numbers = range(1, k + 1) if joint else [k]
    slopes = [
        likeliest_slope(heads.predict(outputs.values[:, :j]), outputs.indicators, outputs.weight)
        for j in numbers
    ]
    decision = Decision(np.broadcast_to(np.array(slopes), k).copy(), joint, n_candidates)
    return replace(fit, heads=heads, decision=decision)


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


@row_wise
def predict_proba(self: Any, X: Any, n_components: int | None = None) -> np.ndarray:
    """Return the probability of each class; the predicted class has the largest.

    Log odds are the decisions times one slope, which makes the classes of the training samples
    likeliest by outputs that did not see them, or as the parameters say.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples, as for ``transform``.
    n_components : int, default=None
        Use the first features only; None for all.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    link = self._prefix(n_components)._probability_link()
    return np.asarray(link(self._scores(X, n_components)))


def probability_link(self: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that makes probabilities of decisions."""
    return partial(probabilities, slope=float(self._current_fit().decision.slopes[-1]))
