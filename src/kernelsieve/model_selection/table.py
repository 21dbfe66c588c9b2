"""The numbers of features to try, and the table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from .folds import Curve

_MOST_SIZES = 50  # numbers of components that are scored by default


def sizes_of(n_components: Any) -> np.ndarray:
    """Return the requested numbers of features, sorted."""
    if isinstance(n_components, Integral):
        return geometric_subset(int(n_components))
    sizes = np.asarray(n_components)
    if sizes.ndim != 1 or not len(sizes) or sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise InvalidParameterError(
            f"n_components={n_components!r} must be one number, or a list of whole numbers above 0."
        )
    return np.unique(sizes)


def geometric_subset(largest: int) -> np.ndarray:
    """Return all numbers up to the largest, or a geometric subset if there are many."""
    if largest <= _MOST_SIZES:
        return np.arange(1, largest + 1)
    return np.unique(np.geomspace(1, largest, _MOST_SIZES).round().astype(int))


def tidy_table(
    curves: Sequence[Sequence[Curve]],
    settings: Sequence[Mapping[str, Any]],
    all_sizes: np.ndarray,
    sizes: np.ndarray,
    *,
    timed: bool,
) -> dict[str, np.ndarray]:
    """Return the tidy table of scores, ordered by fold, setting and size."""
    kept = np.isin(all_sizes, sizes)
    n_folds, n_settings, n_sizes = len(curves), len(settings), len(sizes)
    flat = [curve for of_fold in curves for curve in of_fold]

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(curve, name)[kept] for curve in flat])

    table = {"fold": np.repeat(np.arange(n_folds), n_settings * n_sizes)}
    for name in sorted({name for setting in settings for name in setting}):
        values = [setting.get(name) for setting in settings]
        table[f"param_{name}"] = np.tile(np.repeat(_column_of(values), n_sizes), n_folds)
    table |= {
        "k": np.tile(sizes, n_folds * n_settings),
        "train_score": column("train_score"),
        "test_score": column("test_score"),
        "fit_seconds": np.repeat([curve.seconds for curve in flat], n_sizes),
        "kernel_evaluations": column("evaluations"),
    }
    return table | ({"latency_us": column("latency")} if timed else {})


def error_table(path: Mapping[str, np.ndarray], chosen: int) -> dict[str, np.ndarray]:
    """Return errors by number of features for the chosen row's setting, from negative scores.

    The rows of a tidy table are in the order of folds, settings and sizes.
    """
    n_folds, n_sizes = len(np.unique(path["fold"])), len(np.unique(path["k"]))
    setting = chosen // n_sizes % (len(path["k"]) // (n_folds * n_sizes))

    def of_setting(name: str) -> np.ndarray:
        return np.asarray(path[name]).reshape(n_folds, -1, n_sizes)[:, setting]

    errors = -of_setting("test_score")
    spread = errors.std(axis=0, ddof=1) if n_folds > 1 else np.full(n_sizes, np.nan)
    return {
        "k": of_setting("k")[0],
        "train_error": -of_setting("train_score").mean(axis=0),
        "test_error": errors.mean(axis=0),
        "standard_error": spread / np.sqrt(n_folds),
    }


def _column_of(values: list[Any]) -> np.ndarray:
    """Return an array of values: numeric if all are numbers, otherwise of objects."""
    if all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def in_words(settings: Sequence[Mapping[str, Any]], repeat: int) -> list[str]:
    """Return the settings as text, repeated for each number of features; empty for one setting."""
    if len(settings) < 2:
        return []
    words = [", ".join(f"{k}={v!r}" for k, v in setting.items()) for setting in settings]
    return [text for text in words for _ in range(repeat)]
