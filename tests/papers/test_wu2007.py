"""What the tables of Wu and Farquhar (2007) show, as statements."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def paper():
    """The reproductions are no part of the package: they are found at the root of the repository."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("papers.wu2007.figures")


def test_the_t_test_finds_what_the_paper_says(paper):
    """Section 5.2 tells on which sets SKFE and kernel PLS differ."""
    found = {
        name: paper.not_worse(dict(zip(paper.printed.METHODS, numbers, strict=True)), 20)
        for name, numbers in paper.printed.GENES.items()
    }
    for name in ("Leukemia1", "Leukemia2", "DLBCL", "11_Tumors"):
        assert found[name] == ["KPLS", "SKFE"]
    assert found["Brain_Tumor1"] == found["Prostate_Tumor"] == ["SKFE"]
    assert "SKFE" not in found["Brain_Tumor2"]
    assert found["Brain_Tumor2"][0] == "KPLS"


def ours_in_readme(paper):
    """The means and standard deviations that README tells of, by data set and method."""
    text = (ROOT / "papers/wu2007/README.md").read_text()
    found = {}
    for name, cells in re.findall(r"^\| ours: (\w+) \| (\d.*) \|$", text, re.MULTILINE):
        numbers = [tuple(map(float, cell.split(" ± "))) for cell in cells.split(" | ")[:5]]
        found[name] = dict(zip(paper.printed.METHODS, numbers, strict=True))
    return found


def test_where_ours_are_unlike_the_printed_ones(paper):
    published = {**paper.printed.GENES, **paper.printed.TEXTS}
    ours = ours_in_readme(paper)
    assert len(ours) == len(published) - 1
    found = {}
    for name, statistics in ours.items():
        theirs = dict(zip(paper.printed.METHODS, published[name], strict=True))
        found |= {(name, m): gap for m, gap in paper.unlike(theirs, statistics, 20).items()}
    assert set(found) == {("Brain_Tumor2", "KOC"), ("Prostate_Tumor", "SKFE"), ("tr45", "SKFE")}
    assert all(gap < 0 for gap in found.values())
    assert paper.unlike({"a": (10.0, 1.0)}, {"a": (10.0, 1.0)}, 20) == {}


def test_numbers_of_features_for_kernel_pls(paper):
    from papers.wu2007.methods import numbers_of_features

    assert [numbers_of_features(c) for c in (2, 3, 6, 10)] == [(1, 2), (1, 2, 3), (2, 3, 6), (3, 5, 10)]


def test_half_of_each_class(paper):
    y = np.repeat([0, 1, 2], [7, 10, 2])
    train, test = paper.texts.halves(y, 0)
    assert np.bincount(y[train]).tolist() == [3, 5, 1]
    assert np.array_equal(np.sort(np.r_[train, test]), np.arange(19))


def test_fewer_columns_keep_inner_products(paper):
    X = np.random.default_rng(0).standard_normal((6, 40))
    short = paper.genes.without_empty_dimensions(X)
    assert short.shape == (6, 6)
    assert_allclose(short @ short.T, X @ X.T)


def test_both_searches_begin_with_koc_and_go_on(paper):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 20))
    X[:, :3] += 1.5 * np.eye(3)[y]
    K = X @ X.T
    a, b = np.arange(0, 90, 2), np.arange(1, 90, 2)
    parts = (K[np.ix_(a, a)], y[a], K[np.ix_(b, a)], y[b])
    errors = {
        name: [search(*parts, most) for most in (0, 30)] for name, search in paper.SEARCHES.items()
    }
    assert errors["ours"][0] == errors["in coefficients"][0]
    assert errors["ours"][1] != errors["ours"][0]


@pytest.mark.parametrize("name", ["tr11", "tr23"])
def test_plain_counts_give_the_printed_neighbours(paper, local_data, name):
    means = paper.texts.neighbour_means(name, range(5))
    mean, spread = paper.printed.TEXTS[name][0]
    assert abs(means["counts"] - mean) < spread
    assert all(abs(means[key] - mean) > spread for key in means if key != "counts")


def test_text(paper, local_data):
    X, y = paper.texts.load("tr45")
    gram = paper.texts.inner_products(X)
    found = [paper.texts.one_repetition(X, gram, y, i) for i in range(3)]
    errors = {key: np.mean([each[key] for each in found]) for key in found[0]}
    assert errors["SKFE"] < errors["KOC"] < errors["AKDA/QR, balanced"] < errors["1-NN"]
    published = dict(zip(paper.printed.METHODS, paper.printed.TEXTS["tr45"], strict=True))
    for method, key in (("1-NN", "1-NN"), ("KOC", "KOC"), ("SKFE", "SKFE"), ("KPLS", "KPLS, 10")):
        mean, spread = published[method]
        assert abs(errors[key] - mean) < 2.5 * spread  # three splits, and those of tr45 vary much


def test_genes(paper, local_data, monkeypatch):
    monkeypatch.setattr(paper.genes, "WIDTHS", (2.0**-5, 2.0**-2, 1.0))
    X, y = paper.genes.load("DLBCL")
    rows = paper.genes.without_empty_dimensions(X)
    errors = paper.genes.one_repetition(rows, y, 0)
    assert errors["SKFE"] < errors["KOC"] < errors["1-NN"]
    assert errors["KPLS, 2"] < errors["KPLS, 1"]
