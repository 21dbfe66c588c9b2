"""What a criterion declares: its needs, how features are removed, a ridge on coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Needs:
    """What a criterion needs; its view shows nothing else, and a fit sees to it before any work.

    Parameters
    ----------
    targets : bool, default=True
        Targets, and the columns' products with them.
    rows : bool, default=False
        The samples themselves: raw targets and sample weights. A criterion that sees the columns
        through inner products only (a quadratic one) leaves this False and can be used in one pass over
        the data.
    metric : bool, default=False
        Kernel values between candidates, beyond their diagonal.
    columns : bool, default=False
        All columns at once, so that those of all samples must fit in memory.
    digits : bool, default=False
        Double-double precision, as criteria do that solve systems in the columns: inner products square
        their condition, so a pass over the samples accumulates the safe statistic unless the fast one
        was asked for.

    Examples
    --------
    >>> from kernelsieve.deflation import Needs, ScoringCriterion
    >>> class Longest(ScoringCriterion):
    ...     needs = Needs(targets=False)
    ...
    ...     def score(self, view):
    ...         return view.residual_squared_norms
    >>> Longest().needs
    Needs(targets=False, rows=False, metric=False, columns=False, digits=False)
    """

    targets: bool = True
    rows: bool = False
    metric: bool = False
    columns: bool = False
    digits: bool = False


@dataclass(frozen=True)
class DeflationRule:
    """How features are removed: from columns, or from images."""

    #: Whether images lose their part along directions, so that features are coordinates along
    #: orthonormal directions; otherwise columns lose theirs along features, which are orthonormal.
    symmetric: ClassVar[bool]
    #: With symmetric deflation: points with a shorter residual k(z, z) leave for good.
    cutoff: ClassVar[float] = 0.0


@dataclass(frozen=True)
class LeftDeflation(DeflationRule):
    """Columns lose their part along the features: an incremental QR factorisation."""

    symmetric = False


@dataclass(frozen=True)
class SymmetricDeflation(DeflationRule):
    """Images lose their part along the directions: a Cholesky factorisation, as in feature analysis.

    A direction is the deflated image of one candidate.

    Parameters
    ----------
    cutoff : float, default=0.0
        Points whose residual k(z, z) is shorter leave for good.
    """

    cutoff: float = 0.0  # type: ignore[misc]
    symmetric = True


@dataclass(frozen=True)
class Ridge:
    """A penalty of squared coefficients that decorates columns; a ridge of 0 changes nothing."""

    ridge: float = 0.0
