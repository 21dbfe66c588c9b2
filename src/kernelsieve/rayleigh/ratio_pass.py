"""The one pass over the rows in which all scatters of a pool are found, and the features from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..deflation import Outcome, PoolMetric
from ..exceptions import InvalidDataError, InvalidParameterError
from ..execution import absorb
from ..fitting import trace_of
from ..kernels import Kernel
from ..model import Fit, KernelModel, sign_of_largest
from ..rows import AugmentedBlock, Batch, Pool, check_not_constant
from ..statistics import CompensatedStatistic, GramStatistic, Statistic
from .outputs import Moments
from .ratios import Denominator, factorise, largest_ratios, one_against_rest, orthonormal_combinations
from .scatter import Scatter, Seen, TotalScatter, WithinClasses

# The part of the largest eigenvalue of the denominator that a ridge must have, for the denominator to
# be known well enough from inner products: rounding then changes directions by 1e-8 or so.
_GRAM_TRUST = 1e-9
_FEW_ROWS = 2  # times the candidates: up to so many rows the safe statistic costs no more


@dataclass(frozen=True)
class Recipe:
    """What to maximise."""

    numerator: Sequence[Scatter]
    denominator: Sequence[Scatter]
    reg: float
    penalty: str
    n_components: int
    center: bool
    tol: float
    one_against_rest: bool = False  # a direction for each class, instead of joint ones

    @property
    def scatters(self) -> list[Scatter]:
        return [*self.numerator, *self.denominator]

    @property
    def supervised(self) -> bool:
        return any(scatter.supervised for scatter in self.scatters)

    @property
    def needs_all_digits(self) -> bool:
        """Whether small eigenvalues of the denominator matter, which a ridge on alpha would cover."""
        return self.penalty == "norm" or self.reg == 0


@dataclass
class Statistics:
    """The statistic of the columns, and what scatters with lines of their own add to both forms.

    One statistic holds the sum of all of them, however many transformations there are.
    """

    columns: Statistic
    numerator: Statistic
    denominator: Statistic

    def merge(self, other: Statistics) -> None:
        """Take in what another one has seen."""
        self.columns.merge(other.columns)
        self.numerator.merge(other.numerator)
        self.denominator.merge(other.denominator)


@dataclass(frozen=True)
class Problem:
    """Two quadratic forms in the coefficients of the candidates."""

    seen: Seen
    numerator: np.ndarray  # a factor; empty where there is one for each class
    denominator: Denominator


#: Weight of a scatter, and what fills its lines.
WeightedFrame = tuple[float, AugmentedBlock]

#: Completes a fit, given the moments of its features where there are labels, the number of candidates,
#: and the rows where they can be passed over again.
Complete = Callable[[Fit, Moments | None, int, Iterable[Batch] | None], Fit]


class RayleighPass:
    """Fits on a pool in one pass over the rows, which may come in any number of batches."""

    def __init__(
        self,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray,
        target_shift: np.ndarray,
        recipe: Recipe,
        *,
        copies: np.ndarray | None,
        precision: str,
        block_rows: int | None,
        n_jobs: int | None,
        complete: Complete,
        needs_rows: bool,
    ) -> None:
        self._kernel = kernel
        self._pool = pool
        self._W = W
        self._recipe = recipe
        self._copies = copies  # that each candidate stands for; None for one
        self._precision = precision
        self._block_rows = block_rows
        self._n_jobs = n_jobs
        self._complete = complete
        self._needs_rows = needs_rows
        self._diagonal = np.diagonal(W)
        self._frame = AugmentedBlock(kernel.against(pool.points), W.mean(axis=0), target_shift)
        self._of_numerator = _frames(recipe.numerator, kernel, pool)
        self._of_denominator = _frames(recipe.denominator, kernel, pool)

    def new_statistic(self, *, repeatable: bool) -> Statistics:
        """Return empty statistics: the safe ones where asked or needed, or for rows that come once."""
        if self._needs_rows and not repeatable:
            raise InvalidParameterError(
                "threshold='margin' looks at the features of all rows, and these rows come only once; "
                "pass threshold='gaussian', 'midpoint' or 'least_squares', or batches in a list."
            )
        return self._empty(self._form(safe=not repeatable))

    def _form(self, *, safe: bool) -> type[Statistic]:
        needed = safe or self._recipe.needs_all_digits
        is_safe = self._precision == "safe" or (self._precision == "auto" and needed)
        return CompensatedStatistic if is_safe else GramStatistic

    def absorb(self, statistic: Statistics, batch: Batch) -> None:
        """Add rows; an error leaves the statistics as they were."""
        statistic.merge(self._gather([batch], type(statistic.columns)))

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on rows that can be passed over more than once."""
        n_rows = sum(map(len, batches)) if isinstance(batches, list) else np.inf
        few = n_rows <= _FEW_ROWS * len(self._pool)
        form = self._form(safe=few)
        problem = self._problem(self._gather(batches, form))
        doubtful = self._recipe.reg < _GRAM_TRUST * problem.denominator.largest
        if form is GramStatistic and self._precision == "auto" and doubtful:
            del problem  # which is as large as the next one
            problem = self._problem(self._gather(batches, CompensatedStatistic))
        return self._finish(problem, batches)

    def solve(self, statistic: Statistics) -> Fit:
        """Fit from statistics alone."""
        return self._finish(self._problem(statistic), None)

    def _empty(self, form: type[Statistic]) -> Statistics:
        n_lines = 1 + len(self._pool)
        numerator = form(n_lines if self._of_numerator else 1)
        denominator = form(n_lines if self._of_denominator else 1)
        return Statistics(form(self._frame.n_lines), numerator, denominator)

    def _gather(self, batches: Iterable[Batch], form: type[Statistic]) -> Statistics:
        """Pass once over all rows, batch by batch, for all statistics."""
        found = self._empty(form)
        for batch in batches:
            self._absorb(found.columns, batch, self._frame)
            self._absorb_own(found.numerator, batch, self._of_numerator)
            self._absorb_own(found.denominator, batch, self._of_denominator)
        return found

    def _absorb_own(self, statistic: Statistic, batch: Batch, frames: list[WeightedFrame]) -> None:
        for weight, frame in frames:
            rows = Batch(batch.X, np.empty((len(batch), 0)), weight * batch.root_weight**2)
            self._absorb(statistic, rows, frame)

    def _absorb(self, statistic: Statistic, batch: Batch, frame: AugmentedBlock) -> None:
        def trace(block: Batch) -> float:
            return trace_of(self._kernel, block, self._diagonal)

        absorb(
            statistic,
            [batch],
            frame,
            trace_of=trace if frame is self._frame else None,
            block_rows=self._block_rows,
            n_jobs=self._n_jobs,
        )

    def _problem(self, statistic: Statistics) -> Problem:
        """Turn statistics into factors of both quadratic forms."""
        recipe, frame = self._recipe, self._frame
        coordinates = statistic.columns.coordinates(frame.target_shift, frame.shift, center=True)
        seen = Seen(self._kernel, self._pool, coordinates, self._n_jobs)
        if recipe.one_against_rest:  # for each class they differ by the numerator alone
            numerator = np.empty((0, len(self._pool)))
            wanted = [
                TotalScatter(s.weight) if isinstance(s, WithinClasses) else s
                for s in recipe.denominator
            ]
        else:
            numerator = np.vstack(_factors(seen, recipe.numerator, statistic.numerator))
            wanted = list(recipe.denominator)
        factors = _factors(seen, wanted, statistic.denominator)
        if recipe.reg > 0:
            factors.append(np.sqrt(recipe.reg) * self._penalty_root())
        squared = isinstance(statistic.columns, GramStatistic) and not recipe.needs_all_digits
        return Problem(seen, numerator, factorise(factors, squared=squared))

    def _penalty_root(self) -> np.ndarray:
        if self._recipe.penalty == "alpha":
            return np.diag(np.ones(len(self._pool)) if self._copies is None else self._copies**-0.5)
        values, vectors = np.linalg.eigh(self._W)
        return (vectors * np.sqrt(np.maximum(values, 0.0))).T

    def _finish(self, problem: Problem, batches: Iterable[Batch] | None) -> Fit:
        recipe, coordinates = self._recipe, problem.seen.coordinates
        if recipe.supervised:
            size = coordinates.target_means * np.sqrt(coordinates.total_weight)
            check_not_constant(coordinates.targets, size)
        if recipe.one_against_rest:
            if not (coordinates.target_means > 0).all():
                raise InvalidDataError(
                    "A class has no rows of positive weight and cannot be told from the rest; pass "
                    "more rows, or multi_class='joint'."
                )
            alpha, ratios = one_against_rest(
                coordinates.columns, coordinates.targets, problem.denominator
            )
            outcome = Outcome.COMPLETE if len(ratios) else Outcome.EXHAUSTED
        else:
            alpha, ratios = largest_ratios(
                problem.numerator, problem.denominator, recipe.n_components, recipe.tol
            )
            alpha = alpha * np.sqrt(coordinates.total_weight)
            outcome = self._outcome(len(ratios))
        return self._described(problem.seen, alpha, ratios, outcome, batches)

    def _outcome(self, n_found: int) -> Outcome:
        if n_found == self._recipe.n_components:
            return Outcome.COMPLETE
        by_classes = all(scatter.supervised for scatter in self._recipe.numerator)
        return Outcome.TARGETS if by_classes else Outcome.EXHAUSTED

    def _described(
        self,
        seen: Seen,
        alpha: np.ndarray,
        ratios: np.ndarray,
        outcome: Outcome,
        batches: Iterable[Batch] | None,
    ) -> Fit:
        """Settle signs, and tell what the features explain."""
        coordinates = seen.coordinates
        features = coordinates.columns @ alpha
        products = features.T @ coordinates.targets
        # Without classes the largest feature of a candidate is positive: coefficients of equal
        # candidates may be divided between them in any way.
        deciding = products if products.shape[1] else (self._W @ alpha - coordinates.means @ alpha).T
        signs = np.array([sign_of_largest(entries) for entries in deciding])
        alpha, features = alpha * signs, features * signs
        means = coordinates.means @ alpha
        offset = means if self._recipe.center else np.zeros(len(ratios))
        used = np.flatnonzero(alpha.any(axis=1))
        pool = self._pool[used]
        fit = Fit(
            model=KernelModel(
                self._kernel, pool.points, alpha[used], offset, np.zeros(len(used), dtype=np.intp)
            ),
            landmark_indices=pool.indices,
            criterion_path=ratios,
            explained_variance_ratio=self._variance_shares(seen, alpha, features),
            explained_target_ratio=_target_shares(features, coordinates.targets),
            outcome=outcome,
        )
        has_classes = products.shape[1] > 0 and len(ratios) > 0
        moments = seen.moments(features, means - offset) if has_classes else None
        return self._complete(fit, moments, len(self._pool), batches)

    def _variance_shares(self, seen: Seen, alpha: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the share of the variance of the images that each direction adds to those before."""
        coordinates = seen.coordinates
        directions = orthonormal_combinations(alpha.T @ self._W @ alpha)
        captured = ((features @ directions) ** 2).sum(axis=0)
        mean_norm = float(PoolMetric(self._W).mean_coefficients(coordinates.means) @ coordinates.means)
        total = coordinates.trace - coordinates.total_weight * mean_norm
        return captured / total if total > 0 else np.full(len(captured), np.nan)


def _frames(scatters: Sequence[Scatter], kernel: Kernel, pool: Pool) -> list[WeightedFrame]:
    frames = [(scatter.weight, scatter.frame(kernel, pool.points)) for scatter in scatters]
    return [(weight, frame) for weight, frame in frames if frame is not None and weight > 0]


def _factors(seen: Seen, scatters: Sequence[Scatter], own: Statistic) -> list[np.ndarray]:
    """Return weighted factors of a sum of scatters; ``own`` holds those with lines of their own."""
    factors = [np.sqrt(scatter.weight) * scatter.factor(seen) for scatter in scatters]
    if own.n_rows:
        zeros = np.zeros(len(seen.pool))
        factors.append(own.coordinates(np.zeros(0), zeros, center=False).columns)
    return [factor for factor in factors if len(factor)] or [np.zeros((1, len(seen.pool)))]


def _target_shares(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the share of the variance of the targets that each feature adds to those before."""
    products = orthonormal_combinations(features.T @ features).T @ (features.T @ targets)
    return (products**2).sum(axis=1) / (float((targets**2).sum()) or np.inf)
