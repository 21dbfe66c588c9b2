"""The paper's formulas, written down as they stand and slow: the truth that tests compare with."""

import numpy as np


def centred(values, weight=None):
    weight = np.ones(len(values)) if weight is None else weight
    return values - weight @ values / weight.sum()


def algorithm_2(K, Y, n_components, criterion, center):
    """Algorithm 2 with (5) "alignment" or (6) "covariance": indices, dual vectors, features."""
    Y = Y.reshape(len(K), -1)
    n_columns = K.shape[1]
    Kj = centred(K) if center else K.copy()
    Y = centred(Y) if center else Y
    indices, features = [], []
    dual = np.zeros((n_columns, n_components))
    for j in range(n_components):
        covariance = ((Kj.T @ Y) ** 2).sum(axis=1)
        length = (Kj**2).sum(axis=0) if criterion == "alignment" else np.diagonal(K)
        score = covariance / np.maximum(length, 1e-300)
        score[indices] = -1
        i = int(np.argmax(score))
        dual[i, j] = 1 / np.sqrt(length[i])
        tau = Kj @ dual[:, j]
        Kj = Kj - np.outer(tau, tau @ Kj) / (tau @ tau)
        indices.append(i)
        features.append(tau)
    return indices, dual, np.column_stack(features)


def formula_4(K_new, K, dual, features, center):
    """Project new rows: k' B ((T'T)^-1 T' K B)^-1, with the means of the training columns removed."""
    if center:
        K_new = K_new - K.mean(axis=0)
        K = centred(K)
    inner = np.linalg.solve(features.T @ features, features.T @ K @ dual)
    return K_new @ dual @ np.linalg.inv(inner)


def up_to_sign(features, reference):
    """Flip the columns of ``features`` to agree with ``reference``."""
    return features * np.sign((features * reference).sum(axis=0))


class CountingKernel:
    """A vectorised rbf kernel that counts how many kernel values it was asked for."""

    def __init__(self, gamma=0.1):
        self.gamma = gamma
        self.evaluations = 0

    def __call__(self, X, Z):
        self.evaluations += X.shape[0] * Z.shape[0]
        squared = (X**2).sum(1)[:, None] + (Z**2).sum(1)[None, :] - 2 * X @ Z.T
        return np.exp(-self.gamma * np.maximum(squared, 0))
