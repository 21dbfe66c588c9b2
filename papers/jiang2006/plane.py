"""Noisy circles and a Swiss cross, with a Gaussian kernel of width 4."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve.datasets import make_noisy_circle, make_swiss_cross
from papers.form import Estimate

from .methods import METHODS, fit, gamma_of, gaussian, make, quietly

SIGMA = 4.0
N_FEATURES = 10
CUTOFF = 0.4
CROSS_FEATURES = 15
PEERS = {f"scikit-learn, {solver}": solver for solver in ("dense", "arpack", "randomized")}
DENSE = "scikit-learn, dense"
CONTENDERS = (*PEERS, *METHODS)


# ---------------------------------------------------------------------- tables 1 and 2, figure 3


def contender(name: str) -> Any:
    """Return an estimator with the paper's kernel and number of features."""
    gamma = gamma_of(SIGMA)
    if name in PEERS:
        solver = PEERS[name]
        return SklearnKernelPCA(
            N_FEATURES, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0
        )
    return make(name, N_FEATURES, cutoff=CUTOFF, gamma=gamma)


def mean_squared_length(X: np.ndarray) -> float:
    """Return the mean squared distance of the images from their mean; images have length 1."""
    blocks = np.array_split(X, len(X) // 500 + 1)
    return 1 - float(sum(rbf_kernel(block, X, gamma_of(SIGMA)).sum() for block in blocks)) / len(X) ** 2


def fitted(name: str, X: np.ndarray) -> tuple[Any, float]:
    """Fit a contender, and return with it the seconds of this process, whatever else is running."""
    start = time.process_time()
    model = quietly(contender(name).fit, X)
    return model, time.process_time() - start


def timed(method: str, sizes: Sequence[int], draws: int) -> dict[str, np.ndarray]:
    """Return the seconds for every number of points, the shortest of some draws, and how they grow."""
    fitted(method, make_noisy_circle(200, random_state=0))  # compiles
    seconds = [
        min(fitted(method, make_noisy_circle(size, random_state=seed))[1] for seed in range(draws))
        for size in sizes
    ]
    return {"seconds": np.array([seconds]), "exponent": np.array([exponent(sizes, seconds)])}


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the slope of log10(time) against log10(size)."""
    return float(np.polyfit(np.log10(sizes), np.log10(times), 1)[0])


def reconstructed(method: str, size: int, center: bool, draws: int) -> dict[str, Estimate]:
    """Return reconstruction errors and sums of projection variances, with the spread of one draw."""
    errors, projected = [], []
    for seed in range(draws):
        X = make_noisy_circle(size, random_state=seed)
        model = quietly(contender(method).set_params(center=center).fit, X)
        errors.append(model.reconstruction_error(X))
        projected.append(mean_squared_length(X) - errors[-1] if center else np.nan)
    found = {"error": errors, "projected": projected} if center else {"error": errors}
    return {measure: one_draw(values) for measure, values in found.items()}


def relative_to_pca(method: str, size: int, draws: int) -> dict[str, Estimate]:
    """Return a method's reconstruction error as a multiple of that of kernel PCA on the same points."""
    ratios = []
    for seed in range(draws):
        X = make_noisy_circle(size, random_state=seed)
        error, least = (
            quietly(contender(name).fit, X).reconstruction_error(X) for name in (method, "KPCA")
        )
        ratios.append(error / least)
    return {"relative error": one_draw(ratios)}


def one_draw(values: Sequence[float]) -> Estimate:
    """Return the mean of draws with the spread of a single one, which is what the paper has."""
    return replace(Estimate.of(values), n=1)


# ---------------------------------------------------------------------- figure 2


def trade_off(cutoff: float, size: int, n_features: int, draws: int) -> dict[str, Any]:
    """Return the error, the number of features found and the seconds of ACKFA, a number a draw."""
    few = gaussian(make_noisy_circle(200, random_state=0), SIGMA)
    fit("ACKFA", few, n_features, cutoff)  # compiles
    found = []
    for seed in range(draws):
        K = gaussian(make_noisy_circle(size, random_state=seed), SIGMA)
        start = time.process_time()
        model = fit("ACKFA", K, n_features, cutoff)
        seconds = time.process_time() - start
        left = 1 - float(model.explained_variance_ratio_.sum())
        error = left * float(K.trace() / len(K) - K.mean())
        found.append((error, model.n_components_, seconds))
    error, n_found, seconds = zip(*found, strict=True)
    return {"error": one_draw(error), "features": n_found, "seconds": seconds}


def radial_noise(size: int, seed: int) -> np.ndarray:
    """Return points on the circle of radius 8 whose noise is along the radius alone."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, size), 8.0 + rng.standard_normal(size)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


NOISES = {
    "both coordinates": lambda size, seed: make_noisy_circle(size, random_state=seed),
    "along the radius": radial_noise,
}
#: What divides the squared distance, as "4" may be meant.
WIDTHS = {"exp(-d² / (2 · 4²))": 2 * SIGMA**2, "exp(-d² / 4²)": SIGMA**2, "exp(-d² / 4)": SIGMA}


def error_by_reading(
    noise: str, center: bool, width: str, size: int, n_features: int, draws: int
) -> dict[str, Estimate]:
    """Return the reconstruction error of AKFA by one reading of the text."""
    errors = []
    for seed in range(draws):
        X = NOISES[noise](size, seed)
        model = make("AKFA", n_features, cutoff=0.0, gamma=1 / WIDTHS[width]).set_params(center=center)
        errors.append(quietly(model.fit, X).reconstruction_error(X))
    return {"error": one_draw(errors)}


# ---------------------------------------------------------------------- figure 4


def chosen_points(method: str, side: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a Swiss cross and those of them that a method chooses, in its order."""
    X = make_swiss_cross(side=side, random_state=seed)
    if method == "all points":
        return X, X
    model = fit(method, gaussian(X, SIGMA), CROSS_FEATURES, cutoff=0.0)
    return X, X[model.landmark_indices_[:CROSS_FEATURES]]


def corners(side: float) -> np.ndarray:
    """Return the twelve vertices of the cross."""
    near, far = side / 2, 3 * side / 2
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return np.vstack([signs * place for place in ((near, near), (near, far), (far, near))])


def distance_to_corners(points: np.ndarray, side: float) -> float:
    """Return the mean distance of points from the nearest vertex of the cross."""
    gaps = np.linalg.norm(points[:, None] - corners(side)[None], axis=2)
    return float(gaps.min(axis=1).mean())


def corner_distances(method: str, side: float, draws: int) -> dict[str, list[float]]:
    """Return how far from the vertices the chosen points are, a number a draw."""
    chosen = [chosen_points(method, side, seed)[1] for seed in range(draws)]
    return {"distance": [distance_to_corners(points, side) for points in chosen]}
