"""Estimators that choose directions by a criterion: what the loop needs of their parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

from .._sklearn import Interval
from ..deflation import Alignment, BestSubset, Covariance, Criterion
from ..exceptions import InvalidParameterError
from ..fitting import Plan, Problem, RowPass, loop_pass, select
from ..kernels import Kernel
from ..model import Fit
from ..rows import TargetEncoder
from .base import KernelEstimator


class LoopEstimator(KernelEstimator):
    """Base of the estimators that run the loop: a subclass says what a good direction is."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        "resample": ["boolean"],
        "n_nonzero": [Interval(Integral, 1, 3, closed="both")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        pool: str = "auto",
        resample: bool = False,
        n_nonzero: int = 1,
        center: bool = True,
        tol: float = 1e-20,
        precision: str = "auto",
        target: str = "auto",
        dtype: str = "float64",
        block_size: int | None = None,
        max_memory: float = 2**30,
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
        self.pool = pool
        self.resample = resample
        self.n_nonzero = n_nonzero
        self.center = center
        self.tol = tol
        self.precision = precision
        self.target = target
        self.dtype = dtype
        self.block_size = block_size
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _criterion(self) -> Criterion:
        """Return what a good direction is, for directions of as many candidates as it likes."""

    def _criterion_for(self, encoder: TargetEncoder) -> Criterion:
        """Return the criterion that the loop runs, given what ``y`` is."""
        criterion, size = self._criterion(), self.get_params(deep=False).get("n_nonzero", 1)
        if size == 1:
            return criterion
        if not isinstance(criterion, (Alignment, Covariance)):
            raise InvalidParameterError(
                f"n_nonzero={size} combines candidates for 'alignment' and 'covariance' "
                "only; pass n_nonzero=1 with another criterion."
            )
        return BestSubset(criterion, size)

    def _target_kind(self) -> str | None:
        if not self._criterion().supervised:
            return None
        return str(self.get_params(deep=False).get("target", "auto"))

    def _screening(self) -> Criterion | None:
        return self._criterion()

    def _solve(self, problem: Problem) -> Fit:
        criterion = self._criterion_for(problem.encoder)
        return select(problem, criterion, self._draw, self._row_pass)

    def _row_pass(self, plan: Plan) -> RowPass:
        """Return what passes over samples for a pool."""
        return loop_pass(plan, self._criterion_for(plan.encoder))
