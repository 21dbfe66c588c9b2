"""Fewer landmarks for a model that is fitted: the features stay, up to a share that may be lost."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

import numpy as np

from ..data import Batch, Pool, single_threaded_blas
from ..deflation import (
    Alignment,
    DiagonalOnly,
    FixedCandidates,
    Outcome,
    Selection,
    StoredColumns,
    extract,
)
from ..exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError, warn
from ..statistics import AugmentedBlock, Coordinates, TriangularStatistic, gather
from .build import build_model
from .fit_result import Fit

_FLOOR = 1e-20  # a smaller squared residual: linearly dependent
_ROUNDING = 16  # last digits of the terms of a feature; one that varies by less is constant


@single_threaded_blas()
def prune(fit: Fit, batch: Batch, n_landmarks: int | None, tol: float, n_jobs: int | None) -> Fit:
    """Return the fit with the few landmarks whose kernel columns give its features best.

    Sparse maximal alignment with the features themselves as targets, each scaled to the same
    variance on the rows of the batch, and the landmarks as the pool.
    """
    model = fit.model
    _check_limits(n_landmarks, tol, len(model.projection))
    batch = batch.without_zero_weights()[0]
    if len(batch) < 2:
        raise InvalidDataError(
            f"X has {len(batch)} samples that count; pass at least 2, and better more than the model "
            f"has landmarks ({len(model.projection)})."
        )
    coordinates, scales = _coordinates(
        fit, replace(batch, targets=model.features(batch.X, n_jobs).astype(np.float64)), n_jobs
    )
    selection = _extract(coordinates, n_landmarks)
    size = _enough(selection, tol) if n_landmarks is None else len(selection)
    _warn_if_few(selection, size, n_landmarks, batch)
    everyone = np.arange(len(model.projection))
    kept = build_model(
        selection, Pool(model.landmarks, everyone), model.kernel, center=True, dtype=model.dtype
    ).truncate(size)
    weights = selection.target_products[:size] * scales
    pruned = replace(
        kept,
        projection=kept.projection @ weights,
        offset=kept.offset @ weights - coordinates.target_means,
        first_use=np.zeros(size, dtype=np.intp),  # every feature is a combination of all that is left
    )
    indices = fit.landmark_indices[selection.names[:size]]
    # Loadings combine all landmarks, which are not to be kept.
    return replace(fit, model=pruned, landmark_indices=indices, loadings=None)


def _check_limits(n_landmarks: int | None, tol: float, m: int) -> None:
    is_number = isinstance(n_landmarks, Integral) and 1 <= n_landmarks <= m
    if n_landmarks is not None and not is_number:
        raise InvalidParameterError(
            f"n_landmarks={n_landmarks!r} is not between 1 and the {m} landmarks of this model."
        )
    if not 0 <= tol < 1:
        raise InvalidParameterError(
            f"tol={tol!r} is no share of variance that may be lost; pass 0 or more, below 1."
        )


def _coordinates(fit: Fit, batch: Batch, n_jobs: int | None) -> tuple[Coordinates, np.ndarray]:
    """Return the landmarks' columns, and the features as targets of unit norm, with their norms."""
    model = fit.model
    no_shift = np.zeros(len(model.projection))
    target_shift = np.zeros(model.n_components)
    frame = AugmentedBlock(model.kernel.against(model.landmarks), no_shift, target_shift)
    statistic = gather([batch], frame, TriangularStatistic, n_jobs=n_jobs)
    coordinates = statistic.coordinates(target_shift, no_shift, center=True)
    norms = np.linalg.norm(coordinates.targets, axis=0)
    _check_not_constant(fit, coordinates, norms)
    norms[norms == 0] = 1.0  # a feature that is constant on all rows
    return replace(coordinates, targets=coordinates.targets / norms), norms


def _check_not_constant(fit: Fit, coordinates: Coordinates, norms: np.ndarray) -> None:
    """Refuse rows on which a feature does not vary; ``norms`` are those of the centred features."""
    model = fit.model
    terms = np.abs(coordinates.means) @ np.abs(model.projection) + np.abs(model.offset)
    rounding = _ROUNDING * np.finfo(model.dtype).eps * np.sqrt(coordinates.total_weight) * terms
    constant = np.flatnonzero((norms <= rounding) & model.projection.any(axis=0))
    if len(constant):
        raise InvalidDataError(
            f"Feature {constant[0]} (counted from 0) is constant on the rows of X, so nothing tells "
            "how to compute it from fewer landmarks; pass rows that differ, such as the training rows."
        )


def _extract(coordinates: Coordinates, n_landmarks: int | None) -> Selection:
    columns = StoredColumns(coordinates.columns, coordinates.means, centred=True)
    size = columns.shape[1] if n_landmarks is None else n_landmarks
    lengths = DiagonalOnly(np.ones(columns.shape[1]))  # alignment does not look at them
    return extract(
        FixedCandidates(columns, lengths, coordinates.targets, size),
        coordinates.targets,
        Alignment(),
        size,
        total_weight=coordinates.total_weight,
        floor=_FLOOR,
    )


def _enough(selection: Selection, tol: float) -> int:
    """Return how many landmarks leave no more than ``tol`` of the features' variance unexplained."""
    explained = np.cumsum((selection.target_products**2).sum(axis=1))
    wanted = (1 - tol) * selection.target_squared_norm
    return min(int(np.searchsorted(explained, wanted)) + 1, len(selection))


def _warn_if_few(selection: Selection, size: int, n_landmarks: int | None, batch: Batch) -> None:
    """Say when landmarks ran out, after which features of other rows may be anything."""
    if selection.outcome == Outcome.EXHAUSTED and size == len(selection):
        warn(
            f"{size} landmarks were kept: on the {len(batch)} rows of X the kernel columns of all "
            "others are combinations of theirs, and the features of other rows may be far off. Pass "
            "more rows than the model has landmarks.",
            FewerFeaturesWarning,
        )
    elif n_landmarks is not None and size < n_landmarks:
        warn(
            f"{size} landmarks were kept of the {n_landmarks} asked for: they give the features on the "
            "rows of X completely. Lower n_landmarks.",
            FewerFeaturesWarning,
        )
