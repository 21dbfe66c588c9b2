"""The reproduction of Mika et al. (2003), in parts small enough for a test."""

import numpy as np
import pytest

from kernelsieve.rayleigh import DecisionRule
from papers.catalogue import Entry
from papers.form import judge
from papers.mika2003 import digits, fig1, ida, plane, table1, usps
from papers.page import lines_of
from papers.results import results_of


def test_known_invariances_make_first_features_invariant():
    found = {name: plane.changes(name, draws=1) for name in plane.CONTENDERS}
    plain = found["kernel PCA"]
    for what, other in (("rotation", "translation"), ("translation", "rotation")):
        known = found[f"oriented kernel PCA, {what}"]
        assert known[what][0] < 0.1 * plain[what][0]
        assert known[other][0] > 0.5 * plain[other][0]  # it was not made small altogether


def test_figure_1_is_drawn(tmp_path):
    figure = fig1.draw({(name,): {} for name in plane.CONTENDERS})
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_the_median_is_taken_of_every_parameter():
    choices = [ida.Choice(1.0, 9.0, 0.1), ida.Choice(5.0, 2.0, 1.0), ida.Choice(3.0, 1.0, 0.5)]
    assert ida.median(choices) == ida.Choice(3.0, 2.0, 0.5)


def test_of_equal_errors_one_in_the_middle_is_taken():
    errors = np.array([[3, 2, 2, 2], [4, 2, 5, 5], [2, 2, 2, 9]])
    assert ida.middle_of_the_best(errors) == (1, 1)
    assert ida.middle_of_the_best(errors[[0, 0]]) == (1, 2)
    assert ida.middle_of_the_best(np.array([[1.0, 0.5], [0.7, 0.9]])) == (0, 1)
    assert ida.middle_of_the_best(np.stack([errors + 1, errors])) == (1, 1, 1)


def test_nu_moves_the_threshold(rng):
    y = np.where(np.arange(200) < 150, -1, 1)
    X = rng.standard_normal((200, 2)) + y[:, None]
    model = ida.model_of("KFD", 2.0, 0.1).fit(X, y)
    nus = [0.05, 0.5, 1.0]
    wrong = ida.wrong_by_nu(model, (X, y), (X, y), nus)
    assert len(set(wrong)) > 1
    # the same decisions as those of the estimator with that nu
    for nu, error in zip(nus, wrong, strict=True):
        other = (
            ida.model_of("KFD", 2.0, 0.1).set_params(decision=DecisionRule("margin", nu=nu)).fit(X, y)
        )
        assert error == pytest.approx(100 * np.mean(other.predict(X) != y))


def test_no_parameters_of_the_grid_do_better_than_the_best(monkeypatch, rng):
    y = np.where(np.arange(90) % 3 == 0, 1, -1)
    X = rng.standard_normal((90, 2)) + y[:, None]
    halves = [(slice(0, 60), slice(60, 90)), (slice(30, 90), slice(0, 30))]

    def load(data, realisation):
        a, b = halves[realisation]
        return (X[a], y[a]), (X[b], y[b])

    monkeypatch.setattr(ida, "load", load)
    costs, widths, nus = [0.01, 1.0], [0.5, 2.0], [0.1, 1.0]
    found = ida.errors_by_parameters("any", "KFD", costs, widths, nus, realisations=2)
    errors = [
        np.mean(
            [
                ida.wrong_by_nu(ida.model_of("KFD", 2 * width, cost).fit(*a), a, b, [nu])
                for a, b in (load("any", i) for i in range(2))
            ]
        )
        for cost in costs
        for width in widths
        for nu in nus
    ]
    assert np.mean(found["least error"]) == pytest.approx(min(errors))
    assert np.mean(found["by C"], axis=0) == pytest.approx([min(errors[:4]), min(errors[4:])])
    assert found["c"][0] in (1.0, 4.0)  # widths are those of a dimension


@pytest.mark.parametrize("quick_alone", [False, True])
def test_what_is_worse_in_table_1_agrees_with_what_its_explanation_names(quick_alone):
    least = results_of(Entry("mika2003", "table1_grid"))
    lines = lines_of(Entry("mika2003", "table1"), quick_alone=quick_alone)
    for line in (line for line in lines if line.mark == "worse"):
        if "mika2003/table1_grid" in line.cell.explanation:
            other = least[line.cell.key]["least error"]
        else:
            assert "threshold of least squares" in line.cell.explanation
            other = line.record.found["threshold by least squares"]
        assert judge(line.printed, other, True).mark in ("agrees", "better")


def test_what_is_printed_is_complete():
    assert all(len(row) == len(table1.METHODS) for row in table1.PRINTED.values())
    assert len(table1.PRINTED) == 10
    assert set(digits.PRINTED) <= set(usps.CONTENDERS)
    assert min(digits.PRINTED.values()) == 3.1


def test_virtual_examples_are_moved_images(rng):
    X = rng.uniform(-1, 1, (40, 256))
    moved = usps.virtual_examples(X, 25, seed=0)
    assert moved.shape == (25, 256)
    distance = np.linalg.norm(moved[:, None] - X[None], axis=2).min(axis=1)
    assert (distance > 0).all()


@pytest.mark.parametrize("name", list(table1.PRINTED))
def test_realisations_are_splits(local_data, name):
    sizes = set()
    for realisation in range(10):
        (X, y), (X_test, y_test) = ida.load(name, realisation)
        assert set(y) == set(y_test) == {-1, 1}
        sizes.add((len(X), len(X_test)))
    assert len(sizes) == 1


@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
@pytest.mark.parametrize("method", table1.METHODS)
def test_table_1_on_one_data_set(local_data, method):
    found = ida.table1("heart", method, 4, 1, 3, widths=[2.5, 5.0], nus=[0.3, 0.7])
    error, _, zeros = table1.PRINTED["heart"][table1.METHODS.index(method)]
    assert abs(np.mean(found["error"]) - error) < 6  # two standard errors of four realisations
    assert (np.mean(found["zeros"]) > 80) == (zeros > 80)


@pytest.mark.slow
def test_digits_on_few_of_them(local_data, monkeypatch):
    (X, y), (X_test, y_test) = usps.load(usps.SMOOTHING)
    few = (X[:1200], y[:1200]), (X_test[:600], y_test[:600])
    monkeypatch.setattr(usps, "load", lambda smoothing: few)
    results = {
        method: usps.digits(method, 0.0, draws=2, n_expansion=300, n_virtual=600)
        for method in usps.CONTENDERS
    }
    errors = {method: found["error"].value for method, found in results.items()}
    assert max(errors.values()) < 12
    assert errors["KFD, random"] < errors["SVM, one against one"] + 2
    assert results["KFD, random"]["of draws"].n == 2
    assert results["KFD, first"]["of draws"].n == 1
