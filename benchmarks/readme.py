"""The table of results in the README, made from the kept record of the peers."""

from __future__ import annotations

import re
from pathlib import Path

from .common import text_of
from .record import Record

README = Path(__file__).parents[1] / "README.md"
PLACE = re.compile(r"(<!-- peers -->\n).*?(<!-- end of peers -->)", re.DOTALL)
SIDE_BY_SIDE = "side by side"


def part(record: Record) -> str:
    """Return the short table of the peers, the lowest errors of each set in bold, and the losses."""
    (found,) = record.tables(SIDE_BY_SIDE)
    header, rows = found["header"], found["rows"]
    best = lowest(header, rows)

    def cell(row: list, j: int) -> str:
        return f"**{text_of(row[j])}**" if row[0] in best.get(j, ()) else text_of(row[j])

    lines = [header, ["---", *["--:"] * (len(header) - 1)]]
    lines += [[cell(row, j) for j in range(len(header))] for row in rows]
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    remarks = [part["remark"] for part in record.below(SIDE_BY_SIDE) if "remark" in part]
    return f"{grid}\n\n{' '.join(remarks)}\n"


def lowest(header: list[str], rows: list[list]) -> dict[int, list[str]]:
    """Return which methods have the lowest error, by the column of the set; equal digits are a tie."""
    found = {}
    for j in range(2, len(header) - 1):
        errors = {row[0]: row[j] for row in rows if isinstance(row[j], float)}
        least = text_of(min(errors.values()))
        found[j] = [name for name, error in errors.items() if text_of(error) == least]
    return found


def filled(text: str, record: Record | None) -> str:
    """Return the text of the README with the table in its place."""
    if record is None:
        return text
    return PLACE.sub(lambda match: match[1] + part(record) + match[2], text)
