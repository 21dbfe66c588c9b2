"""What a criterion needs."""

from __future__ import annotations

from dataclasses import dataclass


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
