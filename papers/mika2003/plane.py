"""Figure 1: the first feature of kernel PCA, and of oriented kernel PCA that knows an invariance.

The functions are pure: numbers in, numbers out. Tests use them too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelsieve import KernelPCA, OrientedKernelPCA

N_ROWS = 200
GAMMA = 0.5
ANGLE, STEP = 0.1, 0.1  # of the small transformations, in radians and in units of the inputs
WEIGHT = 10.0
REG = 0.1  # keeps features small where there are no rows


def rotated(X: np.ndarray, angle: float = ANGLE) -> np.ndarray:
    """Turn rows about the origin."""
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return X @ turn


def shifted(X: np.ndarray, step: float = STEP) -> np.ndarray:
    """Move rows along the first input."""
    return X + np.array([step, 0.0])


def square(seed: int = 0) -> np.ndarray:
    """Return rows without any structure: a square of uniform density."""
    return np.random.default_rng(seed).uniform(-2, 2, (N_ROWS, 2))


def analyses(X: np.ndarray) -> dict[str, Any]:
    """Return the three contenders of the figure, fitted."""
    oriented = {
        "rotation": OrientedKernelPCA(1, gamma=GAMMA, reg=REG, invariances=[(rotated, WEIGHT)]),
        "translation": OrientedKernelPCA(1, gamma=GAMMA, reg=REG, invariances=[(shifted, WEIGHT)]),
    }
    found = {"kernel PCA": KernelPCA(1, gamma=GAMMA).fit(X)}
    for name, model in oriented.items():
        found[f"oriented kernel PCA, {name}"] = model.fit(X)
    return found


def changes(X: np.ndarray) -> dict[str, dict[str, float]]:
    """Return how much each first feature changes on average, in standard deviations of its own."""
    moves = {"rotation": rotated, "translation": shifted}
    found: dict[str, dict[str, float]] = {}
    for name, model in analyses(X).items():
        before = model.transform(X)[:, 0]
        found[name] = {
            what: float(np.abs(model.transform(move(X))[:, 0] - before).mean() / before.std())
            for what, move in moves.items()
        }
    return found
