"""The programs of sparse discriminants: read the loss and C, and choose a solver for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..data import Batch, Pool, trace_of
from ..deflation import PoolMetric
from ..exceptions import InvalidParameterError, KernelError
from ..kernels import Kernel
from ..model import explained_variance_ratio, is_indefinite
from .column_generation import (
    CentredColumns,
    Lines,
    PricedColumns,
    ProgramColumns,
    ReducedColumns,
    SparseSolution,
)
from .linear_program import ColumnGeneration
from .penalised_quadratic import PenalisedQuadratic, coordinates_of
from .penalised_smooth import Huber, PenalisedSmooth, Power, SmoothLoss
from .penalised_squares import PenalisedSquares
from .scatter import Tangent, move

_LARGEST_LEVERAGE = 0.9  # as many coefficients as samples would leave nothing to hold out

#: Losses that have a number: what it is called, what it is without one, and its smallest value.
LOSS_NUMBERS: dict[str, tuple[str, float, float]] = {
    "huber": ("delta", 1.0, float(np.finfo(float).tiny)),
    "epsilon_insensitive": ("epsilon", 0.1, 0.0),
    "polynomial": ("power", 4.0, 2.0),
}


def loss_and_number(given: Any) -> tuple[str, float]:
    """Split a loss into its name and its parameter, 0 if it has none."""
    if isinstance(given, str):
        return given, LOSS_NUMBERS[given][1] if given in LOSS_NUMBERS else 0.0
    if len(given) == 2 and isinstance(given[0], str) and given[0] in LOSS_NUMBERS:
        name, number = given
        smallest = LOSS_NUMBERS[name][2]
        if isinstance(number, Real) and smallest <= float(number) < np.inf:
            return name, float(number)
    pairs = ", ".join(f"({name!r}, {called})" for name, (called, _, _) in LOSS_NUMBERS.items())
    raise InvalidParameterError(
        f"loss={given!r} must be 'squared', 'absolute' or one of {pairs}, with delta above 0, epsilon "
        "at least 0 and a power of at least 2. Pass one of these."
    )


def as_penalties(Cs: Any) -> list[float]:
    """Return the penalties of a path as numbers."""
    values = _numbers(Cs)
    if values is None:
        raise InvalidParameterError(
            f"Cs={Cs!r} must be a sequence of positive numbers; a single penalty is [1.0]."
        )
    return [float(value) for value in values]


def strength_and_priors(C: Any, n_candidates: int) -> tuple[float, np.ndarray | None]:
    """Return the strength of all penalties, and a factor for each coefficient if C is an array."""
    if np.ndim(C) == 0:
        return float(C), None
    values = _numbers(C)
    if values is None or len(values) != n_candidates:
        raise InvalidParameterError(
            f"C={C!r} must be a positive number, or one for each of the {n_candidates} candidates; "
            "pass candidates='all' to have one for each sample, or an array of points."
        )
    return 1.0, values


def _numbers(values: Any) -> np.ndarray | None:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 and (numbers > 0).all() else None


def smooth_loss(loss: str, number: float, lines: Lines) -> SmoothLoss | None:
    """Return the differentiable loss of each line, if it is one; changes have squared loss."""
    of_samples = lines.constant > 0
    if loss in ("squared", "huber"):
        delta = number if loss == "huber" else np.inf
        return Huber(np.where(of_samples, delta, np.inf))
    if loss == "polynomial":
        return Power(np.where(of_samples, number, 2.0))
    return None


Solver = PenalisedSquares | PenalisedSmooth | ColumnGeneration | PenalisedQuadratic


class ClassPrograms:
    """The programs of all classes on the same candidates, sharing work along a path of C.

    W is the kernel matrix of the candidates, None where the first of them are the samples. ``joint``
    says whether a column's coefficients for all classes are penalised by their length, and ``priors``
    of the coefficients multiply their penalties.
    """

    def __init__(
        self,
        batch: Batch,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray | None,
        invariances: Sequence[Tangent],
        *,
        loss: Any,
        penalty: str,
        joint: bool,
        priors: np.ndarray | None,
        tol: float,
        max_iter: int,
        n_jobs: int | None,
    ) -> None:
        loss, number = loss_and_number(loss)
        if joint and (loss, penalty) != ("squared", "l1"):
            raise InvalidParameterError(
                "DecisionRule(multi_class='joint') is for loss='squared' and penalty='l1'; got "
                f"loss={loss!r} and penalty={penalty!r}. Choose these, or "
                "DecisionRule(multi_class='ovr')."
            )
        if priors is not None and penalty == "norm":
            raise InvalidParameterError(
                "C must be a number with penalty='norm', where coefficients are not penalised one by "
                "one; got an array. Choose penalty='l1' or 'alpha' for an array."
            )
        self.pool, self._batch, self._kernel, self._W = pool, batch, kernel, W
        self._penalty = penalty
        self.columns = PricedColumns(batch.X, kernel, pool.points, n_jobs=n_jobs)
        self._variance = self._total_variance()
        moved = [
            PricedColumns(move(t.transform, batch.X), kernel, pool.points, n_jobs=n_jobs)
            for t in invariances
        ]
        Y = 2.0 * batch.Y - 1
        Y = Y[:, 1:] if Y.shape[1] == 2 else Y  # two classes have one output
        lines = Lines.from_labels(Y, batch.root_weight**2, [t.weight for t in invariances])
        self._factors = 1 / priors if priors is not None and penalty == "l1" else None  # (10)
        K = ProgramColumns(self.columns, moved, self._factors)
        smooth = smooth_loss(loss, number, lines)
        tube = number if loss == "epsilon_insensitive" else 0.0  # residuals in it cost nothing
        self._solvers: Sequence[Solver]
        if penalty != "l1":  # (9)
            to_alpha = self._coordinates(priors)
            Z = K.select(np.arange(len(pool))) @ to_alpha
            known = (smooth, tube, to_alpha, tol, max_iter)
            self._solvers = [PenalisedQuadratic(Z, y, *known) for y in lines.of_outputs()]
        elif smooth is None:  # (14)
            self._solvers = [ColumnGeneration(K, y, tube, tol) for y in lines.of_outputs()]
        elif loss != "squared":
            outputs = lines.of_outputs()
            self._solvers = [PenalisedSmooth(K, y, smooth, tol, max_iter) for y in outputs]
        else:  # (12): several outputs share the work of making columns short
            n_outputs = Y.shape[1]
            reduced = n_outputs > 1 and K.fits_in_memory
            design = ReducedColumns(K, lines) if reduced else CentredColumns(K, lines)
            alone = [slice(j, j + 1) for j in range(n_outputs)]
            self._solvers = [
                PenalisedSquares(design, some, tol, max_iter, grouped=joint)
                for some in ([slice(n_outputs)] if joint else alone)
            ]

    def solve(self, C: float) -> list[SparseSolution]:
        """Solve for a penalty, starting from the last solution; return a solution for each class."""
        solutions = [solution for solver in self._solvers for solution in solver.solve(C)]
        if self._factors is None:
            return solutions
        return [replace(s, alpha=s.alpha * self._factors[s.candidates]) for s in solutions]

    def _coordinates(self, priors: np.ndarray | None) -> np.ndarray:
        """Return M with ``alpha = M v``, in which the penalty is ``C ||v||^2``."""
        n, m = self.columns.shape
        if self._penalty == "norm":
            return coordinates_of(self.among(np.arange(m)))
        scale = np.ones(m)
        if self._W is None:  # a sample of weight w is w equal candidates, which share a coefficient
            scale = np.tile(self._batch.root_weight, m // n)
        return np.diag(scale if priors is None else scale / np.sqrt(priors))

    def among(self, chosen: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of chosen candidates."""
        if self._W is not None:
            return self._W[np.ix_(chosen, chosen)]
        if chosen.max() < self.columns.shape[0]:
            return self.columns.select(chosen)[chosen]
        points = self.pool.points[chosen]  # candidates that are no samples
        return self._kernel.block(points, points)

    def _total_variance(self) -> float:
        """Return the total squared distance of the images from their mean."""
        batch, W, weight = self._batch, self._W, self._batch.root_weight**2
        means = self.columns.prices(weight) / weight.sum()
        if not np.isfinite(means).all():
            raise KernelError("Kernel values are too large for their sums, or not numbers; scale X.")
        if W is None:
            of_mean = float(weight @ means[: len(weight)] / weight.sum())
            trace = float(weight @ self._kernel.diag_at(batch.X, np.arange(len(batch))))
        else:
            of_mean = float(PoolMetric(W).mean_coefficients(means) @ means)
            trace = trace_of(self._kernel, batch, np.diagonal(W))
        return trace - weight.sum() * of_mean

    def explained_variance(
        self, chosen: np.ndarray, alpha: np.ndarray, features: np.ndarray
    ) -> np.ndarray:
        """Return the share of the total variance that each direction adds to the earlier ones."""
        lengths = alpha.T @ self.among(chosen) @ alpha
        total = np.nan if is_indefinite(lengths) else self._variance
        return explained_variance_ratio(features, total, lengths)

    def mean_leverages(self, chosen: np.ndarray, alpha: np.ndarray, C: float) -> np.ndarray:
        """Return the mean leverage of each output, approximated by that of least squares."""
        weight = self._batch.root_weight**2
        if self._penalty == "l1":  # given the support, nearly least squares on its columns
            n_used = np.count_nonzero(alpha, axis=0)
            found = (n_used + (n_used > 0)) / weight.sum()
        else:
            lengths = self.among(chosen) if self._penalty == "norm" else None
            mean = mean_ridge_leverage(self.columns.select(chosen), weight, C, lengths)
            found = np.full(alpha.shape[1], mean)
        return np.minimum(found, _LARGEST_LEVERAGE)


