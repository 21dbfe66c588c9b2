"""Fewer landmarks for a model that is fitted: the features stay, up to a share that may be lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..columns import Batch, Frame, Pool
from ..deflation import Alignment, DiagonalOnly, Extraction, FixedCandidates, StoredColumns, extract
from ..execution import gather
from ..statistics import Coordinates, TriangularStatistic
from .assembly import Fit, draft

_FLOOR = 1e-20  # as for selections: a column with a smaller squared residual is used up


def prune(fit: Fit, batch: Batch, n_landmarks: int | None, tol: float, n_jobs: int | None) -> Fit:
    """Return the fit with the few landmarks whose kernel columns give its features best.

    Sparse maximal alignment with the features themselves as targets, each scaled to the same
    variance on the rows of the batch, and the landmarks as the pool.
    """
    model = fit.model
    coordinates, scales = _coordinates(
        fit, replace(batch, Y=model.features(batch.X, n_jobs).astype(np.float64)), n_jobs
    )
    extraction = _extract(coordinates, n_landmarks)
    size = _enough(extraction, tol) if n_landmarks is None else len(extraction)
    everyone = np.arange(len(model.projection))
    rough = draft(
        extraction, Pool(model.landmarks, everyone), model.kernel, center=True, dtype=model.dtype
    )
    kept = rough.model.truncate(size)
    weights = extraction.target_products[:size] * scales
    pruned = replace(
        kept,
        projection=kept.projection @ weights,
        offset=kept.offset @ weights - coordinates.target_means,
        first_use=np.zeros(size, dtype=np.intp),  # every feature is a combination of all that is left
    )
    return replace(fit, model=pruned, landmark_indices=fit.landmark_indices[rough.names[:size]])


def _coordinates(fit: Fit, batch: Batch, n_jobs: int | None) -> tuple[Coordinates, np.ndarray]:
    """Return the landmarks' columns, and the features as targets of unit norm, with their norms."""
    model = fit.model
    no_shift = np.zeros(len(model.projection))
    target_shift = np.zeros(model.n_components)
    frame = Frame(model.kernel.against(model.landmarks), no_shift, target_shift)
    statistic = gather([batch], frame, TriangularStatistic, n_jobs=n_jobs)
    coordinates = statistic.coordinates(target_shift, no_shift, center=True)
    norms = np.linalg.norm(coordinates.targets, axis=0)
    norms[norms == 0] = 1.0  # a feature that is constant on these rows
    return replace(coordinates, targets=coordinates.targets / norms), norms


def _extract(coordinates: Coordinates, n_landmarks: int | None) -> Extraction:
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


def _enough(extraction: Extraction, tol: float) -> int:
    """Return how many landmarks leave no more than ``tol`` of the features' variance unexplained."""
    explained = np.cumsum((extraction.target_products**2).sum(axis=1))
    wanted = (1 - tol) * extraction.target_squared_norm
    return min(int(np.searchsorted(explained, wanted)) + 1, len(extraction))
