"""The protocol that every method follows, ours and those of others: needs numpy alone.

A held-out quarter of the training samples chooses the width of the kernel and one more setting (a
penalty, or a number of components); then all of them are fitted with what was chosen. Seconds are those
of the processor, because others may use the machine at the same time.

A script of this folder runs in an environment of its own: it reads a task from an ``.npz`` file and
writes what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

if __package__:
    from .memory import forget_peak, peak_megabytes
else:  # a script of this folder
    from memory import forget_peak, peak_megabytes


@dataclass(frozen=True)
class Problem:
    """What is to be fitted, with one width and some settings."""

    X: np.ndarray
    Y: np.ndarray  # columns of numbers, or indicators of classes
    gamma: float
    settings: Sequence[float]
    k: int
    seed: int
    labelled: bool

    @property
    def y(self) -> np.ndarray:
        """The target as one column: numbers, or codes of classes."""
        return self.Y.argmax(axis=1) if self.labelled else self.Y[:, 0]


@dataclass(frozen=True)
class Fitted:
    """A fitted method."""

    predict: Callable[[np.ndarray], np.ndarray]  # (n_settings, n_samples, n_targets)
    evaluations: int  # of the kernel, for a new sample


Fit = Callable[[Problem], Fitted]


@dataclass(frozen=True)
class Task:
    """A set and a split, as all methods get them."""

    X: np.ndarray
    Y: np.ndarray
    X_test: np.ndarray
    Y_test: np.ndarray
    held: np.ndarray  # of the training samples, those that choose
    widths: np.ndarray
    seed: int
    labelled: bool

    def problem(
        self, rows: np.ndarray | slice, gamma: float, settings: Sequence[float], k: int
    ) -> Problem:
        return Problem(
            self.X[rows], self.Y[rows], float(gamma), settings, k, int(self.seed), bool(self.labelled)
        )


@dataclass(frozen=True)
class Outcome:
    """The error on test samples, and what it took."""

    error: float
    k: int
    evaluations: int
    fit_seconds: float
    search_seconds: float  # with the fit
    rows_per_second: float
    at_end: bool  # whether the chosen width is the first or the last of the list
    megabytes: float | None = None  # at most, above what was used before; known in scripts


def error(Y: np.ndarray, predicted: np.ndarray, seen: np.ndarray, *, labelled: bool) -> float:
    """Return the rate of wrong labels, or the mean squared error within the range of targets seen."""
    if labelled:
        return float(np.mean(predicted.argmax(axis=1) != Y.argmax(axis=1)))
    return float(np.mean((predicted.clip(seen.min(axis=0), seen.max(axis=0)) - Y) ** 2))


def choose_and_fit(
    fit: Fit,
    task: Task,
    settings: Sequence[float],
    k: int,
    *,
    widths: Sequence[float],
    clock: Callable[[], float] = time.process_time,
) -> Outcome:
    """Choose width and setting by the held-out samples, fit all, and predict test samples."""
    begin = clock()
    gamma, setting = chosen(fit, task, settings, k, widths)
    start = clock()
    fitted = fit(task.problem(slice(None), gamma, [setting], k))
    end = clock()
    (predicted,) = fitted.predict(task.X_test)
    rate = len(task.X_test) / max(clock() - end, 1e-6)
    found = error(task.Y_test, predicted, task.Y, labelled=task.labelled)
    at_end = len(widths) > 1 and gamma in (widths[0], widths[-1])
    return Outcome(found, k, fitted.evaluations, end - start, end - begin, rate, bool(at_end))


def chosen(
    fit: Fit, task: Task, settings: Sequence[float], k: int, widths: Sequence[float]
) -> tuple[float, float]:
    if len(settings) == len(widths) == 1:
        return widths[0], settings[0]
    held = task.held
    errors = np.array(
        [
            [
                error(task.Y[held], predicted, task.Y[~held], labelled=task.labelled)
                for predicted in fit(task.problem(~held, gamma, settings, k)).predict(task.X[held])
            ]
            for gamma in widths
        ]
    )
    errors = np.where(np.isfinite(errors), errors, np.inf)
    width, setting = np.unravel_index(np.argmin(errors), errors.shape)
    return widths[width], settings[setting]


# ---------------------------------------------------------------------- the head of features


class RidgeHeads:
    """Ridge regression on features for several penalties, as shares of the number of samples."""

    def __init__(self, F: np.ndarray, Y: np.ndarray, penalties: Sequence[float]) -> None:
        self._means, self._offset = F.mean(axis=0), Y.mean(axis=0)
        values, vectors = np.linalg.eigh((F - self._means).T @ (F - self._means))
        products = vectors.T @ ((F - self._means).T @ (Y - self._offset))
        self._coefs = [vectors @ (products / (values.clip(0) + len(F) * p)[:, None]) for p in penalties]

    def __call__(self, F: np.ndarray) -> np.ndarray:
        return np.array([(F - self._means) @ coef + self._offset for coef in self._coefs])


class LandmarkFeatures:
    """Nystroem features: the kernel on landmarks, in coordinates of orthonormal directions."""

    JITTER = 1e-10  # of k(z, z): the matrix of the landmarks may be singular

    def __init__(self, landmarks: np.ndarray, gamma: float) -> None:
        self._landmarks, self._gamma = landmarks, gamma
        K = rbf(landmarks, landmarks, gamma)
        self._inverse = np.linalg.inv(np.linalg.cholesky(K + self.JITTER * np.eye(len(K)))).T

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return rbf(X, self._landmarks, self._gamma) @ self._inverse


def rbf(X: np.ndarray, Z: np.ndarray, gamma: float) -> np.ndarray:
    squares = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * X @ Z.T
    return np.exp(-gamma * squares.clip(0))


def fitted_landmarks(problem: Problem, landmarks: np.ndarray) -> Fitted:
    """Return ridge regression on landmarks."""
    features = LandmarkFeatures(landmarks, problem.gamma)
    heads = RidgeHeads(features(problem.X), problem.Y, problem.settings)
    return Fitted(lambda X: heads(features(X)), len(landmarks))


# ---------------------------------------------------------------------- scripts

WARM_UP = 200  # samples


def main(fit: Fit, grid: str) -> None:
    """Read a task, and write an outcome for every k: the main function of a script.

    ``grid`` names the settings among which the method chooses; "none" is for one that chooses itself.
    """
    with np.load(sys.argv[1]) as file:
        given = dict(file)
    sizes, grids = given.pop("sizes"), {name: given.pop(name) for name in ("penalties", "components")}
    task = Task(**given)
    settings = [np.nan] if grid == "none" else grids[grid]
    widths = [np.nan] if grid == "none" else task.widths
    one = replace(task, seed=int(task.seed), labelled=bool(task.labelled))
    small = one.problem(slice(WARM_UP), widths[0], settings, int(sizes[0]))
    fit(small).predict(small.X)  # loads and compiles what a first call needs, which is not timed
    found = []
    for k in sizes:
        forget_peak()
        before = peak_megabytes()
        outcome = choose_and_fit(fit, one, settings, int(k), widths=widths)
        found.append(asdict(replace(outcome, megabytes=peak_megabytes() - before)))
    with open(sys.argv[2], "w") as file:
        json.dump(found, file)
