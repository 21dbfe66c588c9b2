"""The examples of the gallery run in their quick form, and draw."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))
#: These take longer, and what they show is tested elsewhere; ``make docs`` runs all of them.
LONG = {"plot_dask", "plot_metric", "plot_million", "plot_spectra", "plot_table", "plot_text"}


@pytest.mark.parametrize(
    "path", [p for p in EXAMPLES if p.stem not in LONG], ids=lambda path: path.stem
)
def test_an_example_runs_and_draws(path, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELSIEVE_QUICK", "1")
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        runpy.run_path(str(path))
        assert plt.get_fignums()
    finally:
        plt.close("all")


def test_there_are_enough():
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_a_title_and_needs_no_network(path):
    title, line = path.read_text().split("\n")[1:3]
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert not re.search(r"\bfetch_\w+|KERNELSIEVE_DATA|https?://", path.read_text())


def test_what_the_readme_links_to_exists():
    root = GALLERY.parents[1]
    links = re.findall(r"\]\(([\w./-]+?)(?:#[\w-]+)?\)", (root / "README.md").read_text())
    assert [link for link in links if not (root / link).exists()] == []
