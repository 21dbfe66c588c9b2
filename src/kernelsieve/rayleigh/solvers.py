"""What solves the programs of sparse discriminants: which solver a loss needs, one for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..kernels import Kernel
from ..rows import Batch
from .column_generation import ChangingColumns, Lines, PricedColumns
from .linear_program import ColumnGeneration, import_highspy
from .penalised_huber import PenalisedHuber
from .penalised_squares import PenalisedSquares
from .scatter import Tangent, move

Solver = PenalisedSquares | PenalisedHuber | ColumnGeneration


@dataclass(frozen=True)
class ProgramLoss:
    """What residuals cost."""

    name: str
    delta: float  # where the Huber loss becomes a line
    epsilon: float  # up to which residuals cost nothing, with the epsilon-insensitive loss

    def solver(
        self, columns: PricedColumns | ChangingColumns, lines: Lines, tol: float, max_iter: int
    ) -> Solver:
        """Return what minimises the sum of this loss and of a penalty."""
        if self.name in ("absolute", "epsilon_insensitive"):
            import_highspy()
            epsilon = 0.0 if self.name == "absolute" else self.epsilon
            return ColumnGeneration(columns, lines, epsilon, tol)
        if self.name == "huber":
            return PenalisedHuber(columns, lines, self.delta, tol, max_iter)
        return PenalisedSquares(columns, lines, tol, max_iter)


def solvers_of_classes(
    loss: ProgramLoss,
    tol: float,
    max_iter: int,
    columns: PricedColumns,
    batch: Batch,
    kernel: Kernel,
    invariances: Sequence[Tangent],
    n_jobs: int | None,
) -> list[Solver]:
    """Return what solves for each class; two classes need one."""
    moved = [
        PricedColumns(move(t.transform, batch.X), kernel, columns.points, n_jobs=n_jobs)
        for t in invariances
    ]
    labels = 2.0 * batch.Y - 1
    labels = labels[:, 1:] if labels.shape[1] == 2 else labels
    weight, of_changes = batch.root_weight**2, [t.weight for t in invariances]
    changing = ChangingColumns(columns, moved) if moved else columns
    return [loss.solver(changing, Lines.of(y, weight, of_changes), tol, max_iter) for y in labels.T]
