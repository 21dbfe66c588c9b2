"""The methods of the benchmark of peers that need no environment of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastcan import FastCan
from scipy.linalg import cholesky, solve_triangular
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import KernelPCA as ScikitKernelPCA
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    KernelPCA,
    KernelPLS,
    SieveClassifier,
    SieveRegressor,
    SparseMaximalAlignment,
)

from . import landmark_runs
from .peers_external.protocol import Fit, Fitted, Problem, RidgeHeads, fitted_landmarks, rbf

SIZES = (10, 30, 100, 300)
ONE_SIZE = (100,)  # components of methods whose predictions need all training samples
PENALTIES = tuple(10.0 ** np.arange(-7, 1))
COSTS = (1.0, 10.0, 100.0)
COMPONENTS = (2, 4, 6, 8, 12, 16, 24, 32)
NOTHING = (np.nan,)  # no setting


@dataclass(frozen=True)
class Method:
    """A method, and what the held-out samples choose for it."""

    fit: Fit
    settings: Sequence[float] = PENALTIES
    has_width: bool = True
    sizes: Sequence[int] = SIZES
    clock: Callable[[], float] = time.process_time


# ---------------------------------------------------------------------- features and ridge regression


def with_ridge(make: Callable[[Problem], Any], evaluations: Callable[[Any], int]) -> Fit:
    """Return a transformer of scikit-learn's kind followed by ridge regression."""

    def fit(problem: Problem) -> Fitted:
        extractor = make(problem).fit(problem.X, problem.y)
        heads = RidgeHeads(extractor.transform(problem.X), problem.Y, problem.settings)
        return Fitted(lambda X: heads(extractor.transform(X)), evaluations(extractor))

    return fit


def alignment(problem: Problem) -> SparseMaximalAlignment:
    """Return k landmarks, as many as all methods have: ridge shrinks what ``tol`` would leave out."""
    return SparseMaximalAlignment(
        problem.k,
        gamma=problem.gamma,
        tol=1e-14,
        target="classes" if problem.labelled else "continuous",
        random_state=problem.seed,
    )


def feature_analysis(problem: Problem) -> AcceleratedKernelFeatureAnalysis:
    return AcceleratedKernelFeatureAnalysis(problem.k, gamma=problem.gamma, random_state=problem.seed)


def nystroem(problem: Problem) -> Nystroem:
    return Nystroem(gamma=problem.gamma, n_components=problem.k, random_state=problem.seed)


def fourier(problem: Problem) -> RBFSampler:
    return RBFSampler(gamma=problem.gamma, n_components=problem.k, random_state=problem.seed)


def kernel_pca(problem: Problem) -> KernelPCA:
    return KernelPCA(problem.k, gamma=problem.gamma, random_state=problem.seed)


def scikit_kernel_pca(eigen_solver: str) -> Callable[[Problem], ScikitKernelPCA]:
    def make(problem: Problem) -> ScikitKernelPCA:
        return ScikitKernelPCA(
            problem.k,
            kernel="rbf",
            gamma=problem.gamma,
            eigen_solver=eigen_solver,
            random_state=problem.seed,
        )

    return make


# ---------------------------------------------------------------------- landmarks


def as_choice(problem: Problem) -> landmark_runs.Choice:
    task = landmark_runs.Task(problem.Y.shape[1] if problem.labelled else 0, problem.seed)
    return landmark_runs.Choice(problem.X, problem.y, problem.gamma, problem.k, task)


def aligned_landmarks(problem: Problem) -> Fitted:
    return fitted_landmarks(problem, alignment(problem).fit(problem.X, problem.y).landmarks_)


def pivoted_cholesky(problem: Problem) -> Fitted:
    return fitted_landmarks(problem, landmark_runs.pivoted_cholesky(as_choice(problem)))


def accelerated_cholesky(problem: Problem) -> Fitted:
    chosen = accelerated_pivots(problem.X, problem.gamma, problem.k, problem.seed)
    return fitted_landmarks(problem, problem.X[chosen])


