"""What the classifiers of this room share: weights of classes, decisions, probabilities, sparsity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from .._sklearn import Interval, StrOptions, fit_context
from ..deflation import Criterion
from ..estimators import KernelExtractor, Predicting, all_or_nothing
from ..exceptions import InvalidParameterError
from ..fitting import Stream
from ..kernels import Rows
from ..model import Decision, Fit
from ..rows import Batch, TargetEncoder
from .outputs import (
    Moments,
    decision_heads,
    gaussian_heads,
    indicator_heads,
    logit_heads,
    logits_of_outputs,
    winning_logits,
)

#: Gives features, indicators of classes and weights of all rows: what the margin looks at.
FeaturesOf = Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray | None]]


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and bool(0 < float(value) < np.inf)


class Discriminating(Predicting, KernelExtractor):
    """Base of the classifiers: outputs, thresholds, probabilities.

    A subclass finds features, and tells by :meth:`_decided` how they decide.
    """

    threshold: str
    nu: float
    class_weight: dict[Any, float] | str | None
    probability_cv: int | None
    target = "classes"

    _discriminating_constraints: ClassVar[dict] = {
        "threshold": [StrOptions({"auto", "margin", "midpoint", "least_squares", "gaussian"})],
        "nu": [Interval(Real, 0, 1, closed="right")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability_cv": [Interval(Integral, 2, None, closed="left"), None],
    }

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find features that tell classes apart, and how to decide by them.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Training rows; kernel values for a precomputed kernel. A memory map is read in blocks.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), default=None
            Weights; a whole number counts as that many equal rows.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        if self.probability_cv is not None:
            self._hold_out(X, y, sample_weight)
        return self

    def _hold_out(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Take probabilities from the outputs of rows that were held out."""
        if self._is_precomputed and not isinstance(self.candidates, (str, Integral)):
            raise InvalidParameterError(
                "probability_cv fits on some of the rows, among which row numbers in candidates are "
                "others; pass candidates as a number or 'all' with kernel='precomputed'."
            )
        batch, encoder = self._read(X, y, sample_weight, self._make_criterion())
        rows_of_class = batch.Y.sum(axis=0)
        if rows_of_class.min() < self.probability_cv:
            raise InvalidParameterError(
                f"probability_cv={self.probability_cv} is more than the {int(rows_of_class.min())} "
                "rows of the smallest class; lower probability_cv, or pass None."
            )
        codes = batch.Y.argmax(axis=1)
        params = None
        if sample_weight is not None:
            params = {"sample_weight": np.broadcast_to(np.asarray(sample_weight), len(batch))}
        outputs = cross_val_predict(
            clone(self).set_params(probability_cv=None),
            X,
            encoder.classes[codes],  # type: ignore[index]
            cv=StratifiedKFold(self.probability_cv),
            method="decision_function",
            params=params,
        ).reshape(len(batch), -1)
        fit, decision = self._discriminant()
        if decision.joint:  # log odds against the last class
            outputs = outputs[:, :-1] - outputs[:, -1:]
        moments = Moments.of(outputs, batch.Y, batch.weight)
        logits = logits_of_outputs(fit.heads, moments, joint=decision.joint)  # type: ignore[arg-type]
        self._fit = replace(fit, decision=replace(decision, logits=logits))

    # ------------------------------------------------------------------ weights

    def _batch(self, X: Rows, y: Any, sample_weight: Any, encoder: TargetEncoder) -> Batch:
        batch = super()._batch(X, y, sample_weight, encoder)
        if self.class_weight is None or encoder.classes is None:
            return batch
        of_class = self._class_weights(batch, encoder.classes)
        return replace(batch, weight=batch.root_weight**2 * (batch.Y @ of_class))

    def _class_weights(self, batch: Batch, classes: np.ndarray) -> np.ndarray:
        if isinstance(self.class_weight, str):  # "balanced"
            totals = batch.root_weight**2 @ batch.Y
            present = totals > 0
            mean = totals.sum() / np.count_nonzero(present)
            return np.where(present, mean / np.where(present, totals, 1.0), 0.0)
        given = dict(self.class_weight or {})
        unknown = [label for label in given if label not in classes.tolist()]
        bad = [value for value in given.values() if not _is_positive(value)]
        if unknown or bad:
            raise InvalidParameterError(
                f"class_weight={self.class_weight!r} must give labels, which are {classes.tolist()}, "
                "positive weights; labels that are left out have weight 1."
            )
        return np.array([float(given.get(label, 1.0)) for label in classes.tolist()])

    def _start_stream(
        self, X: Rows, y: Any, classes: Any, sample_weight: Any, criterion: Criterion
    ) -> Stream:
        if isinstance(self.class_weight, str):
            raise InvalidParameterError(
                "class_weight='balanced' needs all rows at once, because it counts the classes; pass a "
                "dict with the weight of each label where rows come in pieces."
            )
        if self.probability_cv is not None:
            raise InvalidParameterError(
                f"probability_cv={self.probability_cv} needs all rows at once; pass None where rows "
                "come in pieces."
            )
        return super()._start_stream(X, y, classes, sample_weight, criterion)

    # ------------------------------------------------------------------ decisions

    def _decided(
        self,
        fit: Fit,
        moments: Moments,
        n_candidates: int,
        *,
        joint: bool,
        features_of: FeaturesOf | None = None,
    ) -> Fit:
        """Add to a fit how it decides, given the moments of its features.

        Joint features serve several classes together, and the classes are taken for Gaussian. Other
        features tell one class each from the rest (a single one the second of two classes from the
        first), with a threshold of its own. ``features_of`` returns features, indicators of classes
        and weights of all rows, which the margin needs.
        """
        if joint:
            # Features have unit variance with the ridge, and less without it; the ridge must be part of
            # the Gaussians too, or classes that the candidates separate completely leave none.
            unit = replace(moments, covariance=np.eye(len(moments.covariance)))
            heads = logits = gaussian_heads(unit)
            # The mean of a class that weighs less than a row would be taken for as certain as others.
            light = self.threshold == "auto" and moments.weights.min() < 1
            if light or self.threshold == "least_squares":
                heads = indicator_heads(moments, fit.criterion_path)
        else:
            needs_rows = self.threshold == "margin" and features_of is not None
            outputs, Y, weight = features_of() if needs_rows else (None, None, None)  # type: ignore[misc]
            how = "least_squares" if self.threshold == "auto" else self.threshold
            heads = decision_heads(how, moments, outputs, Y, weight, self.nu)
            logits = winning_logits(heads, logit_heads(moments))
        return replace(fit, heads=heads, decision=Decision(logits, joint, n_candidates))

    @property
    def thresholds_(self) -> np.ndarray:
        """B of each output: a feature decides by the sign of feature + b."""
        fit, decision = self._discriminant()
        if decision.joint or fit.heads is None:
            raise AttributeError("Joint features of several classes have no thresholds of their own.")
        return fit.heads.intercepts[-1] / np.diagonal(fit.heads.coefficients)

    @property
    def sparsity_(self) -> float:
        """Share of the candidates whose coefficients are zero."""
        fit, decision = self._discriminant()
        used = np.count_nonzero(fit.model.projection.any(axis=1))
        return 1.0 - used / decision.n_candidates

    def predict_proba(self, X: Any, n_components: int | None = None) -> np.ndarray:
        """Return the probability of each class, by a Gaussian model of the outputs.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows, as for ``transform``.
        n_components : int, default=None
            Use the first features only; None for all.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Where each class is told from the rest, the sum is made 1.
        """
        fitted = self if n_components is None else self.truncate(n_components)
        fit, decision = fitted._discriminant()
        rows = self._check_new_rows(X, len(fit.model.projection), finite=False)
        logits = decision.logits.predict(fit.model.features(rows, self.n_jobs))
        if decision.joint:
            return np.asarray(softmax(logits, axis=1))
        if logits.shape[1] == 1:
            p = expit(logits)
            return np.hstack([1 - p, p])
        return np.asarray(softmax(log_expit(logits), axis=1))  # p over their sum, however small

    def _discriminant(self) -> tuple[Fit, Decision]:
        fit = self._current_fit()
        if fit.decision is None:
            raise TypeError(f"{type(self).__name__} did not say how its features decide")
        return fit, fit.decision
