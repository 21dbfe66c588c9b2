"""Tables 1 and 2, Figures 1 to 4: noisy circles and a Swiss cross, with a Gaussian of width 4.

The functions are pure: numbers in, numbers out. Tests use them too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from kernelsieve.datasets import make_noisy_circle, make_swiss_cross

from .methods import METHODS, fit, gamma_of, gaussian, make, quietly

SIGMA = 4.0
N_FEATURES = 10
CUTOFF = 0.4
DRAWS = range(20)  # of the data; the paper has one
TIMED_DRAWS = 3  # the first of them, on which scikit-learn runs as well

TRADE_OFF_SIZE = 1000
TRADE_OFF_FEATURES = 20
TRADE_OFF_CUTOFFS = (0.0, 0.01, 0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.15)  # 0 is AKFA
TRADE_OFF_DRAWS = range(10)

CROSS_FEATURES = 15
CROSS_SIDE = 8.0  # of its five squares; the paper does not say
CROSS_SIDES = (2.0, 4.0, CROSS_SIDE, 12.0)

PEERS = {f"scikit-learn, {solver}": solver for solver in ("dense", "arpack", "randomized")}
DENSE = "scikit-learn, dense"
CONTENDERS = (*PEERS, *METHODS)


# ---------------------------------------------------------------------- tables 1 and 2, figure 3


@dataclass(frozen=True)
class Quality:
    """What features say about the images that they were found from, and what finding them took."""

    error: float  # mean squared distance of the images from their reconstruction
    projected: float  # sum of the features' projection variances
    seconds: float  # for the kernel matrix and the features


Draw = Mapping[str, Quality]


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


def assess(name: str, X: np.ndarray, total: float) -> Quality:
    """Fit one contender; ``total`` is the mean squared length of the images about their mean."""
    start = time.perf_counter()
    fitted = quietly(contender(name).fit, X)
    seconds = time.perf_counter() - start
    if name in PEERS:
        projected = float(fitted.eigenvalues_.sum()) / len(X)
    else:
        projected = total * float(fitted.explained_variance_ratio_.sum())
    return Quality(total - projected, projected, seconds)


def circle_draw(size: int, seed: int, names: Iterable[str] = METHODS) -> Draw:
    """Return what the contenders reach on one draw of the circle."""
    X = make_noisy_circle(size, random_state=seed)
    total = mean_squared_length(X)
    return {name: assess(name, X, total) for name in names}


@threadpool_limits.wrap(limits=1)
def one_core_draw(size: int, seed: int, names: Iterable[str]) -> Draw:
    """Return what the contenders reach on one draw, on a single core as in 2006."""
    return circle_draw(size, seed, names)


def circle(sizes: Iterable[int], draws: Sequence[int] = DRAWS) -> dict[int, list[Draw]]:
    """Return for every number of points what the contenders reach on every draw."""
    one_core_draw(200, 0, CONTENDERS)  # compiles
    return {
        size: [*_timed(size, draws[:TIMED_DRAWS]), *_rest(size, draws[TIMED_DRAWS:])] for size in sizes
    }


def _timed(size: int, draws: Iterable[int]) -> list[Draw]:
    return [one_core_draw(size, seed, CONTENDERS) for seed in draws]


def _rest(size: int, draws: Iterable[int]) -> list[Draw]:
    return list(Parallel(n_jobs=-1)(delayed(one_core_draw)(size, seed, METHODS) for seed in draws))


def seconds(results: Mapping[int, Sequence[Draw]], name: str) -> np.ndarray:
    """Return for every number of points the shortest of the timed draws: other work only adds."""
    timed = [[draw[name].seconds for draw in draws[:TIMED_DRAWS]] for draws in results.values()]
    return np.min(timed, axis=1)


def exponent(sizes: Sequence[int], times: Sequence[float] | np.ndarray) -> float:
    """Return the slope of log10(time) against log10(size)."""
    return float(np.polyfit(np.log10(sizes), np.log10(times), 1)[0])


def errors(draws: Sequence[Draw], method: str) -> np.ndarray:
    return np.array([draw[method].error for draw in draws])


def projections(draws: Sequence[Draw], method: str) -> np.ndarray:
    return np.array([draw[method].projected for draw in draws])


def errors_about_the_origin(method: str, size: int, draws: Iterable[int] = DRAWS) -> np.ndarray:
    """Return reconstruction errors with the kernel matrix as it is, not centred."""
    circles = [make_noisy_circle(size, random_state=seed) for seed in draws]
    fits = [quietly(contender(method).set_params(center=False).fit, X) for X in circles]
    return np.array([each.reconstruction_error(X) for each, X in zip(fits, circles, strict=True)])


# ---------------------------------------------------------------------- figure 2


@dataclass(frozen=True)
class TradeOff:
    """What a cutoff costs and saves, a number for each draw."""

    error: np.ndarray
    n_features: np.ndarray
    seconds: np.ndarray


def trade_off(cutoff: float, K: np.ndarray) -> tuple[float, int, float]:
    """Return the error, the number of features found and the seconds of ACKFA on a Gram matrix."""
    start = time.perf_counter()
    fitted = fit("ACKFA", K, TRADE_OFF_FEATURES, cutoff)
    spent = time.perf_counter() - start
    left = 1 - float(fitted.explained_variance_ratio_.sum())
    return left * float(K.trace() / len(K) - K.mean()), fitted.n_components_, spent


@threadpool_limits.wrap(limits=1)
def figure2(draws: Iterable[int] = TRADE_OFF_DRAWS) -> dict[float, TradeOff]:
    """Return the trade-off for every cutoff; the first, 0, is AKFA."""
    lines: dict[float, list[tuple[float, int, float]]] = {cutoff: [] for cutoff in TRADE_OFF_CUTOFFS}
    for seed in draws:
        K = gaussian(make_noisy_circle(TRADE_OFF_SIZE, random_state=seed), SIGMA)
        for cutoff, of_cutoff in lines.items():
            of_cutoff.append(trade_off(cutoff, K))
    return {
        cutoff: TradeOff(*(np.array(column) for column in zip(*of_cutoff, strict=True)))
        for cutoff, of_cutoff in lines.items()
    }


# ---------------------------------------------------------------------- figure 4


@dataclass(frozen=True)
class Chosen:
    """Points of a cross, and which of them were chosen."""

    X: np.ndarray
    indices: dict[str, np.ndarray]


def figure4(seed: int = 0, side: float = CROSS_SIDE) -> Chosen:
    """Return a Swiss cross and the points that AKFA and SKFA choose."""
    X = make_swiss_cross(side=side, random_state=seed)
    K = gaussian(X, SIGMA)
    methods = ("AKFA", "SKFA")
    fitted = {method: fit(method, K, CROSS_FEATURES, cutoff=0.0) for method in methods}
    return Chosen(X, {method: fitted[method].landmark_indices_[:CROSS_FEATURES] for method in methods})


def corners(side: float = CROSS_SIDE) -> np.ndarray:
    """Return the twelve vertices of the cross."""
    near, far = side / 2, 3 * side / 2
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return np.vstack([signs * place for place in ((near, near), (near, far), (far, near))])


def distance_to_corners(points: np.ndarray, side: float = CROSS_SIDE) -> float:
    """Return the mean distance of points from the nearest vertex of the cross."""
    gaps = np.linalg.norm(points[:, None] - corners(side)[None], axis=2)
    return float(gaps.min(axis=1).mean())


def corner_distances(side: float, draws: Iterable[int] = range(10)) -> dict[str, np.ndarray]:
    """Return how far from the vertices the methods' points are, and all points, a number a draw."""
    lines: dict[str, list[float]] = {"AKFA": [], "SKFA": [], "all points": []}
    for seed in draws:
        chosen = figure4(seed, side)
        for method, indices in chosen.indices.items():
            lines[method].append(distance_to_corners(chosen.X[indices], side))
        lines["all points"].append(distance_to_corners(chosen.X, side))
    return {name: np.array(values) for name, values in lines.items()}
