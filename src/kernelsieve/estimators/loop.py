"""Estimators that choose directions by a criterion: what the loop needs of their parameters."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..deflation import Alignment, BestSubset, Covariance, Criterion
from ..exceptions import InvalidParameterError
from ..fitting import Plan, Problem, RowPass, loop_pass, select, use_of_candidates
from ..model import Fit
from ..rows import TargetEncoder
from .base import KernelEstimator
from .declaration import parameters


@parameters
class LoopEstimator(KernelEstimator):
    """Base of the estimators that run the loop: a subclass says what a good direction is.

    It does so by ``_criterion``, which returns a ``deflation.Criterion``.
    """

    center: bool = True

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

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        """Code labels by one column a class; of centred columns two say the same as one of signs."""
        encoder = super()._encoder(y, classes)
        return encoder if self.center else encoder.with_signs()

    def _screening(self) -> Criterion | None:
        return self._criterion()

    def _pool_size(self, problem: Problem, n_samples: int) -> int:
        screening = self._criterion()
        return problem.pool_size(n_samples, use_of_candidates(screening), screening)

    def _solve(self, problem: Problem) -> Fit:
        criterion = self._criterion_for(problem.encoder)
        return select(problem, criterion, self._draw, self._row_pass)

    def _row_pass(self, plan: Plan) -> RowPass:
        """Return what passes over samples for a pool."""
        return loop_pass(plan, self._criterion_for(plan.encoder))
