"""Losses of residuals, each the model of a noise, by what Newton's method needs of them.

Slopes and curvatures are halved, as for xi^2. Safe curvatures are those of squares with the same slopes
that lie above the loss nearby.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Huber:
    """xi^2 up to delta, and the line ``2 delta |xi| - delta^2`` beyond; delta may differ by line."""

    delta: np.ndarray

    def values(self, xi: np.ndarray) -> np.ndarray:
        inner = np.minimum(np.abs(xi), self.delta)
        return np.asarray(inner * (2 * np.abs(xi) - inner))

    def slopes(self, xi: np.ndarray) -> np.ndarray:
        return np.clip(xi, -self.delta, self.delta)

    def curvatures(self, xi: np.ndarray) -> np.ndarray:
        return np.where(np.abs(xi) > self.delta, 0.0, 1.0)

    def safe_curvatures(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(1 / np.maximum(np.abs(xi) / self.delta, 1.0))


@dataclass(frozen=True)
class Power:
    """``|xi|^power``, with a power of at least 2 that may differ by line."""

    power: np.ndarray

    def values(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(xi) ** self.power)

    def slopes(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(self.power / 2 * np.sign(xi) * np.abs(xi) ** (self.power - 1))

    def curvatures(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(self.power * (self.power - 1) / 2 * np.abs(xi) ** (self.power - 2))

    def safe_curvatures(self, xi: np.ndarray) -> np.ndarray:
        return self.curvatures(np.full_like(xi, np.abs(xi).max(initial=0.0)))


SmoothLoss = Huber | Power
