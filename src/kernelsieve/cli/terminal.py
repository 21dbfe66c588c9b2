"""Terminal output while commands run, on standard error, so that results can be piped."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .errors import cell_text, printable


def output(**options: Any) -> Console:
    """Return standard output."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "Standard output is closed, so nothing can be shown.")
    return Console(highlight=False, emoji=False, **options)


def plain(text: str) -> str:
    """Escape rich markup and control characters in a text."""
    return escape(printable(text))


class Terminal:
    """Shows sentences, tables and progress; shows nothing if ``quiet``."""

    def __init__(self, quiet: bool = False) -> None:
        self.console = Console(stderr=True, quiet=quiet, highlight=False, emoji=False)

    def text(self, *sentences: str) -> None:
        """Show sentences, each on a line of its own."""
        for sentence in sentences:
            self.console.print(plain(sentence))

    def kinds(
        self, frame: pandas.DataFrame, kinds: Mapping[str, str], roles: Mapping[str, Any]
    ) -> None:
        """Show the inferred type of every column."""
        table = Table("column", "type", "distinct values", "missing")
        used = {roles.get(role): role for role in ("target", "weight", "group")}
        for name in frame.columns:
            kind = used.get(name) or kinds.get(name, "left out")
            values = frame[name]
            table.add_row(
                plain(cell_text(name)), kind, f"{values.nunique():,}", f"{values.isna().mean():.1%}"
            )
        self.console.print(table)

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Show a spinner during a long task."""
        with self.console.status(plain(text)):
            yield

    @contextmanager
    def counting(self) -> Iterator[Callable[[int], None]]:
        """Show a running count of rows."""
        from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        shown = (TextColumn("rows"), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*shown, console=self.console, transient=True) as progress:
            task = progress.add_task("rows", total=None)
            yield lambda n: progress.advance(task, n)


def numbers_table(columns: Mapping[str, list[Any]]) -> Table:
    """Return a table of texts and numbers."""
    table = Table(*(plain(cell_text(name)) for name in columns))
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(plain(cell_text(value)) for value in row))
    return table
