"""Sparse and greedy kernel Fisher discriminants against the solvers that know all columns at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.preprocessing import scale

from kernelsieve import (
    Candidates,
    GreedyKernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
    SparseMaximalAlignment,
)
from kernelsieve.datasets import make_interactions
from kernelsieve.kernels import RBF
from kernelsieve.rayleigh import DecisionRule

from .common import heading, in_turns, seconds, table, verdict, warm_up

N_INPUTS, GAMMA = 5, 0.1
PROGRAM_ROWS, LASSO_ROWS, GREEDY_ROWS = 800, 2000, 3000
C = 5.0
SWEEPS = 5000  # of plain coordinate descent, which is far from done by then
FEATURES = 50
MANY_ROWS, TEST_ROWS, CLASSES = 10_000, 4000, 20


def classes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with two classes of equal size: a smooth function of the inputs, with noise."""
    X, y = make_interactions(n_rows, N_INPUTS, random_state=0)
    return X, (y > np.median(y)).astype(int)


def full_program(X: np.ndarray, y: np.ndarray) -> float:
    """Solve problem (14) of Mika et al. (2003) with all columns, and return its objective."""
    K, n = RBF(GAMMA).block(X, X), len(X)
    A = np.hstack([K, -K, np.ones((n, 1)), np.eye(n), -np.eye(n)])
    cost = np.concatenate([np.full(2 * n, C), [0.0], np.ones(2 * n)])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * (2 * n)
    return float(linprog(cost, A_eq=A, b_eq=2.0 * y - 1, bounds=bounds, method="highs").fun)


def absolute() -> None:
    heading(
        f"sparse_fisher: LSKFD on {PROGRAM_ROWS} rows, by column generation and by the full program"
    )
    X, y = classes(PROGRAM_ROWS)
    model = SparseKernelFisherDiscriminant(C, loss="absolute", gamma=GAMMA, candidates="all")
    objectives = []
    ours, theirs = in_turns(
        lambda: model.fit(X, y), lambda: objectives.append(full_program(X, y)), repeat=2
    )
    table(
        ["", "s", "objective"],
        [
            ["column generation", ours, f"{model.criterion_path_[0]:.8f}"],
            ["scipy linprog, all columns", theirs, f"{objectives[0]:.8f}"],
        ],
    )
    verdict("time of the full program over ours", theirs / ours, 1, at_least=True)
    gap = abs(model.criterion_path_[0] / objectives[0] - 1)
    verdict("relative gap of the objectives, in units of 1e-7", gap / 1e-7, 1, at_least=False)


def worst_condition(K: np.ndarray, xi: np.ndarray) -> float:
    """Return by how much of C the worst of the lasso's optimality conditions is violated."""
    return float(np.abs(2 * K.T @ (xi - xi.mean())).max() / C - 1)


def squared() -> None:
    heading(f"sparse_fisher: SKFD on {LASSO_ROWS} rows, screened and by plain coordinate descent")
    X, y = classes(LASSO_ROWS)
    signs = 2.0 * y - 1
    model = SparseKernelFisherDiscriminant(C, gamma=GAMMA, candidates="all")
    ours = seconds(lambda: model.fit(X, y), 2)
    lasso = Lasso(alpha=C / (2 * LASSO_ROWS), tol=1e-8, max_iter=SWEEPS)

    def plain() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            lasso.fit(RBF(GAMMA).block(X, X), signs)

    theirs = seconds(plain, 1)
    K = RBF(GAMMA).block(X, X)
    xi = [signs - model.transform(X)[:, 0], signs - lasso.predict(K)]
    alpha = [model.projection_, lasso.coef_]
    objectives = [float(e @ e + C * np.abs(a).sum()) for e, a in zip(xi, alpha, strict=True)]
    counts = [len(model.landmarks_), np.count_nonzero(lasso.coef_)]
    table(
        ["", "s", "objective", "not zero", "violated by"],
        [
            ["screened", ours, f"{objectives[0]:.6f}", counts[0], worst_condition(K, xi[0])],
            [
                f"scikit-learn Lasso, {lasso.n_iter_} sweeps",
                *(theirs, f"{objectives[1]:.6f}", counts[1], worst_condition(K, xi[1])),
            ],
        ],
    )
    verdict("time of the plain lasso over ours", theirs / ours, 1, at_least=True)
    verdict("objective of the plain lasso over ours", objectives[1] / objectives[0], 1, at_least=True)


def greedy() -> None:
    heading(f"sparse_fisher: {FEATURES} landmarks of {GREEDY_ROWS} rows, all of them candidates")
    X, y = classes(GREEDY_ROWS)
    fisher = GreedyKernelFisherDiscriminant(FEATURES, gamma=GAMMA, stop_tol=0, candidates="all")
    alignment = SparseMaximalAlignment(FEATURES, gamma=GAMMA, candidates="all")
    fresh = GreedyKernelFisherDiscriminant(
        FEATURES, gamma=GAMMA, stop_tol=0, candidates=Candidates(resample=True), random_state=0
    )
    times = in_turns(*(lambda m=m: m.fit(X, y) for m in (fisher, fresh, alignment)), repeat=3)
    table(
        ["", "s", "objective"],
        [
            ["greedy KFD", times[0], fisher.criterion_path_[-1]],
            ["greedy KFD, 59 fresh candidates a step", times[1], fresh.criterion_path_[-1]],
            ["SMA", times[2], "-"],
        ],
    )
    verdict("time of greedy KFD over that of SMA", times[0] / times[2], 1.5, at_least=False)


def many_classes() -> None:
    heading(f"sparse_fisher: {MANY_ROWS} rows of {CLASSES} classes, three clusters each")
    X, y = make_blobs(MANY_ROWS + TEST_ROWS, 20, centers=3 * CLASSES, cluster_std=3.5, random_state=0)
    X, y = scale(X), y % CLASSES
    new, of_new, X, y = X[MANY_ROWS:], y[MANY_ROWS:], X[:MANY_ROWS], y[:MANY_ROWS]

    def make(penalty: float = 1.0, **more: str) -> SparseKernelFisherDiscriminant:
        return SparseKernelFisherDiscriminant(penalty, random_state=0, **more)

    ovr, joint = make(), make(20.0, decision=DecisionRule(multi_class="joint"))
    separate = [make() for _ in range(CLASSES)]
    times = [
        cpu_seconds(lambda: ovr.fit(X, y)),
        cpu_seconds(lambda: [model.fit(X, (y == j).astype(int)) for j, model in enumerate(separate)]),
        cpu_seconds(lambda: joint.fit(X, y)),
    ]
    union = set().union(*(set(model.landmark_indices_) for model in separate))
    margins = np.column_stack([model.decision_function(new) for model in separate])
    errors = [1 - ovr.score(new, of_new), np.mean(margins.argmax(axis=1) != of_new)]
    errors.append(1 - joint.score(new, of_new))
    counts = [len(ovr.landmarks_), len(union), len(joint.landmarks_)]
    names = ["one against the rest", "each class alone", "joint penalty"]
    rows = [list(row) for row in zip(names, times, counts, errors, strict=True)]
    table(["", "s of CPU", "landmarks", "error"], rows)
    verdict("time of each class alone over one against the rest", times[1] / times[0], 5, at_least=True)
    verdict("landmarks of joint over the others", counts[2] / counts[0], 0.5, at_least=False)
    verdict("error of joint less that of the others", errors[2] - errors[0], 0.002, at_least=False)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the time of the processor, which neighbours on a shared machine hardly change."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    warm_up()
    absolute()
    squared()
    greedy()
    many_classes()
