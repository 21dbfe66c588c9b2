"""The landmarks of an estimator: their features, images, labels, positions in a plane, and spectra."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InvalidDataError, InvalidParameterError
from ..kernels import Inputs
from .drawing import add_colorbar, add_legend
from .points import two_places

_MOST_ROWS = 300  # grey lines of spectra, beyond which one does not see more


def with_landmarks(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator with landmarks inside a search or pipeline, and X transformed for it."""
    inner = getattr(estimator, "best_estimator_", estimator)
    inner = getattr(inner, "extractor", inner)
    if not isinstance(inner, Pipeline):
        return inner, X
    for place, (_, step) in enumerate(inner.steps):
        if "landmarks_" in dir(type(step)):
            return step, X if X is None or place == 0 else inner[:place].transform(X)
    return estimator, X


def dense_landmarks(estimator: Any, n_landmarks: int | None) -> np.ndarray:
    """Return the first landmarks as a dense array; raise an error if there are none."""
    if "landmarks_" not in dir(type(estimator)):
        raise InvalidParameterError(
            f"A {type(estimator).__name__} has no landmarks_; pass a fitted estimator of kernelsieve, "
            "or a pipeline or search with one."
        )
    check_is_fitted(estimator)
    landmarks = estimator.landmarks_
    if isinstance(estimator.kernel_, Inputs):
        raise InvalidParameterError(
            f"The features of {type(estimator).__name__} are sums of features of X, not of kernel "
            "values against landmarks, so there are no landmarks to draw; pass an "
            "estimator with a kernel."
        )
    if landmarks.ndim == 1:
        raise InvalidDataError(
            "The kernel was precomputed, so the features of the landmarks are not known; pass their "
            "places: LandmarkDisplay(places[estimator.landmark_indices_], rows=places).plot()."
        )
    most = landmarks.shape[0]
    count = most if n_landmarks is None else n_landmarks
    if not isinstance(count, int | np.integer) or not 1 <= count <= most:
        raise InvalidParameterError(
            f"n_landmarks={n_landmarks!r} is not between 1 and the {most} landmarks of the estimator."
        )
    first = landmarks[:count]
    return first.toarray() if sparse.issparse(first) else np.asarray(first)


def as_images(landmarks: np.ndarray, image_shape: tuple[int, ...] | None) -> np.ndarray | None:
    """Reshape landmarks to images, if a shape is given."""
    if image_shape is None:
        return None
    shape = tuple(image_shape)
    coloured = len(shape) == 3 and shape[2] in (3, 4)
    if not (len(shape) == 2 or coloured) or prod(shape) != landmarks.shape[1]:
        raise InvalidParameterError(
            f"image_shape={image_shape!r} does not hold the {landmarks.shape[1]} features of a sample; "
            "pass (height, width), or (height, width, 3), whose product is that."
        )
    return landmarks.reshape(-1, *shape)


def landmark_labels(
    estimator: Any, landmarks: np.ndarray, X: Any, labels: np.ndarray | None
) -> np.ndarray | None:
    """Return the labels of the landmarks, if X holds the training samples."""
    if labels is None:
        return None
    indices = np.asarray(estimator.landmark_indices_)[: len(landmarks)]
    if len(indices) != len(landmarks) or indices.max() >= len(labels):
        return None
    rows = check_array(X, accept_sparse="csr")[indices]
    same = np.allclose(rows.toarray() if sparse.issparse(rows) else rows, landmarks)
    return labels[indices] if same else None


def plane_coordinates(
    estimator: Any, n_landmarks: int, X: Any, plane: str, axes: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray | None, tuple[str, str]]:
    """Return the coordinates of landmarks and samples in a plane, and the names of its axes."""
    if plane == "inputs":
        landmarks = estimator.landmarks_[:n_landmarks]
        rows = None if X is None else check_array(X, accept_sparse="csr")
        known = getattr(estimator, "feature_names_in_", None)
    else:
        landmarks = estimator.projector()(estimator.landmarks_[:n_landmarks])
        rows = None if X is None else np.asarray(estimator.transform(X))
        known = None
    one, other = two_places("axes", axes, landmarks.shape[1])
    if rows is not None and rows.shape[1] != landmarks.shape[1]:
        raise InvalidDataError(
            f"X has {rows.shape[1]} columns; it must have the {landmarks.shape[1]} of the landmarks."
        )
    word = plane.removesuffix("s")
    names = tuple(f"{word} {at}" if known is None else str(known[at]) for at in (one, other))
    return (
        _two_columns(landmarks, one, other),
        None if rows is None else _two_columns(rows, one, other),
        (names[0], names[1]),
    )


def _two_columns(rows: Any, one: int, other: int) -> np.ndarray:
    columns = rows[:, [one, other]]
    return columns.toarray() if sparse.issparse(columns) else np.asarray(columns)


def check_feature_axis(feature_axis: Any, n_features: int) -> tuple[np.ndarray, str]:
    """Return the positions of the features on their axis, and the name of the axis."""
    try:
        places = np.asarray(feature_axis, dtype=float)
    except (TypeError, ValueError):
        places = np.empty(0)
    if places.shape != (n_features,) or not np.isfinite(places).all():
        raise InvalidParameterError(
            f"feature_axis must be {n_features} finite numbers, one for each feature of X, such as "
            f"wavelengths; got {type(feature_axis).__name__} of shape {np.shape(feature_axis)}."
        )
    name = getattr(feature_axis, "name", None)
    return places, "wavelength" if name is None else str(name)


def spread_rows(X: Any, n_features: int) -> np.ndarray | None:
    """Return an evenly spaced subset of the samples, small enough to tell the lines apart."""
    if X is None:
        return None
    rows = check_array(X, accept_sparse="csr")
    if rows.shape[1] != n_features:
        raise InvalidDataError(
            f"X has {rows.shape[1]} columns; it must have the {n_features} of the landmarks."
        )
    some = rows[:: -(-rows.shape[0] // _MOST_ROWS)]
    return some.toarray() if sparse.issparse(some) else np.asarray(some)


def draw_spectra(
    ax: Any,
    places: np.ndarray,
    spectra: np.ndarray,
    rows: np.ndarray | None,
    options: dict[str, Any],
) -> tuple[Any, list[Any]]:
    """Draw landmarks as dark lines, the first chosen darkest, over other samples in grey."""
    greys = []
    if rows is not None:
        look = {"colors": "0.8", "linewidths": 0.5, "zorder": 1, "label": "samples"}
        greys.append(ax.add_collection(_lines(places, rows, look)))
    look = {"cmap": "cividis", "linewidths": 1.4, "zorder": 3, "label": "landmarks", **options}
    lines = _lines(places, spectra[::-1], look)  # the first above all others
    by_order = not {"color", "colors"} & set(options)
    if by_order:
        lines.set_array(np.arange(len(spectra), 0, -1))
    ax.add_collection(lines)
    ax.autoscale_view()
    add_legend(ax)
    if by_order and len(spectra) > 1:
        bar = add_colorbar(ax, lines, "order of choice")
        bar.ax.yaxis.get_major_locator().set_params(integer=True)
    return lines, greys


def _lines(places: np.ndarray, spectra: np.ndarray, look: dict[str, Any]) -> Any:
    from matplotlib.collections import LineCollection

    segments = [np.column_stack([places, spectrum]) for spectrum in spectra]
    return LineCollection(segments, **look)
