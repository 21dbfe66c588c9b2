"""Kernel Fisher discriminants and their relatives as the papers print them: slow, and the truth."""

import numpy as np
from scipy.linalg import eigh


def within(K, y, weight=None):
    """N of formula (7) of Mika et al. (2003), for the columns of K; weights count as repeated rows."""
    weight = np.ones(len(K)) if weight is None else weight
    N = np.zeros((K.shape[1], K.shape[1]))
    for label in np.unique(y):
        rows, w = K[y == label], weight[y == label]
        rest = rows - w @ rows / w.sum()
        N += rest.T @ (rest * w[:, None])
    return N


def between(K, y):
    """Scatter of the class means about the mean of all, each as often as it has rows."""
    mean = K.mean(axis=0)
    gaps = [np.sqrt((y == c).sum()) * (K[y == c].mean(axis=0) - mean) for c in np.unique(y)]
    return np.array(gaps).T @ np.array(gaps)


def tangent(K, moved):
    """Formula (3), summed over the rows."""
    return (K - moved).T @ (K - moved)


def two_class_direction(K, y, penalty):
    """alpha proportional to (N + penalty)^-1 (mu_2 - mu_1), formulas (8) and (11)."""
    first, second = np.unique(y)
    gap = K[y == second].mean(axis=0) - K[y == first].mean(axis=0)
    return np.linalg.solve(within(K, y) + penalty, gap)


def ridge_direction(K, y, C):
    """Problem (9) with the squared norm of alpha: regression to labels with a free intercept."""
    labels = np.where(y == np.unique(y)[1], 1.0, -1.0)
    A = np.column_stack([K, np.ones(len(K))])
    ridge = C * np.eye(A.shape[1])
    ridge[-1, -1] = 0
    return np.linalg.solve(A.T @ A + ridge, A.T @ labels)


def generalized_discriminants(K, y, delta, k):
    """Baudat and Anouar (2000) with a ridge: K W K alpha = lambda (K K + delta I) alpha, K centred."""
    n = len(K)
    H = np.eye(n) - 1 / n
    K = H @ K @ H
    W = np.zeros((n, n))
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        W[np.ix_(rows, rows)] = 1 / len(rows)
    _, vectors = eigh(K @ W @ K, K @ K + delta * np.eye(n))
    return K @ vectors[:, ::-1][:, :k]


def cosine(a, b):
    return abs(float(a @ b)) / np.linalg.norm(a) / np.linalg.norm(b)
