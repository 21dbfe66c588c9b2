"""A single pass over the samples for all scatters of a pool, and the features from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..deflation import Outcome, PoolMetric
from ..exceptions import InvalidDataError, InvalidParameterError
from ..execution import WeightedBlock, single_threaded_blas
from ..fitting import RIDGE_TRUST, ColumnSums, Plan, PrecisionPolicy, StatisticPass
from ..kernels import Kernel
from ..model import (
    Fit,
    KernelModel,
    explained_variance_ratio,
    orthonormal_combinations,
    signs_of_largest,
)
from ..rows import Batch, Pool, check_not_constant
from .leverages import Leverages
from .outputs import Moments
from .ratios import Denominator, factorise, largest_ratios, one_against_rest
from .scatter import Scatter, Seen, TotalScatter, WithinClasses

_FEW_ROWS = 2  # times the candidates: up to so many samples the safe statistic costs no more


@dataclass(frozen=True)
class Recipe:
    """What to maximise."""

    numerator: Sequence[Scatter]
    denominator: Sequence[Scatter]
    reg: float
    penalty: str
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


@dataclass(frozen=True)
class QuadraticForms:
    """Two quadratic forms in the coefficients of the candidates."""

    seen: Seen
    numerator: np.ndarray  # a factor; empty where there is one for each class
    denominator: Denominator


#: Completes a fit, given the moments of its features where there are labels, the leverages of samples,
#: and the samples where they can be passed over again.
Complete = Callable[[Fit, Moments | None, Leverages, Iterable[Batch] | None], Fit]


class RayleighPass:
    """Fits on a pool in one pass over the samples, which may come in any number of batches."""

    def __init__(
        self,
        plan: Plan,
        recipe: Recipe,
        copies: np.ndarray | None,
        complete: Complete = lambda fit, *_: fit,
        *,
        needs_rows: bool = False,
    ) -> None:
        kernel, pool, self._W, settings = plan.kernel, plan.pool, plan.candidates.W, plan.settings
        self._kernel, self._pool, self._settings = kernel, pool, settings
        self._recipe = recipe
        self._copies = copies  # that each candidate stands for; None for one
        self._complete = complete
        self._needs_rows = needs_rows
        self._policy = PrecisionPolicy(settings.precision, recipe.needs_all_digits)
        self._pass = StatisticPass(
            kernel,
            pool,
            np.diagonal(self._W),
            self._W.mean(axis=0),
            plan.target_shift,
            n_labels=plan.encoder.n_labels,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
            always_shifted=True,
            beside=[_blocks(side, kernel, pool) for side in (recipe.numerator, recipe.denominator)],
        )

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return empty sums: the safe form where asked or needed, or for a single pass."""
        if self._needs_rows and not repeatable:
            raise InvalidParameterError(
                "decision='margin' needs all samples at once, which a single pass cannot keep; "
                "pass decision='gaussian', 'midpoint' or 'least_squares', or batches in a list."
            )
        return self._pass.empty(self._policy.form(prefer_safe=not repeatable))

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        """Add samples to a statistic that nobody needs after an error."""
        self._pass.add(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on samples that can be passed over more than once."""
        n_rows = sum(map(len, batches)) if isinstance(batches, list) else np.inf
        problem = self._policy.solve(
            lambda form: self._pass.gather(batches, form),
            self._problem,
            lambda problem: self._recipe.reg < RIDGE_TRUST * problem.denominator.largest,
            prefer_safe=n_rows <= _FEW_ROWS * len(self._pool),
        )
        return self._finish(problem, batches)

    def solve(self, statistic: ColumnSums) -> Fit:
        """Fit from a statistic alone."""
        return self._finish(self._problem(statistic), None)

    def _problem(self, statistic: ColumnSums) -> QuadraticForms:
        """Turn statistics into factors of both quadratic forms."""
        with single_threaded_blas.lifted_for(len(self._pool), len(self._pool)):
            return self._forms(statistic)

    def _forms(self, statistic: ColumnSums) -> QuadraticForms:
        recipe = self._recipe
        seen = self._seen(statistic)
        if recipe.one_against_rest:  # for each class they differ by the numerator alone
            numerator = np.empty((0, len(self._pool)))
            wanted = [
                TotalScatter(s.weight) if isinstance(s, WithinClasses) else s
                for s in recipe.denominator
            ]
        else:
            numerator = np.vstack(_factors(seen, recipe.numerator, statistic.lines_beside(0)))
            wanted = list(recipe.denominator)
        factors = _factors(seen, wanted, statistic.lines_beside(1))
        if recipe.reg > 0:
            factors.append(np.sqrt(recipe.reg) * self._penalty_root())
        squared = not (statistic.keeps_all_digits or recipe.needs_all_digits)
        return QuadraticForms(seen, numerator, factorise(factors, squared=squared))

    def _seen(self, statistic: ColumnSums) -> Seen:
        classes = self._pass.class_scatter(statistic, center=True) if self._pass.n_labels else None
        if classes is None:
            coordinates = self._pass.coordinates(statistic, center=True)
        else:
            coordinates = classes.coordinates()
        return Seen(self._kernel, self._pool, coordinates, self._settings.n_jobs, classes)

    def _penalty_root(self) -> np.ndarray:
        if self._recipe.penalty == "alpha":
            return np.diag(np.ones(len(self._pool)) if self._copies is None else self._copies**-0.5)
        values, vectors = np.linalg.eigh(self._W)
        return (vectors * np.sqrt(np.maximum(values, 0.0))).T

    def _finish(self, problem: QuadraticForms, batches: Iterable[Batch] | None) -> Fit:
        recipe, coordinates = self._recipe, problem.seen.coordinates
        if recipe.supervised:
            size = coordinates.target_means * np.sqrt(coordinates.total_weight)
            check_not_constant(coordinates.targets, size)
        if recipe.one_against_rest:
            if not (coordinates.target_means > 0).all():
                raise InvalidDataError(
                    "A class without samples of positive weight cannot be separated from the rest; "
                    "pass more samples, or DecisionRule(multi_class='joint')."
                )
            alpha, ratios = one_against_rest(
                coordinates.columns, coordinates.targets, problem.denominator
            )
            outcome = Outcome.COMPLETE if len(ratios) else Outcome.EXHAUSTED
        else:
            alpha, ratios = largest_ratios(
                problem.numerator,
                problem.denominator,
                self._settings.n_components,
                self._settings.tol,
            )
            alpha = alpha * np.sqrt(coordinates.total_weight)
            outcome = self._outcome(len(ratios))
        return self._described(problem, alpha, ratios, outcome, batches)

    def _outcome(self, n_found: int) -> str:
        if n_found == self._settings.n_components:
            return Outcome.COMPLETE
        by_classes = all(scatter.supervised for scatter in self._recipe.numerator)
        return Outcome.TARGETS if by_classes else Outcome.EXHAUSTED

    def _described(
        self,
        problem: QuadraticForms,
        alpha: np.ndarray,
        ratios: np.ndarray,
        outcome: str,
        batches: Iterable[Batch] | None,
    ) -> Fit:
        """Settle signs, and compute what the features explain."""
        seen, coordinates = problem.seen, problem.seen.coordinates
        features = coordinates.columns @ alpha
        products = features.T @ coordinates.targets
        # Without classes the largest feature of a candidate is positive: coefficients of equal
        # candidates may be divided between them in any way.
        deciding = products if products.shape[1] else (self._W @ alpha - coordinates.means @ alpha).T
        signs = signs_of_largest(deciding)
        alpha, features = alpha * signs, features * signs
        means = coordinates.means @ alpha
        offset = means if self._settings.center else np.zeros(len(ratios))
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
        moments = seen.moments(alpha, means - offset) if has_classes else None
        forms = problem.denominator, problem.numerator
        model = self._kernel, self._pool.points, alpha, offset
        leverages = Leverages(*model, coordinates, *forms)
        return self._complete(fit, moments, leverages, batches)

    def _variance_shares(self, seen: Seen, alpha: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the share of the variance of the images that each direction adds to those before."""
        coordinates = seen.coordinates
        mean_norm = float(PoolMetric(self._W).mean_coefficients(coordinates.means) @ coordinates.means)
        total = coordinates.trace - coordinates.total_weight * mean_norm
        return explained_variance_ratio(features, total, alpha.T @ self._W @ alpha)


def _blocks(scatters: Sequence[Scatter], kernel: Kernel, pool: Pool) -> list[WeightedBlock]:
    blocks = [(scatter.weight, scatter.augmented_block(kernel, pool.points)) for scatter in scatters]
    return [(weight, block) for weight, block in blocks if block is not None and weight > 0]


def _factors(seen: Seen, scatters: Sequence[Scatter], own: np.ndarray) -> list[np.ndarray]:
    """Return weighted factors of a sum of scatters; ``own`` are their own lines."""
    factors = [np.sqrt(scatter.weight) * scatter.factor(seen) for scatter in scatters]
    return [factor for factor in (*factors, own) if len(factor)] or [np.zeros((1, len(seen.pool)))]


def _target_shares(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the share of the variance of the targets that each feature adds to those before."""
    products = orthonormal_combinations(features.T @ features).T @ (features.T @ targets)
    return (products**2).sum(axis=1) / (float((targets**2).sum()) or np.inf)
