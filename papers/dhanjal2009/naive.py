"""SMA and SMC as Algorithm 2 has them: the kernel matrix is deflated at every step."""

from __future__ import annotations

import numpy as np


def deflated_features(
    criterion: str,
    K: np.ndarray,
    y: np.ndarray,
    K_test: np.ndarray,
    n_features: int,
    n_columns: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return features of training and test rows, each step with the best of some random columns."""
    rng = np.random.default_rng(seed)
    diagonal, centre = K.diagonal(), K.mean(axis=0)
    R, R_test, target = K - centre, K_test - centre, y - y.mean()
    features, features_test = [], []
    for _ in range(n_features):
        columns = rng.permutation(len(K))[:n_columns]
        squares = (R[:, columns] ** 2).sum(axis=0) if criterion == "SMA" else diagonal[columns]
        best = columns[np.argmax(np.abs(target @ R[:, columns]) / np.sqrt(np.maximum(squares, 1e-12)))]
        tau, tau_test = R[:, best].copy(), R_test[:, best].copy()
        loading = tau @ R / (tau @ tau)
        R -= np.outer(tau, loading)
        R_test -= np.outer(tau_test, loading)
        scale = np.linalg.norm(tau) if criterion == "SMA" else np.sqrt(diagonal[best])
        features.append(tau / scale)
        features_test.append(tau_test / scale)
    return np.column_stack(features), np.column_stack(features_test)
