"""Whose face it is, by the nearest neighbours among kernel features.

The paper does not say how images were down-sampled, centred and normalised; ``IMAGES`` and
``NORMALISATIONS`` are what it may have meant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsieve.datasets import load
from papers.form import Estimate

from .methods import METHODS, fit, gaussian

SHAPE = (26, 25)
N_FEATURES = 80
CUTOFF = 0.16
NEIGHBOURS = 10
MOST_NEIGHBOURS = 20
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


def prepared(images: str, normalisation: str) -> tuple[np.ndarray, np.ndarray]:
    """Return images as rows, in one of the readings, and whose they are."""
    faces = load_faces()
    return faces.prepared(images, normalisation), faces.people


def recognised(method: str, width: int) -> dict[str, Estimate]:
    """Return the per cent of faces recognised by 10 neighbours, each left out in turn."""
    rows, people = prepared(*CHOSEN)
    start = time.process_time()
    taken_for = leave_one_out(method, gaussian(rows, width), people)
    seconds = time.process_time() - start
    right = accuracy(taken_for[:, NEIGHBOURS - 1], people)
    return {"accuracy": Estimate.share(right, len(people)), "seconds": Estimate(seconds)}


def by_neighbours(method: str, width: int) -> dict[str, np.ndarray]:
    """Return the per cent of faces recognised by 1 to 20 neighbours."""
    rows, people = prepared(*CHOSEN)
    taken_for = leave_one_out(method, gaussian(rows, width), people)
    return {"accuracy": np.array([[accuracy(column, people) for column in taken_for.T]])}


def confused(method: str, width: int) -> dict[str, Any]:
    """Return who is recognised how often, who is taken for the first person, and how faces are lit."""
    faces = load_faces()
    rows = faces.prepared(*CHOSEN)
    taken_for = leave_one_out(method, gaussian(rows, width), faces.people)[:, NEIGHBOURS - 1]
    right = taken_for == faces.people
    for_the_first = float(np.count_nonzero(~right & (taken_for == 0)))
    return {
        "recognised": [np.bincount(faces.people[right], minlength=N_PEOPLE)],
        "taken for the first person": Estimate(for_the_first, float(np.sqrt(for_the_first)), 1),
        "errors": [np.count_nonzero(~right)],
        "errors lit from one side": [np.count_nonzero(~right & faces.side_lit)],
    }


def read(images: str, normalisation: str, widths: Sequence[int]) -> dict[str, Any]:
    """Return accuracies of one reading by width, with features found once from all faces."""
    rows, people = prepared(images, normalisation)
    found: dict[str, Any] = {
        method: [[accuracy_of_features(method, gaussian(rows, width), people) for width in widths]]
        for method in METHODS
    }
    linear = linear_accuracy(rows, people, 50, 5)
    return {**found, "linear PCA": Estimate.share(linear, len(people))}


def accuracy_of_features(method: str, K: np.ndarray, people: np.ndarray) -> float:
    """Return the accuracy of features found once; a face's own vote is left out."""
    if method == "ACKFA" and (K.diagonal() - 2 * K.mean(axis=0) + K.mean()).max() < CUTOFF:
        return 0.0  # every image is within the cutoff of the mean: no feature, so nobody is recognised
    features = fit(method, K, N_FEATURES, CUTOFF).transform(K)
    return accuracy(neighbours_only(features, people, NEIGHBOURS), people)


def linear_accuracy(rows: np.ndarray, people: np.ndarray, n_features: int, n_neighbours: int) -> float:
    """Return the accuracy of linear PCA, found once from all faces."""
    left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    features = (left * values)[:, :n_features]
    return accuracy(neighbours_only(features, people, n_neighbours), people)
