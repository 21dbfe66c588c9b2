"""Make ``docs/papers.md`` and its figures from the kept results."""

from __future__ import annotations

import importlib
import inspect
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .catalogue import ROOT, Entry, entries
from .form import Cell, Estimate, Table, judge
from .markdown import grid
from .results import Record, best_records, quick_records, results_of

PAGE = ROOT / "docs" / "papers.md"
FIGURES = PAGE.parent / "figures"
MARKS = ("agrees", "better", "worse", "differs", "not comparable", "not run")
COMPARABLE = MARKS[:4]
#: Tables of errors on the papers' own data sets: what should be had by whoever follows the text.
ASKED = {
    "dhanjal2009": ("table3", "table4", "table5"),
    "mika2003": ("table1",),
    "wu2007": ("table2", "table3"),
}
ENOUGH = 0.85  # of their comparable cells

HEAD = """\
# The papers, reproduced

Every table and figure of the papers, printed and ours. `python -m papers run all` computes what is
missing, `python -m papers page` writes this page from the results in `papers/*/results`: it is never
edited by hand.

Difference is ours less printed, in units of the two standard errors combined (standard deviation over
the root of the number of repetitions; numbers without any spread are compared as they stand). A cell
**agrees** if that is at most 2, and is **better** or **worse** beyond; it **differs** where neither
direction is better. It is **not comparable** where the paper's own data or setting is not at hand; the
reason stands beside it. An asterisk marks what was chosen after seeing test errors. Cells are computed
in the quick form unless "full" stands beside them; both are said above each table. The quick form has
fewer repetitions, so that its standard errors are wider and more cells agree than in the full one.
"""
SHARES = """\
**{good} of {comparable} comparable cells** of the following tables agree or are better without any
choice made on test errors. With the cells that have an asterisk these are {all_good} of
{all_comparable}. At least {enough:.0%} are asked of every table. "Without an asterisk" and "all cells"
take the marks below; "quick alone" takes the quick form of every cell, so that no cell gains from a
longer run of its own."""


@dataclass(frozen=True)
class Line:
    """A line of a table on the page: one measure of one cell."""

    cell: Cell
    measure: str
    printed: Estimate
    record: Record | None
    mark: str
    distance: float | None = None

    @property
    def ours(self) -> Estimate | None:
        return None if self.record is None else self.record.found.get(self.measure)

    @property
    def remark(self) -> str:
        """What stands beside the mark."""
        reasons = {
            "worse": self.cell.explanation,
            "not comparable": self.cell.not_comparable,
            "not run": self.cell.out_of_reach,
        }
        return " ".join(text for text in (reasons.get(self.mark, ""), self.cell.note) if text)


def lines_of(entry: Entry, *, quick_alone: bool = False) -> list[Line]:
    """Return a line for every printed number of a table, if asked without what was run in full."""
    records, table = (quick_records if quick_alone else best_records)(entry), entry.table
    return [
        line_of(table, cell, measure, printed, records.get(cell.key))
        for cell in table.cells
        for measure, printed in cell.printed.items()
    ]


def line_of(table: Table, cell: Cell, measure: str, printed: Estimate, record: Record | None) -> Line:
    ours = None if record is None else record.found.get(measure)
    if ours is None:
        return Line(cell, measure, printed, None, "not run")
    verdict = judge(printed, ours, table.lower_is_better.get(measure))
    mark = "not comparable" if cell.not_comparable else verdict.mark
    return Line(cell, measure, printed, record, mark, verdict.distance)


# ---------------------------------------------------------------------- Markdown


def shown(line: Line, table: Table, *, with_measure: bool) -> list[str]:
    """Return the fields of a line."""
    ours = "" if line.ours is None else line.ours.text(table.digits)
    full = ", full" if line.record is not None and line.record.mode == "full" else ""
    star = "\\*" if line.cell.chosen_on_test else ""
    remark = f": {line.remark}" if line.remark else ""
    return [
        *line.cell.key,
        *([line.measure] if with_measure else []),
        line.printed.text(table.digits),
        f"{ours}{full}{star}",
        "" if line.distance is None or line.cell.not_comparable else f"{line.distance:+.1f}",
        f"{line.mark}{remark}",
    ]


def counts(lines: Iterable[Line]) -> list[str]:
    found = Counter(line.mark for line in lines)
    return [str(found[mark]) for mark in MARKS]


def share(lines: Iterable[Line]) -> tuple[int, int]:
    """Return how many lines agree or are better, and how many can be compared."""
    found = Counter(line.mark for line in lines)
    return found["agrees"] + found["better"], sum(found[mark] for mark in COMPARABLE)


