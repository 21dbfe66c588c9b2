"""What the figures and the table of Momma (2005) show, as statements."""

from __future__ import annotations

import numpy as np
import pytest

from kernelsieve.datasets import make_interactions
from papers.momma2005 import classes, regression, scaling


@pytest.fixture(scope="module")
def boston(local_data):
    return regression.load("boston", 506)


def mean_curves(selection, nu, n_features, folds):
    found = regression.curves("boston", 506, selection, nu, n_features, folds)
    return found["error"].mean(axis=0), found["support"].mean(axis=0)


# -- Figure 1


def test_with_all_rows_as_support_vectors_it_is_dense_kernel_pls(boston):
    train, test = regression.standardised(boston, boston.split()[0])
    dense = regression.fit(("dense", 1.0, 15), boston.gamma, train)
    for selection in ("mr", "mi"):
        ours = regression.fit((selection, 1.0, 15), boston.gamma, train)
        for k in (1, 5, 15):
            np.testing.assert_allclose(
                ours.predict(test[0], n_components=k), dense.predict(test[0], n_components=k), atol=1e-7
            )
        np.testing.assert_array_equal(ours.support_fraction_, 1.0)


@pytest.mark.parametrize("selection", ["mi", "mr"])
def test_a_smaller_nu_needs_fewer_support_vectors(local_data, selection):
    shares = [mean_curves(selection, nu, 20, 1)[1] for nu in (0.02, 0.05, 0.1, 0.2, 0.5)]
    assert np.all(np.diff(shares, axis=0) > 0)


@pytest.mark.slow
def test_a_tenth_of_the_rows_at_a_step_predicts_as_well_as_dense_kernel_pls(local_data):
    dense, _ = mean_curves("dense", 1.0, 40, regression.FOLDS)
    sparse, support = mean_curves("mr", 0.1, 50, regression.FOLDS)
    assert sparse.min() < 1.05 * dense.min()
    assert support[sparse.argmin()] < 0.45


@pytest.mark.slow
def test_support_vectors_of_mi_grow_like_the_exact_ones_and_those_of_mr_faster(local_data):
    exact, mi, mr = (mean_curves(selection, 0.5, 8, 2)[1] for selection in ("exact", "mi", "mr"))
    np.testing.assert_allclose(mi, exact, atol=0.05)
    assert np.all(mr[2:] > np.maximum(mi, exact)[2:] + 0.1)


@pytest.mark.slow
def test_errors_of_mi_fall_more_slowly_than_the_exact_ones(local_data):
    exact, mi = (mean_curves(selection, 0.5, 10, 3)[0] for selection in ("exact", "mi"))
    assert np.all(mi[4:] > exact[4:])


# -- Figure 2


def test_the_kernels_are_those_of_the_paper(boston):
    assert boston.gamma == pytest.approx(1 / 18, rel=0.002)
    assert regression.load("abalone", 1000).gamma == pytest.approx(1 / 32, rel=0.002)


def test_fewer_rows_are_drawn_and_all_keep_their_order(boston):
    assert len(regression.load("abalone", 1000).y) == 1000
    assert boston.y[0] == 24.0


@pytest.mark.slow
def test_with_few_support_vectors_abalone_is_predicted_better_than_by_a_machine(local_data):
    ours, theirs = (
        np.mean(regression.points("abalone", 1000, method, 0.05, 30, folds=3, inner_folds=3)["error"])
        for method in ("mr", "svm")
    )
    assert ours < 0.9 * theirs


# -- Figure 3


def test_every_contender_reaches_the_error_of_a_support_vector_machine():
    X, y = make_interactions(1000, 8, noise=1.0, random_state=0)
    y = (y - y.mean()) / y.std()
    machine = scaling.train(scaling.SVM, X, y, 0.0)
    names = (scaling.MR, scaling.MI, scaling.MR_MIN)
    runs = {name: scaling.train(name, X, y, machine.error) for name in names}
    assert all(run.error <= machine.error for run in runs.values())
    least = runs[scaling.MR_MIN]
    assert least.n_support == least.n_features  # one a step
    assert least.n_support < runs[scaling.MR].n_support < machine.n_support
    assert least.n_features > runs[scaling.MR].n_features


def test_the_exponent_is_a_slope():
    runs = {n: scaling.Training(3e-6 * n**1.5, 0.1, 5, 5) for n in (100, 1000, 10_000)}
    assert scaling.exponent(runs) == pytest.approx(1.5)


# -- Table 1


@pytest.mark.parametrize("loss", ["squared", "exponential", "logistic"])
def test_boosted_features_are_sparser_than_a_machine_and_almost_as_good(local_data, loss):
    of_machine, machine = classes.tested("ida_banana", 0, classes.SVM, 2.0, folds=5)
    of_ours, ours = classes.tested("ida_banana", 0, loss, 2.0, folds=5)
    assert ours < 0.6 * machine
    assert of_ours < of_machine + 4
