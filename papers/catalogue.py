"""Which tables there are: a folder a paper, and a module for each name in its ``TABLES``."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from kernelsieve.datasets import DATA_VARIABLE, card, locate

from .form import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


@dataclass(frozen=True)
class Entry:
    """A table by its identifier, such as ``dhanjal2009/table3``."""

    paper: str
    name: str

    @property
    def identifier(self) -> str:
        return f"{self.paper}/{self.name}"

    @property
    def module(self) -> ModuleType:
        return importlib.import_module(f"papers.{self.paper}.{self.name}")

    @property
    def table(self) -> Table:
        return self.module.TABLE

    @property
    def results_path(self) -> Path:
        return HERE / self.paper / "results" / f"{self.name}.jsonl"


def entries() -> list[Entry]:
    """Return all tables and figures, paper after paper."""
    found = []
    for path in sorted(HERE.glob("*/__init__.py")):
        paper = importlib.import_module(f"papers.{path.parent.name}")
        found += [Entry(path.parent.name, name) for name in getattr(paper, "TABLES", ())]
    return found


def matching(names: list[str]) -> list[Entry]:
    """Return the tables that identifiers, names of papers, or "all" stand for."""
    chosen: dict[Entry, None] = {}
    for name in names:
        found = [e for e in entries() if name in ("all", e.paper, e.identifier)]
        if not found:
            known = sorted({e.paper for e in entries()} | {e.identifier for e in entries()})
            raise KeyError(f"there is no paper or table {name!r}; there are: all, {', '.join(known)}")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def is_missing(data: str) -> bool:
    """Return whether a data set is neither in the local folder nor in the cache."""
    return locate(data) is None


def how_to_get(data: list[str]) -> str:
    """Return what to do about data sets that are missing."""
    lines = [f"missing data sets, which a folder that {DATA_VARIABLE} names may have, or else:"]
    for name in data:
        known = card(name)
        way = f"kernelsieve.datasets.load({name!r})" if known.download else f"from {known.source}"
        lines.append(f"  {known.path}: {way}")
    return "\n".join(lines)
