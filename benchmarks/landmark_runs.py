"""The runs of the benchmark of landmarks: ways to choose them, the head, sets and splits."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import cholesky, solve, solve_triangular
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    GradientMetric,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    datasets,
)
from kernelsieve.exceptions import FewerFeaturesWarning, InputScaleWarning, NothingLearntWarning
from kernelsieve.kernels import RBF

from .ready_made_scale import Split

RESULTS = Path(__file__).parent / "results"
KEPT = RESULTS / "landmarks.jsonl"
MEASURES = ("errors", "held_out_errors")
SIZES = (10, 30, 100, 300)
# Errors of earlier splits were known when methods and protocol were settled.
FIRST_SPLIT, N_SPLITS = 26, 10  # of 26 sets take an hour of two cores
MOST_TRAIN, MOST_TESTED = 2000, 2000
RIDGES = 10.0 ** np.arange(-7, 1)
TOL = 1e-14  # as many landmarks as the others have: ridge shrinks what the default would leave out
JITTER = 1e-10  # of k(z, z): the matrix of the landmarks may be singular
WIDTHS = 4.0 ** np.arange(1, -3, -1)  # of the one that the rounds of a metric find best
LABELLED = {
    *("ionosphere", "wdbc", "ida_diabetis", "ida_german"),
    *("ida_banana", "ida_waveform", "ida_ringnorm", "digits", "usps"),
}
SETS = (  # small ones first
    *("baseball", "diabetes", "boston", "ionosphere", "wdbc", "uci_energy", "uci_concrete"),
    *("uci_airfoil", "uci_wine", "ida_diabetis", "abalone", "ida_banana", "house_8L", "uci_protein"),
    *("uci_bike", "uci_sml", "uci_keggdirected", "ida_german", "puma32H", "bank32nh", "ida_waveform"),
    *("ida_ringnorm", "ailerons", "pole_telecomm", "digits", "usps"),
)
BUNDLED: dict[str, Callable] = {
    "diabetes": partial(load_diabetes, return_X_y=True),
    "digits": partial(load_digits, return_X_y=True),
}


# ---------------------------------------------------------------------- ways to choose landmarks


@dataclass(frozen=True)
class Task:
    """What is to be predicted, and the number of the split."""

    n_classes: int  # 0 for numbers
    seed: int

    @property
    def labelled(self) -> bool:
        return self.n_classes > 0

    def targets(self, y: np.ndarray) -> np.ndarray:
        """Return numbers as a column, and labels as indicators."""
        return np.eye(self.n_classes)[y] if self.labelled else y[:, None]


@dataclass(frozen=True)
class Choice:
    """What a way to choose is told."""

    X: np.ndarray
    y: np.ndarray
    gamma: float
    most: int
    task: Task

    @property
    def seed(self) -> int:
        return self.task.seed

    def sieve(self, method: type, **options: object) -> np.ndarray:
        """Return the landmarks of one of our methods."""
        if method is not AcceleratedKernelFeatureAnalysis:
            options["target"] = "classes" if self.task.labelled else "continuous"
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

    Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber. Randomly pivoted Cholesky: practical
    approximation of a kernel matrix with few entry evaluations. Communications on Pure and Applied
    Mathematics 78, 2025.
    """
    X, rng = choice.X, np.random.default_rng(choice.seed)
    column_of = RBF(choice.gamma).block
    factor, rest, chosen = np.zeros((len(X), choice.most)), np.ones(len(X)), list[int]()
    while len(chosen) < choice.most and rest.sum() > 1e-12 * len(X):
        pivot = int(rng.choice(len(X), p=rest / rest.sum()))
        j = len(chosen)
        column = column_of(X[pivot : pivot + 1], X)[0] - factor[:, :j] @ factor[pivot, :j]
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
    "SMC": lambda choice: choice.sieve(SparseMaximalCovariance, tol=TOL),
    "SMA": lambda choice: choice.sieve(SparseMaximalAlignment, tol=TOL),
    METRIC: lambda choice: choice.sieve(SparseMaximalAlignment, tol=TOL),
}
ANY_WIDTH = ("random", "k-means", "farthest point")  # do not look at the kernel
NOT_NESTED = ("k-means",)


# ---------------------------------------------------------------------- the head


