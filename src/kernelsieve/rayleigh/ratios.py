"""Maximise the ratio of two scatters: scatters, ridge and eigenproblem, from one pass.

Scatters are given by factors: F stands for ``F'F``. Factors keep the digits that products lose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular, svd

from ..data import Batch, check_not_constant, single_threaded_blas
from ..deflation import Outcome, PoolMetric, leading_eigenpairs
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import Plan, Problem
from ..model import Fit, KernelModel, explained_variance_ratio, signs_of_largest
from ..statistics import (
    RIDGE_TRUST,
    ColumnSums,
    StatisticPass,
    TriangularStatistic,
    WeightedBlock,
    form_of,
    may_become_safe,
)
from .decisions import explained_targets
from .scatter import Scatter, Seen, with_moved

_NO_CLASS = 1e-7  # of the largest: singular values of indicators of classes that occur
_FEW_ROWS = 2  # times the candidates: up to so many samples the safe statistic costs no more
_DEPENDENT = 1e-12  # of the largest: a smaller pivot belongs to a column that others combine to
_SMALL_NUMERATOR = 0.25  # of the columns: up to so many rows the singular values are found directly


@dataclass(frozen=True)
class Denominator:
    """A factorised quadratic form, on its linearly independent columns."""

    triangle: np.ndarray  # R with R'R the form on these columns
    kept: np.ndarray  # which columns they are
    n_columns: int

    @property
    def largest(self) -> float:
        """The largest eigenvalue, approximated by a few products."""
        vector, size = np.ones(len(self.triangle)), float(len(self.triangle))
        for _ in range(20):
            if size > 0:
                vector = self.triangle.T @ (self.triangle @ (vector / size))
                size = float(np.linalg.norm(vector))
        return size

    def whiten(self, factor: np.ndarray) -> np.ndarray:
        """Return ``F R^-1``: a form in coordinates in which this one is the identity."""
        return solve_triangular(self.triangle, factor[:, self.kept].T, trans="T").T

    def directions(self, vectors: np.ndarray) -> np.ndarray:
        """Convert whitened coordinates to combinations of the columns."""
        alpha = np.zeros((self.n_columns, vectors.shape[1]))
        alpha[self.kept] = solve_triangular(self.triangle, vectors)
        return alpha


def solve_ratio(self: Any, problem: Problem) -> Fit:
    """Find the directions with the largest ratio among given or drawn candidates."""
    rows, candidates, copies = problem.rows, problem.given, None
    if candidates is None:
        size = self._pool_size(problem, len(with_moved(rows, self._tangents())))
        candidates = self._draw(problem, size)
        if rows.weight is not None and len(candidates) >= len(rows):
            # All samples are candidates, and one of weight 2 is two equal ones that share alpha.
            copies = rows.weight[candidates.indices]
    return self._row_pass(problem.plan(candidates), copies).fit([rows])


@dataclass(frozen=True)
class LargestRatios:
    """Directions with the largest ratios, and the scatters behind them."""

    seen: Seen
    alpha: np.ndarray  # (m, k)
    ratios: np.ndarray
    numerator: np.ndarray  # a factor of M; without rows where each class has an M of its own
    denominator: Denominator  # of N + C P, where N is the scatter of all in that case

    def leverages(self, columns: np.ndarray) -> np.ndarray:
        """Return leverages, without the share of the constant, given centred kernel columns.

        A leverage is the share of a target of weight one in what ridge regression on the candidates
        gives to its sample; the regression has the scatter of all and the penalties.
        """
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


@dataclass(eq=False)
class RayleighPass:
    """Maximises the ratio of two sums of scatters on a pool, in one pass over the samples.

    ``penalty`` is added to the denominator, times ``reg``: the identity for "alpha", the candidates'
    kernel matrix for "norm". ``one_against_rest`` finds a direction for each class, not joint ones.
    """

    plan: Plan
    numerator: Sequence[Scatter]
    denominator: Sequence[Scatter]
    _: KW_ONLY
    reg: float
    penalty: str
    copies: np.ndarray | None = None  # that each candidate stands for; None for one
    one_against_rest: bool = False
    complete: Complete = lambda fit, *_: fit
    needs_rows: bool = False

    def __post_init__(self) -> None:
        plan = self.plan
        self.kernel, self.pool, self.W = plan.kernel, plan.pool, plan.pool.W
        self.settings = plan.settings
        # Small eigenvalues of N matter where no ridge on alpha covers them.
        self.needs_digits = self.penalty == "norm" or self.reg == 0
        self.one_pass = StatisticPass(
            self.kernel,
            self.pool,
            np.diagonal(self.W),
            self.W.mean(axis=0),
            plan.target_shift,
            n_labels=plan.encoder.n_labels,
            block_rows=self.settings.block_rows,
            n_jobs=self.settings.n_jobs,
            beside=[self._blocks(self.numerator), self._blocks(self.denominator)],
        )

    def _blocks(self, scatters: Sequence[Scatter]) -> list[WeightedBlock]:
        """Return the augmented blocks of scatters that need more than the kernel columns."""
        blocks = []
        for scatter in scatters:
            if scatter.weight > 0:
                block = scatter.augmented_block(self.kernel, self.pool.points)
                blocks += [] if block is None else [(scatter.weight, block)]
        return blocks

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return empty sums: the safe form if requested or needed, or for a single pass."""
        if self.needs_rows and not repeatable:
            raise InvalidParameterError(
                "decision='margin' needs all samples at once, which a single pass cannot keep; "
                "pass decision='gaussian', 'midpoint' or 'least_squares', or batches in a list."
            )
        needed = self.needs_digits or not repeatable
        return self.one_pass.empty(form_of(self.settings.precision, safe=needed))

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        """Add samples to a statistic, which is invalid after an error."""
        self.one_pass.add(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit to samples that can be read more than once."""
        precision = self.settings.precision
        n_rows = sum(map(len, batches)) if isinstance(batches, list) else np.inf
        needed = self.needs_digits or n_rows <= _FEW_ROWS * len(self.pool)
        form = form_of(precision, safe=needed)
        found = self.maximise(self.one_pass.gather(batches, form))
        if self.reg < RIDGE_TRUST * found.denominator.largest and may_become_safe(precision, form):
            del found  # which may be as large as the next one
            found = self.maximise(self.one_pass.gather(batches, TriangularStatistic))
        return self._described(found, batches)

    def solve(self, statistic: ColumnSums) -> Fit:
        """Fit from a statistic alone."""
        return self._described(self.maximise(statistic), None)

    def maximise(self, sums: ColumnSums) -> LargestRatios:
        """Maximise the Rayleigh coefficient (1), ``alpha' M alpha`` over ``alpha' (N + C P) alpha``.

        In Fisher's discriminant M is the scatter (6) between classes and N that within them, (7), where
        ``N = K D K``; (11) adds the ridge C. Other scatters are added to M and N. K has the kernel
        columns of the candidates, centred, in coordinates that have the inner products of the samples.
        """
        C, size, wanted, tol = self.reg, len(self.pool), self.settings.n_components, self.settings.tol
        with single_threaded_blas(unless_large=(size, size)):
            if self.one_pass.n_labels:
                seen = self._seen_by_class(sums)
            else:
                coordinates = self.one_pass.coordinates(sums, center=True)
                between, within = fisher_scatters(coordinates.columns, coordinates.targets)
                seen = Seen(self.kernel, self.pool, coordinates, between, within, self.settings.n_jobs)
            self._check(seen)
            M = np.vstack(_factors(self.numerator, seen, sums.lines_beside(0)))
            N = _factors(self.denominator, seen, sums.lines_beside(1))
            C_P = [np.sqrt(C) * self._penalty()] if C > 0 else []
            squared = not (sums.keeps_all_digits or self.needs_digits)
            denominator = factorise([*N, *C_P], squared=squared)
        K, Y, means = seen.coordinates.columns, seen.coordinates.targets, seen.coordinates.means
        if self.one_against_rest:  # an M of each class; N has the scatter of all, which is M + N
            M = M[:0]
            alpha, ratios = one_against_rest(K, Y, denominator)
        else:
            alpha, ratios = largest_ratios(M, denominator, wanted, tol)
            alpha = alpha * np.sqrt(seen.coordinates.total_weight)
        # The largest covariance with a class is positive; without classes the largest feature of a
        # candidate, as coefficients of equal candidates may be divided between them in any way.
        products = (K @ alpha).T @ Y if Y.shape[1] else (self.W @ alpha - means @ alpha).T
        return LargestRatios(seen, alpha * signs_of_largest(products), ratios, M, denominator)

    def _seen_by_class(self, sums: ColumnSums) -> Seen:
        """Return factors of both scatters from sums by class, if there are many classes."""
        classes = self.one_pass.class_scatter(sums, center=True)
        between = classes.between
        if len(between) > between.shape[1]:
            between = np.asarray(np.linalg.qr(between, mode="r"))
        known = self.kernel, self.pool, classes.coordinates()
        return Seen(*known, between, classes.within, self.settings.n_jobs)

    def _check(self, seen: Seen) -> None:
        """Raise an error for classes that cannot be separated."""
        shares, total = seen.coordinates.target_means, seen.coordinates.total_weight
        if any(scatter.supervised for scatter in (*self.numerator, *self.denominator)):
            check_not_constant(seen.coordinates.targets, shares * np.sqrt(total))
        if self.one_against_rest and not (shares > 0).all():
            raise InvalidDataError(
                "A class without samples of positive weight cannot be separated from the rest; "
                "pass more samples, or DecisionRule(multi_class='joint')."
            )

    def _penalty(self) -> np.ndarray:
        """Return a factor of P."""
        if self.penalty == "alpha":
            return np.diag(np.ones(len(self.pool)) if self.copies is None else self.copies**-0.5)
        values, vectors = np.linalg.eigh(self.W)
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)

    def _described(self, found: LargestRatios, batches: Iterable[Batch] | None) -> Fit:
        """Return the fit: the model of the directions, with the explained variance."""
        coordinates, alpha, ratios = found.seen.coordinates, found.alpha, found.ratios
        features, means = coordinates.columns @ alpha, coordinates.means
        used = np.flatnonzero(alpha.any(axis=1))
        pool, first_use = self.pool[used], np.zeros(len(used), dtype=np.intp)
        offset = means @ alpha if self.settings.center else np.zeros(len(ratios))
        mean_norm = float(PoolMetric(self.W).mean_coefficients(means) @ means)
        variance = coordinates.trace - coordinates.total_weight * mean_norm
        outcome = Outcome.COMPLETE
        if len(ratios) < self.settings.n_components and not (self.one_against_rest and len(ratios)):
            by_classes = all(scatter.supervised for scatter in self.numerator)
            outcome = Outcome.TARGETS if by_classes else Outcome.EXHAUSTED
        fit = Fit(
            model=KernelModel(self.kernel, pool.points, alpha[used], offset, first_use),
            landmark_indices=pool.indices,
            criterion_path=ratios,
            explained_variance_ratio=explained_variance_ratio(
                features, variance, alpha.T @ self.W @ alpha
            ),
            explained_target_ratio=explained_targets(features, coordinates.targets),
            outcome=outcome,
        )
        return self.complete(fit, found, batches)


def fisher_scatters(K: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return factors of the scatters between classes, (6), and within them, (7): ``N = K D K``.

    D is the projection ``I - B B'``, with B an orthonormal basis of the centred class indicators Y.
    """
    B, sizes, _ = np.linalg.svd(Y, full_matrices=False)
    B = B[:, sizes > _NO_CLASS * sizes.max(initial=0.0)]  # one column less than classes
    between = B.T @ K
    return between, K - B @ between


def _factors(scatters: Sequence[Scatter], seen: Seen, own: np.ndarray) -> list[np.ndarray]:
    """Return weighted factors of a sum of scatters; ``own`` are those from augmented blocks."""
    factors = [np.sqrt(scatter.weight) * scatter.factor(seen) for scatter in scatters]
    return [factor for factor in (*factors, own) if len(factor)] or [np.zeros((1, len(seen.pool)))]


def factorise(factors: Sequence[np.ndarray], *, squared: bool = False) -> Denominator:
    """Factorise a sum of forms; linearly dependent columns are dropped.

    ``squared`` goes by products, faster, for factors that come from products themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.ratios import factorise
    >>> factorise([np.array([[1.0, 1.0], [0.0, 0.0]])]).kept
    array([0])
    """
    n_columns = factors[0].shape[1]
    everyone = np.arange(n_columns)
    if squared:
        try:
            form = sum(factor.T @ factor for factor in factors)
            return Denominator(cholesky(form, overwrite_a=True), everyone, n_columns)
        except LinAlgError:
            pass  # nearly dependent columns: by factors, then
    stacked = np.vstack(factors)
    triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    sizes = np.abs(np.diagonal(triangle))
    if len(triangle) == n_columns and sizes.min() > _DEPENDENT * sizes.max():
        return Denominator(triangle, everyone, n_columns)
    triangle, pivots = qr(stacked, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(sizes > _DEPENDENT * sizes.max(initial=0.0)))
    # Sorted, so that columns keep their order; the triangle is made anew for that order.
    kept = np.sort(pivots[:rank]).astype(np.intp)
    return Denominator(np.asarray(np.linalg.qr(stacked[:, kept], mode="r")), kept, n_columns)


def largest_ratios(
    numerator: np.ndarray, denominator: Denominator, n_components: int, tol: float = 1e-10
) -> tuple[np.ndarray, np.ndarray]:
    """Return directions (c, k) with the largest ratios, and the ratios, largest first.

    The generalised eigenvectors of both forms, of unit length in the denominator. Ratios below
    ``tol`` times the largest are noise, and are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.ratios import factorise, largest_ratios
    >>> directions, ratios = largest_ratios(np.diag([1.0, 3.0]), factorise([np.diag([1.0, 2.0])]), 2)
    >>> ratios
    array([2.25, 1.  ])
    """
    whitened = denominator.whiten(numerator)
    if len(whitened) <= _SMALL_NUMERATOR * whitened.shape[1]:
        _, sizes, vectors = svd(whitened, full_matrices=False, check_finite=False)
        ratios, vectors = sizes[:n_components] ** 2, vectors[:n_components].T
    else:
        ratios, vectors = leading_eigenpairs(whitened.T @ whitened, n_components)
    found = ratios > tol * ratios.max(initial=0.0)
    return denominator.directions(vectors[:, found]), ratios[found]


def one_against_rest(
    columns: np.ndarray, targets: np.ndarray, denominator: Denominator
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each target the direction that separates it from the rest, with its ratio.

    ``denominator`` holds the total scatter of the (centred) columns where the Fisher criterion has
    the scatter within both sides. They differ by the numerator itself, which changes the length of
    the solution and not its direction, so one factorisation serves all targets. Directions are scaled
    so that the means of both sides differ by 2.
    """
    lengths = np.linalg.norm(targets, axis=0)
    between = columns.T @ (targets / lengths)  # the numerator is the square of this, for each target
    whitened = denominator.whiten(between.T)
    of_total = np.einsum("qc,qc->q", whitened, whitened)  # ratio to the total scatter, below 1
    if not (of_total > 0).any():
        return np.empty((columns.shape[1], 0)), np.empty(0)
    # The length that the ratio's own denominator would give is lost by rounding where classes are
    # separated well; the distance of the means is not.
    alpha = denominator.directions(whitened.T) * (2 * lengths / np.maximum(of_total, 1e-300))
    return alpha, of_total / np.maximum(1 - of_total, np.finfo(float).eps)
