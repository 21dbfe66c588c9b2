"""Fast sums or safe ones: which form of the statistic a pass accumulates."""

from __future__ import annotations

from .base import Statistic
from .gram import GramStatistic
from .triangular import TriangularStatistic

#: Squared residuals of this part of the squared norm are the last that a Gram matrix knows well enough
#: to choose by: scores are good to about 1e-6 here, and become worse as the residuals become smaller.
RESIDUAL_TRUST = 1e-8

#: The part of the largest eigenvalue of a quadratic form that a ridge must have, for the form to be
#: known well enough from a Gram matrix. It is added before anything cancels, and so may be smaller
#: than a residual: rounding then changes the solutions of systems by 1e-8 or so.
RIDGE_TRUST = 1e-9


def form_of(precision: str, *, safe: bool = False) -> type[Statistic]:
    """Return the form that ``precision`` asks for; with "auto" the safe one where that is needed."""
    is_safe = precision == "safe" or (precision == "auto" and safe)
    return TriangularStatistic if is_safe else GramStatistic


def may_become_safe(precision: str, form: type[Statistic]) -> bool:
    """Tell if samples that were summed up in one form may be summed up again in the safe one."""
    return precision == "auto" and form is GramStatistic
