"""The table of results in the README, made from the kept record of the peers."""

from __future__ import annotations

import re
from pathlib import Path

from .common import text_of
from .peer_methods import OURS
from .record import Record

README = Path(__file__).parents[1] / "README.md"
PLACE = re.compile(r"(<!-- peers -->\n).*?(<!-- end of peers -->)", re.DOTALL)
SIDE_BY_SIDE = "side by side"


def part(record: Record) -> str:
    """Return the short table of the peers, the lowest error of each set in bold, and the losses."""
    (found,) = record.tables(SIDE_BY_SIDE)
    header, rows = found["header"], found["rows"]
    sets = range(2, len(header) - 1)
    lowest = {j: min(row[j] for row in rows if isinstance(row[j], float)) for j in sets}

    def cell(row: list, j: int) -> str:
        text = text_of(row[j])
        return f"**{text}**" if j in lowest and row[j] == lowest[j] else text

    lines = [header, ["---", *["--:"] * (len(header) - 1)]]
    lines += [[cell(row, j) for j in range(len(header))] for row in rows]
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    sentences = [losses(header, rows), *remarks(record)]
    return f"{grid}\n\n{' '.join(sentences).strip()}\n"


def remarks(record: Record) -> list[str]:
    """Return what is printed below the table."""
    headings = [i for i, part in enumerate(record.parts) if "heading" in part]
    first = next(i for i in headings if record.parts[i]["heading"].startswith(SIDE_BY_SIDE))
    end = next((i for i in headings if i > first), len(record.parts))
    return [part["remark"] for part in record.parts[first:end] if "remark" in part]


def losses(header: list[str], rows: list[list]) -> str:
    """Return a sentence on the sets in which none of ours has the lowest error."""
    lost = []
    for j in range(2, len(header) - 1):
        best = min((row for row in rows if isinstance(row[j], float)), key=lambda row: row[j])
        if not best[0].startswith(OURS):
            lost.append(f"{best[0]} on {header[j]}")
    return (
        f"Where others have the lowest error: {'; '.join(lost)}." if lost else "Ours are lowest on all."
    )


def filled(text: str, record: Record | None) -> str:
    """Return the text of the README with the table in its place."""
    if record is None:
        return text
    return PLACE.sub(lambda match: match[1] + part(record) + match[2], text)
