"""The decision rule of discriminants, as users specify it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Self

from ..exceptions import InvalidParameterError

#: Rules that the word alone stands for.
THRESHOLDS = ("auto", "least_squares", "margin", "midpoint", "gaussian")


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
        needs the features of all samples, "midpoint" the middle of the means, and "gaussian" where
        both sides are as probable by a Gaussian model of the features. Joint features of several
        classes are decided by a Gaussian model, or with "least_squares" by ridge regression to the
        indicators of the classes; "margin" and "midpoint" are not for them. "auto" is
        "least_squares", but "gaussian" for joint features unless a class weighs less than one sample.
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
