"""Chosen against random landmarks: held-out errors at equal numbers of kernel evaluations.

Every way to choose landmarks is followed by the same head, ridge regression in the norm of the kernel
on the landmarks (Nystroem features), with width and penalty chosen by the same held-out quarter of the
training samples. Results are kept in ``results/landmarks.jsonl``, a line for each set and split; what is
there is not computed again::

    python -m benchmarks landmarks                           # computes two splits, and reports
    python -m benchmarks.landmarks --splits 10 --minutes 25  # up to ten, for so long
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, studentized_range
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_digits
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    GradientMetric,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.datasets import load_local, local_data_folder
from kernelsieve.exceptions import FewerFeaturesWarning, NothingLearntWarning
from kernelsieve.kernels import RBF

from .common import heading, table, verdict
from .ready_made_scale import NUMBERS, Split

RESULTS = Path(__file__).parent / "results"
SIZES = (10, 30, 100, 300)
N_SPLITS = 2
WIDTHS = 4.0 ** np.arange(1, -4, -1)  # of one over the median squared distance
RIDGES = 10.0 ** np.arange(-10, 1)
NEAR = np.array([4.0, 1.0, 0.25])  # of the width that a metric was learned with
LABELLED = (
    *("ionosphere", "wdbc", "usps"),
    *(f"ida_{name}" for name in ("banana", "german", "waveform", "ringnorm", "diabetis")),
)
BUNDLED: dict[str, Callable] = {
    "diabetes": partial(load_diabetes, return_X_y=True),
    "digits": partial(load_digits, return_X_y=True),
}
LABELS = {*LABELLED, "digits"}


# ---------------------------------------------------------------------- ways to choose landmarks


@dataclass(frozen=True)
class Choice:
    """What a way to choose is told."""

    X: np.ndarray
    y: np.ndarray
    gamma: float
    most: int
    seed: int
    labelled: bool

    def sieve(self, method: type, **options: object) -> np.ndarray:
        if method is not AcceleratedKernelFeatureAnalysis:
            options["target"] = "classes" if self.labelled else "continuous"
        found = method(self.most, gamma=self.gamma, candidates="all", random_state=self.seed, **options)
        return self.X[found.fit(self.X, self.y).landmark_indices_]


def random(choice: Choice) -> np.ndarray:
    return choice.X[np.random.default_rng(choice.seed).permutation(len(choice.X))[: choice.most]]


def farthest_points(choice: Choice) -> np.ndarray:
    """Return samples each of which is farthest from those before it (Gonzalez, 1985)."""
    X = choice.X
    chosen = [int(np.random.default_rng(choice.seed).integers(len(X)))]
    distances = np.full(len(X), np.inf)
    while len(chosen) < choice.most:
        distances = np.minimum(distances, ((X - X[chosen[-1]]) ** 2).sum(axis=1))
        if not distances.max() > 0:
            break
        chosen.append(int(distances.argmax()))
    return X[chosen]


def pivoted_cholesky(choice: Choice) -> np.ndarray:
    """Return pivots of randomly pivoted Cholesky, drawn by the residual diagonal.

    Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber. Randomly pivoted Cholesky: practical approximation
    of a kernel matrix with few entry evaluations. Communications on Pure and Applied Mathematics, 2025.
    """
    X, kernel, rng = choice.X, RBF(choice.gamma), np.random.default_rng(choice.seed)
    factor, rest, chosen = np.zeros((len(X), choice.most)), np.ones(len(X)), list[int]()
    while len(chosen) < choice.most and rest.sum() > 1e-12 * len(X):
        pivot = int(rng.choice(len(X), p=rest / rest.sum()))
        j = len(chosen)
        column = kernel.block(X, X[pivot : pivot + 1])[:, 0] - factor[:, :j] @ factor[pivot, :j]
        if not column[pivot] > 0:
            rest[pivot] = 0.0
            continue
        factor[:, j] = column / np.sqrt(column[pivot])
        rest = np.maximum(rest - factor[:, j] ** 2, 0.0)
        chosen.append(pivot)
    return X[chosen]


def centroids(choice: Choice) -> np.ndarray:
    """Return the centres of k-means, of as many clusters as there are landmarks."""
    return KMeans(choice.most, n_init=1, random_state=choice.seed).fit(choice.X).cluster_centers_


METRIC = "SMA, learned metric"
WAYS: dict[str, Callable[[Choice], np.ndarray]] = {
    "random": random,
    "k-means": centroids,
    "farthest point": farthest_points,
    "pivoted Cholesky": pivoted_cholesky,
    "AKFA": lambda choice: choice.sieve(AcceleratedKernelFeatureAnalysis),
    "SMC": lambda choice: choice.sieve(SparseMaximalCovariance),
    "SMA": lambda choice: choice.sieve(SparseMaximalAlignment),
    METRIC: lambda choice: choice.sieve(SparseMaximalAlignment),
}
ANY_WIDTH = ("random", "k-means", "farthest point")  # do not look at the kernel
NOT_NESTED = ("k-means",)


# ---------------------------------------------------------------------- the head


def errors_of_ridges(
    gamma: float, landmarks: np.ndarray, fitted: tuple, tested: tuple, *, labelled: bool
) -> np.ndarray:
    """Return the error on the tested samples for every penalty."""
    (X, Y), (X_new, y_new) = fitted, tested
    kernel = RBF(gamma)
    values, vectors = np.linalg.eigh(kernel.block(landmarks, landmarks))
    kept = values > 1e-12 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    F, F_new = kernel.block(X, landmarks) @ root, kernel.block(X_new, landmarks) @ root
    means, target_means = F.mean(axis=0), Y.mean(axis=0)
    F, F_new = F - means, F_new - means
    values, vectors = np.linalg.eigh(F.T @ F)
    products = vectors.T @ (F.T @ (Y - target_means))
    turned = F_new @ vectors
    found = []
    for ridge in RIDGES:
        scores = turned @ (products / (np.maximum(values, 0) + len(X) * ridge)[:, None]) + target_means
        wrong = scores.argmax(axis=1) != y_new if labelled else (scores[:, 0] - y_new) ** 2
        found.append(float(np.mean(wrong)))
    return np.array(found)


def targets(y: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """Return numbers as a column, and labels as indicators."""
    return y[:, None] if labels is None else (y[:, None] == np.arange(len(labels))).astype(float)


def landmarks_of(way: str, choice: Choice) -> dict[int, np.ndarray]:
    """Return the landmarks of every size, nested where the way is."""
    sizes = [k for k in SIZES if k <= choice.most]
    if way in NOT_NESTED:
        options = vars(choice)
        return {k: WAYS[way](Choice(**{**options, "most": k})) for k in sizes}
    found = WAYS[way](choice)
    return {k: found[:k] for k in sizes}


def errors_of_way(way: str, split: Split, seed: int, labels: np.ndarray | None) -> dict[int, float]:
    """Return the test error for every number of landmarks; held-out samples choose width and penalty."""
    labelled = labels is not None
    X, y, X_test = split.X, split.y, split.X_test
    rows, held = train_test_split(np.arange(len(X)), test_size=0.25, random_state=seed)
    most = max(k for k in SIZES if k <= 2 * len(rows) // 3)
    widths = WIDTHS / np.median(pairwise_distances(X[:500]) ** 2)
    if way == METRIC:
        kind = "classes" if labelled else "continuous"
        metric = GradientMetric(random_state=seed, target=kind).fit(X[rows], y[rows])
        X, X_test = metric.transform(X), metric.transform(X_test)
        if metric.best_round_ > 0:
            widths = NEAR * metric.gamma_

    def chosen(gamma: float, some: np.ndarray) -> dict[int, np.ndarray]:
        return landmarks_of(way, Choice(X[some], y[some], gamma, most, seed, labelled))

    def errors(gamma: float, landmarks: np.ndarray, some: np.ndarray, tested: tuple) -> np.ndarray:
        fitted = X[some], targets(y[some], labels)
        return errors_of_ridges(gamma, landmarks, fitted, tested, labelled=labelled)

    known: dict[float, dict[int, np.ndarray]] = {}
    tried: dict[int, list[np.ndarray]] = {}
    for gamma in widths:
        if way not in ANY_WIDTH or not known:
            known[gamma] = chosen(gamma, rows)
        for k, landmarks in known.get(gamma, next(iter(known.values()))).items():
            tried.setdefault(k, []).append(errors(gamma, landmarks, rows, (X[held], y[held])))
    everyone, known, found = np.arange(len(X)), {}, {}
    for k, of_widths in tried.items():
        width, ridge = np.unravel_index(np.argmin(of_widths), np.shape(of_widths))
        key = 0.0 if way in ANY_WIDTH else widths[width]
        if key not in known:
            known[key] = chosen(widths[width], everyone)
        tested = X_test, split.y_test
        found[k] = float(errors(widths[width], known[key][k], everyone, tested)[ridge])
    return found


# ---------------------------------------------------------------------- all sets and splits


def names() -> tuple[str, ...]:
    return (*NUMBERS, "diabetes", *LABELLED, "digits")


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in BUNDLED:
        X, y = BUNDLED[name]()
    else:
        data = load_local(name)
        X, y = data["X"], data["y"]
    return np.asarray(X, dtype=np.float64), np.asarray(y)


def run(name: str, seed: int) -> dict:
    """Return the result of one set and split."""
    start = time.process_time()
    X, y = load(name)
    labels = None
    if name in LABELS:
        labels, y = np.unique(y, return_inverse=True)
    split = Split.draw(X, y, seed, labelled=labels is not None)
    errors = {way: errors_of_way(way, split, seed, labels) for way in WAYS}
    return {
        "set": name,
        "split": seed,
        "measure": "mean squared error" if labels is None else "error rate",
        "n_train": len(split.X),
        "n_test": len(split.X_test),
        "errors": errors,
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def kept_results() -> list[dict]:
    path = RESULTS / "landmarks.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def missing(n_splits: int) -> Iterator[tuple[str, int]]:
    """Yield sets and splits without a result, the first split of all sets first."""
    done = {(result["set"], result["split"]) for result in kept_results()}
    for seed in range(n_splits):
        for name in names():
            if (name, seed) not in done:
                yield name, seed


def compute(n_splits: int, minutes: float) -> None:
    """Add results to those that are kept, as long as there is time."""
    end = time.monotonic() + 60 * minutes
    RESULTS.mkdir(exist_ok=True)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        warnings.simplefilter("ignore", NothingLearntWarning)
        for name, seed in missing(n_splits):
            if time.monotonic() > end:
                return
            line = json.dumps(run(name, seed))
            with (RESULTS / "landmarks.jsonl").open("a") as file:
                file.write(line + "\n")
            print(f"  {name}, split {seed}", flush=True)


# ---------------------------------------------------------------------- what comes of it


def cells(results: list[dict]) -> dict[tuple[str, int], np.ndarray]:
    """Return the mean errors of all ways for every set and number of landmarks, over its splits."""
    found: dict[tuple[str, int], list[list[float]]] = {}
    for result in results:
        for k in result["errors"]["random"]:
            errors = [result["errors"][way][k] for way in WAYS]
            found.setdefault((result["set"], int(k)), []).append(errors)
    return {cell: np.mean(errors, axis=0) for cell, errors in found.items()}


def share_below(of_cells: dict[tuple[str, int], np.ndarray], one: str, other: str, k: tuple) -> float:
    """Return the share of cells in which one way has a lower error; equal ones count for a half."""
    at, against = list(WAYS).index(one), list(WAYS).index(other)
    wins = [
        0.5 * ((errors[at] < errors[against]) + (errors[at] <= errors[against]))
        for (_, size), errors in of_cells.items()
        if size in k
    ]
    return float(np.mean(wins)) if wins else float("nan")


def mean_ranks(of_cells: dict[tuple[str, int], np.ndarray]) -> np.ndarray:
    """Return the ranks of the ways, (sets, ways): of each set the mean over numbers up to 100."""
    sets = sorted({name for name, _ in of_cells})
    return np.array(
        [
            np.mean([rankdata(of_cells[name, k]) for k in SIZES[:3] if (name, k) in of_cells], axis=0)
            for name in sets
        ]
    )


def critical_difference(n_ways: int, n_sets: int) -> float:
    """Return by how much mean ranks must differ at 5 % (Nemenyi; Demsar, 2006)."""
    quantile = studentized_range.ppf(0.95, n_ways, 1e6) / np.sqrt(2)
    return float(quantile * np.sqrt(n_ways * (n_ways + 1) / (6 * n_sets)))


def draw_ranks(ranks: np.ndarray, path: Path) -> None:
    """Draw mean ranks with a bar for the critical difference, and one over ways that do not differ."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mean, difference = ranks.mean(axis=0), critical_difference(ranks.shape[1], len(ranks))
    order = np.argsort(mean)
    figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for place, way in enumerate(order):
        left = place < (len(order) + 1) // 2
        height = -1 - (place if left else len(order) - 1 - place)
        edge = 0.6 if left else len(order) + 0.4
        ax.plot([mean[way], mean[way], edge], [0, height, height], color="black", linewidth=0.8)
        text = f"{list(WAYS)[way]} ({mean[way]:.2f})"
        ax.text(edge, height, text, ha="right" if left else "left", va="center")
    ordered, level, covered = mean[order], 0.25, -1
    for first, rank in enumerate(ordered):
        last = int(np.searchsorted(ordered, rank + difference, side="right")) - 1
        if last > max(first, covered):
            ax.plot([rank - 0.03, ordered[last] + 0.03], [-level, -level], color="black", linewidth=3)
            level, covered = level + 0.15, last
    ax.plot([1, 1 + difference], [0.7, 0.7], color="black", linewidth=1.5)
    ax.text(1 + difference / 2, 0.8, f"critical difference {difference:.2f}", ha="center", va="bottom")
    ax.plot([1, len(order)], [0, 0], color="black", linewidth=1)
    for rank in range(1, len(order) + 1):
        ax.plot([rank, rank], [0, 0.12], color="black", linewidth=1)
        ax.text(rank, 0.16, str(rank), ha="center", va="bottom", fontsize="small")
    ax.set(xlim=(-2.6, len(order) + 3.6), ylim=(-1.5 - len(order) / 2, 1.5))
    ax.set_axis_off()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def report(results: list[dict]) -> None:
    """Print tables and a conclusion, and draw the ranks."""
    of_cells = cells(results)
    n_sets, ways = len({name for name, _ in of_cells}), list(WAYS)
    splits = [sum(result["set"] == name for result in results) for name in {r["set"] for r in results}]
    heading(f"landmarks: errors on {n_sets} sets, means of {min(splits)} to {max(splits)} splits")
    table(
        ["set", "k", *ways],
        [[name, str(k), *map(float, errors)] for (name, k), errors in sorted(of_cells.items())],
    )
    few = SIZES[:3]
    heading("share of cells in which a way is below random landmarks, and below pivoted Cholesky")
    table(
        ["", *(f"{peer}, k={k}" for peer in ("random", "pivoted Cholesky") for k in SIZES)],
        [
            [
                way,
                *(
                    share_below(of_cells, way, peer, (k,))
                    for peer in ("random", "pivoted Cholesky")
                    for k in SIZES
                ),
            ]
            for way in ways
        ],
    )
    ranks = mean_ranks(of_cells)
    heading(f"mean ranks up to k=100; {critical_difference(len(ways), len(ranks)):.2f} is significant")
    table(["", "mean rank"], sorted(zip(ways, ranks.mean(axis=0), strict=True), key=lambda r: r[1]))
    draw_ranks(ranks, RESULTS / "landmarks.png")
    for way, asked in (("SMA", 0.8), (METRIC, 0.9)):
        for peer in ("random", "pivoted Cholesky"):
            share = share_below(of_cells, way, peer, few)
            verdict(f"{way} below {peer}, share of cells with k <= 100", share, asked, at_least=True)
    for way in ("SMA", METRIC):
        lost = [
            f"{name} (k={k})"
            for (name, k), errors in sorted(of_cells.items())
            if k in few and errors[ways.index(way)] > errors[: ways.index("SMA")].min()
        ]
        print(f"{way} is above the best of the others without a metric in: {', '.join(lost) or 'none'}")


def main(n_splits: int = N_SPLITS, minutes: float = np.inf) -> None:
    if local_data_folder() is None and list(missing(n_splits)):
        print("landmarks: no data folder, so only the kept results: set KERNELSIEVE_DATA for more")
    else:
        compute(n_splits, minutes)
    results = kept_results()
    if results:
        report(results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landmarks")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--minutes", type=float, default=np.inf)
    given = parser.parse_args()
    main(given.splits, given.minutes)
