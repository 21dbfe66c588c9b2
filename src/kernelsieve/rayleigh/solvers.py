"""What solves the programs of discriminants: which solver a loss and a penalty need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..exceptions import InvalidParameterError
from ..kernels import Kernel
from ..rows import Batch
from .column_generation import (
    ChangingColumns,
    Lines,
    PricedColumns,
    ScaledColumns,
    SolverColumns,
    SparseSolution,
)
from .designs import CentredColumns, Design, ReducedColumns
from .linear_program import ColumnGeneration, import_highspy
from .noise import Huber, Power, SmoothLoss
from .penalised_groups import PenalisedGroups
from .penalised_quadratic import (
    CornerRegression,
    PenalisedQuadratic,
    Regression,
    SmoothRegression,
    coordinates_of,
)
from .penalised_smooth import PenalisedSmooth
from .penalised_squares import PenalisedSquares
from .scatter import Tangent, move


@dataclass(frozen=True)
class DiscriminantProgram:
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
class OneAgainstRest:
    """A solver for each class."""

    solvers: Sequence[Solver]

    def solve(self, C: float) -> list[SparseSolution]:
        """Minimise for a penalty, from where the last one ended; return a solution for each class."""
        return [solver.solve(C) for solver in self.solvers]


@dataclass(frozen=True)
class Rescaled:
    """A solver of scaled columns, whose coefficients are scaled back."""

    solver: OneAgainstRest | PenalisedGroups
    factors: np.ndarray

    def solve(self, C: float) -> list[SparseSolution]:
        """Minimise for a penalty; return a solution for each class."""
        return [
            replace(solution, alpha=solution.alpha * self.factors[solution.candidates])
            for solution in self.solver.solve(C)
        ]


ClassesSolver = OneAgainstRest | PenalisedGroups | Rescaled


def solver_of_classes(
    program: DiscriminantProgram,
    columns: PricedColumns,
    W: np.ndarray | None,
    batch: Batch,
    kernel: Kernel,
    invariances: Sequence[Tangent],
    n_jobs: int | None,
) -> ClassesSolver:
    """Return what solves for all classes; two classes have one output.

    W is the kernel matrix of the candidates, None where the first of them are the samples.
    """
    moved = [
        PricedColumns(move(t.transform, batch.X), kernel, columns.points, n_jobs=n_jobs)
        for t in invariances
    ]
    labels = 2.0 * batch.Y - 1
    labels = labels[:, 1:] if labels.shape[1] == 2 else labels
    lines = Lines.of(labels, batch.root_weight**2, [t.weight for t in invariances])
    changing = ChangingColumns(columns, moved) if moved else columns
    if program.penalty != "l1":
        to_alpha = _coordinates(program, columns, W, batch, kernel)
        Z = changing.take(np.arange(columns.shape[1])) @ to_alpha
        return OneAgainstRest([_quadratic(program, Z, line, to_alpha) for line in lines.of_outputs()])
    if program.priors is None:
        return _sparse(program, changing, lines, None)
    factors = 1 / program.priors
    return Rescaled(_sparse(program, changing, lines, factors), factors)


def _sparse(
    program: DiscriminantProgram,
    columns: PricedColumns | ChangingColumns,
    lines: Lines,
    factors: np.ndarray | None,
) -> OneAgainstRest | PenalisedGroups:
    """Return what minimises with a penalty that makes coefficients zero."""
    scaled = columns if factors is None else ScaledColumns(columns, factors)
    if program.loss != "squared":
        return OneAgainstRest([_of_line(program, scaled, line) for line in lines.of_outputs()])
    n_outputs = lines.y.shape[1]
    # Several outputs share the work of making columns short.
    design: Design = CentredColumns(scaled, lines)
    if n_outputs > 1 and isinstance(columns, PricedColumns) and ReducedColumns.fits(columns):
        design = ReducedColumns(columns, lines, factors)
    if program.joint:
        return PenalisedGroups(design, program.tol, program.max_iter)
    return OneAgainstRest(
        [PenalisedSquares(design, j, program.tol, program.max_iter) for j in range(n_outputs)]
    )


def _of_line(
    program: DiscriminantProgram, columns: SolverColumns, lines: Lines
) -> PenalisedSmooth | ColumnGeneration:
    """Return what minimises a loss that is no square and the l1 penalty, for one class."""
    smooth = program.smooth_loss(lines)
    if smooth is not None:
        return PenalisedSmooth(columns, lines, smooth, program.tol, program.max_iter)
    import_highspy()
    return ColumnGeneration(columns, lines, program.tube, program.tol)


def _quadratic(
    program: DiscriminantProgram, Z: np.ndarray, lines: Lines, to_alpha: np.ndarray
) -> PenalisedQuadratic:
    smooth = program.smooth_loss(lines)
    regression: Regression
    if smooth is not None:
        regression = SmoothRegression(Z, lines, smooth, program.tol)
    else:
        regression = CornerRegression(Z, lines, program.tube * lines.constant)
    return PenalisedQuadratic(regression, to_alpha, program.max_iter)


def _coordinates(
    program: DiscriminantProgram,
    columns: PricedColumns,
    W: np.ndarray | None,
    batch: Batch,
    kernel: Kernel,
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
