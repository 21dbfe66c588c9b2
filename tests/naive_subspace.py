"""The formulas of Wu and Farquhar (2007) and of the methods they compare, as they stand and slow."""

import numpy as np


def indicators(y):
    return (np.asarray(y)[:, None] == np.unique(y)).astype(float)


def averaging(y, weight=None):
    """M: n x c, each column averages over a class."""
    Y = indicators(y) * (1.0 if weight is None else weight[:, None])
    return Y / Y.sum(axis=0)


def naive_koc(K, K_new, y):
    """R^-T M'k(x) for every new row."""
    M = averaging(y)
    R = np.linalg.cholesky(M.T @ K @ M).T
    return np.linalg.solve(R.T, M.T @ K_new.T).T


def naive_discriminant(Q, Q_new, y, ridge, R=None, balanced=False):
    """Eigenvectors of (T + ridge)^-1 B on projected rows; B of the class means of Q, or R N N'R'."""
    n, r = Q.shape
    E = np.eye(n) - 1 / n
    T = Q.T @ E @ Q
    Y = indicators(y)
    sizes = Y.sum(axis=0)
    if balanced:
        N_c = np.eye(len(sizes)) - 1 / len(sizes)
    else:
        N_c = np.diag(np.sqrt(sizes)) - np.outer(sizes, np.sqrt(sizes)) / n
    N = averaging(y) @ N_c
    B = (N.T @ Q).T @ (N.T @ Q) if R is None else R @ N_c @ N_c.T @ R.T
    values, V = np.linalg.eig(np.linalg.solve(T + ridge * np.trace(T) / r * np.eye(r), B))
    order = np.argsort(-values.real)
    return values.real[order], Q_new @ V.real[:, order]


def subspace_kernel(K, W):
    """K_w of formula (4)."""
    KW = K @ W
    return KW @ np.linalg.solve(W.T @ KW, KW.T)


def alignment(K, W, y):
    """A(W) of formula (17), with n x n matrices."""
    Kw = subspace_kernel(K, W)
    Y = indicators(y)
    Ky = Y @ Y.T
    return np.sum(Kw * Ky) / np.sqrt(np.sum(Kw * Kw) * np.sum(Ky * Ky))


def alignment_gradient(K, W, y):
    """The derivative by formulas (23) to (27)."""
    Y = indicators(y)
    Kw, Ky = subspace_kernel(K, W), Y @ Y.T
    inner = W.T @ K @ W
    values, vectors = np.linalg.eigh(inner)
    X_w = K @ W @ (vectors / np.sqrt(values))  # (9): columns are the x-hats

    def bilinear(alpha):
        beta = np.linalg.solve(inner, W.T @ K @ alpha)  # (26)
        t = K @ alpha - K @ W @ beta  # (27)
        return 2 * np.outer(t, beta)  # (25)

    with_labels = sum(bilinear(column) for column in Y.T)  # (23)
    with_itself = sum(bilinear(column) for column in X_w.T)  # (24)
    size, of_labels = np.sqrt(np.sum(Kw * Kw)), np.sqrt(np.sum(Ky * Ky))
    numerator = np.sum(Kw * Ky)
    return (with_labels / size - numerator * with_itself / size**3) / of_labels
