"""The page of formulas names what exists, and leaves no numbered formula out."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "formulas.md").read_text()
ROWS = re.findall(r"^\| (.+?) \| (.+?) \| (`.+?`) \|$", PAGE, re.MULTILINE)
NAMES = sorted(set(re.findall(r"`([\w.]+)`", " ".join(where for _, _, where in ROWS))))
#: The papers by their headings, and the numbers of formulas that can be read.
PAPERS = {
    "Dhanjal": set(range(1, 15)),
    "Jiang": set(range(1, 14)),
    "Mika": set(range(1, 16)),
    "Momma": {3, 4, 5, 6, 11},
    "Wu": set(range(1, 29)),
}


def modules_of(name):
    """Return the module that a name begins with, and the one that defines what it names."""
    parts = ["kernelsieve", *name.split(".")]
    for n_modules in range(len(parts) - 1, 0, -1):
        try:
            module = import_module(".".join(parts[:n_modules]))
        except ModuleNotFoundError:
            continue
        found = reduce(lambda one, part: getattr(one, part, None), parts[n_modules:], module)
        return module.__name__, getattr(getattr(found, "fget", found), "__module__", None)
    return None, None


def test_what_is_named_exists_where_it_is_defined():
    found = {name: modules_of(name) for name in NAMES}
    assert {name: pair for name, pair in found.items() if pair[0] is None or len(set(pair)) > 1} == {}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_numbered_formula_is_there(paper):
    (section,) = re.findall(rf"^## {paper}\b.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    numbers = []
    for number, _, _ in re.findall(r"^\| (.+?) \| (.+?) \| (`.+?`) \|$", section, re.MULTILINE):
        ends = [int(found) for found in re.findall(r"\((\d+)\)", number)]
        numbers += range(ends[0], ends[-1] + 1) if " to " in number and ends else ends
    assert sorted(numbers) == sorted(PAPERS[paper])


def test_every_row_names_something():
    in_tables = [line for line in PAGE.splitlines() if line.startswith("| ")]
    assert len(in_tables) == len(ROWS) + len(PAPERS)  # and the heads of the tables
