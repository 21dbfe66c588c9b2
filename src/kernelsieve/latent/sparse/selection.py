"""Selection of support vectors: the rules MI and MR, and fallbacks where they fail.

MI and MR are stated by the paper that :mod:`.extraction` names. The quantity q that MI ranks is our
reconstruction: the text of equations (4) and (11) is lost, and of several ways to write the dual as
``alpha' q`` we use the one whose q is the gradient, the reconstruction error of every sample.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...data import draw_sample
from .columns import DeflatedKernel, Multipliers
from .exact import frank_wolfe_vertex, reconstruction_errors, solve_dual

_SAME = 1e-8  # relative difference below which residuals are one value
_ROUNDING = 1e-9  # nu n may miss a whole number by this much


@dataclass(frozen=True)
class Shares:
    """Upper bounds of alpha: each sample's weight over the weight of all support vectors.

    Parameters
    ----------
    weight : ndarray
        Positive weights of the samples. The least of them is the unit that support vectors are counted
        in, so with whole weights, of which the least is 1, a sample counts as often as it would stand.
    nu : float
        Share of the total weight that support vectors have at a step.
    """

    weight: np.ndarray
    nu: float

    @property
    def unit(self) -> float:
        return float(self.weight.min())

    @property
    def count(self) -> int:
        """How many support vectors a step has, in units."""
        return max(1, int(np.ceil(self.nu * self.weight.sum() / self.unit - _ROUNDING)))

    def best(self, scores: np.ndarray, allowed: np.ndarray | None = None) -> Multipliers | None:
        """Return the samples with the largest scores, each with its full share; the first of ties."""
        rows, mass = self._take(scores, allowed, self.count * self.unit)
        return _multipliers(rows, mass) if len(rows) else None

    def best_of_both_signs(self, scores: np.ndarray, u: np.ndarray) -> Multipliers | None:
        """Return half of the support vectors from each sign of u."""
        total = max(self.count, 2)
        up, mass_up = self._take(scores, u > 0, (total + 1) // 2 * self.unit)
        down, mass_down = self._take(scores, u <= 0, total // 2 * self.unit)
        if not (len(up) and len(down)):
            return None
        return _multipliers(np.concatenate([up, down]), np.concatenate([mass_up, mass_down]))

    def best_and_unlike(self, scores: np.ndarray, unlike: np.ndarray) -> Multipliers:
        """Return half of the support vectors by each of two scores."""
        total = max(self.count, 2)
        best, mass = self._take(scores, None, (total + 1) // 2 * self.unit)
        others = np.ones(len(scores), dtype=bool)
        others[best] = False
        rows, rest = self._take(unlike, others, total // 2 * self.unit)
        return _multipliers(np.concatenate([best, rows]), np.concatenate([mass, rest]))

    def _take(
        self, scores: np.ndarray, allowed: np.ndarray | None, mass: float
    ) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(len(scores)) if allowed is None else np.flatnonzero(allowed)
        most = int(np.ceil(mass / self.unit)) + 1  # no sample weighs less than the unit
        if most < len(rows):  # sorting all of them would cost more than a kernel column
            least = np.partition(scores[rows], -most)[-most]
            rows = rows[scores[rows] >= least]
        rows = rows[np.argsort(-scores[rows], kind="stable")]
        before = np.cumsum(self.weight[rows]) - self.weight[rows]
        taken = np.minimum(self.weight[rows], mass - before)
        chosen = taken > _ROUNDING * self.unit
        return rows[chosen], taken[chosen]


def _multipliers(rows: np.ndarray, mass: np.ndarray) -> Multipliers:
    return Multipliers(rows, mass / mass.sum())


class SelectionRule(ABC):
    """Proposes support vectors for each step."""

    def __init__(self, shares: Shares, tol: float) -> None:
        self._shares = shares
        self._tol = tol

    @abstractmethod
    def scores(self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the scores that rank the samples; ``sizes`` are those of the residuals."""

    def proposals(
        self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray
    ) -> Iterator[Multipliers]:
        """Yield multipliers, best first; later ones are fallbacks if the images do not vary.

        Residuals that are all one value give no direction, so each sign gets half of the support
        vectors. Images that depend linearly on earlier features give none either; the last to be tried
        are samples far from the best one.
        """
        scores = self.scores(kernel, u, sizes)
        if self._shares.count == 1:
            yield from self._single(kernel, u, scores)
            return
        best = self._shares.best(scores)
        if best is not None and not is_constant(u[best.rows]):
            yield best
        yield from self._others(kernel, u, scores)

    def _others(
        self, kernel: DeflatedKernel, u: np.ndarray, scores: np.ndarray
    ) -> Iterator[Multipliers]:
        split = self._shares.best_of_both_signs(scores, u)
        if split is not None:
            yield split
        best = int(np.argmax(scores))
        column = kernel.column(best)
        squared_distance = np.maximum(kernel.diagonal - 2 * column + column[best], 0.0)
        if squared_distance.max() > self._tol * kernel.columns.diagonal.max():
            yield self._shares.best_and_unlike(scores, np.abs(u - u[best]) * np.sqrt(squared_distance))

    def _single(
        self, kernel: DeflatedKernel, u: np.ndarray, scores: np.ndarray
    ) -> Iterator[Multipliers]:
        """Yield one support vector, linearly independent of earlier ones (the paper's "nu = min").

        A sample that is fitted exactly has no residual, and gives no direction alone.
        """
        largest = kernel.columns.diagonal.max(initial=0.0)
        best = self._shares.best(scores, (u != 0) & (kernel.diagonal > self._tol * largest))
        if best is not None:
            yield Multipliers(best.rows[:1], np.ones(1), shifted=False)

    def gap(self, kernel: DeflatedKernel, u: np.ndarray, used: Multipliers) -> float:
        """Return the duality gap of the multipliers that were used."""
        return np.nan


