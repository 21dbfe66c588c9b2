"""The width by cross-validation: equal to a search by hand, and better where the default is bad."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge

from kernelsieve import (
    ComponentPathCV,
    KernelFisherDiscriminant,
    KernelPCA,
    KernelPLS,
    KernelPLSClassifier,
    SparseMaximalAlignment,
)
from kernelsieve.data import row_hashes
from kernelsieve.estimators import WIDTHS, widths
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.kernels import resolve_gamma

RNG = np.random.default_rng(0)
# Smooth curves, whose few leading directions have nearly all of the variance, as spectra do.
WAVES = np.array([np.sin((j + 1) * np.linspace(0, 3, 80)) * 10.0 ** (-0.5 * j) for j in range(12)])
LATENT = RNG.normal(size=(90, 12))
SPECTRA = LATENT @ WAVES
Y = LATENT[:, 7] + 0.5 * LATENT[:, 2]


def folds(X, y):
    """Every fifth sample in the order of hashes, class by class; three times for so few samples."""
    for factor in (1, 3, 5):
        order = np.lexsort((row_hashes(X) * np.uint64(factor), y))
        dealt = np.empty(len(X), int)
        dealt[order] = np.arange(len(X)) % 5
        for fold in range(5):
            yield np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)


def test_it_is_the_best_by_hand():
    X, y = RNG.normal(size=(80, 3)), RNG.normal(size=80)
    y = np.sin(2 * X[:, 0]) + 0.1 * y
    weight = RNG.uniform(0.5, 2, 80)
    model = KernelPLS(3, gamma="cv").fit(X, y, weight)
    means = []
    for gamma in WIDTHS:
        scores = []
        for train, test in folds(X, np.zeros(len(X))):
            fitted = KernelPLS(3, gamma=gamma).fit(X[train], y[train], weight[train])
            scores.append(fitted.score(X[test], y[test], weight[test]))
        means.append(np.mean(scores))
    best = WIDTHS[int(np.argmax(means))]
    assert model.gamma_ == resolve_gamma(best, X, sample_weight=weight)
    assert model.n_components_ == 3
    assert model.gamma == "cv"


def test_labels():
    X = RNG.normal(size=(120, 2))
    y = np.where(np.sin(4 * X[:, 0]) > 0, "up", "down")
    model = KernelFisherDiscriminant(gamma="cv").fit(X, y)
    means = [
        np.mean(
            [
                KernelFisherDiscriminant(gamma=gamma).fit(X[a], y[a]).score(X[b], y[b])
                for a, b in folds(X, y)
            ]
        )
        for gamma in WIDTHS
    ]
    assert model.gamma_ == resolve_gamma(WIDTHS[int(np.argmax(means))], X)
    assert model.score(X, y) > 0.8
    balanced = KernelFisherDiscriminant(gamma="cv", class_weight="balanced").fit(X, y)
    assert balanced.score(X, y) > 0.8


def test_the_number_of_components_is_chosen_where_it_is_open():
    model = KernelPLS(gamma="cv").fit(SPECTRA[:60], Y[:60])
    assert 5 < model.n_components_ < 60
    assert model.score(SPECTRA[60:], Y[60:]) > 0.9
    assert KernelPLS(4, gamma="cv").fit(SPECTRA, Y).n_components_ == 4
    labels = KernelPLSClassifier(gamma="cv").fit(SPECTRA[:60], Y[:60] > 0)
    assert labels.score(SPECTRA[60:], Y[60:] > 0) > 0.8


def test_small_directions_are_not_dropped():
    """A linear kernel gives what PLSRegression gives, down to directions of little variance."""
    linear = KernelPLS(10, kernel="linear").fit(SPECTRA[:60], Y[:60])
    assert linear.n_components_ == 10
    expected = PLSRegression(10, scale=False).fit(SPECTRA[:60], Y[:60]).predict(SPECTRA[60:])
    assert_allclose(linear.predict(SPECTRA[60:]), expected.ravel(), atol=1e-5)
    # There are twelve directions, and what rounding adds to them is none.
    with pytest.warns(UserWarning, match="12"):
        assert KernelPLS(20, kernel="linear").fit(SPECTRA, Y).n_components_ == 12


def test_a_search_tries_the_widths():
    search = ComponentPathCV(SparseMaximalAlignment(5, gamma="cv"), Ridge(), cv=3).fit(SPECTRA, Y)
    assert set(search.path_["param_gamma"]) == set(WIDTHS)
    assert search.best_params_["gamma"] in WIDTHS
    given = ComponentPathCV(
        SparseMaximalAlignment(5, gamma="cv"), Ridge(), cv=3, param_grid={"gamma": [0.1, 0.2]}
    ).fit(SPECTRA, Y)
    assert set(given.path_["param_gamma"]) == {0.1, 0.2}
    linear = ComponentPathCV(KernelPLS(5, kernel="linear", gamma="cv"), cv=3).fit(SPECTRA, Y)
    assert linear.best_params_ == {"gamma": "scale"}


def test_out_of_core_the_first_batch_chooses():
    model = KernelPLS(12, gamma="cv", candidates=SPECTRA[::3])
    model.partial_fit(SPECTRA[:60], Y[:60]).partial_fit(SPECTRA[60:], Y[60:])
    assert model.score(SPECTRA, Y) > 0.5


def test_few_samples_and_kernels_without_a_width():
    few = KernelPLS(2, gamma="cv").fit(SPECTRA[:6], Y[:6])
    assert few.gamma_ == resolve_gamma("scale", SPECTRA[:6])
    assert KernelPLS(2, kernel="linear", gamma="cv").fit(SPECTRA, Y).n_components_ == 2
    K = SPECTRA @ SPECTRA.T
    assert KernelPLS(2, kernel="precomputed", gamma="cv").fit(K, Y).n_components_ == 2


def test_what_does_not_predict_refuses():
    with pytest.raises(InvalidParameterError, match="'cv' is for estimators that predict"):
        KernelPCA(2, gamma="cv").fit(SPECTRA)


def test_no_seed_changes_the_choice(monkeypatch):
    """Of many samples a part chooses, the same one for every seed and order."""
    monkeypatch.setattr(widths, "_MOST_SAMPLES", 100)
    monkeypatch.setattr(widths, "_FEW", 0)
    X = RNG.uniform(-2, 2, (250, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    first = KernelPLS(5, random_state=0).fit(X, y)
    predictions = first.predict(X)
    for order, seed in ((np.arange(250), 1), (np.random.default_rng(1).permutation(250), 2)):
        other = KernelPLS(5, random_state=seed).fit(X[order], y[order])
        assert other.gamma_ == pytest.approx(first.gamma_, rel=1e-12)
        np.testing.assert_allclose(other.predict(X), predictions, atol=0.02 * y.std())
