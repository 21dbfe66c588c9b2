"""Estimators that choose directions by a criterion: what the loop needs of their parameters."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

from ..data import TargetEncoder
from ..deflation import Alignment, BestSubset, Covariance, Criterion, ScoringCriterion
from ..exceptions import InvalidParameterError
from ..fitting import (
    AUTO_POOL,
    OnePass,
    Plan,
    Problem,
    RowPass,
    Settings,
    select_in_pool,
    select_without_pool,
    use_of_candidates,
)
from ..kernels import KernelLike
from ..model import Fit
from .base import KernelEstimator


class LoopEstimator(KernelEstimator):
    """Base of the estimators that run the loop: a subclass says what a good direction is.

    It does so by ``_criterion``, which returns a ``deflation.Criterion``.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    kernel, gamma, degree, coef0, kernel_params
        The kernel and its parameters, as for :class:`~kernelsieve.SparseMaximalAlignment`.
    candidates : {"auto", "all"}, int, array or Candidates, default="auto"
        Samples among which landmarks are chosen.
    center : bool, default=True
        Give features zero mean.
    tol : float, default=1e-10
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones.
    target : {"auto", "continuous", "classes"}, default="auto"
        What ``y`` is, where the criterion looks at targets.
    random_state : int, RandomState or None, default=None
        For drawing candidates.
    n_jobs : int, default=None
        Threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Print what is done.
    """

    #: Candidates that are drawn at every step, where this is asked for without a number.
    _fresh: ClassVar[int] = AUTO_POOL

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        center: bool = True,
        tol: float = 1e-10,
        target: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.center = center
        self.tol = tol
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _criterion(self) -> Criterion:
        """Return what a good direction is, for directions of as many candidates as it likes."""

    def _criterion_for(self, encoder: TargetEncoder) -> Criterion:
        """Return the criterion that the loop runs, given what ``y`` is."""
        return self._criterion()

    def _scoring_criterion(self) -> ScoringCriterion | None:
        """Return the criterion that scores single candidates, where there is one."""
        criterion = self._criterion_for(TargetEncoder(None, 0))
        scores = isinstance(criterion, ScoringCriterion) and self._candidates_parameter
        return criterion if scores else None

    def _settings(self) -> Settings:
        return replace(super()._settings(), center=self.center, tol=self.tol)

    def _target_kind(self) -> str | None:
        if not self._criterion().needs.targets:
            return None
        return self.target

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        """Code labels by one column a class; of centred columns two say the same as one of signs."""
        encoder = super()._encoder(y, classes)
        return encoder if self.center else encoder.with_signs()

    def _screening(self) -> Criterion | None:
        return self._criterion()

    def _pool_size(self, problem: Problem, n_samples: int) -> int:
        criterion = self._criterion_for(problem.encoder)
        return problem.pool_size(n_samples, use_of_candidates(criterion), criterion, self._fresh)

    def _solve(self, problem: Problem) -> Fit:
        criterion = self._criterion_for(problem.encoder)
        size = self._pool_size(problem, len(problem.rows))
        samples = problem.scored_samples()
        if not problem.has_pool(size):
            return select_without_pool(problem, samples, criterion, size)
        pool = problem.given or self._draw(problem, size)
        return select_in_pool(problem, samples, pool, criterion)

    def _row_pass(self, plan: Plan) -> RowPass:
        """Return what passes over samples for a pool."""
        return OnePass(plan, self._criterion_for(plan.encoder))


def subset_criterion(single: Criterion, n_nonzero: int) -> Criterion:
    """Return the criterion that combines up to so many candidates in one direction."""
    if n_nonzero == 1:
        return single
    if not isinstance(single, (Alignment, Covariance)):
        raise InvalidParameterError(
            f"n_nonzero={n_nonzero} combines candidates for 'alignment' and 'covariance' "
            "only; pass n_nonzero=1 with another criterion."
        )
    return BestSubset(single, n_nonzero)
