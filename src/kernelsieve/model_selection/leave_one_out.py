"""Leave-one-out and generalised cross-validation of a head in closed form, without folds.

With the triangular factor of the features and the ridge, ``T'T + alpha I = R'R``, the columns of
``Q = T R^-1`` are nested as the features are: the first k of them give predictions, leverages and
degrees of freedom of the head on the first k features.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..data import Part, target_array
from ..exceptions import InvalidParameterError
from .fold_curves import SCORES, have_closed_form, known_score
from .folds import Curve, Task, clone_with
from .heads import COLLINEAR, NestedRidge, ridge_of
from .nested_extractors import fit_quietly, last_step

#: Values of ``cv``, and what they are called.
WITHOUT_FOLDS = {"loo": "leave-one-out", "gcv": "generalised cross-validation"}


def score_without_folds(task: Task, data: Part, how: str) -> tuple[dict[int, Curve], dict[int, Any]]:
    """Return the curves of all settings, and the extractors, each fitted once to all samples.

    Landmarks were chosen with all targets in view, so that scores are a little too good.
    """
    score, curves, fitted = known_score(task.scoring), dict[int, Curve](), dict[int, Any]()
    for of_extractor, head_settings in (setting for group in task.groups for setting in group):
        extractor = clone_with(task.extractor, of_extractor)
        heads = [clone_with(task.head, of_head) for _, of_head in head_settings]
        if score is None or not have_closed_form(last_step(extractor), heads) or task.time_rows:
            raise InvalidParameterError(
                f"cv={how!r} is for regression by least squares or ridge (LinearRegression, Ridge), "
                f"for the scores {', '.join(SCORES)}, and without max_latency_us; pass a number of "
                "folds for others."
            )
        start = time.perf_counter()
        fit_quietly(extractor, data.X, data.y, data.weight)
        features = np.asarray(extractor.transform(data.X))
        seconds = time.perf_counter() - start
        model = last_step(extractor)
        sizes = task.sizes[task.sizes <= model.n_components_]
        for (number, _), head in zip(head_settings, heads, strict=True):
            scores = list(_scores(head, features[:, : sizes[-1]], data, sizes, how, SCORES[score]))
            evaluations = model.kernel_evaluations_[sizes - 1]
            curves[number] = task.curve(seconds, *np.reshape(scores, (-1, 2)).T, evaluations, [])
            fitted[number] = extractor
    return curves, fitted


def _scores(
    head: Any,
    features: np.ndarray,
    data: Part,
    sizes: np.ndarray,
    how: str,
    score: Callable[[np.ndarray, np.ndarray, float], float],
) -> Iterator[tuple[float, float]]:
    """Yield training and held-out scores of a linear head on the first k features, for every k."""
    ridge = ridge_of(head)
    assert ridge is not None
    targets = target_array(data.y)
    targets = targets.reshape(len(targets), -1).astype(np.float64)
    path = NestedRidge.fit(features, targets, data.weight, *ridge)
    if path is None:
        raise InvalidParameterError(COLLINEAR)
    Q = solve_triangular(path.triangle, (features - path.feature_means).T, trans="T").T
    weight = np.ones(len(targets)) if data.weight is None else data.weight
    total, has_intercept = float(weight.sum()), ridge[1]
    squares = weight @ (targets - weight @ targets / total) ** 2
    residuals = targets - path.target_means
    leverages = np.full(len(targets), 1 / total if has_intercept else 0.0)
    previous = 0
    for k in sizes:
        new = slice(previous, int(k))
        residuals = residuals - Q[:, new] @ path.products[new]
        leverages = leverages + np.einsum("ij,ij->i", Q[:, new], Q[:, new])
        previous = int(k)
        held_out = _held_out_errors(residuals, weight, weight * leverages, how)
        yield score(weight @ residuals**2, squares, total), score(held_out, squares, total)


def _held_out_errors(
    residuals: np.ndarray, weight: np.ndarray, leverages: np.ndarray, how: str
) -> np.ndarray:
    """Return the weighted sums of squared held-out errors, one for each target."""
    if how == "loo":
        return weight @ (residuals / np.maximum(1 - leverages, np.finfo(float).eps)[:, None]) ** 2
    errors, counted = weight @ residuals**2, np.count_nonzero(weight)
    left = counted - leverages.sum()
    return errors * (counted / left) ** 2 if left > 0 else np.full_like(errors, np.inf)
