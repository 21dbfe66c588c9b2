"""Exact selection over all columns against scikit-learn's kernel PCA, and its growth with n."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import KernelPCA

from kernelsieve import SparseMaximalAlignment, config_context
from kernelsieve.datasets import make_interactions

from .common import heading, in_turns, table, warm_up

K, N_INPUTS = 100, 50


def fit_again(model: SparseMaximalAlignment, X: np.ndarray, y: np.ndarray) -> None:
    """Fit without memory for the kernel matrix."""
    with config_context(max_memory=0):
        model.fit(X, y)


def main() -> None:
    heading(f"exact: selection among all n columns, k = {K}, s")
    warm_up()
    gamma = 1 / (2 * N_INPUTS)
    rows, sizes, times = [], (1000, 2000, 4000, 8000), []
    for n in sizes:
        X, y = make_interactions(n, N_INPUTS, random_state=0)
        model = SparseMaximalAlignment(K, gamma=gamma, candidates="all")
        again = clone(model)
        pca = KernelPCA(K, kernel="rbf", gamma=gamma, eigen_solver="randomized", random_state=0)
        fits = [partial(model.fit, X, y), partial(pca.fit, X, y), partial(fit_again, again, X, y)]
        stored, theirs, *recomputed = in_turns(*fits[: 3 if n <= 4000 else 2], repeat=3)
        times.append(stored)
        rows.append([f"n = {n}", stored, *(recomputed or ["-"]), theirs, theirs / stored])
    header = ["", "SMA, K stored", "SMA, K recomputed", "KernelPCA(randomized)", "KernelPCA / SMA"]
    table(header, rows)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"growth exponent of exact selection: {slope:.2f}")
