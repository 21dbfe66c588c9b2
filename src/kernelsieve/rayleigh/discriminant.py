"""What the kernel Fisher discriminants share: class weights, invariances, decisions, probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import check_array

from .._sklearn import StrOptions, fit_context
from ..data import Batch, TargetEncoder
from ..estimators import KernelEstimator, PredictMixin, all_or_nothing, row_wise
from ..estimators.class_weights import with_class_weight
from ..exceptions import InvalidParameterError
from ..kernels import Rows
from ..model import Decision
from .decisions import Outputs, likeliest_slope, probabilities, spread_places
from .scatter import MOVED_TO_TANGENT, Tangent, draw_with_moved, read_tangents

#: Classes each of which may have a feature, or a program, of its own.
MOST_ALONE = 1000
_MOST_SAMPLES = 10_000  # whose outputs a slope is found by; more would change its third digit
_MOST_DECISIONS = 2**20  # of samples about classes, where these are many
_SMALLEST_REST = 1e-9  # of a leverage to one: what a fit without the sample says is then unknown

#: Rules that the word alone stands for.
THRESHOLDS = ("auto", "least_squares", "margin", "midpoint", "gaussian", "alignment")


@dataclass(frozen=True, repr=False)
class DecisionRule:
    """How a discriminant decides by its features, and how it finds probabilities.

    The discriminants take it as ``decision``, where the word for a threshold is short for a rule with
    that threshold.

    Parameters
    ----------
    threshold : str, default="auto"
        Of features that separate one class from the rest. "least_squares" is where least squares to
        labels -1 and 1 changes sign, "margin" the linear program (15) of Mika et al. (2003), which
        needs the features of all samples, "midpoint" the middle of the means, "gaussian" where both
        sides are as probable by a Gaussian model of the features, and "alignment" the mean of all
        samples: the inner product of centred features is a kernel, and a sample is of the class with
        whose samples its values are largest on average. Joint features of several classes are decided
        by a Gaussian model, with "least_squares" by ridge regression to the indicators of the classes,
        or by "alignment"; "margin" and "midpoint" are not for them. "auto" is "least_squares", but
        "gaussian" for joint features unless a class weighs less than one sample.
        ``SparseKernelFisherDiscriminant`` also takes "intercept", the constant that its program finds.
    nu : float or "cv", default=0.5
        For ``threshold="margin"``: the share of the smaller class that may lie within the margin;
        "cv" chooses it by cross-validation of the threshold.
    multi_class : {"auto", "joint", "ovr"}, default="auto"
        For more than two classes: "joint" features, or "ovr", a feature for each class against the
        rest; the largest is predicted. ``KernelFisherDiscriminant`` has "joint" features unless it is
        told otherwise, one less than classes, on which classes are taken for Gaussian.
        ``SparseKernelFisherDiscriminant`` has one for each class in any case; with "joint", which is
        for the squared loss, a column's coefficients for all classes are penalised by the length of
        their vector, so that all classes use the same few columns. ``GreedyKernelFisherDiscriminant``
        knows two classes.
    probability : {"loo", "in_sample"} or int, default="loo"
        Outputs that ``predict_proba`` is made of: "loo" those that a fit without the sample would give
        it, in closed form (at most 10,000 samples are looked at; out of core, by the mean leverage of
        all), "in_sample" those of the fit, which are overconfident where there are many candidates
        and little penalty. A number is that of the folds of a cross-validation whose held-out outputs
        are taken.

    Raises
    ------
    InvalidParameterError
        If a value cannot work.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import KernelFisherDiscriminant
    >>> from kernelsieve.rayleigh import DecisionRule
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> kfd = KernelFisherDiscriminant(decision=DecisionRule("margin", nu=0.2)).fit(scale(X), y)
    >>> bool(kfd.score(scale(X), y) > 0.97)
    True
    """

    threshold: str = "auto"
    nu: float | str = 0.5
    multi_class: str = "auto"
    probability: str | int = "loo"

    def __post_init__(self) -> None:
        thresholds = (*THRESHOLDS, "intercept")
        if not isinstance(self.threshold, str) or self.threshold not in thresholds:
            self._refuse("threshold", f"one of {', '.join(map(repr, thresholds))}")
        share = isinstance(self.nu, Real) and not isinstance(self.nu, bool) and 0 < self.nu <= 1
        if not share and not (isinstance(self.nu, str) and self.nu == "cv"):
            self._refuse("nu", "a share above 0 and at most 1, or 'cv'")
        if not isinstance(self.multi_class, str) or self.multi_class not in ("auto", "joint", "ovr"):
            self._refuse("multi_class", "'auto', 'joint' or 'ovr'")
        named = isinstance(self.probability, str) and self.probability in ("loo", "in_sample")
        if not named and (self.folds is None or self.folds < 2):
            self._refuse("probability", "'loo', 'in_sample' or a number of folds, at least 2")

    def _refuse(self, name: str, allowed: str) -> None:
        raise InvalidParameterError(
            f"DecisionRule({name}={getattr(self, name)!r}) is not valid: {name} must be {allowed}; "
            f"pass such a value, or leave {name} out."
        )

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return a rule unchanged, or make one from the name of a threshold.

        Parameters
        ----------
        given : DecisionRule or str
            The ``decision`` parameter of an estimator.

        Returns
        -------
        DecisionRule
        """
        return given if isinstance(given, cls) else cls(given)

    @property
    def folds(self) -> int | None:
        """Number of folds for probabilities; None without cross-validation."""
        number = isinstance(self.probability, Integral) and not isinstance(self.probability, bool)
        return int(self.probability) if number else None

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"DecisionRule({', '.join(shown)})"


