"""What the figures and the table of Momma (2005) show, as statements."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from kernelsieve.datasets import DATA_VARIABLE, local_data_folder, make_interactions

ROOT = Path(__file__).resolve().parents[2]


def module(name):
    """The reproductions are no part of the package: they are found at the root of the repository."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        return importlib.import_module(f"papers.momma2005.{name}")


def needs(name):
    folder = local_data_folder()
    return pytest.mark.skipif(
        folder is None or not (folder / name).is_dir(),
        reason=f"needs the data set {name} in the folder {DATA_VARIABLE}",
    )


@pytest.fixture(scope="module")
def regression():
    return module("regression")


@pytest.fixture(scope="module")
def scaling():
    return module("scaling")


@pytest.fixture(scope="module")
def classes():
    return module("classes")


@pytest.fixture(scope="module")
def boston(regression):
    return regression.load("boston")


def mean_curve(regression, data, selection, nu, n_features, folds):
    some = data.split()[:folds]
    curves = [regression.fold_curve(data, (selection, nu, n_features), split) for split in some]
    return regression.Curve(
        np.mean([curve.error for curve in curves], axis=0),
        np.mean([curve.support for curve in curves], axis=0),
    )


# -- Figure 1


@needs("boston")
def test_with_all_rows_as_support_vectors_it_is_dense_kernel_pls(regression, boston):
    train, test = regression.standardised(boston, boston.split()[0])
    dense = regression.fit(("dense", 1.0, 15), boston.gamma, train)
    for selection in ("mr", "mi"):
        ours = regression.fit((selection, 1.0, 15), boston.gamma, train)
        for k in (1, 5, 15):
            np.testing.assert_allclose(
                ours.predict(test[0], n_components=k), dense.predict(test[0], n_components=k), atol=1e-7
            )
        np.testing.assert_array_equal(ours.support_fraction_, 1.0)


@needs("boston")
@pytest.mark.parametrize("selection", ["mi", "mr"])
def test_a_smaller_nu_needs_fewer_support_vectors(regression, boston, selection):
    nus = (0.02, 0.05, 0.1, 0.2, 0.5)
    shares = [mean_curve(regression, boston, selection, nu, 20, 1).support for nu in nus]
    assert np.all(np.diff(shares, axis=0) > 0)


@needs("boston")
def test_a_tenth_of_the_rows_at_a_step_predicts_as_well_as_dense_kernel_pls(regression, boston):
    dense = mean_curve(regression, boston, "dense", 1.0, 40, regression.FOLDS)
    sparse = mean_curve(regression, boston, "mr", 0.1, 50, regression.FOLDS)
    assert sparse.error.min() < 1.05 * dense.error.min()
    assert sparse.support[sparse.best - 1] < 0.45


@needs("boston")
def test_support_vectors_of_mi_grow_like_the_exact_ones_and_those_of_mr_faster(regression, boston):
    exact, mi, mr = (mean_curve(regression, boston, s, 0.5, 8, 2) for s in ("exact", "mi", "mr"))
    np.testing.assert_allclose(mi.support, exact.support, atol=0.05)
    assert np.all(mr.support[2:] > np.maximum(mi.support, exact.support)[2:] + 0.1)


@needs("boston")
def test_errors_of_mi_fall_more_slowly_than_the_exact_ones(regression, boston):
    exact, mi = (mean_curve(regression, boston, s, 0.5, 10, 3) for s in ("exact", "mi"))
    assert np.all(mi.error[4:] > exact.error[4:])


# -- Figure 2


@needs("boston")
@needs("abalone")
def test_the_kernels_are_those_of_the_paper(regression, boston):
    assert boston.gamma == pytest.approx(1 / 18, rel=0.002)
    assert regression.load("abalone").gamma == pytest.approx(1 / 32, rel=0.002)


@needs("abalone")
def test_with_few_support_vectors_abalone_is_predicted_better_than_by_a_support_vector_machine(
    regression,
):
    data = regression.load("abalone")
    folds = data.split()[:3]
    ours, theirs = (
        np.mean([regression.outer_point(data, method, 0.05, split).error for split in folds])
        for method in ("mr", "svm")
    )
    assert ours < 0.9 * theirs


# -- Figure 3


def test_every_contender_reaches_the_error_of_a_support_vector_machine(scaling):
    X, y = make_interactions(1000, 8, noise=1.0, random_state=0)
    y = (y - y.mean()) / y.std()
    machine = scaling.train(scaling.SVM, X, y, 0.0)
    runs = {
        name: scaling.train(name, X, y, machine.error)
        for name in (scaling.MR, scaling.MI, scaling.MR_MIN)
    }
    assert all(run.error <= machine.error for run in runs.values())
    least = runs[scaling.MR_MIN]
    assert least.n_support == least.n_features  # one a step
    assert least.n_support < runs[scaling.MR].n_support < machine.n_support
    assert least.n_features > runs[scaling.MR].n_features


def test_the_exponent_is_a_slope(scaling):
    runs = {n: scaling.Training(3e-6 * n**1.5, 0.1, 5, 5) for n in (100, 1000, 10_000)}
    assert scaling.exponent(runs) == pytest.approx(1.5)


# -- Table 1


@needs("ida_banana")
@pytest.mark.parametrize("loss", ["squared", "exponential", "logistic"])
def test_boosted_features_are_sparser_than_a_machine_and_almost_as_good(classes, loss):
    gamma = 2.0
    machine = classes.result("ida_banana", 0, classes.SVM, gamma)
    ours = classes.result("ida_banana", 0, loss, gamma)
    assert ours.n_support < 0.6 * machine.n_support
    assert ours.error < machine.error + 4


# -- all


def test_without_data_the_rest_runs_and_says_why(monkeypatch, tmp_path, capsys):
    figures = module("figures")
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.setattr(figures, "run_scaling", lambda output: None)
    figures.main(tmp_path)
    assert DATA_VARIABLE in capsys.readouterr().out
