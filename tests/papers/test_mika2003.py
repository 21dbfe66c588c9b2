"""The reproduction of Mika et al. (2003), in parts small enough for a test."""

import numpy as np
import pytest

from kernelsieve.datasets import DATA_VARIABLE, local_data_folder
from papers.mika2003 import figures, ida, plane, usps
from papers.mika2003.printed import DIGITS, TABLE1

needs_data = pytest.mark.skipif(
    local_data_folder() is None, reason=f"set {DATA_VARIABLE} to the folder with the papers' data sets"
)


def test_known_invariances_make_first_features_invariant():
    changes = plane.changes(plane.square())
    plain = changes["kernel PCA"]
    for what in ("rotation", "translation"):
        known = changes[f"oriented kernel PCA, {what}"]
        assert known[what] < 0.1 * plain[what]
        other = "translation" if what == "rotation" else "rotation"
        assert known[other] > 0.5 * plain[other]  # it was not made small altogether


def test_figure_1_is_drawn(tmp_path):
    path = figures.draw_figure1(plane.square(), tmp_path / "new" / "figure.png")
    assert path.stat().st_size > 10_000


def test_the_median_is_taken_of_every_parameter():
    choices = [ida.Choice(1.0, 9.0), ida.Choice(5.0, 2.0), ida.Choice(3.0, 1.0)]
    assert ida._median(choices) == ida.Choice(3.0, 2.0)


def test_errors_far_from_the_printed_ones_are_told():
    choice = ida.Choice(1.0, 1.0)
    cells = {"SVM": 13.5, "KFD": 10.9, "SKFD": 10.0, "LSKFD": 10.0}  # printed 11.5, 10.8, 11.2, 10.6
    found = {m: (choice, ida.Result(error, error, 0.0, 0.2)) for m, error in cells.items()}
    expected = {"above": ["banana SVM"], "below": ["banana SKFD", "banana LSKFD"]}
    assert figures.far_from_printed({"banana": found}) == expected


def test_of_equal_errors_one_in_the_middle_is_taken():
    errors = np.array([[3, 2, 2, 2], [4, 2, 5, 5], [2, 2, 2, 9]])
    assert ida.middle_of_the_best(errors) == (1, 1)
    assert ida.middle_of_the_best(errors[[0, 0]]) == (1, 2)
    assert ida.middle_of_the_best(np.array([[1.0, 0.5], [0.7, 0.9]])) == (0, 1)


def test_what_is_printed_is_complete():
    assert all(set(by_method) == set(ida.METHODS) for by_method in TABLE1.values())
    assert len(TABLE1) == 10
    assert min(DIGITS.values()) == 3.1


def test_virtual_examples_are_moved_images(rng):
    X = rng.uniform(-1, 1, (40, 256))
    moved = usps.virtual_examples(X, 25)
    assert moved.shape == (25, 256)
    distance = np.linalg.norm(moved[:, None] - X[None], axis=2).min(axis=1)
    assert (distance > 0).all()


@needs_data
@pytest.mark.parametrize("name", list(TABLE1))
def test_realisations_are_splits(name):
    sizes = set()
    for realisation in range(ida.REALISATIONS):
        (X, y), (X_test, y_test) = ida.load(name, realisation)
        assert set(y) == set(y_test) == {-1, 1}
        sizes.add((len(X), len(X_test)))
    assert len(sizes) == 1


@needs_data
def test_table_1_on_one_data_set(capsys):
    found = ida.table1(["heart"], realisations=4, chosen_on=1)["heart"]
    for method, (_, result) in found.items():
        error, _, zeros = TABLE1["heart"][method]
        assert abs(result.error - error) < 6  # two standard errors of four realisations
        assert (result.zeros > 80) == (zeros > 80)
    figures.state_table1("heart", found)
    assert "printed" in capsys.readouterr().out


@needs_data
def test_digits_on_few_of_them():
    train, test = usps.load(usps.SMOOTHING)
    few = (train[0][:1200], train[1][:1200]), (test[0][:600], test[1][:600])
    results = usps.digits(*few, n_expansion=300)
    assert set(DIGITS) <= set(results)
    assert all(result.error < 12 for result in results.values())
    assert results["KFD"].error < results["SVM"].error + 2
