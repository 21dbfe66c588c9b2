"""How a table or figure of a paper is declared: what was printed, and how ours is computed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

Mode = Literal["quick", "full"]
MODES: tuple[Mode, Mode] = ("quick", "full")


@dataclass(frozen=True)
class Estimate:
    """A number with its standard deviation over n repetitions; a curve has lists of both.

    Printed numbers and ours have this form alike. Without a known spread the standard error is zero.
    """

    value: Any
    spread: Any = None
    n: int = 1

    @classmethod
    def of(cls, repetitions: Sequence[Any] | np.ndarray) -> Estimate:
        """Summarise repetitions: numbers, or curves of equal length."""
        values = np.asarray(repetitions, dtype=float)
        spread = values.std(axis=0, ddof=1).tolist() if len(values) > 1 else None
        return cls(values.mean(axis=0).tolist(), spread, len(values))

    @classmethod
    def share(cls, per_cent: float, n: int) -> Estimate:
        """Return a share of n test rows, in per cent, with its spread by the binomial distribution."""
        return cls(per_cent, float(np.sqrt(per_cent * (100 - per_cent))), n)

    @property
    def is_curve(self) -> bool:
        return isinstance(self.value, list)

    def text(self, digits: str) -> str:
        """Return the number as it is shown, with its spread; of large ones the whole part."""
        shown = digits if abs(self.value) < 100 else ",.0f"
        spread = "" if self.spread is None else f" ({self.spread:{shown}})"
        return f"{self.value:{shown}}{spread}"

    @property
    def standard_error(self) -> float:
        return 0.0 if self.spread is None else float(self.spread / np.sqrt(self.n))


Found = Mapping[str, Estimate]  # by the name of a measure


@dataclass(frozen=True)
class Cell:
    """A cell of a table, or a line of a figure: the smallest piece of work.

    Parameters
    ----------
    key : tuple of str
        Where it stands: a name for each of the table's axes, such as ("SMA", "Ailerons").
    settings : mapping
        Arguments of the table's ``compute``, as JSON can keep them.
    printed : mapping of str to Estimate
        What the paper prints, by the name of the measure.
    data : tuple of str
        Names of the data sets that it reads.
    not_comparable : str
        Why the printed number cannot be expected, if so.
    chosen_on_test : str
        What was chosen after seeing test errors, if anything.
    explanation : str
        One sentence for a cell that is worse than printed, after an honest look.
    note : str
        What a reader must know of the printed number, whatever ours is.
    out_of_reach : str
        Why the cell is never run, if so.
    """

    key: tuple[str, ...]
    settings: Mapping[str, Any]
    printed: Found = field(default_factory=dict)
    data: tuple[str, ...] = ()
    not_comparable: str = ""
    chosen_on_test: str = ""
    explanation: str = ""
    note: str = ""
    out_of_reach: str = ""

    @property
    def name(self) -> str:
        return ", ".join(self.key)


@dataclass(frozen=True)
class Table:
    """A table or figure: its cells, and the pure function that computes one of them.

    Title and protocol are the docstring of the module that declares it.

    Parameters
    ----------
    axes : tuple of str
        What the parts of a cell's key are, such as ("method", "data set").
    cells : sequence of Cell
        In the order of the page.
    compute : callable
        ``compute(**cell.settings, **quick or full)`` returns by the name of a measure an array of
        repetitions (of numbers, or of curves), or an ``Estimate``. A function of its arguments alone,
        at the top level of a module.
    quick, full : mapping
        Further arguments of ``compute``: repetitions, grids, rows.
    lower_is_better : mapping of str to bool
        By measure; a measure that is not named here is no contest and differs in either direction.
    digits : str
        Format of the numbers on the page.
    draw : callable
        ``draw(results)`` makes a matplotlib figure of estimates by key and measure.
    describe : callable
        ``describe(results)`` returns Markdown with what the results say.
    """

    axes: tuple[str, ...]
    cells: Sequence[Cell]
    compute: Callable[..., Mapping[str, Any]]
    quick: Mapping[str, Any] = field(default_factory=dict)
    full: Mapping[str, Any] = field(default_factory=dict)
    lower_is_better: Mapping[str, bool] = field(default_factory=dict)
    digits: str = ".3f"
    draw: Callable[[Results], Any] | None = None
    describe: Callable[[Results], str] | None = None

    def settings_of(self, cell: Cell, mode: Mode) -> dict[str, Any]:
        """Return all arguments of ``compute`` as a results file keeps them."""
        return json.loads(json.dumps({**cell.settings, **getattr(self, mode)}))

    @cached_property
    def in_reach(self) -> list[Cell]:
        """The cells that can be run."""
        return [cell for cell in self.cells if not cell.out_of_reach]

    @cached_property
    def by_name(self) -> dict[str, Cell]:
        return {cell.name: cell for cell in self.cells}

    def __post_init__(self) -> None:
        if len(self.by_name) != len(self.cells):
            raise ValueError("two cells of a table have the same key; give every cell a key of its own")


Results = Mapping[tuple[str, ...], Found]


@dataclass(frozen=True)
class Verdict:
    """How our number stands to the printed one."""

    mark: str  # agrees, better, worse, differs, not comparable
    distance: float | None = None  # ours less printed, in units of both standard errors combined


def judge(printed: Estimate, ours: Estimate, lower_is_better: bool | None) -> Verdict:
    """Compare two numbers: they agree within two standard errors of their difference.

    Numbers without any spread, such as exponents of counted work, are compared as they stand.
    """
    error = float(np.hypot(printed.standard_error, ours.standard_error))
    gap = ours.value - printed.value
    distance = gap / error if error > 0 else None
    if gap == 0 or (distance is not None and abs(distance) <= 2):
        return Verdict("agrees", distance)
    if lower_is_better is None:
        return Verdict("differs", distance)
    return Verdict("better" if (gap < 0) == lower_is_better else "worse", distance)
