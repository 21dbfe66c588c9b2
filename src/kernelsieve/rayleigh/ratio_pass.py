"""The one pass over the rows in which all scatters of a pool are found, and the features from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..columns import Batch, Frame, Pool
from ..deflation import Outcome, PoolMetric
from ..exceptions import InvalidDataError, InvalidParameterError
from ..execution import gather
from ..kernels import Kernel
from ..model import Fit, KernelModel, check_not_constant, sign_of_largest, trace_of
from ..statistics import GramStatistic, Statistic, TriangularStatistic
from .outputs import Moments
from .ratios import (
    Denominator,
    factorise,
    largest_ratios,
    one_against_rest,
    orthonormal_combinations,
)
from .scatter import Scatter, Seen, TotalScatter, WithinClasses

# The part of the largest eigenvalue of the denominator that a ridge must have, for the denominator to
# be known well enough from inner products: rounding then changes directions by 1e-8 or so.
_GRAM_TRUST = 1e-8
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
    """The statistic of the columns, and those that some scatters have of their own."""

    columns: Statistic
    own: list[Statistic | None]

    def merge(self, other: Statistics) -> None:
        """Take in what another one has seen."""
        self.columns.merge(other.columns)
        for mine, theirs in zip(self.own, other.own, strict=True):
            if mine is not None and theirs is not None:
                mine.merge(theirs)


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
        self._precision = precision
        self._block_rows = block_rows
        self._n_jobs = n_jobs
        self._complete = complete
        self._needs_rows = needs_rows
        self._diagonal = np.diagonal(W)
        self._frame = Frame(kernel.against(pool.points), W.mean(axis=0), target_shift)
        self._own = [scatter.frame(kernel, pool.points) for scatter in recipe.scatters]

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
        return TriangularStatistic if is_safe else GramStatistic

    def absorb(self, statistic: Statistics, batch: Batch) -> None:
        """Add rows; an error leaves the statistics as they were."""
        statistic.merge(self._gather([batch], type(statistic.columns)))

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on rows that can be passed over more than once."""
        n_rows = sum(map(len, batches)) if isinstance(batches, list) else np.inf
        few = n_rows <= _FEW_ROWS * len(self._pool)
        form = self._form(safe=few)
        statistic = self._gather(batches, form)
        denominator = self._denominator(statistic)
        if form is GramStatistic and self._precision == "auto" and not self._trusted(denominator):
            statistic = self._gather(batches, TriangularStatistic)
            denominator = self._denominator(statistic)
        return self._finish(statistic, denominator, batches)

    def solve(self, statistic: Statistics) -> Fit:
        """Fit from statistics alone."""
        return self._finish(statistic, self._denominator(statistic), None)

    def _trusted(self, denominator: Denominator) -> bool:
        return self._recipe.reg >= _GRAM_TRUST * denominator.largest

    def _empty(self, form: type[Statistic]) -> Statistics:
        own = [None if frame is None else form(frame.n_lines) for frame in self._own]
        return Statistics(form(self._frame.n_lines), own)

    def _gather(self, batches: Iterable[Batch], form: type[Statistic]) -> Statistics:
        """Pass once over all rows, batch by batch, for all statistics."""
        found = self._empty(form)
        for batch in batches:
            columns = self._of(batch, self._frame, form)
            bare = replace(batch, Y=np.empty((len(batch), 0)))
            own = [None if frame is None else self._of(bare, frame, form) for frame in self._own]
            found.merge(Statistics(columns, own))
        return found

    def _of(self, batch: Batch, frame: Frame, form: type[Statistic]) -> Statistic:
        def trace(block: Batch) -> float:
            return trace_of(self._kernel, block, self._diagonal)

        return gather(
            [batch],
            frame,
            form,
            trace_of=trace if frame is self._frame else None,
            block_rows=self._block_rows,
            n_jobs=self._n_jobs,
        )

    def _seen(self, statistic: Statistics) -> Seen:
        frame = self._frame
        coordinates = statistic.columns.coordinates(frame.target_shift, frame.shift, center=True)
        return Seen(self._kernel, self._pool, coordinates, self._n_jobs)

    def _denominator(self, statistic: Statistics) -> Denominator:
        recipe, seen = self._recipe, self._seen(statistic)
        scatters = [
            # For each class they differ by the numerator alone.
            TotalScatter(scatter.weight)
            if recipe.one_against_rest and isinstance(scatter, WithinClasses)
            else scatter
            for scatter in recipe.denominator
        ]
        factors = self._factors(seen, scatters, statistic.own[len(recipe.numerator) :])
        if recipe.reg > 0:
            factors.append(np.sqrt(recipe.reg) * self._penalty_root())
        squared = isinstance(statistic.columns, GramStatistic) and not recipe.needs_all_digits
        return factorise(factors or [np.empty((0, len(self._pool)))], squared=squared)

    def _penalty_root(self) -> np.ndarray:
        if self._recipe.penalty == "alpha":
            return np.eye(len(self._pool))
        values, vectors = np.linalg.eigh(self._W)
        return (vectors * np.sqrt(np.maximum(values, 0.0))).T

    def _finish(
        self, statistic: Statistics, denominator: Denominator, batches: Iterable[Batch] | None
    ) -> Fit:
        recipe, seen = self._recipe, self._seen(statistic)
        coordinates = seen.coordinates
        if recipe.supervised:
            size = coordinates.target_means * np.sqrt(coordinates.total_weight)
            check_not_constant(coordinates.targets, size)
        if recipe.one_against_rest:
            if not (coordinates.target_means > 0).all():
                raise InvalidDataError(
                    "A class has no rows of positive weight and cannot be told from the rest; pass "
                    "more rows, or multi_class='joint'."
                )
            alpha, ratios = one_against_rest(coordinates.columns, coordinates.targets, denominator)
            outcome = Outcome.COMPLETE
        else:
            numerator = self._factors(seen, recipe.numerator, statistic.own)
            alpha, ratios = largest_ratios(
                np.vstack(numerator), denominator, recipe.n_components, recipe.tol
            )
            outcome = self._outcome(len(ratios))
        alpha = alpha * np.sqrt(coordinates.total_weight)
        return self._described(seen, alpha, ratios, outcome, batches)

    def _factors(
        self, seen: Seen, scatters: Sequence[Scatter], own: Sequence[Statistic | None]
    ) -> list[np.ndarray]:
        return [
            np.sqrt(scatter.weight) * scatter.factor(seen, mine)
            for scatter, mine in zip(scatters, own, strict=False)
        ]

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
        deciding = products if products.shape[1] else alpha.T
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


def _target_shares(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the share of the variance of the targets that each feature adds to those before."""
    products = orthonormal_combinations(features.T @ features).T @ (features.T @ targets)
    return (products**2).sum(axis=1) / (float((targets**2).sum()) or np.inf)
