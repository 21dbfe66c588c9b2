"""Which form of the statistic a pass accumulates, and when rows are passed over again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..statistics import DoubleDoubleStatistic, GramStatistic, Statistic

#: Squared residuals of this part of the squared norm are the last that a Gram matrix knows well enough
#: to choose by: scores are good to about 1e-6 here, and become worse as the residuals become smaller.
RESIDUAL_TRUST = 1e-8

#: The part of the largest eigenvalue of a quadratic form that a ridge must have, for the form to be
#: known well enough from a Gram matrix. It is added before anything cancels, and so may be smaller
#: than a residual: rounding then changes the solutions of systems by 1e-8 or so.
RIDGE_TRUST = 1e-9

_Sums = TypeVar("_Sums")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class PrecisionPolicy:
    """Decides between the fast form and the safe one, which has double-double precision."""

    precision: str  # "auto", "fast" or "safe": what the user asked for
    needs_double_double: bool = False  # for systems in the columns: a Gram matrix squares conditions

    def form(self, *, prefer_safe: bool = False) -> type[Statistic]:
        """Return the form to begin with; "auto" may prefer the safe one, where rows come only once."""
        needed = self.needs_double_double or prefer_safe
        safe = self.precision == "safe" or (self.precision == "auto" and needed)
        return DoubleDoubleStatistic if safe else GramStatistic

    def may_change(self, form: type[Statistic]) -> bool:
        """Tell if what was found in a form may be found again in the safe one."""
        return self.precision == "auto" and form is GramStatistic

    def solve(
        self,
        gather: Callable[[type[Statistic]], _Sums],
        solve: Callable[[_Sums], _Result],
        is_doubtful: Callable[[_Result], bool],
        *,
        prefer_safe: bool = False,
    ) -> _Result:
        """Pass over the rows and solve; do both again in the safe form where the result is doubtful."""
        form = self.form(prefer_safe=prefer_safe)
        result = solve(gather(form))
        if self.may_change(form) and is_doubtful(result):
            del result  # which may be as large as the next one
            result = solve(gather(DoubleDoubleStatistic))
        return result
