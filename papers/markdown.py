"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))
