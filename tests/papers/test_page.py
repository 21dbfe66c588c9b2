"""The page is what the kept results give, and a few of them are what the code gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from papers.catalogue import entries, is_missing
from papers.page import PAGE, lines_of, page
from papers.results import best_records
from papers.runner import compute

CLOCKS = ("seconds", "exponent")  # measures that differ from run to run
ENTRIES = {entry.identifier: entry for entry in entries()}
WORSE = [
    (entry.identifier, line)
    for entry in ENTRIES.values()
    for line in lines_of(entry)
    if line.mark == "worse"
]


def test_the_page_is_made_from_the_results():
    assert PAGE.read_text() == page(), "run: python -m papers page"


@pytest.mark.parametrize(
    ("identifier", "line"),
    WORSE,
    ids=[f"{name} {line.cell.name} {line.measure}" for name, line in WORSE],
)
def test_every_cell_that_is_worse_is_explained(identifier, line):
    assert line.cell.explanation.endswith(".")


def cheap_cells():
    """Return for each paper the cheapest cells of three tables."""
    found = []
    for paper in dict.fromkeys(entry.paper for entry in ENTRIES.values()):
        cheapest = [
            (record.seconds, entry.identifier, key)
            for entry in ENTRIES.values()
            if entry.paper == paper
            for key, record in sorted(best_records(entry).items(), key=lambda item: item[1].seconds)[:1]
        ]
        found += sorted(cheapest)[:3]
    return [(identifier, key) for _, identifier, key in found]


@pytest.mark.parametrize(("identifier", "key"), cheap_cells())
def test_a_cell_from_scratch_is_what_was_kept(identifier, key):
    entry = ENTRIES[identifier]
    missing = [name for name in entry.table.by_name[", ".join(key)].data if is_missing(name)]
    if missing:
        pytest.skip(f"data sets are missing: {', '.join(missing)}")
    record = best_records(entry)[key]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as when cells are run
        again = compute(entry, record.settings)
    assert set(again) == set(record.found)
    for measure, before in record.found.items():
        if measure in CLOCKS:
            continue
        assert again[measure].n == before.n
        # libraries of another version may decide ties of a cross-validation otherwise
        allowed = 1e-6 * np.abs(before.value) + 0.25 * np.array(before.spread or 0.0)
        assert np.all(np.abs(np.subtract(again[measure].value, before.value)) <= allowed), measure
