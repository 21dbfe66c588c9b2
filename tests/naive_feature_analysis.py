"""AKFA, ACKFA and SKFA as the papers write them: the deflated Gram matrix is formed at every step.

Formula numbers are those of Jiang, Snapp, Motai and Zhu (2006). SKFA is that of Smola, Mangasarian and
Schölkopf (1999).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FLOOR = 1e-8  # candidates whose image is spanned up to this share of the largest are not chosen


class Analysis(NamedTuple):
    indices: list[int]  # chosen rows, in order
    scores: np.ndarray  # of the chosen row, at every step
    coefficients: np.ndarray  # C, upper triangular: unit direction i is sum_j C_ji Phi_idx(j)
    diagonal: np.ndarray  # of the deflated Gram matrix at the end


def naive_akfa(K, n_components, cutoff=0.0, dtype=np.float64):
    """Steps 1 to 3 of ACKFA; ``cutoff`` is the paper's delta, and 0 gives AKFA."""
    K = np.array(K, dtype=dtype)
    n_rows, deflated = len(K), K.copy()
    floor = FLOOR * K.diagonal().max()
    indices, scores, C = [], [], np.zeros((0, 0), dtype)
    while len(indices) < n_components:
        kept = deflated.diagonal() >= cutoff  # the diagonal only falls: what has left stays out
        candidates = kept & (deflated.diagonal() > floor)
        candidates[indices] = False
        if not candidates.any():
            break
        # (11), with the square that is missing in print
        squares = (deflated[kept] ** 2).sum(axis=0)
        score = np.full(n_rows, -np.inf, dtype)
        score[candidates] = squares[candidates] / deflated.diagonal()[candidates] / n_rows
        p = int(np.argmax(score))
        C = one_more_direction(C, K[p, indices], deflated[p, p])
        deflated = deflated - np.outer(deflated[:, p], deflated[p]) / deflated[p, p]  # (10)
        indices.append(p)
        scores.append(score[p])
    return Analysis(indices, np.array(scores, dtype), C, deflated.diagonal().copy())


def one_more_direction(C, kernel_with_chosen, squared_length):
    """(12) and (13): the coefficient matrix with the column of a further direction."""
    last = 1 / np.sqrt(squared_length)
    column = -last * (C @ (C.T @ kernel_with_chosen))
    below = np.zeros((1, len(C)), C.dtype)
    return np.block([[C, column[:, None]], [below, np.array([[last]])]])


def naive_skfa(K, n_components, variance="centered", dtype=np.float64):
    """SKFA: the deflated images, each divided by the l1 norm of its expansion, compete by variance."""
    K = np.array(K, dtype=dtype)
    expansion = np.eye(len(K), dtype=dtype)  # row j: the deflated image j in terms of all images
    indices, scores, directions = [], [], []
    while len(indices) < n_components:
        projections = expansion @ K  # <Phi_j^i, Phi_k>, by (9)
        l1_norm = np.abs(expansion).sum(axis=1)
        l1_norm[indices] = 1  # nothing is left of chosen images
        normalised = projections / l1_norm[:, None]
        mean = normalised.mean(axis=1) if variance == "centered" else 0
        score = (normalised**2).mean(axis=1) - mean**2
        length = (projections * expansion).sum(axis=1)
        score[length <= FLOOR * K.diagonal().max()] = -np.inf
        score[indices] = -np.inf
        p = int(np.argmax(score))
        if score[p] == -np.inf:
            break
        direction = expansion[p] / np.sqrt(length[p])
        expansion = expansion - np.outer(projections @ direction, direction)
        indices.append(p)
        scores.append(score[p])
        directions.append(direction)
    C = np.array(directions, dtype).T[indices]
    return Analysis(indices, np.array(scores, dtype), C, ((expansion @ K) * expansion).sum(axis=1))
