"""What solves the programs of discriminants: which solver a loss and a penalty need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..exceptions import InvalidParameterError
from ..kernels import Kernel
from ..rows import Batch
from .column_generation import Lines, PricedColumns, ProgramColumns, SparseSolution
from .designs import CentredColumns, Design, ReducedColumns
from .linear_program import ColumnGeneration
from .noise import Huber, Power, SmoothLoss
from .penalised_quadratic import (
    CornerRegression,
    PenalisedQuadratic,
    SmoothRegression,
    coordinates_of,
)
from .penalised_smooth import PenalisedSmooth
from .penalised_squares import PenalisedSquares
from .scatter import Tangent, move


@dataclass(frozen=True)
class Program:
    """What is minimised, and how well."""

    loss: str
    delta: float  # where the Huber loss becomes a line
    epsilon: float  # up to which residuals cost nothing, with the epsilon-insensitive loss
    power: float  # of the polynomial loss
    penalty: str
    joint: bool  # whether a column's coefficients for all classes are penalised by their length
    tol: float
    max_iter: int
    priors: np.ndarray | None = None  # of the coefficients, which multiply their penalties

    def __post_init__(self) -> None:
        if self.joint and (self.loss, self.penalty) != ("squared", "l1"):
            raise InvalidParameterError(
                "multi_class='joint' is for loss='squared' and penalty='l1'; got "
                f"loss={self.loss!r} and penalty={self.penalty!r}. Choose these, or multi_class='ovr'."
            )
        if self.priors is not None and self.penalty == "norm":
            raise InvalidParameterError(
                "C must be a number with penalty='norm', where coefficients are not penalised one by "
                "one; got an array. Choose penalty='l1' or 'alpha' for an array."
            )

    def smooth_loss(self, lines: Lines) -> SmoothLoss | None:
        """Return the loss of each line where it has slopes everywhere; changes are squared."""
        of_samples = lines.constant > 0
        if self.loss in ("squared", "huber"):
            delta = self.delta if self.loss == "huber" else np.inf
            return Huber(np.where(of_samples, delta, np.inf))
        if self.loss == "polynomial":
            return Power(np.where(of_samples, self.power, 2.0))
        return None

    @property
    def tube(self) -> float:
        """Residuals up to here cost nothing."""
        return self.epsilon if self.loss == "epsilon_insensitive" else 0.0


Solver = PenalisedSquares | PenalisedSmooth | ColumnGeneration | PenalisedQuadratic


@dataclass(frozen=True)
class ClassPrograms:
    """Solvers of one class each, or of all together, of columns that may be scaled."""

    solvers: Sequence[Solver]
    factors: np.ndarray | None = None

    def solve(self, C: float) -> list[SparseSolution]:
        """Minimise for a penalty, from where the last one ended; return a solution for each class."""
        solutions = [solution for solver in self.solvers for solution in solver.solve(C)]
        if self.factors is None:
            return solutions
        return [replace(s, alpha=s.alpha * self.factors[s.candidates]) for s in solutions]


def class_programs(
    program: Program,
    columns: PricedColumns,
    W: np.ndarray | None,
    batch: Batch,
    kernel: Kernel,
    invariances: Sequence[Tangent],
    n_jobs: int | None,
) -> ClassPrograms:
    """Return what solves (9), (12) or (14) for all classes; two classes have one output.

    W is the kernel matrix of the candidates, None where the first of them are the samples.
    """
    moved = [
        PricedColumns(move(t.transform, batch.X), kernel, columns.points, n_jobs=n_jobs)
        for t in invariances
    ]
    Y = 2.0 * batch.Y - 1
    Y = Y[:, 1:] if Y.shape[1] == 2 else Y
    lines = Lines.of(Y, batch.root_weight**2, [t.weight for t in invariances])
    if program.penalty != "l1":
        to_alpha = _coordinates(program, columns, W, batch, kernel)
        Z = ProgramColumns(columns, moved).take(np.arange(columns.shape[1])) @ to_alpha
        return ClassPrograms([_quadratic(program, Z, own, to_alpha) for own in lines.of_outputs()])
    factors = None if program.priors is None else 1 / program.priors  # (10)
    K = ProgramColumns(columns, moved, factors)
    if program.loss != "squared":
        return ClassPrograms([_of_output(program, K, own) for own in lines.of_outputs()], factors)
    n_outputs = Y.shape[1]
    # Several outputs share the work of making columns short.
    reduced = n_outputs > 1 and K.fits_in_memory
    design: Design = ReducedColumns(K, lines) if reduced else CentredColumns(K, lines)
    together = [slice(n_outputs)] if program.joint else [slice(j, j + 1) for j in range(n_outputs)]
    solvers = [
        PenalisedSquares(design, some, program.tol, program.max_iter, grouped=program.joint)
        for some in together
    ]
    return ClassPrograms(solvers, factors)


def _of_output(program: Program, K: ProgramColumns, lines: Lines) -> PenalisedSmooth | ColumnGeneration:
    """Return what minimises a loss that is no square and the l1 penalty, for one class."""
    smooth = program.smooth_loss(lines)
    if smooth is None:
        return ColumnGeneration(K, lines, program.tube, program.tol)
    return PenalisedSmooth(K, lines, smooth, program.tol, program.max_iter)


def _quadratic(
    program: Program, Z: np.ndarray, lines: Lines, to_alpha: np.ndarray
) -> PenalisedQuadratic:
    """Return what minimises any loss and a quadratic penalty, for one class."""
    smooth = program.smooth_loss(lines)
    if smooth is None:
        return CornerRegression(Z, lines, program.tube, to_alpha, program.max_iter)
    return SmoothRegression(Z, lines, smooth, to_alpha, program.tol, program.max_iter)


def _coordinates(
    program: Program, columns: PricedColumns, W: np.ndarray | None, batch: Batch, kernel: Kernel
) -> np.ndarray:
    """Return M with ``alpha = M v``, in which the penalty is ``C ||v||^2``."""
    n, m = columns.shape
    if program.penalty == "norm":
        if W is None:
            W = columns.take(np.arange(m)) if m == n else kernel.block(columns.points, columns.points)
        return coordinates_of(W)
    scale = np.ones(m)
    if W is None:  # a sample of weight w is w equal candidates, which share a coefficient
        scale = np.tile(batch.root_weight, m // n)
    return np.diag(scale if program.priors is None else scale / np.sqrt(program.priors))
