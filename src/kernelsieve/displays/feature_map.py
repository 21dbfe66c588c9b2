"""Display of a component as a function of two features of X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import Display, add_colorbar, add_legend, check_has
from .points import check_labels, draw_rows, two_places


@dataclass(eq=False, repr=False, kw_only=True)
class FeatureMapDisplay(Display):
    """Contours of a component over two features of X.

    Make it by :meth:`from_estimator`. It shows what a feature sees: lines along which it does not
    change, as Figure 1 of Mika et al. (2003). Contours of negative values are dashed.

    Parameters
    ----------
    first, second : ndarray of shape (r,)
        Values of the two features of X.
    values : ndarray of shape (r, r)
        The feature: ``values[i, j]`` at ``first[j]`` and ``second[i]``.
    feature : int, default=0
        Number of the feature.
    rows : ndarray of shape (n, 2), default=None
        Samples to draw as points.
    row_labels : ndarray of shape (n,), default=None
        Their classes.
    names : tuple of two str, default=("input 0", "input 1")
        Names of the two features of X.

    Attributes
    ----------
    {axes}
    line_ : QuadContourSet
        The contour lines.
    surface_ : QuadContourSet
        The filled contours.
    rows_ : list of PathCollection
        The points, a collection for each class.

    References
    ----------
    S. Mika, G. Rätsch, J. Weston, B. Schölkopf, A. J. Smola, K.-R. Müller. Constructing descriptive and
    discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE Transactions
    on Pattern Analysis and Machine Intelligence 25(5), 2003.

    Examples
    --------
    >>> from kernelsieve import KernelPCA
    >>> from kernelsieve.datasets import make_noisy_circle
    >>> from kernelsieve.displays import FeatureMapDisplay
    >>> X = make_noisy_circle(200, random_state=0)
    >>> analysis = KernelPCA(2, gamma=0.5).fit(X)
    >>> display = FeatureMapDisplay.from_estimator(analysis, X, feature=1)
    >>> display.values.shape
    (100, 100)
    """

    first: np.ndarray
    second: np.ndarray
    values: np.ndarray
    feature: int = 0
    rows: np.ndarray | None = None
    row_labels: np.ndarray | None = None
    names: tuple[str, str] = ("input 0", "input 1")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        feature: int = 0,
        inputs: tuple[int, int] = (0, 1),
        grid_resolution: int = 100,
        margin: float = 0.05,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw a feature of a fitted estimator over the range of the samples.

        Parameters
        ----------
        estimator : estimator
            A fitted one with ``transform``, a pipeline too.
        X : array-like of shape (n, d)
            Samples that say where to look. Features of X that are not drawn are held at their mean.
        y : array-like of shape (n,), default=None
            Labels of the samples: a marker for each class.
        feature : int, default=0
            Number of the feature.
        inputs : tuple of two int, default=(0, 1)
            Two features of X for the axes.
        grid_resolution : int, default=100
            Number of values of each.
        margin : float, default=0.05
            Margin around the samples on each side, as a share of their range.
        {drawing}
        """
        remedy = "an estimator that has features, of a pipeline all steps but the last"
        check_has(estimator, ["transform"], remedy)
        check_is_fitted(estimator)
        if not isinstance(grid_resolution, int | np.integer) or grid_resolution < 2:
            raise InvalidParameterError(
                f"grid_resolution={grid_resolution!r} must be a whole number, 2 or larger."
            )
        rows = check_array(X, ensure_min_features=2, input_name="X")
        labels = check_labels(y, len(rows))
        one, other = two_places("inputs", inputs, rows.shape[1])
        first, second = (_range(rows[:, at], grid_resolution, margin) for at in (one, other))
        grid = np.tile(rows.mean(axis=0), (grid_resolution**2, 1))
        grid[:, one] = np.tile(first, grid_resolution)
        grid[:, other] = np.repeat(second, grid_resolution)
        names = [str(name) for name in getattr(X, "columns", ())]
        # A data frame is transformed as one, with the names of its columns.
        framed = type(X)(dict(zip(X.columns, grid.T, strict=True))) if names else grid
        values = _feature(estimator, framed, feature)
        display = cls(
            first=first,
            second=second,
            values=values.reshape(grid_resolution, grid_resolution),
            feature=feature,
            rows=rows[:, [one, other]],
            row_labels=labels,
            names=(names[one], names[other]) if names else (f"input {one}", f"input {other}"),
        )
        return display.plot(ax, **plot_options)

    def plot(
        self,
        ax: Any = None,
        *,
        show_rows: bool = True,
        colorbar: bool = True,
        **contour_options: Any,
    ) -> Self:
        """Draw the contours.

        Parameters
        ----------
        {ax}
        show_rows : bool, default=True
            Draw the samples as points.
        colorbar : bool, default=True
            Draw the scale of the feature's values.
        **contour_options
            For matplotlib's ``contourf``, for example ``cmap`` or ``levels``.

        {display}
        """
        self._take_panels(ax)
        place = (self.first, self.second, self.values)
        look = {"levels": 12, "cmap": _light_blues(), **contour_options}
        self.surface_ = self.ax_.contourf(*place, **look)
        self.line_ = self.ax_.contour(
            *place,
            levels=self.surface_.levels,
            colors="black",
            linewidths=0.6,
            negative_linestyles="dashed",
        )
        self.rows_ = []
        if show_rows and self.rows is not None:
            self.rows_ = draw_rows(self.ax_, self.rows, self.row_labels, outlined=True)
        self.ax_.set(
            xlabel=self.names[0],
            ylabel=self.names[1],
            xlim=(self.first[0], self.first[-1]),
            ylim=(self.second[0], self.second[-1]),
        )
        if colorbar:
            bar = add_colorbar(self.ax_, self.surface_, f"feature {self.feature}")
            bar.add_lines(self.line_)
        if self.row_labels is not None and self.rows_:
            add_legend(self.ax_)
        return self


def _light_blues() -> Any:
    """Return a colour map of light blues, on which black lines are visible."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["Blues"](np.linspace(0.0, 0.7, 256)))


def _range(column: np.ndarray, count: int, margin: float) -> np.ndarray:
    low, high = float(column.min()), float(column.max())
    wider = margin * (high - low) if high > low else 1.0
    return np.linspace(low - wider, high + wider, count)


def _feature(estimator: Any, grid: Any, feature: int) -> np.ndarray:
    features = np.asarray(estimator.transform(grid))
    if not isinstance(feature, int | np.integer) or not 0 <= feature < features.shape[1]:
        raise InvalidParameterError(
            f"feature={feature!r} is not among the features of the estimator; pass a number from 0 to "
            f"{features.shape[1] - 1}."
        )
    values = features[:, feature]
    if np.ptp(values) == 0:
        raise InvalidDataError(
            f"Feature {feature} is constant here, so it has no contours; pass other inputs."
        )
    return values
