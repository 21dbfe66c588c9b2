"""Decisions of the discriminants: thresholds, probabilities, held-out outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import check_array

from .._sklearn import StrOptions, fit_context
from ..data import Batch, TargetEncoder
from ..deflation import NEVER, Heads
from ..estimators import KernelEstimator, all_or_nothing, row_wise
from ..estimators.class_weights import with_class_weight
from ..exceptions import InvalidParameterError
from ..kernels import Rows
from ..model import Decision, Fit
from .decision_rule import THRESHOLDS, DecisionRule
from .invariance_mixin import InvarianceMixin
from .outputs import Outputs, spread_places

#: Classes each of which may have a feature, or a programme, of its own.
MOST_ALONE = 1000
_MOST_SAMPLES = 10_000  # whose outputs a slope is found by; more would change its third digit
_MOST_DECISIONS = 2**20  # of samples about classes, where these are many
_SLOPES = 1e-6, 1e6  # smallest and largest, for decisions of unit size

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
    """Return the decision rule, which may use the intercept of the program."""
    return DecisionRule.of(self.decision)


def decision_rule(self: Any) -> DecisionRule:
    """Return the decision rule."""
    rule = DecisionRule.of(self.decision)
    if rule.threshold == "intercept":
        raise InvalidParameterError(
            "threshold='intercept' is the constant of a programme, and "
            f"{type(self).__name__} solves none; pass another threshold, such as 'least_squares'."
        )
    return rule


def two_class_rule(self: Any) -> DecisionRule:
    """Return the decision rule for two classes."""
    rule = decision_rule(self)
    if rule.multi_class != "auto":
        raise InvalidParameterError(
            f"multi_class={rule.multi_class!r} is for several classes, and {type(self).__name__} takes "
            "two; leave multi_class out."
        )
    return rule


def weighted_batch(self: Any, X: Rows, y: Any, sample_weight: Any, encoder: TargetEncoder) -> Batch:
    """Return samples with their weights multiplied by the class weights."""
    batch = KernelEstimator._batch(self, X, y, sample_weight, encoder)
    return with_class_weight(batch, self.class_weight, encoder.classes)


def unweighted_copy(self: Any) -> Any:
    """Return a copy without class weights, for samples whose weights include them."""
    return clone(self).set_params(class_weight=None)


@fit_context(prefer_skip_nested_validation=True)
@all_or_nothing
def fit_discriminant(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fit the features, and the decision rule on them.

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
    """Fit the probabilities to cross-validated outputs."""
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
    some = spread_batch(replace(batch, X=outputs))
    slope = likeliest_slope(np.asarray(some.X), some.Y, some.root_weight**2)
    # The same factor corrects the slopes with fewer features.
    slopes = fit.decision.slopes * (slope / fit.decision.slopes[-1])
    model._fit = replace(fit, decision=replace(fit.decision, slopes=slopes))


def check_out_of_core(model: Any) -> None:
    """Raise an error for parameters that need all samples in memory."""
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


def held_out(
    model: Any, outputs: Outputs, wanted: np.ndarray, leverages: Any, *, drawn: bool = False
) -> Outputs:
    """Return the outputs for fitting probabilities, held out as the parameters say.

    ``wanted`` are the targets of the samples. Where samples cannot be passed over again, outputs are
    drawn, and all leave out the same part.
    """
    if DecisionRule.of(model.decision).probability == "in_sample":
        return outputs
    leverages = np.reshape(leverages, (1 if np.ndim(leverages) == 0 else len(outputs.weight), -1))
    factors = 1.0 if drawn else left_weights(model, outputs)[:, None]
    return outputs.left_out(wanted, factors * leverages)


def left_weights(model: Any, outputs: Outputs) -> np.ndarray:
    """Return the weight of each left-out sample; of several equal samples one is left out."""
    if model.class_weight is None:
        return np.minimum(outputs.weight, 1.0)
    of_class = outputs.weight @ outputs.indicators
    counts = np.maximum(outputs.indicators.sum(axis=0), 1)
    return np.minimum(outputs.weight, outputs.indicators @ (of_class / counts))


def check_few_classes(n_classes: int, what: str, remedy: str) -> None:
    """Raise an error if a method that treats each class separately has too many classes."""
    if n_classes > MOST_ALONE:
        raise InvalidParameterError(
            f"y has {n_classes} classes, and {what} for each of them; that is for {MOST_ALONE} at "
            f"most. {remedy}"
        )


def spread_batch(batch: Batch) -> Batch:
    """Return an evenly spaced subset of a batch, large enough to fit probabilities."""
    most = min(_MOST_SAMPLES, max(1, _MOST_DECISIONS // batch.n_targets))
    return batch if len(batch) <= most else batch[spread_places(len(batch), most)]


def add_decision(fit: Fit, heads: Heads, outputs: Outputs, n_candidates: int, *, joint: bool) -> Fit:
    """Add decision heads to a fit, and probabilities calibrated on the outputs of samples."""
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
    slope = float(self._prefix(n_components).decision.slopes[-1])
    return probabilities(self._scores(X, n_components), slope)


def probability_link(self: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that makes probabilities of decisions."""
    return partial(probabilities, slope=float(self._current_fit().decision.slopes[-1]))