def mean_ridge_leverage(
    columns: np.ndarray, weight: np.ndarray, ridge: float, lengths: np.ndarray | None = None
) -> float:
    """Return the mean leverage of ridge regression with an intercept.

    The ridge is on the squares of the coefficients, or on the squared length of the combination, by
    the inner products ``lengths`` of the columns in feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.programs import mean_ridge_leverage
    >>> columns = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> mean_ridge_leverage(columns, np.ones(4), 4.0)  # of the constant 1/4, and of the column half
    0.375
    """
    centred = columns - weight @ columns / weight.sum()
    gram = centred.T @ (weight[:, None] * centred)
    penalty = ridge * (np.eye(len(gram)) if lengths is None else lengths)
    try:
        used = np.trace(np.linalg.solve(gram + penalty, gram))
    except np.linalg.LinAlgError:  # columns that depend on each other
        used = np.trace(np.linalg.pinv(gram + penalty, hermitian=True) @ gram)
    return (1 + float(used)) / float(weight.sum())


def explain_zero_solution(C: Any, limit: float, rounding: float, invariant: bool) -> str:
    """Explain why all coefficients are zero, and what to do.

    ``limit`` is the largest slope of the losses along a column, as a part of C, and ``rounding`` what
    is no slope at all.
    """
    several = np.ndim(C) > 0
    if limit * (1.0 if several else float(C)) <= rounding:  # slopes sum to zero: equal values cancel
        return (
            "All samples have the same kernel values, so nothing separates classes, whatever C is; "
            "look for constant columns of X, or change gamma."
        )
    remedy = f"multiply C by less than {limit:.6g}." if several else f"choose C below {limit * C:.6g}."
    if invariant:  # the penalty of the changes alone may keep coefficients at zero
        remedy = "lower C, or the weights in invariances."
    name = "C" if several else f"C={C:g}"
    return f"{name} is so large that all coefficients are zero and the features constant; {remedy}"
