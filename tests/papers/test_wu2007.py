"""What the tables of Wu and Farquhar (2007) rest on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from papers.wu2007 import METHODS, genes, preparations, table2, table3, texts
from papers.wu2007.methods import SEARCHES, lowest_column, numbers_of_features


def test_what_is_printed_is_complete():
    for row in (*table2.PRINTED.values(), *table3.PRINTED.values()):
        assert len(row) == len(METHODS)
        assert all(mean > spread > 0 for mean, spread in row)


def test_numbers_of_features_for_kernel_pls():
    assert [numbers_of_features(c) for c in (2, 3, 6, 10)] == [(1, 2), (1, 2, 3), (2, 3, 6), (3, 5, 10)]


def test_the_number_of_features_with_the_least_mean_is_taken():
    errors = np.array([[5.0, 3.0], [5.0, 6.0]])
    assert lowest_column(errors).tolist() == [3.0, 6.0]


def test_half_of_each_class():
    y = np.repeat([0, 1, 2], [7, 10, 2])
    train, test = texts.halves(y, 0)
    assert np.bincount(y[train]).tolist() == [3, 5, 1]
    assert np.array_equal(np.sort(np.r_[train, test]), np.arange(19))


def test_fewer_columns_keep_inner_products():
    X = np.random.default_rng(0).standard_normal((6, 40))
    short = genes.without_empty_dimensions(X)
    assert short.shape == (6, 6)
    assert_allclose(short @ short.T, X @ X.T)


def test_both_searches_begin_with_koc_and_go_on():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 20))
    X[:, :3] += 1.5 * np.eye(3)[y]
    K = X @ X.T
    a, b = np.arange(0, 90, 2), np.arange(1, 90, 2)
    parts = (K[np.ix_(a, a)], y[a], K[np.ix_(b, a)], y[b])
    errors = {name: [search(*parts, most) for most in (0, 30)] for name, search in SEARCHES.items()}
    assert errors["L-BFGS"][0] == errors["in coefficients"][0]
    assert errors["L-BFGS"][1] != errors["L-BFGS"][0]


@pytest.mark.parametrize("name", ["tr11", "tr23"])
def test_plain_counts_give_the_printed_neighbours(local_data, name):
    mean, spread = table3.PRINTED[name][0]
    for preparation in texts.PREPARATIONS:
        found = preparations.neighbours(name, preparation, 5)["error"].mean()
        assert (abs(found - mean) < spread) == (preparation == "counts")


def test_text(local_data):
    errors = {m: table3.TABLE.compute("tr45", m, repetitions=3)["error"].mean() for m in METHODS}
    assert errors["SKFE"] < errors["KOC"] < errors["AKDA/QR"] < errors["1-NN"]
    for method, (mean, spread) in zip(METHODS, table3.PRINTED["tr45"], strict=True):
        assert abs(errors[method] - mean) < 2.5 * spread  # three splits, and those of tr45 vary much


def test_genes(local_data, monkeypatch):
    monkeypatch.setattr(genes, "WIDTHS", (2.0**-5, 2.0**-2, 1.0))
    errors = {m: genes.table2("DLBCL", m, 1)["error"].mean() for m in ("1-NN", "KOC", "SKFE")}
    assert errors["SKFE"] < errors["KOC"] < errors["1-NN"]
