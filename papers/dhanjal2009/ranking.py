"""Support vector machines that rank rows; a score chooses the number of features and the penalty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVC

Score = Callable[[np.ndarray, np.ndarray], float]  # of labels and decision values
Weights = Callable[[np.ndarray], dict[int, float] | None]  # of classes, from labels


@dataclass(frozen=True)
class KernelValues:
    """Kernel values of training and test rows with training rows, for a machine without features."""

    train: np.ndarray
    test: np.ndarray

    def grams(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return them all, whatever the number."""
        return self.train, self.test


@dataclass(frozen=True)
class Features:
    """Features of training and test rows, and what the first of them cost a new row."""

    train: np.ndarray
    test: np.ndarray
    kernel_evaluations: np.ndarray  # by the number of features less one
    mean_square: float = 0.0  # of every feature that the paper gives unit length; 0 where it does not

    def grams(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the inner products of the first features, in the paper's units."""
        Z = self.train[:, :number]
        squared_length = self.mean_square * len(Z) or 1.0
        return Z @ Z.T / squared_length, self.test[:, :number] @ Z.T / squared_length


#: From training rows, their labels, test rows and a setting.
Extraction = Callable[[Any, np.ndarray, Any, dict], KernelValues | Features]


@dataclass(frozen=True)
class Choice:
    """A setting of the extractor, a number of features, and a penalty."""

    setting: dict
    number: int
    C: float


def no_weights(y: np.ndarray) -> None:
    return None


def opposite_shares(y: np.ndarray) -> dict[int, float]:
    """Return as the weight of a class the share of the other one."""
    return {1: float(np.mean(y < 0)), -1: float(np.mean(y > 0))}


def machine(K: np.ndarray, y: np.ndarray, C: float, weights: Weights) -> SVC:
    """Fit a machine to given kernel values."""
    return SVC(C=C, kernel="precomputed", class_weight=weights(y)).fit(K, y)


def choose(
    X: Any,
    y: np.ndarray,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    extraction: Extraction,
    settings: Sequence[dict],
    numbers: Sequence[int],
    penalties: Sequence[float],
    score: Score,
    weights: Weights = no_weights,
) -> Choice:
    """Return the combination with the largest mean score over the splits; the first of equals."""
    totals = np.zeros((len(settings), len(numbers), len(penalties)))
    for a, b in splits:
        for place, setting in enumerate(settings):
            found = extraction(X[a], y[a], X[b], setting)
            for i, number in enumerate(numbers):
                K, K_test = found.grams(number)
                for j, C in enumerate(penalties):
                    fitted = machine(K, y[a], C, weights)
                    totals[place, i, j] += score(y[b], fitted.decision_function(K_test))
    place, i, j = np.unravel_index(int(np.argmax(totals)), totals.shape)
    return Choice(settings[place], int(numbers[i]), float(penalties[j]))
