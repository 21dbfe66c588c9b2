"""Maximise the ratio of two scatters: scatters, ridge and eigenproblem, from one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data import (
    Batch,
    check_not_constant,
    row_slices,
    rows_per_block,
    run_blocks,
    single_threaded_blas,
)
from ..deflation import Outcome, PoolMetric
from ..estimators import KernelEstimator, OutOfCoreMixin
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import Plan, Problem, Settings
from ..kernels import Rows
from ..model import (
    Fit,
    KernelModel,
    explained_variance_ratio,
    signs_of_largest,
)
from ..statistics import (
    RIDGE_TRUST,
    ColumnSums,
    Coordinates,
    StatisticPass,
    TriangularStatistic,
    WeightedBlock,
    form_of,
    may_become_safe,
)
from .invariance_mixin import InvarianceMixin
from .outputs import Moments, explained_targets
from .ratios import Denominator, factorise, largest_ratios, one_against_rest
from .scatter import Scatter, Seen

_NO_CLASS = 1e-7  # of the largest: singular values of indicators of classes that occur
_FEW_ROWS = 2  # times the candidates: up to so many samples the safe statistic costs no more


def solve_ratio(self: Any, problem: Problem) -> Fit:
    """Find the directions with the largest ratio among given or drawn candidates."""
    rows, candidates, copies = problem.rows, problem.given, None
    if candidates is None:
        size = self._pool_size(problem, len(self._with_moved(rows)))
        candidates = self._draw(problem, size)
        if rows.weight is not None and len(candidates) >= len(rows):
            # All samples are candidates, and one of weight 2 is two equal ones that share alpha.
            copies = rows.weight[candidates.indices]
    return self._row_pass(problem.plan(candidates), copies).fit([rows])


class RatioEstimator(InvarianceMixin, OutOfCoreMixin, KernelEstimator):
    """Base of the estimators that maximise the ratio of two scatters."""

    center: bool
    tol: float
    reg: float
    penalty: str

    _solve = solve_ratio

    def _settings(self) -> Settings:
        return replace(super()._settings(), center=self.center, tol=self.tol)


@dataclass(frozen=True)
class Ratio:
    """The ratio to maximise: ``alpha' M alpha`` over ``alpha' (N + C P) alpha``."""

    numerator: Sequence[Scatter]  # whose sum is M
    denominator: Sequence[Scatter]  # whose sum is N
    reg: float  # C
    penalty: str  # P is the identity for "alpha", the candidates' kernel matrix for "norm"
    one_against_rest: bool = False  # a direction for each class, instead of joint ones

    def is_supervised(self) -> bool:
        return any(scatter.supervised for scatter in (*self.numerator, *self.denominator))

    def needs_all_digits(self) -> bool:
        """Return True if small eigenvalues of N matter, because no ridge on alpha covers them."""
        return self.penalty == "norm" or self.reg == 0


@dataclass(frozen=True)
class LargestRatios:
    """Directions with the largest ratios, and the scatters behind them."""

    seen: Seen
    alpha: np.ndarray  # (m, k)
    ratios: np.ndarray
    numerator: np.ndarray  # a factor of M; without rows where each class has an M of its own
    denominator: Denominator  # of N + C P, where N is the scatter of all in that case

    def moments(self, offset: np.ndarray) -> Moments:
        """Return the moments of the classes along the directions, by formulas (5) to (7)."""
        coordinates = self.seen.coordinates
        shares, total = coordinates.target_means, coordinates.total_weight
        # Products with centred indicators: the weight of a class times its mean less that of all.
        products = coordinates.targets.T @ (coordinates.columns @ self.alpha)
        weights = total * np.where(shares > 0, shares, 1.0)
        means = coordinates.means @ self.alpha - offset + products / weights[:, None]
        rest = self.seen.within @ self.alpha
        return Moments(total * shares, means, rest.T @ rest / total)

    @property
    def mean_leverage(self) -> float:
        """The mean leverage of all samples."""
        coordinates = self.seen.coordinates
        return (1 + float(self._leverages(coordinates.columns).sum())) / coordinates.total_weight

    def with_leverages(
        self, X: Rows, offset: np.ndarray, n_jobs: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of samples, and their leverages.

        A leverage is the share of a target of weight one in what ridge regression on the candidates
        gives to its sample; the regression has the scatter of all and the penalties.
        """
        features, leverages = np.empty((X.shape[0], len(offset))), np.empty(X.shape[0])
        seen, coordinates = self.seen, self.seen.coordinates

        def write(rows: slice) -> None:
            columns = seen.kernel.block(X[rows], seen.pool.points)
            features[rows] = columns @ self.alpha - offset
            leverages[rows] = self._leverages(columns - coordinates.means)

        slices = list(row_slices(X.shape[0], rows_per_block(len(self.alpha))))
        run_blocks(write, slices, n_jobs)
        return features, leverages + 1 / coordinates.total_weight

    def _leverages(self, columns: np.ndarray) -> np.ndarray:
        """Return leverages without the share of the constant."""
        whitened = self.denominator.whiten(columns)
        along = whitened @ self._beside_numerator.T
        return np.asarray((whitened**2).sum(axis=1) - (along**2).sum(axis=1))

    @cached_property
    def _beside_numerator(self) -> np.ndarray:
        """A factor of the numerator's share of the inverse, where the denominator is the identity."""
        M = self.denominator.whiten(self.numerator)
        return np.linalg.solve(np.linalg.cholesky(np.eye(len(M)) + M @ M.T), M)


