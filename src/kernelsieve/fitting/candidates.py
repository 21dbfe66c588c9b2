"""How candidates for landmarks are drawn, as users ask for it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import ceil, log1p
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..exceptions import InvalidParameterError

_ROUNDING = 1e-12  # of a quotient of logarithms, which may be a whole number
_SIZES = ("auto", "all")
_WAYS = ("auto", "random", "screen", "kmeans", "rpcholesky")


@dataclass(frozen=True, repr=False, eq=False)
class Candidates:
    """The samples among which landmarks are chosen, and how they are drawn.

    An estimator takes it as ``candidates``; a word, a number or an array of points there is short for
    an object with that ``size``.

    Parameters
    ----------
    size : {"auto", "all"}, int or array, default="auto"
        "all" is exact selection among all samples; a number draws a pool of that many; an array of
        points (row numbers, for a precomputed kernel) is the pool. "auto" is "all" up to a number of
        samples that each estimator names, and a pool beyond.
    how : {"auto", "random", "screen", "kmeans", "rpcholesky"}, default="auto"
        How a pool is drawn. "screen" runs the selection itself for many candidates on a subset of the
        samples, which a criterion of your own allows by ``can_screen``; "kmeans" takes the samples
        nearest to the centres, and "rpcholesky" samples of large residual kernel norm. "auto" is
        "random" for a size given as a number or a method without a criterion that can be screened,
        and "screen" otherwise.
    resample : bool, default=False
        Draw new random candidates at every step, as Dhanjal et al. do, instead of one pool. For
        estimators that choose one landmark after another.
    scored_on : int, default=None
        Score candidates by sums over this many random samples: the probabilistic speed-up. None for
        all samples (``KernelBoosting``: 3,000). For the two kernel feature analyses and
        ``KernelBoosting``.

    Raises
    ------
    InvalidParameterError
        If a value cannot work.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import Candidates, SparseMaximalAlignment
    >>> X, y = load_diabetes(return_X_y=True)
    >>> candidates = Candidates(100, how="kmeans")
    >>> sieve = SparseMaximalAlignment(10, candidates=candidates, random_state=0).fit(X, y)
    >>> sieve.landmarks_.shape
    (10, 10)
    >>> Candidates(resample=True)
    Candidates(resample=True)
    """

    size: Any = "auto"
    how: str = "auto"
    resample: bool = False
    scored_on: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.size, str):
            if self.size not in _SIZES:
                self._refuse("size", '"auto", "all", a number or an array of points')
        elif isinstance(self.size, Integral):
            if isinstance(self.size, bool) or self.size < 1:
                self._refuse("size", "at least 1 where it is a number")
        elif self.size is None or (not sparse.issparse(self.size) and np.ndim(self.size) == 0):
            self._refuse("size", '"auto", "all", a whole number or an array of points')
        if not isinstance(self.how, str) or self.how not in _WAYS:
            self._refuse("how", f"one of {', '.join(map(repr, _WAYS))}")
        if not isinstance(self.resample, (bool, np.bool_)):
            self._refuse("resample", "True or False")
        whole = isinstance(self.scored_on, Integral) and not isinstance(self.scored_on, bool)
        if self.scored_on is not None and not (whole and self.scored_on >= 1):
            self._refuse("scored_on", "None, or a whole number of samples")

    def _refuse(self, name: str, allowed: str) -> None:
        raise InvalidParameterError(
            f"Candidates({name}={getattr(self, name)!r}) cannot be drawn: {name} must be {allowed}; "
            f"pass such a value, or leave {name} out."
        )

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return candidates as they are, and make them of what is short for them.

        Parameters
        ----------
        given : Candidates, str, int or array
            What an estimator was given.

        Returns
        -------
        Candidates
        """
        return given if isinstance(given, cls) else cls(given)

    @property
    def is_number(self) -> bool:
        """Whether a number of candidates is asked for."""
        return isinstance(self.size, Integral)

    @property
    def are_points(self) -> bool:
        """Whether candidates are given as points."""
        return not isinstance(self.size, (str, Integral))

    @property
    def are_all(self) -> bool:
        """Whether all samples are candidates."""
        return isinstance(self.size, str) and self.size == "all"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Candidates):
            return NotImplemented
        rest = (self.how, self.resample, self.scored_on)
        return rest == (other.how, other.resample, other.scored_on) and _same(self.size, other.size)

    def __hash__(self) -> int:
        size = np.shape(self.size) if self.are_points else self.size
        return hash((size, self.how, self.resample, self.scored_on))

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "size" and self.are_points:
                shown.append(f"<points of shape {np.shape(value)}>")
            elif value != field.default:
                shown.append(repr(value) if field.name == "size" else f"{field.name}={value!r}")
        return f"Candidates({', '.join(shown)})"


def _same(one: Any, other: Any) -> bool:
    if sparse.issparse(one) and sparse.issparse(other):
        return one.shape == other.shape and (one != other).nnz == 0
    return one is other or bool(np.array_equal(one, other))


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
