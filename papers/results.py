"""Finished cells, kept as lines of JSON beside the declaration of their table."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn

import kernelsieve

from .catalogue import Entry
from .form import MODES, Cell, Estimate, Found, Mode, Results


@dataclass(frozen=True)
class Record:
    """A finished cell: what was asked, what came out, and with what."""

    cell: str
    mode: Mode
    settings: dict[str, Any]
    values: dict[str, dict[str, Any]]  # an Estimate for each measure
    seconds: float
    versions: dict[str, str]

    @property
    def found(self) -> Found:
        return {measure: Estimate(**parts) for measure, parts in self.values.items()}


def versions() -> dict[str, str]:
    """Return the versions that decide over numbers."""
    packages = (kernelsieve, numpy, scipy, sklearn)
    return {"python": platform.python_version()} | {p.__name__: p.__version__ for p in packages}


def record(cell: Cell, mode: Mode, settings: dict[str, Any], found: Found, seconds: float) -> Record:
    values = {measure: asdict(estimate) for measure, estimate in found.items()}
    return Record(cell.name, mode, settings, values, round(seconds, 2), versions())


def append(path: Path, finished: Record) -> None:
    """Add a line, in one piece, below one that a killed run may have left unfinished."""
    path.parent.mkdir(exist_ok=True)
    unfinished = path.is_file() and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write(("\n" if unfinished else "") + json.dumps(asdict(finished)) + "\n")


def read(path: Path) -> Iterator[Record]:
    """Yield the lines of a results file; one that a killed run left unfinished is none."""
    for line in path.read_text().splitlines() if path.is_file() else ():
        try:
            yield Record(**json.loads(line))
        except json.JSONDecodeError:
            continue


def kept(entry: Entry) -> dict[tuple[str, Mode], Record]:
    """Return the last record of every cell and mode whose settings are still those declared."""
    table = entry.table
    return {
        (line.cell, line.mode): line
        for line in read(entry.results_path)
        if line.cell in table.by_name
        and line.settings == table.settings_of(table.by_name[line.cell], line.mode)
    }


def compact(entry: Entry) -> None:
    """Write the kept records alone, in the order of the table, in one piece."""
    records = kept(entry)
    lines = [
        json.dumps(asdict(records[cell.name, mode]))
        for cell in entry.table.cells
        for mode in MODES
        if (cell.name, mode) in records
    ]
    if lines:
        temporary = entry.results_path.with_suffix(".tmp")
        temporary.write_text("\n".join(lines) + "\n")
        os.replace(temporary, entry.results_path)


def best_records(entry: Entry) -> dict[tuple[str, ...], Record]:
    """Return the kept record of every cell: the full one where there is one, else the quick one."""
    records, table = kept(entry), entry.table
    found = {
        cell.key: records.get((cell.name, "full"), records.get((cell.name, "quick")))
        for cell in table.cells
    }
    return {key: line for key, line in found.items() if line is not None}


def quick_records(entry: Entry) -> dict[tuple[str, ...], Record]:
    """Return the kept record of every cell in the quick form."""
    records = kept(entry)
    return {
        cell.key: records[cell.name, "quick"]
        for cell in entry.table.cells
        if (cell.name, "quick") in records
    }


def results_of(entry: Entry) -> Results:
    """Return what was found, by key and measure."""
    return {key: line.found for key, line in best_records(entry).items()}