#: Completes a fit, given its directions, and the samples where they can be passed over again.
Complete = Callable[[Fit, LargestRatios, Iterable[Batch] | None], Fit]


class RayleighPass:
    """Maximises a ratio on a pool in one pass over the samples, in any number of batches."""

    def __init__(
        self,
        plan: Plan,
        ratio: Ratio,
        copies: np.ndarray | None,
        complete: Complete = lambda fit, *_: fit,
        *,
        needs_rows: bool = False,
    ) -> None:
        kernel, pool, W, settings = plan.kernel, plan.pool, plan.pool.W, plan.settings
        self._kernel, self._pool, self._W, self._settings = kernel, pool, W, settings
        self._ratio = ratio
        self._copies = copies  # that each candidate stands for; None for one
        self._complete = complete
        self._needs_rows = needs_rows
        self._pass = StatisticPass(
            kernel,
            pool,
            np.diagonal(W),
            W.mean(axis=0),
            plan.target_shift,
            n_labels=plan.encoder.n_labels,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
            beside=[self._blocks(side) for side in (ratio.numerator, ratio.denominator)],
        )

    def _blocks(self, scatters: Sequence[Scatter]) -> list[WeightedBlock]:
        """Return the augmented blocks of scatters that need more than the kernel columns."""
        points = self._pool.points
        blocks = [(s.weight, s.augmented_block(self._kernel, points)) for s in scatters if s.weight > 0]
        return [(weight, block) for weight, block in blocks if block is not None]

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return empty sums: the safe form if requested or needed, or for a single pass."""
        if self._needs_rows and not repeatable:
            raise InvalidParameterError(
                "decision='margin' needs all samples at once, which a single pass cannot keep; "
                "pass decision='gaussian', 'midpoint' or 'least_squares', or batches in a list."
            )
        needed = self._ratio.needs_all_digits() or not repeatable
        return self._pass.empty(form_of(self._settings.precision, safe=needed))

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        """Add samples to a statistic, which is invalid after an error."""
        self._pass.add(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit to samples that can be read more than once."""
        ratio, precision = self._ratio, self._settings.precision
        n_rows = sum(map(len, batches)) if isinstance(batches, list) else np.inf
        needed = ratio.needs_all_digits() or n_rows <= _FEW_ROWS * len(self._pool)
        form = form_of(precision, safe=needed)
        found = self._maximise(self._pass.gather(batches, form))
        if ratio.reg < RIDGE_TRUST * found.denominator.largest and may_become_safe(precision, form):
            del found  # which may be as large as the next one
            found = self._maximise(self._pass.gather(batches, TriangularStatistic))
        return self._described(found, batches)

    def solve(self, statistic: ColumnSums) -> Fit:
        """Fit from a statistic alone."""
        return self._described(self._maximise(statistic), None)

    def _maximise(self, sums: ColumnSums) -> LargestRatios:
        """Maximise the Rayleigh coefficient (1), ``alpha' M alpha`` over ``alpha' (N + C P) alpha``.

        In Fisher's discriminant M is the scatter (6) between classes and N that within them, (7), where
        ``N = K D K``; (11) adds the ridge C. Other scatters are added to M and N. K has the kernel
        columns of the candidates, centred, in coordinates that have the inner products of the samples.
        Of each matrix a factor F is computed, with ``F'F`` the matrix: products lose half the digits.
        """
        ratio, settings, size = self._ratio, self._settings, len(self._pool)
        with single_threaded_blas(unless_large=(size, size)):
            if self._pass.n_labels:
                seen = self._seen_by_class(sums)
            else:
                coordinates = self._pass.coordinates(sums, center=True)
                K, B = coordinates.columns, _class_basis(coordinates.targets)  # D = I - B B'
                between, within = B.T @ K, K - B @ (B.T @ K)  # within is D K
                seen = Seen(self._kernel, self._pool, coordinates, between, within, settings.n_jobs)
            self._check(seen.coordinates)
            M = np.vstack(_factors(ratio.numerator, seen, sums.lines_beside(0)))
            N = _factors(ratio.denominator, seen, sums.lines_beside(1))
            C_P = [np.sqrt(ratio.reg) * self._penalty()] if ratio.reg > 0 else []
            squared = not (sums.keeps_all_digits or ratio.needs_all_digits())
            denominator = factorise([*N, *C_P], squared=squared)
        if ratio.one_against_rest:  # an M of each class; N has the scatter of all, which is M + N
            M, coordinates = M[:0], seen.coordinates
            alpha, ratios = one_against_rest(coordinates.columns, coordinates.targets, denominator)
        else:
            alpha, ratios = largest_ratios(M, denominator, settings.n_components, settings.tol)
            alpha = alpha * np.sqrt(seen.coordinates.total_weight)
        return LargestRatios(seen, alpha * self._signs(seen, alpha), ratios, M, denominator)

    def _seen_by_class(self, sums: ColumnSums) -> Seen:
        """Return factors of both scatters from sums by class, if there are many classes."""
        classes = self._pass.class_scatter(sums, center=True)
        between = classes.between
        if len(between) > between.shape[1]:
            between = np.asarray(np.linalg.qr(between, mode="r"))
        known = self._kernel, self._pool, classes.coordinates()
        return Seen(*known, between, classes.within, self._settings.n_jobs)

    def _check(self, coordinates: Coordinates) -> None:
        """Raise an error for classes that cannot be separated."""
        shares = coordinates.target_means
        if self._ratio.is_supervised():
            check_not_constant(coordinates.targets, shares * np.sqrt(coordinates.total_weight))
        if self._ratio.one_against_rest and not (shares > 0).all():
            raise InvalidDataError(
                "A class without samples of positive weight cannot be separated from the rest; "
                "pass more samples, or DecisionRule(multi_class='joint')."
            )

    def _penalty(self) -> np.ndarray:
        """Return a factor of P."""
        if self._ratio.penalty == "alpha":
            return np.diag(np.ones(len(self._pool)) if self._copies is None else self._copies**-0.5)
        values, vectors = np.linalg.eigh(self._W)
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)

    def _signs(self, seen: Seen, alpha: np.ndarray) -> np.ndarray:
        """Return the signs that make the largest class covariance of each feature positive.

        Without classes the largest feature of a candidate is positive: coefficients of equal candidates
        may be divided between them in any way.
        """
        coordinates = seen.coordinates
        products = (coordinates.columns @ alpha).T @ coordinates.targets
        if products.shape[1] == 0:
            products = (self._W @ alpha - coordinates.means @ alpha).T
        return signs_of_largest(products)

    def _described(self, found: LargestRatios, batches: Iterable[Batch] | None) -> Fit:
        """Return the fit: the model of the directions, with the explained variance."""
        coordinates, alpha, ratios = found.seen.coordinates, found.alpha, found.ratios
        features, targets = coordinates.columns @ alpha, coordinates.targets
        offset = coordinates.means @ alpha if self._settings.center else np.zeros(len(ratios))
        used = np.flatnonzero(alpha.any(axis=1))
        pool, first_use = self._pool[used], np.zeros(len(used), dtype=np.intp)
        mean_norm = float(PoolMetric(self._W).mean_coefficients(coordinates.means) @ coordinates.means)
        variance = coordinates.trace - coordinates.total_weight * mean_norm
        fit = Fit(
            model=KernelModel(self._kernel, pool.points, alpha[used], offset, first_use),
            landmark_indices=pool.indices,
            criterion_path=ratios,
            explained_variance_ratio=explained_variance_ratio(
                features, variance, alpha.T @ self._W @ alpha
            ),
            explained_target_ratio=explained_targets(features, targets),
            outcome=self._outcome(len(ratios)),
        )
        return self._complete(fit, found, batches)

    def _outcome(self, n_found: int) -> str:
        if n_found == self._settings.n_components or (self._ratio.one_against_rest and n_found):
            return Outcome.COMPLETE
        by_classes = all(scatter.supervised for scatter in self._ratio.numerator)
        return Outcome.TARGETS if by_classes else Outcome.EXHAUSTED


def _class_basis(Y: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of centred class indicators, with one column less than classes."""
    B, sizes, _ = np.linalg.svd(Y, full_matrices=False)
    return np.asarray(B[:, sizes > _NO_CLASS * sizes.max(initial=0.0)])


def _factors(scatters: Sequence[Scatter], seen: Seen, own: np.ndarray) -> list[np.ndarray]:
    """Return weighted factors of a sum of scatters; ``own`` are those from augmented blocks."""
    factors = [np.sqrt(scatter.weight) * scatter.factor(seen) for scatter in scatters]
    return [factor for factor in (*factors, own) if len(factor)] or [np.zeros((1, len(seen.pool)))]
