"""Displays of a learned metric: feature importances, and the held-out error of each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InvalidParameterError
from .drawing import COLOURS, Display, check_has, draw_bars, draw_line, draw_star, finish_axes
from .landmark_data import check_feature_axis

_LONGEST_NAME = 24  # letters


@dataclass(eq=False, repr=False)
class MetricImportanceDisplay(Display):
    """The importances of the features of X in a learned metric, as bars.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
        Importances, which add up to 1.
    names : sequence of str
        Names of the features.
    axis_name : str, default=None
        Name of the feature axis, such as "wavelength".

    Attributes
    ----------
    {axes}
    line_ : BarContainer
        The bars, the most important feature first.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import GradientMetric
    >>> from kernelsieve.displays import MetricImportanceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> metric = GradientMetric("linear", structure="diagonal", rank=3, random_state=0)
    >>> display = MetricImportanceDisplay.from_estimator(metric.fit(X, y), max_features=3)
    >>> display.ax_.get_xlabel()
    'importance, %'
    """

    importances: np.ndarray
    names: Sequence[str]
    axis_name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_axis: Any = None, ax: Any = None, **plot_options: Any
    ) -> Self:
        """Draw the importances of a fitted metric.

        Parameters
        ----------
        estimator : GradientMetric
            A fitted one, or another with ``importances_``.
        feature_axis : array-like of shape (n_features,), default=None
            Wavelengths, times or other places of the features, written at the bars instead of names.
            The name of a pandas index or series is written beside the axis, "wavelength" without one.
        {drawing}
        """
        _check_has(estimator, "importances_")
        importances = np.asarray(estimator.importances_)
        numbered = [f"x{i}" for i in range(len(importances))]
        names = list(map(str, getattr(estimator, "feature_names_in_", numbered)))
        if feature_axis is None:
            return cls(importances, names).plot(ax, **plot_options)
        places, axis_name = check_feature_axis(feature_axis, len(importances))
        names = [f"{place:.10g}" for place in places]
        return cls(importances, names, axis_name).plot(ax, **plot_options)

    def plot(self, ax: Any = None, *, max_features: int = 20, **bar_options: Any) -> Self:
        """Draw the importances.

        Parameters
        ----------
        {ax}
        max_features : int, default=20
            Most features, of which the most important ones are drawn.
        **bar_options
            For matplotlib's ``barh``.

        {display}
        """
        if max_features < 1:
            raise InvalidParameterError(f"max_features={max_features} must be at least 1.")
        (panel,) = self._take_panels(ax)
        order = np.argsort(-self.importances, kind="stable")[:max_features]
        names = [self.names[i] for i in order]
        shown = [n if len(n) <= _LONGEST_NAME else n[: _LONGEST_NAME - 1] + "…" for n in names]
        look = {"color": COLOURS[0], **bar_options}
        self.line_ = draw_bars(panel, 100 * self.importances[order], shown, "importance, %", look)
        panel.set(ylabel=self.axis_name or "")
        return self


@dataclass(eq=False, repr=False)
class MetricPathDisplay(Display):
    """The held-out error of every round of metric learning.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    path : mapping of arrays
        "round", "structure" and "error" of everything that was tried, as ``GradientMetric.path_``.
    best_round : int, default=None
        The round that was kept.
    name : str, default=None
        Name in the legend, for several in one axes.

    Attributes
    ----------
    {axes}
    line_ : Line2D
        The smallest error of each round.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import GradientMetric
    >>> from kernelsieve.displays import MetricPathDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> metric = GradientMetric("linear", structure="diagonal", rank=3, random_state=0).fit(X, y)
    >>> MetricPathDisplay.from_estimator(metric).ax_.get_xlabel()
    'round'
    """

    path: Mapping[str, np.ndarray]
    _: KW_ONLY
    best_round: int | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None, **plot_options: Any
    ) -> Self:
        """Draw the rounds of a fitted metric.

        Parameters
        ----------
        estimator : GradientMetric
            A fitted one.
        name : str, default=None
            Name in the legend, for several in one axes.
        {drawing}
        """
        _check_has(estimator, "best_round_")
        display = cls(estimator.path_, best_round=estimator.best_round_, name=name)
        return display.plot(ax, **plot_options)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the errors.

        Parameters
        ----------
        {ax}
        **line_options
            For matplotlib's ``plot``.

        {display}
        """
        (panel,) = self._take_panels(ax)
        rounds, first = np.unique(self.path["round"], return_index=True)
        errors = np.array([self.path["error"][self.path["round"] == r].min() for r in rounds])
        name = "smallest of all widths" if self.name is None else self.name
        self.line_ = draw_line(panel, rounds, errors, name, line_options)
        if self.best_round is not None:
            kept = int(np.flatnonzero(rounds == self.best_round)[0])
            structure = str(np.asarray(self.path["structure"])[first[kept]])
            draw_star(panel, rounds[kept], errors[kept], f"kept: round {rounds[kept]}, {structure}")
        panel.set(yscale="log")
        what = "held-out error, variances of the target"
        finish_axes(panel, "round", what, whole_numbers=True)
        return self


def _check_has(estimator: Any, attribute: str) -> None:
    """Raise an error if the estimator is not a fitted metric."""
    check_is_fitted(estimator)
    check_has(estimator, [attribute], "a fitted GradientMetric, of a pipeline the step that is one")