class KernelDiscriminant(PredictMixin, KernelEstimator):
    """Base of the kernel Fisher discriminants."""

    decision: str | DecisionRule
    class_weight: dict[Any, float] | str | None
    invariances: Sequence[Any] | None

    #: Whether a program finds a constant, so that ``threshold="intercept"`` means something.
    _finds_intercept: ClassVar[bool] = False

    _moved: ClassVar[dict[str, str]] = MOVED_TO_TANGENT | {
        name: f"pass decision=DecisionRule({new}=...), of kernelsieve.rayleigh."
        for name, new in {
            "threshold": "threshold",
            "nu": "nu",
            "multi_class": "multi_class",
            "probability": "probability",
            "probability_cv": "probability",
        }.items()
    }
    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        "decision": [StrOptions(set(THRESHOLDS)), DecisionRule],
    }
    _draw = draw_with_moved

    def _target_kind(self) -> str:
        return "classes"

    @property
    def _rule(self) -> DecisionRule:
        rule = DecisionRule.of(self.decision)
        if rule.threshold == "intercept" and not self._finds_intercept:
            raise InvalidParameterError(
                "threshold='intercept' is the constant of a programme, and "
                f"{type(self).__name__} solves none; pass another threshold, such as 'least_squares'."
            )
        return rule

    def _tangents(self) -> list[Tangent]:
        """Return the scatters of the invariances."""
        return read_tangents(self.invariances, precomputed=self._is_precomputed)

    def _batch(self, X: Rows, y: Any, sample_weight: Any, encoder: TargetEncoder) -> Batch:
        """Return samples with their weights multiplied by the class weights."""
        batch = super()._batch(X, y, sample_weight, encoder)
        return with_class_weight(batch, self.class_weight, encoder.classes)

    def _for_folds(self) -> Self:
        """Return a copy without class weights, for samples whose weights include them."""
        return clone(self).set_params(class_weight=None)

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        super().fit(X, y, sample_weight)
        if self._rule.folds is not None:
            self._hold_out(X, y, sample_weight, self._rule.folds)
        return self

    @property
    def _found_decision(self) -> Decision:
        decision = self._current_fit().decision
        assert decision is not None
        return decision

    def _hold_out(self, X: Any, y: Any, sample_weight: Any, folds: int) -> None:
        """Fit the probabilities to cross-validated outputs."""
        if self._is_precomputed and self._candidates().are_points:
            raise InvalidParameterError(
                "Cross-validated probabilities need fits on some of the samples, among which row "
                "numbers in candidates are others; pass candidates as a number or 'all' with "
                "kernel='precomputed'."
            )
        encoder = self._encoder(y)
        batch = self._batch(check_array(X, accept_sparse="csr"), y, sample_weight, encoder)
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
            clone(self).set_params(decision=replace(self._rule, probability="loo")),
            X,
            np.asarray(encoder.classes)[batch.Y.argmax(axis=1) if batch.codes is None else batch.codes],
            cv=StratifiedKFold(folds),
            method="decision_function",
            params=params,
        ).reshape(len(batch), -1)
        some = spread_batch(replace(batch, X=outputs))
        slope = likeliest_slope(np.asarray(some.X), some.Y, some.root_weight**2)
        decision = self._found_decision
        # The same factor corrects the slopes with fewer features.
        slopes = decision.slopes * (slope / decision.slopes[-1])
        self._fit = replace(self._current_fit(), decision=replace(decision, slopes=slopes))

    def _check_out_of_core(self) -> None:
        """Raise an error for parameters that need all samples in memory."""
        if isinstance(self.class_weight, str):
            raise InvalidParameterError(
                "class_weight='balanced' needs all samples at once, because it counts the classes; out "
                "of core pass a dict with the weight of each label."
            )
        rule = self._rule
        if rule.folds is not None:
            raise InvalidParameterError(
                f"{rule} needs all samples at once for its folds; out of core pass probability='loo'."
            )

    def _held_out(
        self, outputs: Outputs, wanted: np.ndarray, leverages: np.ndarray, *, drawn: bool = False
    ) -> Outputs:
        """Return the outputs for fitting probabilities, in closed form as of left-out samples.

        ``wanted`` (n, q) are the targets of the samples, ``leverages`` the share of its own target in
        the output of a sample, for all or each of them. Of several equal samples one is left out. Where
        samples cannot be passed over again, outputs are ``drawn``, and all leave out the same part.
        """
        if self._rule.probability == "in_sample":
            return outputs
        weight = np.ones(1) if drawn else np.minimum(outputs.weight, 1.0)
        if self.class_weight is not None and not drawn:
            of_class = outputs.weight @ outputs.indicators
            counts = np.maximum(outputs.indicators.sum(axis=0), 1)
            weight = np.minimum(outputs.weight, outputs.indicators @ (of_class / counts))
        rest = np.maximum(1 - weight[:, None] * leverages, _SMALLEST_REST)
        return replace(outputs, values=wanted - (wanted - outputs.values) / rest)

    @row_wise
    def predict_proba(self, X: Any, n_components: int | None = None) -> np.ndarray:
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
        decision = self._prefix(n_components).decision
        assert decision is not None
        return probabilities(self._scores(X, n_components), float(decision.slopes[-1]))

    def _probability_link(self) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function that makes probabilities of decisions."""
        return partial(probabilities, slope=float(self._found_decision.slopes[-1]))

    @property
    def thresholds_(self) -> np.ndarray:
        """B of each output: a feature decides by the sign of feature + b."""
        fit = self._current_fit()
        if self._found_decision.joint or fit.heads is None:
            raise AttributeError("Joint features of several classes have no thresholds of their own.")
        return np.asarray(fit.heads.intercepts[-1] / np.diagonal(fit.heads.coefficients))

    @property
    def sparsity_(self) -> float:
        """Fraction of the candidates whose coefficients are zero."""
        fit = self._current_fit()
        used = np.count_nonzero(fit.model.projection.any(axis=1))
        return 1.0 - used / self._found_decision.n_candidates


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
