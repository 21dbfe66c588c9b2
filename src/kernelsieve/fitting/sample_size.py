"""How many random candidates are enough."""

from __future__ import annotations

from math import ceil, log1p
from numbers import Real

from ..exceptions import InvalidParameterError

_ROUNDING = 1e-12  # of a quotient of logarithms, which may be a whole number


def candidates_needed(top: float = 0.05, probability: float = 0.95) -> int:
    """Return how many random candidates contain one of the best with a given probability.

    The best of c independent candidates is below the top share p with probability ``(1 - p)^c``
    (Lemma 4.1 of Dhanjal, Gunn and Shawe-Taylor, 2009), whatever the distribution of their scores and
    however many samples they are drawn from.

    Parameters
    ----------
    top : float, default=0.05
        Share of all candidates that are good enough, in (0, 1].
    probability : float, default=0.95
        With which at least one of them is among those that are drawn, in (0, 1).

    Returns
    -------
    int

    See Also
    --------
    kernelsieve.model_selection.criterion_distribution : How good the best share of the candidates is.

    Examples
    --------
    >>> from kernelsieve import candidates_needed
    >>> candidates_needed(top=0.05, probability=0.95)
    59
    >>> candidates_needed(top=0.01)
    299
    """
    if not (isinstance(top, Real) and 0 < top <= 1):
        raise InvalidParameterError(
            f"top={top!r} is a share of the candidates and must be above 0 and at most 1; "
            "pass 0.05 for the best 5 %."
        )
    if not (isinstance(probability, Real) and 0 < probability < 1):
        raise InvalidParameterError(
            f"probability={probability!r} must be between 0 and 1; no number of random candidates "
            "is certain to contain a good one."
        )
    if top == 1:
        return 1
    return max(1, ceil(log1p(-probability) / log1p(-top) * (1 - _ROUNDING)))
