"""Tables 3 and 4, Figure 5: whose face it is, by the nearest neighbours among kernel features.

The paper does not say how images were down-sampled, centred and normalised; ``READINGS`` are what it
may have meant. The functions are pure: numbers in, numbers out. Tests use them too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from kernelsieve.datasets import load

from . import printed
from .methods import METHODS, fit, gaussian

SHAPE = (26, 25)
N_FEATURES = 80
CUTOFF = 0.16
NEIGHBOURS = 10
MOST_NEIGHBOURS = 20
SIGMA = 24  # of Figure 5 and Table 4
N_PEOPLE = 15

# ---------------------------------------------------------------------- images


def shrink(images: np.ndarray) -> np.ndarray:
    """Return images as rows of 26 x 25 pixels, each the mean of the area that it covers."""
    height, width = (shares(old, new) for old, new in zip(images.shape[1:], SHAPE, strict=True))
    small = np.einsum("ab,nbc,dc->nad", height, images.astype(np.float64), width, optimize=True)
    return small.reshape(len(images), -1)


def shares(old: int, new: int) -> np.ndarray:
    """Return which share each of the old pixels on a line has in each of the new ones."""
    edges, pixels = np.linspace(0, old, new + 1), np.arange(old)
    right = np.minimum(edges[1:, None], pixels + 1)
    left = np.maximum(edges[:-1, None], pixels)
    return np.maximum(right - left, 0) * new / old


def standardise(rows: np.ndarray, axis: int) -> np.ndarray:
    spread = rows.std(axis=axis, keepdims=True)
    return (rows - rows.mean(axis=axis, keepdims=True)) / np.where(spread > 0, spread, 1)


def one_scale(rows: np.ndarray) -> np.ndarray:
    centred = rows - rows.mean(axis=0)
    return centred / centred.std()


def unit_length(rows: np.ndarray) -> np.ndarray:
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


IMAGES = ("square pixels", "full width", "aligned")
NORMALISATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "each image to mean 0, variance 1": lambda rows: standardise(rows, axis=1),
    "each pixel to mean 0, variance 1": lambda rows: standardise(rows, axis=0),
    "each pixel to mean 0, one scale": one_scale,
    "each image to mean 0, length 1": unit_length,
}
CHOSEN = ("square pixels", "each image to mean 0, variance 1")


@dataclass(frozen=True)
class Faces:
    """Small images as rows, before any normalisation, and whose they are."""

    images: dict[str, np.ndarray]
    people: np.ndarray
    side_lit: np.ndarray  # which have the light from the left or from the right

    def prepared(self, images: str, normalisation: str) -> np.ndarray:
        return NORMALISATIONS[normalisation](self.images[images])


def load_faces() -> Faces:
    """Read the Yale faces from the local folder; an error says what is missing."""
    raw, aligned = load("yale_raw"), load("yale_64x64")
    full = np.asarray(raw["X"]).reshape(-1, 243, 320)
    if not np.array_equal(raw["y"], aligned["y"]):
        raise ValueError("The two files of Yale faces have people in different orders.")
    images = {
        "square pixels": shrink(full[:, :, 43:277]),  # the middle 234 columns: 243 / 26 = 234 / 25
        "full width": shrink(full),
        "aligned": shrink(np.asarray(aligned["X"]).reshape(-1, 64, 64)),
    }
    exposure = np.asarray(raw["condition_names"])[raw["condition"]]
    side_lit = np.isin(exposure, ["leftlight", "rightlight"])
    return Faces(images, np.asarray(raw["y"]).astype(int), side_lit)


# ---------------------------------------------------------------------- neighbours


def votes(distances: np.ndarray, people: np.ndarray, most: int) -> np.ndarray:
    """Return for 1 to ``most`` neighbours who has most of them; of equals, the first in the list."""
    nearest = people[np.argsort(distances, kind="stable")[:most]]
    return np.cumsum(np.eye(N_PEOPLE)[nearest], axis=0).argmax(axis=1)


def leave_one_out(method: str, K: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return whom every face is taken for, with 1 to 20 neighbours; features never saw the face."""
    taken_for = np.empty((len(K), MOST_NEIGHBOURS), dtype=int)
    for i in range(len(K)):
        others = np.delete(np.arange(len(K)), i)
        fitted = fit(method, K[np.ix_(others, others)], N_FEATURES, CUTOFF)
        features = fitted.transform(K[:, others])
        distances = ((features[others] - features[i]) ** 2).sum(axis=1)
        taken_for[i] = votes(distances, people[others], MOST_NEIGHBOURS)
    return taken_for