def ridge_errors(
    gamma: float, landmarks: np.ndarray, sizes: list[int], fitted: tuple, tested: tuple, task: Task
) -> dict[int, np.ndarray]:
    """Return errors on the tested samples for every penalty, with the first landmarks each.

    Of labels there are two, in rows: the mean squared error of indicators, which chooses, since many
    settings have the same rate of wrong labels on few samples; and that rate, which is reported.
    """
    (X, y), (X_new, y_new), kernel = fitted, tested, RBF(gamma)
    W = kernel.block(landmarks, landmarks)
    W.flat[:: len(W) + 1] += JITTER
    L, Y = cholesky(W, lower=True), task.targets(y)
    # Coordinates along orthonormal directions, the first k of which need the first k landmarks.
    F, F_new = (solve_triangular(L, kernel.block(landmarks, rows), lower=True).T for rows in (X, X_new))
    means, target_means = F.mean(axis=0), Y.mean(axis=0)
    F, F_new = F - means, F_new - means
    gram, products = F.T @ F, F.T @ (Y - target_means)
    found = {}
    for size in sizes:
        errors, k = [], min(size, len(landmarks))
        for ridge in RIDGES:
            system = gram[:k, :k] + len(X) * ridge * np.eye(k)
            scores = F_new[:, :k] @ solve(system, products[:k], assume_a="pos") + target_means
            # No target was beyond the range of those seen.
            squares = (scores.clip(Y.min(axis=0), Y.max(axis=0)) - task.targets(y_new)) ** 2
            chooses = float(squares.sum(axis=1).mean())
            wrong = float(np.mean(scores.argmax(axis=1) != y_new)) if task.labelled else chooses
            errors.append((chooses, wrong))
        found[size] = np.array(errors).T
    return found


def size_errors(
    way: str, landmarks: dict[int, np.ndarray], gamma: float, fitted: tuple, tested: tuple, task: Task
) -> dict[int, np.ndarray]:
    """Return the errors for every number of landmarks and penalty; nested ones share their products."""
    if way not in NOT_NESTED:
        most = max(landmarks)
        return ridge_errors(gamma, landmarks[most], list(landmarks), fitted, tested, task)
    return {k: ridge_errors(gamma, some, [k], fitted, tested, task)[k] for k, some in landmarks.items()}


def landmarks_of(way: str, choice: Choice) -> dict[int, np.ndarray]:
    """Return the landmarks of every size, nested where the way is."""
    sizes = [k for k in SIZES if k <= choice.most]
    if way in NOT_NESTED:
        return {k: WAYS[way](replace(choice, most=k)) for k in sizes}
    found = WAYS[way](choice)
    return {k: found[:k] for k in sizes}


def learned_metric(split: Split, rows: np.ndarray, task: Task) -> GradientMetric:
    """Return the metric that some training samples teach; it finds widths as well."""
    kind = "classes" if task.labelled else "continuous"
    metric = GradientMetric("rbf", random_state=task.seed, target=kind)
    return metric.fit(split.X[rows], split.y[rows])


@dataclass(frozen=True)
class Inputs:
    """The inputs as a way sees them, and the widths that it tries."""

    X: np.ndarray
    X_test: np.ndarray
    widths: np.ndarray

    @classmethod
    def of(cls, way: str, split: Split, metric: GradientMetric) -> Inputs:
        """Return them in the learned metric, or as they are; with widths around the best one there."""
        if way == METRIC:
            return cls(
                metric.transform(split.X), metric.transform(split.X_test), WIDTHS * metric.gamma_
            )
        path = metric.path_
        as_they_are = path["round"] == 0
        best = path["gamma"][as_they_are][path["error"][as_they_are].argmin()]
        return cls(split.X, split.X_test, WIDTHS * best)


@dataclass(frozen=True)
class Found:
    """Errors for every number of landmarks: of the samples that choose, and of test samples."""

    held_out: dict[int, float]
    test: dict[int, float]


def errors_of_ways(ways: list[str], split: Split, task: Task) -> dict[str, Found]:
    """Return the errors of each way; the same held-out samples choose for all."""
    parts = train_test_split(np.arange(len(split.X)), test_size=0.25, random_state=task.seed)
    metric = learned_metric(split, parts[0], task)
    return {way: errors_of_way(way, Inputs.of(way, split, metric), split, parts, task) for way in ways}