def probabilities(decisions: np.ndarray, slope: float) -> np.ndarray:
    """Return class probabilities; the class of the largest decision value has the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import probabilities
    >>> probabilities(np.array([[np.log(3.0)], [0.0]]), 1.0)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    return np.asarray(softmax(slope * _class_scores(decisions), axis=1))


def likeliest_slope(decisions: np.ndarray, indicators: np.ndarray, weight: np.ndarray) -> float:
    """Return the maximum likelihood slope of log odds per unit of decision value.

    Half an error is added to those of all samples, or the slope of decisions without any error would
    be infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import likeliest_slope
    >>> classes = np.eye(2)[[1, 1, 1, 0]]  # of four equal decisions, three are right
    >>> slope = likeliest_slope(np.full((4, 1), 2.0), classes, np.full(4, 1e6))
    >>> round(float(np.exp(2 * slope)), 3)
    3.0
    """
    scores = _class_scores(decisions)
    counts = (weight @ indicators > 0) | (scores > NEVER / 2).all(axis=0)
    scores = scores[:, counts]
    wrong = 0.5 / (weight.sum() + 1)
    n_others = max(scores.shape[1] - 1, 1)
    targets = indicators[:, counts] * (1 - wrong - wrong / n_others) + wrong / n_others
    scores = scores - scores.mean(axis=1, keepdims=True)
    size = float(np.sqrt(weight @ (scores**2).sum(axis=1) / weight.sum()))
    if not 0 < size < np.inf:
        return 1.0
    scores = scores / size
    wanted = float(weight @ (targets * scores).sum(axis=1))

    def excess(log_slope: float) -> float:
        expected = softmax(np.exp(log_slope) * scores, axis=1) * scores
        return float(weight @ expected.sum(axis=1)) - wanted

    smallest, largest = np.log(_SLOPES)
    if excess(smallest) >= 0:
        return float(np.exp(smallest) / size)
    if excess(largest) <= 0:
        return float(np.exp(largest) / size)
    return float(np.exp(brentq(excess, smallest, largest, xtol=1e-12)) / size)


def _class_scores(decisions: np.ndarray) -> np.ndarray:
    """Return one score for each class; a single decision value belongs to the second of two."""
    if decisions.shape[1] > 1:
        return decisions
    return np.hstack([np.zeros_like(decisions), decisions])


def mean_ridge_leverage(
    columns: np.ndarray, weight: np.ndarray, ridge: float, lengths: np.ndarray | None = None
) -> float:
    """Return the mean leverage of ridge regression with an intercept.

    The ridge is on the squares of the coefficients, or on the squared length of the combination, by
    the inner products ``lengths`` of the columns in feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import mean_ridge_leverage
    >>> columns = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> mean_ridge_leverage(columns, np.ones(4), 4.0)  # of the constant 1/4, and of the column half
    0.375
    """
    centred = columns - weight @ columns / weight.sum()
    gram = centred.T @ (weight[:, None] * centred)
    penalty = ridge * (np.eye(len(gram)) if lengths is None else lengths)
    try:
        used = np.trace(np.linalg.solve(gram + penalty, gram))
    except np.linalg.LinAlgError:  # columns that depend on each other
        used = np.trace(np.linalg.pinv(gram + penalty, hermitian=True) @ gram)
    return (1 + float(used)) / float(weight.sum())
