"""Handwritten digits, without and with known invariances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.cluster import MiniBatchKMeans
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kernelsieve import KernelFisherDiscriminant, datasets
from kernelsieve.rayleigh import DecisionRule, ImageRotation, ImageTranslation, LineThickening
from papers.form import Estimate

GAMMA = 1 / (0.3 * 256)  # a Gaussian kernel of width 0.3 D, on pixels in [-1, 1]
REG = 1e-3  # C of formula (11)
WEIGHT = 1e-3  # lambda, of the mean of the tangent covariances
SVM_COST = 10.0
SMOOTHING = 0.75  # pixels; what Schoelkopf et al. (1996) do to these images before anything else
TRANSFORMS = (
    ImageTranslation(right=1),
    ImageTranslation(right=0, down=1),
    ImageRotation(5),
    LineThickening(0.1),
)

CONTENDERS = (
    "SVM, one against the rest",
    "SVM, one against one",
    "KFD, first",
    "KFD, random",
    "KFD, first, invariances",
    "KFD, random, invariances",
    "KFD, virtual examples",
    "KFD, virtual examples, invariances",
)

Rows = tuple[np.ndarray, np.ndarray]


def load(smoothing: float = 0.0) -> tuple[Rows, Rows]:
    """Return the 7,291 digits to train on and the 2,007 to test on, smoothed by a Gaussian if asked."""
    parts = datasets.load("usps")
    X, y = np.asarray(parts.X, dtype=np.float64) / 1000 - 1, np.asarray(parts.y).astype(int)
    if smoothing:
        X = gaussian_filter(X.reshape(-1, 16, 16), (0, smoothing, smoothing)).reshape(X.shape)
    train, test = np.ravel(parts.train_idx), np.ravel(parts.test_idx)
    return (X[train], y[train]), (X[test], y[test])


def discriminant(candidates: np.ndarray, weight: float) -> KernelFisherDiscriminant:
    """Return one discriminant for each digit, expanded in given images."""
    share = weight / len(TRANSFORMS)
    return KernelFisherDiscriminant(
        gamma=GAMMA,
        candidates=candidates,
        reg=REG,
        invariances=[(transform, share) for transform in TRANSFORMS] if weight else None,
        decision=DecisionRule("margin", nu="cv", multi_class="ovr"),
        n_jobs=1,
    )


def virtual_examples(X: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Return images moved by random transformations, each by a step there or back."""
    rng = np.random.default_rng(seed)
    which, rows = rng.integers(8, size=size), rng.integers(len(X), size=size)
    moves = [
        ImageTranslation(right=1),
        ImageTranslation(right=-1),
        ImageTranslation(right=0, down=1),
        ImageTranslation(right=0, down=-1),
        ImageRotation(5),
        ImageRotation(-5),
        LineThickening(0.1),
        LineThickening(-0.1),
    ]
    moved = np.empty((size, X.shape[1]))
    for i, move in enumerate(moves):
        moved[which == i] = move(X[rows[which == i]])
    return moved


def centres(X: np.ndarray, size: int, n_virtual: int, seed: int) -> np.ndarray:
    """Return the centres of clusters of the images and of virtual examples."""
    pool = np.vstack([X, virtual_examples(X, n_virtual, seed)])
    clusters = MiniBatchKMeans(size, n_init=1, max_iter=10, batch_size=4096, random_state=seed)
    return np.asarray(clusters.fit(pool).cluster_centers_)


def expansion(method: str, X: np.ndarray, size: int, n_virtual: int, seed: int) -> np.ndarray:
    """Return the images in which discriminants are expanded."""
    if "virtual" in method:
        return centres(X, size, n_virtual, seed)
    if "random" in method:
        return X[np.random.default_rng(seed).choice(len(X), size, replace=False)]
    return X[:size]


def fitted(method: str, train: Rows, n_expansion: int, n_virtual: int, seed: int) -> Any:
    """Fit one contender."""
    if method == "SVM, one against one":
        return SVC(gamma=GAMMA, C=SVM_COST).fit(*train)
    if method == "SVM, one against the rest":
        return OneVsRestClassifier(SVC(gamma=GAMMA, C=SVM_COST)).fit(*train)
    points = expansion(method, train[0], n_expansion, n_virtual, seed)
    return discriminant(points, WEIGHT if "invariances" in method else 0.0).fit(*train)


def digits(
    method: str, smoothing: float, draws: int, n_expansion: int, n_virtual: int
) -> dict[str, Estimate]:
    """Return the error of a contender, the mean of its draws, with the spread of the test digits."""
    train, test = load(smoothing)
    seeds = range(draws if "random" in method or "virtual" in method else 1)
    models = (fitted(method, train, n_expansion, n_virtual, seed) for seed in seeds)
    errors = [100 * float(np.mean(model.predict(test[0]) != test[1])) for model in models]
    error = Estimate.share(float(np.mean(errors)), len(test[1]))
    return {"error": error, "of draws": Estimate.of(errors)}