def neighbours_only(features: np.ndarray, people: np.ndarray, n_neighbours: int) -> np.ndarray:
    """Return whom every face is taken for; features may have seen it, its own vote is left out."""
    taken_for = np.empty(len(features), dtype=int)
    for i in range(len(features)):
        others = np.delete(np.arange(len(features)), i)
        distances = ((features[others] - features[i]) ** 2).sum(axis=1)
        taken_for[i] = votes(distances, people[others], n_neighbours)[-1]
    return taken_for


def accuracy(taken_for: np.ndarray, people: np.ndarray) -> float:
    """Return the per cent of faces that were recognised."""
    return 100 * float(np.mean(taken_for == people))


# ---------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Recognition:
    """Whom every face was taken for, by method and width, and what that took."""

    taken_for: dict[tuple[str, int], np.ndarray]  # a column for each number of neighbours
    seconds: dict[tuple[str, int], float]  # of 165 fits and transforms
    faces: Faces

    def accuracy(self, method: str, width: int, n_neighbours: int = NEIGHBOURS) -> float:
        return accuracy(self.taken_for[method, width][:, n_neighbours - 1], self.faces.people)

    def relative_time(self, method: str) -> float:
        """Return the time of a method relative to kernel PCA, all widths together."""
        totals = {m: sum(s for (name, _), s in self.seconds.items() if name == m) for m in METHODS}
        return totals[method] / totals["KPCA"]

    def confusion(self, method: str, width: int) -> np.ndarray:
        """Return how many faces of person i (row) were taken for person j (column)."""
        table = np.zeros((N_PEOPLE, N_PEOPLE), dtype=int)
        np.add.at(table, (self.faces.people, self.taken_for[method, width][:, NEIGHBOURS - 1]), 1)
        return table

    def side_lit_errors(self, method: str, width: int) -> int:
        """Return how many faces lit from one side were not recognised."""
        wrong = self.taken_for[method, width][:, NEIGHBOURS - 1] != self.faces.people
        return int(np.count_nonzero(wrong & self.faces.side_lit))


def recognise(
    faces: Faces, methods: Sequence[str] = METHODS, widths: Sequence[int] = printed.WIDTHS
) -> Recognition:
    """Run the paper's experiment on the chosen reading of its preparation."""
    rows = faces.prepared(*CHOSEN)
    cases = [(method, width) for width in widths for method in methods]
    results = Parallel(n_jobs=-1)(
        delayed(_timed_leave_one_out)(method, gaussian(rows, width), faces.people)
        for method, width in cases
    )
    taken_for = {case: found for case, (found, _) in zip(cases, results, strict=True)}
    spent = {case: seconds for case, (_, seconds) in zip(cases, results, strict=True)}
    return Recognition(taken_for, spent, faces)


@threadpool_limits.wrap(limits=1)  # the matrices are small: more threads only wait for each other
def _timed_leave_one_out(method: str, K: np.ndarray, people: np.ndarray) -> tuple[np.ndarray, float]:
    fit(method, K, N_FEATURES, CUTOFF)  # compiles
    start = time.perf_counter()
    return leave_one_out(method, K, people), time.perf_counter() - start


@threadpool_limits.wrap(limits=1)
def compare_readings(faces: Faces) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """Return the accuracies of every reading, with features found once from all faces."""
    return {
        (images, normalisation): accuracies(faces.prepared(images, normalisation), faces.people)
        for images in IMAGES
        for normalisation in NORMALISATIONS
    }


def accuracies(rows: np.ndarray, people: np.ndarray) -> dict[str, np.ndarray]:
    """Return the accuracy of every method, by width; features are found once from all faces."""
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    for width in printed.WIDTHS:
        K = gaussian(rows, width)
        for method in METHODS:
            found[method].append(accuracy_of_features(method, K, people))
    return {method: np.array(values) for method, values in found.items()}


def accuracy_of_features(method: str, K: np.ndarray, people: np.ndarray) -> float:
    if method == "ACKFA" and (K.diagonal() - 2 * K.mean(axis=0) + K.mean()).max() < CUTOFF:
        return 0.0  # every image is within the cutoff of the mean: no feature, so nobody is recognised
    features = fit(method, K, N_FEATURES, CUTOFF).transform(K)
    return accuracy(neighbours_only(features, people, NEIGHBOURS), people)


def gap(accuracies: Mapping[str, np.ndarray]) -> float:
    """Return the mean absolute difference from the printed table, in per cent of the faces."""
    return float(np.mean([np.abs(accuracies[m] - printed.ACCURACIES[m]) for m in METHODS]))


def linear_accuracy(rows: np.ndarray, people: np.ndarray, n_features: int, n_neighbours: int) -> float:
    """Return the accuracy of linear PCA, found once from all faces."""
    left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    features = (left * values)[:, :n_features]
    return accuracy(neighbours_only(features, people, n_neighbours), people)
