"""Learned subspaces of text: what they cost, and what a nearest neighbour makes of them."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from kernelsieve import KernelDiscriminantQR, KernelOrthogonalCentroid, SubspaceKernelFeatures
from kernelsieve.datasets import DATA_VARIABLE, load, local_data_folder
from kernelsieve.subspace import optimise

from .common import heading, in_own_process, peak_megabytes, table, verdict, warm_up

K = 6  # features: one for each class


def counts() -> tuple[sparse.csr_matrix, np.ndarray]:
    data = load("la1")
    return data["X"].astype(np.float64), data["y"]


def halves(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half of each class to train, the other to test."""
    rng = np.random.default_rng(0)
    train = np.concatenate(
        [rng.permutation(rows)[: len(rows) // 2] for rows in (np.flatnonzero(y == c) for c in set(y))]
    )
    return np.sort(train), np.setdiff1d(np.arange(len(y)), train)


def learn() -> dict[str, float]:
    """Fit on all documents in this process, and return where the seconds and megabytes went."""
    X, y = counts()
    warm_up()
    spent = {"objective": 0.0}
    evaluate = optimise.Directions.__call__

    def timed(self: Any, V: np.ndarray) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        result = evaluate(self, V)
        spent["objective"] += time.perf_counter() - start
        return result

    optimise.Directions.__call__ = timed  # type: ignore[method-assign]
    before = peak_megabytes()
    start = time.perf_counter()
    model = SubspaceKernelFeatures(kernel="linear").fit(X, y)
    spent["fit"] = time.perf_counter() - start
    spent["above"] = peak_megabytes() - before
    spent["peak"] = peak_megabytes()
    start = time.perf_counter()
    model.transform(X)
    spent["transform"] = time.perf_counter() - start
    start = time.perf_counter()
    SubspaceKernelFeatures(kernel="linear", max_iter=0).fit(X, y)
    spent["start"] = time.perf_counter() - start
    spent["iterations"] = model.n_iter_
    spent["from"], spent["to"] = model.alignment_path_[[0, -1]]
    return spent


def cost() -> None:
    X, _ = counts()
    heading(f"subspace: SKFE on la1, {X.shape[0]:,} x {X.shape[1]:,} CSR, linear kernel, {K} features")
    spent = in_own_process(learn)
    solver = spent["fit"] - spent["objective"] - spent["start"]
    table(
        ["", "s"],
        [
            ["reading, checking, centroids", spent["start"]],
            ["alignment and its derivative", spent["objective"]],
            ["L-BFGS itself", solver],
            ["fit, in all", spent["fit"]],
            ["transform of all rows", spent["transform"]],
        ],
    )
    print(
        f"{spent['iterations']:.0f} iterations raise the alignment from {spent['from']:.3f} to "
        f"{spent['to']:.3f}; {spent['above']:.0f} MB above what was there before"
    )
    verdict("MB of the whole process", spent["peak"], 500, at_least=False)


def quality() -> None:
    heading(f"subspace: test error of a nearest neighbour on la1, half of each class to train, k = {K}")
    X, y = counts()
    train, test = halves(y)
    rows = []
    for name, values in (("counts", X), ("documents of unit length", normalize(X))):
        methods = {
            "the words themselves": None,
            "TruncatedSVD": TruncatedSVD(K, random_state=0),
            "KDA/QR": KernelDiscriminantQR(kernel="linear"),
            "KOC": KernelOrthogonalCentroid(kernel="linear"),
            "SKFE": SubspaceKernelFeatures(kernel="linear"),
        }
        errors = []
        for method in methods.values():
            A, B = values[train], values[test]
            if method is not None:
                method.fit(A, y[train])
                A, B = method.transform(A), method.transform(B)
            errors.append(1 - KNeighborsClassifier(1).fit(A, y[train]).score(B, y[test]))
        rows.append([name, *errors])
    table(["", *methods], rows)


def main() -> None:
    if local_data_folder() is None:
        print(f"subspace: skipped; set {DATA_VARIABLE} to the folder with the data set la1")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early by default
        cost()
        quality()
