"""Fit functions on few landmarks to parts of the samples; held-out errors and gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from ..data import Batch, Pool, TargetEncoder, row_slices
from ..deflation import Alignment
from ..fitting import OnePass, Plan, Settings
from ..kernels import Kernel, Rows

_BLOCK = 2048  # rows
_RANK = 1e-12  # of the largest eigenvalue of the landmarks' kernel matrix
_CANDIDATES = 2  # for each landmark
_N_PARTS, _MOST_SPLITS = 5, 3
_FEW_SAMPLES = 600  # of which every part is held out


@dataclass(frozen=True)
class Split:
    """A split of the samples, which are in random order: those that are fitted, and those held out."""

    fitted: np.ndarray
    held_out: np.ndarray


def splits(n_samples: int, random_state: np.random.RandomState) -> list[Split]:
    """Return one split of many samples, or several of few, whose errors are noisy."""
    parts = np.array_split(random_state.permutation(n_samples), min(_N_PARTS, n_samples))
    n_splits = int(np.clip(round(4000 / n_samples), 1, _MOST_SPLITS))
    n_splits = len(parts) if n_samples <= _FEW_SAMPLES else n_splits
    return [Split(np.concatenate(parts[:i] + parts[i + 1 :]), parts[i]) for i in range(n_splits)]


@dataclass(frozen=True)
class LandmarkFunctions:
    """A function for every ridge: ``kernel(x, landmarks) @ root @ (products / (values + ridge))``.

    The ridge penalises the norm of the function in the kernel's space. Coordinates that are orthonormal
    there are rotated to where the fitted samples are uncorrelated, so that all ridges are one division.
    """

    kernel: Kernel
    landmarks: Rows
    root: np.ndarray  # from kernel values to rotated coordinates
    values: np.ndarray  # variances of these
    products: np.ndarray  # their covariances with the targets
    means: np.ndarray  # of the coordinates
    target_means: np.ndarray

    def coefficients(self, ridge: float) -> np.ndarray:
        """Return the coefficients of the kernel values, (n_landmarks, n_targets)."""
        return self.root @ self._weights(ridge)

    def errors(self, U: Rows, Y: np.ndarray, weight: np.ndarray, ridges: np.ndarray) -> np.ndarray:
        """Return the mean squared error for each ridge."""
        found = np.zeros(len(ridges))
        for rows in row_slices(U.shape[0], _BLOCK):
            coordinates = self.kernel.block(U[rows], self.landmarks) @ self.root - self.means
            residual = Y[rows] - self.target_means
            for i, ridge in enumerate(ridges):
                squares = (residual - coordinates @ self._weights(ridge)) ** 2
                found[i] += weight[rows] @ squares.sum(axis=1)
        return found / weight.sum()

    def outer_product(self, U: Rows, weight: np.ndarray, ridge: float, *, diagonal: bool) -> np.ndarray:
        """Return the average gradient outer product, or its diagonal, summed over targets."""
        landmarks, coefficients, total = dense(self.landmarks), self.coefficients(ridge), 0.0
        for rows in row_slices(U.shape[0], _BLOCK):
            gradients = self.kernel.sample_gradient(dense(U[rows]), landmarks, coefficients)
            flat = (gradients * np.sqrt(weight[rows])[:, None]).reshape(-1, landmarks.shape[1])
            total = total + ((flat**2).sum(axis=0) if diagonal else flat.T @ flat)
        return np.asarray(total) / weight.sum()

    def _weights(self, ridge: float) -> np.ndarray:
        return self.products / (self.values + ridge)[:, None]


def fit_functions(
    kernel: Kernel,
    U: Rows,
    Y: np.ndarray,
    weight: np.ndarray,
    split: Split,
    n_landmarks: int,
) -> LandmarkFunctions:
    """Choose landmarks by sparse maximal alignment, and fit all ridges."""
    landmarks = _choose_landmarks(kernel, U, Y, weight, split, n_landmarks)
    root = _root(kernel.block(landmarks, landmarks))
    first, n_targets = 1 + root.shape[1], Y.shape[1]
    gram = np.zeros((first + n_targets, first + n_targets))
    for part in row_slices(len(split.fitted), _BLOCK):
        rows = split.fitted[part]
        coordinates = kernel.block(U[rows], landmarks) @ root
        block = np.hstack([np.ones((len(rows), 1)), coordinates, Y[rows]])
        block *= np.sqrt(weight[rows])[:, None]
        gram += block.T @ block
    gram /= gram[0, 0]
    covariance = gram[1:, 1:] - np.outer(gram[0, 1:], gram[0, 1:])
    variances, rotation = eigh(covariance[: first - 1, : first - 1])
    return LandmarkFunctions(
        kernel,
        landmarks,
        root @ rotation,
        np.maximum(variances, 0.0),
        rotation.T @ covariance[: first - 1, first - 1 :],
        gram[0, 1:first] @ rotation,
        gram[0, first:],
    )


def _root(W: np.ndarray) -> np.ndarray:
    """Return the map from kernel values to orthonormal coordinates in the kernel's space."""
    values, vectors = eigh(W)
    kept = values > _RANK * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])


def _choose_landmarks(
    kernel: Kernel, U: Rows, Y: np.ndarray, weight: np.ndarray, split: Split, n_landmarks: int
) -> Rows:
    candidates = split.fitted[: _CANDIDATES * n_landmarks]
    if not np.ptp(Y[split.fitted], axis=0).any():  # nothing to be aligned with
        return U[candidates[:1]]
    points = kernel.points(U, candidates)
    pool = Pool(points, candidates, kernel.block(points, points))
    settings = Settings(min(n_landmarks, len(candidates)), center=True, tol=1e-10, precision="fast")
    encoder = TargetEncoder(None, Y.shape[1])
    plan = Plan(kernel, pool, encoder, Y[split.fitted[:64]].mean(axis=0), settings)
    row_pass = OnePass(plan, Alignment())
    statistic = row_pass.new_statistic(repeatable=True)
    row_pass.absorb(statistic, Batch(U[split.fitted], Y[split.fitted], weight[split.fitted]))
    chosen = row_pass.solve(statistic).landmark_indices
    return U[chosen] if len(chosen) else U[candidates[:1]]


def dense(X: Rows) -> np.ndarray:
    """Convert samples to a dense array."""
    return X.toarray() if sparse.issparse(X) else X
