"""The page is what the kept results give, and a few of them are what the code gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from papers.catalogue import entries, is_missing
from papers.page import ASKED, ENOUGH, PAGE, lines_of, page, share
from papers.results import best_records
from papers.runner import compute, outstanding

CLOCKS = ("seconds", "exponent")  # measures that differ from run to run
#: What stands in a cell's key, or in a table's name, where no method of this library is run.
WITHOUT_THE_LIBRARY = (
    "1-NN",
    "All features",
    "RBF Features",
    "SVM",
    "SVR",
    "all points",
    "preparations",
    "scikit-learn",
)
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


@pytest.mark.parametrize("identifier", ENTRIES)
def test_every_cell_is_finished(identifier):
    assert [job.name for job in outstanding(ENTRIES[identifier], "quick", again=False)] == []


@pytest.mark.parametrize("quick_alone", [False, True])
def test_most_cells_of_the_asked_tables_agree_or_are_better(quick_alone):
    lines = [
        line
        for paper, names in ASKED.items()
        for name in names
        for line in lines_of(ENTRIES[f"{paper}/{name}"], quick_alone=quick_alone)
    ]
    good, comparable = share(lines)
    assert comparable == sum(not line.cell.out_of_reach for line in lines)
    assert good >= ENOUGH * comparable


def runs_the_library(identifier, key):
    return not any(name in part for part in (identifier, *key) for name in WITHOUT_THE_LIBRARY)


def cheap_cells():
    """Return for each paper the cheapest cells of three tables that run a method of this library."""
    found = []
    for paper in dict.fromkeys(entry.paper for entry in ENTRIES.values()):
        cheapest = [
            min(
                (record.seconds, entry.identifier, key)
                for key, record in best_records(entry).items()
                if runs_the_library(entry.identifier, key)
            )
            for entry in ENTRIES.values()
            if entry.paper == paper and runs_the_library(entry.identifier, ())
        ]
        found += sorted(cheapest)[:3]
    return [(identifier, key) for _, identifier, key in found]


def test_three_cells_of_each_paper_are_computed_again():
    papers = [identifier.partition("/")[0] for identifier, _ in cheap_cells()]
    assert {paper: papers.count(paper) for paper in papers} == dict.fromkeys(
        [entry.paper for entry in ENTRIES.values()], 3
    )
    for identifier, key in cheap_cells():
        assert set(best_records(ENTRIES[identifier])[key].found) - set(CLOCKS)


@pytest.mark.slow
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
