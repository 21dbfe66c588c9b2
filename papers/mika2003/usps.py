"""Section 5.1: handwritten digits, without and with known invariances.

The functions are pure but for the clock. Tests use them too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.cluster import MiniBatchKMeans
from sklearn.svm import SVC

from kernelsieve import KernelFisherDiscriminant, datasets
from kernelsieve.rayleigh import ImageRotation, ImageTranslation, LineThickening

GAMMA = 1 / (0.3 * 256)  # a Gaussian kernel of width 0.3 D, on pixels in [-1, 1]
REG = 1e-3  # C of formula (11)
WEIGHT = 1e-3  # lambda, of the mean of the tangent covariances
N_EXPANSION = 3000
N_VIRTUAL = 12_000
SVM_COST = 10.0
SMOOTHING = 0.75  # pixels; what Schoelkopf et al. (1996) do to these images before anything else
TRANSFORMS = (
    ImageTranslation(right=1),
    ImageTranslation(right=0, down=1),
    ImageRotation(5),
    LineThickening(0.1),
)

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Result:
    """What one contender does on the test digits."""

    error: float  # per cent
    seconds: float  # to fit


def load(smoothing: float = 0.0) -> tuple[Rows, Rows]:
    """Return the 7,291 digits to train on and the 2,007 to test on, smoothed by a Gaussian if asked."""
    parts = datasets.load("usps")
    X, y = np.asarray(parts["X"], dtype=np.float64) / 1000 - 1, np.asarray(parts["y"]).astype(int)
    if smoothing:
        X = gaussian_filter(X.reshape(-1, 16, 16), (0, smoothing, smoothing)).reshape(X.shape)
    train, test = parts["train_idx"].ravel(), parts["test_idx"].ravel()
    return (X[train], y[train]), (X[test], y[test])


def discriminant(candidates: np.ndarray, weight: float) -> KernelFisherDiscriminant:
    """Return one discriminant for each digit, expanded in given images."""
    share = weight / len(TRANSFORMS)
    return KernelFisherDiscriminant(
        gamma=GAMMA,
        candidates=candidates,
        reg=REG,
        invariances=[(transform, share) for transform in TRANSFORMS] if weight else None,
        multi_class="ovr",
        threshold="margin",
    )


def virtual_examples(X: np.ndarray, size: int, seed: int = 0) -> np.ndarray:
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


def centres(X: np.ndarray, size: int, seed: int = 0) -> np.ndarray:
    """Return the centres of clusters of the images and of virtual examples."""
    pool = np.vstack([X, virtual_examples(X, N_VIRTUAL * len(X) // 7291, seed)])
    clusters = MiniBatchKMeans(size, n_init=1, max_iter=10, batch_size=4096, random_state=seed)
    return np.asarray(clusters.fit(pool).cluster_centers_)


def tested(model: Any, train: Rows, test: Rows) -> Result:
    """Fit and test one contender."""
    start = time.perf_counter()
    model.fit(*train)
    seconds = time.perf_counter() - start
    return Result(100 * float(np.mean(model.predict(test[0]) != test[1])), seconds)


def digits(train: Rows, test: Rows, n_expansion: int = N_EXPANSION) -> dict[str, Result]:
    """Return the result of every contender of section 5.1."""
    first = train[0][:n_expansion]
    clustered = centres(train[0], n_expansion)
    contenders = {
        "SVM": SVC(gamma=GAMMA, C=SVM_COST),
        "KFD": discriminant(first, 0.0),
        "KFD, invariances": discriminant(first, WEIGHT),
        "KFD, virtual examples": discriminant(clustered, 0.0),
        "KFD, invariances, virtual examples": discriminant(clustered, WEIGHT),
    }
    return {name: tested(model, train, test) for name, model in contenders.items()}
