"""Unsupervised feature analysis against scikit-learn's kernel PCA, and AKFA on a pool in one pass."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from kernelsieve import AcceleratedKernelFeatureAnalysis, KernelPCA, SparseKernelFeatureAnalysis
from kernelsieve.datasets import make_noisy_circle
from kernelsieve.metrics import mean_reconstruction_error

from .common import (
    heading,
    in_own_process,
    in_turns,
    peak_megabytes,
    table,
    verdict,
    warm_up,
)

K, GAMMA = 10, 1 / (2 * 4.0**2)  # ten features, a Gaussian of width 4: Jiang et al. (2006)
SIZES = (500, 1000, 2000, 4000, 8000)

METHODS: dict[str, Callable] = {
    "AKFA": lambda: AcceleratedKernelFeatureAnalysis(K, gamma=GAMMA, candidates="all"),
    "ACKFA, 0.4": lambda: AcceleratedKernelFeatureAnalysis(
        K, gamma=GAMMA, candidates="all", cutoff=0.4
    ),
    "SKFA": lambda: SparseKernelFeatureAnalysis(K, gamma=GAMMA, candidates="all"),
    "KernelPCA": lambda: KernelPCA(K, gamma=GAMMA, candidates="all", center=False, random_state=0),
    **{
        f"scikit-learn, {solver}": lambda solver=solver: Peer(
            K, kernel="rbf", gamma=GAMMA, eigen_solver=solver, random_state=0
        )
        for solver in ("dense", "arpack", "randomized")
    },
}


def error_of(model, X: np.ndarray) -> float:
    """Return the mean reconstruction error; of centred features (scikit-learn's) about the mean."""
    if not isinstance(model, Peer):
        return model.reconstruction_error(X)
    of_mean = KernelPCA(1, gamma=GAMMA, candidates="all").fit(X)
    about = of_mean.reconstruction_error(X, per_example=True) + of_mean.transform(X)[:, 0] ** 2
    return mean_reconstruction_error(about, model.transform(X))


def growth() -> None:
    heading(f"analysis: exact methods on the noisy circle, {K} features, s")
    warm_up()
    spent: dict[str, list[float]] = {name: [] for name in METHODS}
    errors: dict[str, float] = {}
    for n in SIZES:
        X = make_noisy_circle(n, random_state=0)
        models = [make() for make in METHODS.values()]
        fits = [lambda model=model, X=X: model.fit(X) for model in models]
        for name, best in zip(METHODS, in_turns(*fits, repeat=3 if n <= 2000 else 1), strict=True):
            spent[name].append(best)
        if n == 2000:
            errors = {name: error_of(model, X) for name, model in zip(METHODS, models, strict=True)}
    exponents = {
        name: float(np.polyfit(np.log(SIZES[1:]), np.log(times[1:]), 1)[0])
        for name, times in spent.items()
    }
    table(
        ["", *(f"n = {n}" for n in SIZES), "exponent", "error, n = 2000"],
        [[name, *spent[name], exponents[name], errors[name]] for name in METHODS],
    )
    print("scikit-learn's errors are about the mean image, the others about the origin")
    peers = [name for name in METHODS if name.startswith("scikit-learn")]
    for name in ("AKFA", "ACKFA, 0.4", "SKFA", "KernelPCA"):
        ratios = [f"{spent[peer][-1] / spent[name][-1]:.1f} ({peer[14:]})" for peer in peers]
        print(f"scikit-learn's time over that of {name} at n = {SIZES[-1]}: {', '.join(ratios)}")


def fit_on_a_pool() -> tuple[float, float, float]:
    """Fit 100,000 x 20, and return the seconds, the memory above the data, and what is explained."""
    X = np.random.default_rng(0).standard_normal((100_000, 20))
    model = AcceleratedKernelFeatureAnalysis(50, candidates=1000, random_state=0)
    warm_up()
    before = peak_megabytes()
    start = time.perf_counter()
    model.fit(X)
    spent = time.perf_counter() - start
    return spent, peak_megabytes() - before, float(model.explained_variance_ratio_.sum())


def one_pass() -> None:
    heading("analysis: AKFA on 100,000 x 20, a random pool of 1,000, k = 50, one pass")
    seconds, megabytes, explained = in_own_process(fit_on_a_pool)
    table(["s", "MB above the data", "share of variance"], [[seconds, megabytes, explained]])
    verdict("MB above the data", megabytes, 500, at_least=False)


def main() -> None:
    growth()
    one_pass()