class MaximumResidual(SelectionRule):
    """MR: the samples with the largest absolute residuals, found without kernel values."""

    def scores(self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        return sizes


class MaximumInnerProduct(SelectionRule):
    """MI: the samples that the loading of a random subset reconstructs worst.

    One best response to that set: a Frank-Wolfe vertex of the dual.
    """

    def __init__(
        self, shares: Shares, tol: float, sample_size: int, random_state: np.random.RandomState
    ) -> None:
        super().__init__(shares, tol)
        self._sample_size = sample_size
        self._random_state = random_state

    def scores(self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        size = min(self._sample_size, len(u))
        rows, weight = draw_sample(len(u), size, self._random_state, self._shares.weight)
        mass = np.ones(len(rows)) if weight is None else weight
        # Support vectors come again sooner than random samples, whose columns must not displace theirs.
        return reconstruction_errors(kernel, u, _multipliers(rows, mass), replace=False)


class InnerProductThenResidual(SelectionRule):
    """MI for the first feature and MR for the others, as in the paper's classification.

    At the first step the residuals of a class are all one value, and MR cannot rank samples.
    """

    def __init__(self, first: SelectionRule, others: SelectionRule, shares: Shares, tol: float) -> None:
        super().__init__(shares, tol)
        self._first, self._later = first, others

    def scores(self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        return (self._later if kernel.loadings else self._first).scores(kernel, u, sizes)


class ExactDual(SelectionRule):
    """The multipliers that solve the dual (4), which MI and MR approximate."""

    def __init__(self, shares: Shares, tol: float, gap_tol: float) -> None:
        super().__init__(shares, tol)
        self._gap_tol = gap_tol

    def scores(self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        return sizes  # where the dual has no solution with a spread

    def proposals(
        self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray
    ) -> Iterator[Multipliers]:
        solved = solve_dual(kernel, u, self._caps(), self._gap_tol)
        if solved is not None and not is_constant(u[solved.rows]):
            yield solved
        yield from self._others(kernel, u, sizes)

    def gap(self, kernel: DeflatedKernel, u: np.ndarray, used: Multipliers) -> float:
        errors = reconstruction_errors(kernel, u, used)
        best = frank_wolfe_vertex(errors, self._caps())
        return float(best @ errors - used.alpha @ errors[used.rows])

    def _caps(self) -> np.ndarray:
        weight = self._shares.weight
        return weight / max(self._shares.nu * weight.sum(), self._shares.unit)


SELECTIONS = ("mi", "mr", "mi-mr", "exact")


def make_selection(
    name: str,
    shares: Shares,
    tol: float,
    gap_tol: float,
    sample_size: int,
    random_state: np.random.RandomState,
) -> SelectionRule:
    """Return the selection rule of a name."""
    if name == "mr":
        return MaximumResidual(shares, tol)
    if name == "exact":
        return ExactDual(shares, tol, gap_tol)
    by_product = MaximumInnerProduct(shares, tol, sample_size, random_state)
    if name == "mi":
        return by_product
    return InnerProductThenResidual(by_product, MaximumResidual(shares, tol), shares, tol)


def is_constant(u: np.ndarray) -> bool:
    """Return True if all residuals are equal up to rounding."""
    return bool(np.ptp(u) <= _SAME * np.abs(u).max(initial=0.0))
