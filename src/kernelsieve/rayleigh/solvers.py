"""What solves the programs of sparse discriminants: which solver a loss needs, one for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..exceptions import InvalidParameterError
from ..kernels import Kernel
from ..rows import Batch
from .column_generation import ChangingColumns, Lines, PricedColumns, SparseSolution
from .designs import CentredColumns, Design, ReducedColumns
from .linear_program import ColumnGeneration, import_highspy
from .penalised_groups import PenalisedGroups
from .penalised_huber import PenalisedHuber
from .penalised_squares import PenalisedSquares
from .scatter import Tangent, move


@dataclass(frozen=True)
class Program:
    """What is minimised, and how well."""

    loss: str
    delta: float  # where the Huber loss becomes a line
    epsilon: float  # up to which residuals cost nothing, with the epsilon-insensitive loss
    joint: bool  # whether a column's coefficients for all classes are penalised by their length
    tol: float
    max_iter: int


@dataclass(frozen=True)
class OneAgainstRest:
    """A solver for each class."""

    solvers: Sequence[PenalisedSquares | PenalisedHuber | ColumnGeneration]

    def solve(self, C: float) -> list[SparseSolution]:
        """Minimise for a penalty, from where the last one ended; return a solution for each class."""
        return [solver.solve(C) for solver in self.solvers]


ClassesSolver = OneAgainstRest | PenalisedGroups


def solver_of_classes(
    program: Program,
    columns: PricedColumns,
    batch: Batch,
    kernel: Kernel,
    invariances: Sequence[Tangent],
    n_jobs: int | None,
) -> ClassesSolver:
    """Return what solves for all classes; two classes have one output."""
    moved = [
        PricedColumns(move(t.transform, batch.X), kernel, columns.points, n_jobs=n_jobs)
        for t in invariances
    ]
    labels = 2.0 * batch.Y - 1
    labels = labels[:, 1:] if labels.shape[1] == 2 else labels
    lines = Lines.of(labels, batch.root_weight**2, [t.weight for t in invariances])
    changing = ChangingColumns(columns, moved) if moved else columns
    if program.joint and program.loss != "squared":
        raise InvalidParameterError(
            f"multi_class='joint' is for loss='squared'; got loss={program.loss!r}. Choose that loss, "
            "or multi_class='ovr'."
        )
    if program.loss != "squared":
        return OneAgainstRest([_of_line(program, changing, lines.of_output(y)) for y in lines.y.T])
    design = _design(changing, lines)
    if program.joint:
        return PenalisedGroups(design, program.tol, program.max_iter)
    outputs = range(labels.shape[1])
    return OneAgainstRest([PenalisedSquares(design, j, program.tol, program.max_iter) for j in outputs])


def _design(columns: PricedColumns | ChangingColumns, lines: Lines) -> Design:
    """Return the columns for least squares; several outputs share the work of making them short."""
    several = lines.y.shape[1] > 1
    if several and isinstance(columns, PricedColumns) and ReducedColumns.fits(columns):
        return ReducedColumns(columns, lines)
    return CentredColumns(columns, lines)


def _of_line(
    program: Program, columns: PricedColumns | ChangingColumns, lines: Lines
) -> PenalisedHuber | ColumnGeneration:
    """Return what minimises the sum of a loss that is no square and of the penalty, for one class."""
    if program.loss == "huber":
        return PenalisedHuber(columns, lines, program.delta, program.tol, program.max_iter)
    import_highspy()
    epsilon = 0.0 if program.loss == "absolute" else program.epsilon
    return ColumnGeneration(columns, lines, epsilon, program.tol)
