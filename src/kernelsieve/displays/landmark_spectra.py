"""Draw landmarks as spectra: one line each over the feature axis, such as wavelengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import add_colorbar, add_legend

_MOST_ROWS = 300  # grey lines, beyond which one does not see more


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
