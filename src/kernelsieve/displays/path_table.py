"""Score curves from the tidy table of a path: one for each setting of the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import check_choice

_COLUMNS = ("fold", "k", "train_score", "test_score", "kernel_evaluations")
_PARAMETER = "param_"


@dataclass(frozen=True)
class PathCurve:
    """Scores of one parameter setting, for every number of features and every fold.

    Attributes
    ----------
    n_components : ndarray of shape (n_k,)
        Numbers of features.
    kernel_evaluations : ndarray of shape (n_k,)
        Kernel evaluations for a new sample, the mean of the folds.
    train_scores, test_scores : ndarray of shape (n_folds, n_k)
        Scores of every fold.
    params : dict
        The setting.
    name : str
        The setting as a legend shows it.
    """

    n_components: np.ndarray  # (n_k,)
    kernel_evaluations: np.ndarray  # (n_k,), the mean of the folds
    train_scores: np.ndarray  # (n_folds, n_k)
    test_scores: np.ndarray  # (n_folds, n_k)
    params: Mapping[str, Any]

    def scores(self, which: str) -> np.ndarray:
        """Return the training or test scores.

        Parameters
        ----------
        which : {"test", "train"}
            Of the samples that were held out, or of those that were fitted.

        Returns
        -------
        ndarray of shape (n_folds, n_k)
        """
        return self.test_scores if which == "test" else self.train_scores

    @property
    def name(self) -> str:
        return ", ".join(f"{name} = {_shown(value)}" for name, value in self.params.items())


def all_curves(path: Mapping[str, Any]) -> list[PathCurve]:
    """Return one curve for each parameter setting, in the order of the table."""
    table = {name: np.asarray(column) for name, column in path.items()}
    missing = [name for name in _COLUMNS if name not in table]
    if missing:
        raise InvalidDataError(
            f"The path has no column {', '.join(missing)}; it needs {', '.join(_COLUMNS)}."
        )
    lengths = {len(column) for column in table.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise InvalidDataError(
            f"The columns of the path have lengths {sorted(lengths)}; they must be equally long, "
            "with at least one row."
        )
    names = [name for name in table if name.startswith(_PARAMETER)]
    settings: list[dict[str, Any]] = []
    line_settings = []  # the number of the setting of each row
    for line in range(len(table["k"])):
        setting = {name.removeprefix(_PARAMETER): table[name][line] for name in names}
        known = [place for place, other in enumerate(settings) if _agrees(other, setting)]
        if not known:
            settings.append(setting)
        line_settings.append(known[0] if known else len(settings) - 1)
    belongs = np.array(line_settings)
    return [_curve(table, belongs == place, setting) for place, setting in enumerate(settings)]


def _curve(table: Mapping[str, np.ndarray], lines: np.ndarray, setting: dict[str, Any]) -> PathCurve:
    """Return one setting's scores as arrays of shape (n_folds, n_sizes)."""
    folds, fold = np.unique(table["fold"][lines], return_inverse=True)
    ks, at = np.unique(table["k"][lines], return_inverse=True)
    present = np.zeros((len(folds), len(ks)), dtype=int)
    np.add.at(present, (fold, at), 1)
    if present.max() > 1:
        raise InvalidDataError(
            "The path has several rows for the same fold, k and parameters; there must be one."
        )
    whole = present.all(axis=0)
    if not whole.any():
        raise InvalidDataError(
            "No number of features is in all folds of the path, so there are no means to draw."
        )

    def matrix(name: str) -> np.ndarray:
        values = np.full(present.shape, np.nan)
        values[fold, at] = table[name][lines]
        return values[:, whole]

    return PathCurve(
        ks[whole],
        matrix("kernel_evaluations").mean(axis=0),
        matrix("train_score"),
        matrix("test_score"),
        setting,
    )


def chosen_curve(curves: Sequence[PathCurve], best_params: Mapping[str, Any] | None) -> PathCurve:
    """Return the curve of the chosen setting, or the one with the best mean score."""
    if best_params is None:
        return max(curves, key=_best_mean)
    # A list of grids may leave parameters out, which are None in the table.
    exact = {**dict.fromkeys(curves[0].params), **best_params}
    for curve in curves:
        if _agrees(curve.params, exact):
            return curve
    return _matching(curves, best_params, "best_params")[0]


def _best_mean(curve: PathCurve) -> float:
    means = curve.test_scores.mean(axis=0)
    return float(means[np.isfinite(means)].max(initial=-np.inf))


def asked_curves(curves: Sequence[PathCurve], params: Any) -> list[PathCurve]:
    """Return the curves of the requested settings, in the order of the table."""
    if params is None:
        return []
    if isinstance(params, str):
        check_choice("params", params, ["all"])
        return list(curves)
    wanted = [params] if isinstance(params, Mapping) else list(params)
    asked = [curve for setting in wanted for curve in _matching(curves, setting, "params")]
    return [curve for curve in curves if any(curve is other for other in asked)]


def _matching(curves: Sequence[PathCurve], setting: Any, name: str) -> list[PathCurve]:
    found = [curve for curve in curves if _agrees(curve.params, setting)]
    if not found:
        there = "; ".join(curve.name or "no parameters" for curve in curves[:6])
        raise InvalidParameterError(
            f"{name}={setting!r} is no setting of the path, which has: {there}"
            f"{'; ...' if len(curves) > 6 else ''}."
        )
    return found


def _agrees(params: Mapping[str, Any], setting: Mapping[str, Any]) -> bool:
    """Return True if the parameters contain all values of a setting, which may be partial."""
    return all(name in params and _same(params[name], value) for name, value in setting.items())


def _same(one: Any, other: Any) -> bool:
    return one is other or bool(np.all(np.asarray(one == other)))


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