def errors_of_way(way: str, inputs: Inputs, split: Split, parts: list[np.ndarray], task: Task) -> Found:
    """Return the errors for every number of landmarks.

    Held-out samples choose width and penalty. Then landmarks and head are fitted again to all training
    samples, in the metric for which these were chosen.
    """
    rows, held = parts
    most = max(k for k in SIZES if k <= len(split.X) // 2)
    fitted, tested = (inputs.X[rows], split.y[rows]), (inputs.X[held], split.y[held])
    tried = [
        size_errors(way, landmarks, gamma, fitted, tested, task)
        for gamma, landmarks in every_width(way, inputs.widths, fitted, most, task)
    ]
    of_sizes = {k: np.array([errors[k][0] for errors in tried]) for k in tried[0]}  # (widths, ridges)
    best = {k: np.unravel_index(np.argmin(errors), errors.shape) for k, errors in of_sizes.items()}
    fitted, tested = (inputs.X, split.y), (inputs.X_test, split.y_test)
    found = {}
    needed = {int(width) for width, _ in best.values()}
    every = every_width(way, inputs.widths, fitted, most, task, needed=needed)
    for number, (gamma, landmarks) in enumerate(every):
        if number in needed:
            errors = size_errors(way, landmarks, gamma, fitted, tested, task)
            found |= {k: float(errors[k][1][r]) for k, (w, r) in best.items() if w == number}
    return Found(
        {k: float(errors.min()) for k, errors in of_sizes.items()}, {k: found[k] for k in of_sizes}
    )


def every_width(
    way: str,
    widths: np.ndarray,
    fitted: tuple,
    most: int,
    task: Task,
    needed: Container[int] = range(len(WIDTHS)),
) -> Iterator[tuple[float, dict[int, np.ndarray]]]:
    """Yield every width with its landmarks, by their number; nothing for widths that nobody needs."""
    landmarks: dict[int, np.ndarray] = {}
    for number, gamma in enumerate(widths):
        if number in needed and (way not in ANY_WIDTH or not landmarks):
            landmarks = landmarks_of(way, Choice(*fitted, float(gamma), most, task))
        yield float(gamma), landmarks


# ---------------------------------------------------------------------- all sets and splits


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in BUNDLED:
        X, y = BUNDLED[name]()
    else:
        data = datasets.load(name)
        X, y = data["X"], data["y"]
    return np.asarray(X, dtype=np.float64), np.asarray(y)


def run(name: str, seed: int, ways: list[str]) -> dict:
    """Return the result of one set and split, of some ways."""
    start = time.process_time()
    X, y = load(name)
    labels, codes = np.unique(y, return_inverse=True) if name in LABELLED else ([], y)
    task = Task(len(labels), seed)
    split = Split.draw(
        X, codes, seed, labelled=task.labelled, most_train=MOST_TRAIN, most_tested=MOST_TESTED
    )
    found = errors_of_ways(ways, split, task)
    return {
        "set": name,
        "split": seed,
        "measure": "error rate" if task.labelled else "mean squared error",
        "n_train": len(split.X),
        "n_test": len(split.X_test),
        "errors": {way: errors.test for way, errors in found.items()},
        "held_out_errors": {way: errors.held_out for way, errors in found.items()},
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def kept_lines() -> list[dict]:
    return list(map(json.loads, KEPT.read_text().splitlines())) if KEPT.exists() else []


def kept_results() -> list[dict]:
    """Return the results of sets and splits; ways may have been computed one after another."""
    found: dict[tuple[str, int], dict] = {}
    for new in kept_lines():
        kept = found.setdefault((new["set"], new["split"]), new)
        for measure in MEASURES:
            kept[measure] |= new[measure]
    return list(found.values())


def forget(way: str) -> None:
    """Take a way out of the results that are kept."""
    kept = kept_results()
    for result in kept:
        for measure in MEASURES:
            result[measure].pop(way, None)
    KEPT.write_text("".join(json.dumps(result) + "\n" for result in kept))


def missing(n_splits: int) -> Iterator[tuple[str, int, list[str]]]:
    """Yield sets and splits with the ways that have no result, the first split of all sets first."""
    done = {(result["set"], result["split"]): result["errors"] for result in kept_results()}
    for seed in range(FIRST_SPLIT, FIRST_SPLIT + n_splits):
        for name in SETS:
            ways = [way for way in WAYS if way not in done.get((name, seed), ())]
            if ways:
                yield name, seed, ways


def compute(n_splits: int, minutes: float) -> None:
    """Add results to those that are kept, as long as there is time, one process for every core."""
    end = time.monotonic() + 60 * minutes
    RESULTS.mkdir(exist_ok=True)
    jobs = (delayed(quiet_run)(*job) for job in missing(n_splits) if time.monotonic() < end)
    n_jobs = os.cpu_count() or 1
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs)
    for result in parallel(jobs):
        with KEPT.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(f"  {result['set']}, split {result['split']}", flush=True)


def quiet_run(name: str, seed: int, ways: list[str]) -> dict:
    """Return a result of one thread, without warnings of what is known."""
    with warnings.catch_warnings(), threadpool_limits(1):
        for kind in (FewerFeaturesWarning, InputScaleWarning, NothingLearntWarning):
            warnings.simplefilter("ignore", kind)
        return run(name, seed, ways)