def shares(every: list[Entry]) -> str:
    """Return the shares of cells that agree or are better: of each asked table, paper, and of all."""
    asked = [entry for entry in every if entry.name in ASKED.get(entry.paper, ())]
    if not asked:
        return ""
    groups = {entry.identifier: [entry] for entry in asked}
    for paper, names in ASKED.items():
        if len(names) > 1:
            together = [entry for entry in asked if entry.paper == paper]
            groups[f"**{paper}, these together**"] = together
    groups["**all of these**"] = asked

    def counted(
        group: list[Entry], *, starred: bool = True, quick_alone: bool = False
    ) -> tuple[int, int]:
        lines = (line for entry in group for line in lines_of(entry, quick_alone=quick_alone))
        return share(line for line in lines if starred or not line.cell.chosen_on_test)

    def text(good: int, comparable: int) -> str:
        if comparable == 0:
            return "none"
        missed = " (missed)" if good < ENOUGH * comparable else ""
        return f"{good} of {comparable}, {good / comparable:.1%}{missed}"

    rows = [
        [
            name,
            text(*counted(group, starred=False)),
            text(*counted(group)),
            text(*counted(group, quick_alone=True)),
        ]
        for name, group in groups.items()
    ]
    table = grid(["agree or better", "without an asterisk", "all cells", "quick alone"], rows)
    good, comparable = counted(asked, starred=False)
    all_good, all_comparable = counted(asked)
    head = SHARES.format(
        good=good,
        comparable=comparable,
        all_good=all_good,
        all_comparable=all_comparable,
        enough=ENOUGH,
    )
    return f"{head}\n\n{table}"


def table_section(entry: Entry, figure: Path | None) -> str:
    """Return the part of the page for one table or figure."""
    table, lines = entry.table, lines_of(entry)
    title, _, protocol = inspect.cleandoc(entry.module.__doc__ or "").partition("\n")
    parts = [f"### {entry.identifier}: {title}", protocol.strip(), modes(entry)]
    if lines:
        several = len({line.measure for line in lines}) > 1
        header = [
            *table.axes,
            *(["measure"] if several else []),
            "printed",
            "ours",
            "difference",
            "mark",
        ]
        parts.append(grid(header, (shown(line, table, with_measure=several) for line in lines)))
    chosen = dict.fromkeys(cell.chosen_on_test for cell in table.cells if cell.chosen_on_test)
    parts += [f"\\* {text}" for text in chosen]
    if table.describe is not None and is_complete(entry):
        parts.append(table.describe(results_of(entry)))
    if figure is not None and figure.is_file():
        parts.append(f"![{title}]({figure.relative_to(PAGE.parent).as_posix()})")
    return "\n\n".join(part for part in parts if part)


def modes(entry: Entry) -> str:
    """Return how many cells were computed, and with which settings."""
    table, records = entry.table, best_records(entry)
    found = Counter(record.mode for record in records.values())
    seconds = sum(record.seconds for record in records.values())

    def settings(mode: str) -> str:
        return (
            ", ".join(f"{name} {value}" for name, value in getattr(table, mode).items()) or "the same"
        )

    return (
        f"{len(records)} of {len(table.cells)} cells, {found['full']} of them full, in {seconds:,.0f} "
        f"seconds of one core. Quick: {settings('quick')}. Full: {settings('full')}."
    )


def is_complete(entry: Entry) -> bool:
    """Return whether every cell has a result, so that they can be described and drawn together."""
    return len(best_records(entry)) == len(entry.table.in_reach)


def figure_path(entry: Entry) -> Path | None:
    return FIGURES / f"{entry.paper}_{entry.name}.png" if entry.table.draw is not None else None


def page() -> str:
    """Return the page; it depends on the declarations and the kept results alone."""
    every = entries()
    rows = [[entry.identifier, *counts(lines_of(entry))] for entry in every]
    total = ["all", *counts(line for entry in every for line in lines_of(entry))]
    parts = [HEAD, shares(every), grid(["", *MARKS], [*rows, total])]
    for paper in dict.fromkeys(entry.paper for entry in every):
        text = inspect.cleandoc(importlib.import_module(f"papers.{paper}").__doc__ or "")
        parts.append(f"## {paper}\n\n{text}")
        parts += [table_section(entry, figure_path(entry)) for entry in every if entry.paper == paper]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def write() -> None:
    """Draw the figures and write the page."""
    FIGURES.mkdir(exist_ok=True)
    for entry in entries():
        path = figure_path(entry)
        if path is not None and entry.table.draw is not None and is_complete(entry):
            entry.table.draw(results_of(entry)).savefig(path, dpi=110)
            print(path)
    PAGE.write_text(page())
    print(PAGE)
