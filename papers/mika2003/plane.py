"""The first feature of kernel PCA, and of oriented kernel PCA that knows an invariance."""

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


MOVES = {"rotation": rotated, "translation": shifted}
CONTENDERS = ("kernel PCA", *(f"oriented kernel PCA, {what}" for what in MOVES))


def square(seed: int) -> np.ndarray:
    """Return rows without any structure: a square of uniform density."""
    return np.random.default_rng(seed).uniform(-2, 2, (N_ROWS, 2))


def analysis(name: str) -> Any:
    """Return a contender of the figure, not fitted."""
    if name == "kernel PCA":
        return KernelPCA(1, gamma=GAMMA)
    move = MOVES[name.removeprefix("oriented kernel PCA, ")]
    return OrientedKernelPCA(1, gamma=GAMMA, reg=REG, invariances=[(move, WEIGHT)])


def changes(name: str, draws: int) -> dict[str, list[float]]:
    """Return how much a first feature changes on average, in standard deviations of its own."""
    found: dict[str, list[float]] = {what: [] for what in MOVES}
    for seed in range(draws):
        X = square(seed)
        model = analysis(name).fit(X)
        before = model.transform(X)[:, 0]
        for what, move in MOVES.items():
            change = np.abs(model.transform(move(X))[:, 0] - before).mean()
            found[what].append(float(change / before.std()))
    return found