def accelerated_pivots(X: np.ndarray, gamma: float, most: int, seed: int) -> list[int]:
    """Return pivots of accelerated randomly pivoted Cholesky: blocks of proposals, some are rejected.

    E. N. Epperly, J. A. Tropp, R. J. Webber. Embrace rejection: kernel matrix approximation by
    accelerated randomly pivoted Cholesky. arXiv 2410.03969, 2024.
    """
    rng, block = np.random.default_rng(seed), max(10, min(100, most // 3))
    factor, rest, chosen = np.zeros((len(X), most)), np.ones(len(X)), list[int]()
    while len(chosen) < most and rest.sum() > 1e-12 * len(X):
        j = len(chosen)
        proposed = np.unique(rng.choice(len(X), size=block, p=rest / rest.sum()))
        rng.shuffle(proposed)
        known = factor[proposed, :j]
        residual = rbf(X[proposed], X[proposed], gamma) - known @ known.T
        accepted = proposed[accept(residual, rng)][: most - j]
        columns = rbf(X, X[accepted], gamma) - factor[:, :j] @ factor[accepted, :j].T
        L = cholesky(columns[accepted] + 1e-12 * np.eye(len(accepted)), lower=True)
        added = solve_triangular(L, columns.T, lower=True).T
        factor[:, j : j + len(accepted)] = added
        rest = np.maximum(rest - (added**2).sum(axis=1), 0.0)
        rest[accepted] = 0.0
        chosen += accepted.tolist()
    return chosen


def accept(residual: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Return the proposals that plain pivoting could have drawn one after the other."""
    residual, accepted = residual.copy(), []
    proposed_by = residual.diagonal().copy()
    for i in range(len(residual)):
        if rng.random() * proposed_by[i] < residual[i, i]:
            accepted.append(i)
            column = residual[:, i] / residual[i, i]
            residual -= np.outer(column, residual[i])
    return accepted


def fastcan_columns(problem: Problem) -> Fitted:
    """Select columns of the kernel matrix as fastcan selects features."""
    K = rbf(problem.X, problem.X, problem.gamma)
    with np.errstate(all="ignore"):
        selection = FastCan(problem.k, verbose=0).fit(K, problem.Y)
    return fitted_landmarks(problem, problem.X[selection.get_support(indices=True)])


# ---------------------------------------------------------------------- predictors


def partial_least_squares(problem: Problem) -> Fitted:
    most = min(*problem.X.shape)
    models = [
        PLSRegression(min(int(n), most), scale=False).fit(problem.X, problem.Y)
        for n in problem.settings
    ]
    return Fitted(lambda X: np.array([m.predict(X).reshape(len(X), -1) for m in models]), 0)


def kernel_pls(problem: Problem) -> Fitted:
    most = int(min(len(problem.X) - 1, max(problem.settings)))
    model = KernelPLS(most, gamma=problem.gamma, random_state=problem.seed).fit(problem.X, problem.Y)

    def predict(X: np.ndarray) -> np.ndarray:
        found = [
            model.predict(X, n_components=min(int(n), model.n_components_)) for n in problem.settings
        ]
        return np.array([part.reshape(len(X), -1) for part in found])

    return Fitted(predict, len(model.landmarks_))


def kernel_ridge(problem: Problem) -> Fitted:
    means = problem.Y.mean(axis=0)
    models = [
        KernelRidge(alpha=len(problem.X) * penalty, kernel="rbf", gamma=problem.gamma).fit(
            problem.X, problem.Y - means
        )
        for penalty in problem.settings
    ]
    return Fitted(lambda X: np.array([m.predict(X) + means for m in models]), len(problem.X))


def support_vectors(problem: Problem) -> Fitted:
    machine = SVC if problem.labelled else SVR
    models = [machine(C=C, gamma=problem.gamma).fit(problem.X, problem.y) for C in problem.settings]
    return Fitted(
        lambda X: np.array([columns(m.predict(X), problem) for m in models]), len(models[-1].support_)
    )


def boosting(problem: Problem) -> Fitted:
    kind = HistGradientBoostingClassifier if problem.labelled else HistGradientBoostingRegressor
    model = kind(random_state=problem.seed).fit(problem.X, problem.y)
    return Fitted(lambda X: columns(model.predict(X), problem)[None], 0)


def sieve(problem: Problem) -> Fitted:
    kind = SieveClassifier if problem.labelled else SieveRegressor
    model = kind(random_state=problem.seed, n_jobs=1).fit(problem.X, problem.y)
    evaluations = len(model.landmark_indices_)
    return Fitted(lambda X: columns(model.predict(X), problem)[None], evaluations)


def columns(predicted: np.ndarray, problem: Problem) -> np.ndarray:
    """Return predicted numbers as a column, and labels as indicators."""
    return np.eye(problem.Y.shape[1])[predicted] if problem.labelled else predicted[:, None]


# ---------------------------------------------------------------------- all of them


def n_landmarks(extractor: Any) -> int:
    return len(extractor.landmarks_)


def n_features_out(extractor: Any) -> int:
    return extractor.n_components


def n_samples(extractor: Any) -> int:
    return len(extractor.X_fit_)


SMA, NYSTROEM, CHOLESKY, PLS = "SMA", "Nystroem", "pivoted Cholesky", "PLSRegression"
SIEVE, BOOSTING = "Sieve", "HistGradientBoosting"

METHODS: dict[str, Method] = {
    SMA: Method(aligned_landmarks),
    "AKFA": Method(with_ridge(feature_analysis, n_landmarks)),
    NYSTROEM: Method(with_ridge(nystroem, n_features_out)),
    "RBFSampler": Method(with_ridge(fourier, n_features_out)),
    CHOLESKY: Method(pivoted_cholesky),
    "accelerated Cholesky": Method(accelerated_cholesky),
    "fastcan": Method(fastcan_columns, sizes=SIZES[:3]),  # takes a matrix of all samples, and its time
    "our KernelPCA": Method(with_ridge(kernel_pca, n_landmarks), sizes=ONE_SIZE),
    "KernelPCA": Method(with_ridge(scikit_kernel_pca("auto"), n_samples), sizes=ONE_SIZE),
    "our KernelPLS": Method(kernel_pls, COMPONENTS, sizes=ONE_SIZE),
    PLS: Method(partial_least_squares, COMPONENTS, has_width=False, sizes=ONE_SIZE),
    "KernelRidge": Method(kernel_ridge, sizes=ONE_SIZE),
    "SVR or SVC": Method(support_vectors, COSTS, sizes=ONE_SIZE),
    BOOSTING: Method(boosting, NOTHING, has_width=False, sizes=ONE_SIZE),
    SIEVE: Method(sieve, NOTHING, has_width=False, sizes=ONE_SIZE),
}
OURS = (SMA, "AKFA", "our KernelPCA", "our KernelPLS", SIEVE)
