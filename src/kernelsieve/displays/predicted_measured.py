"""Display of predicted against measured values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics import r2_score, root_mean_squared_error

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import Display, check_has, draw_markers, finish_axes

_DIAGONAL = "kernelsieve-diagonal"  # marks the diagonal, which is drawn once


@dataclass(eq=False, repr=False)
class PredictedMeasuredDisplay(Display):
    """Predicted against measured values, with the root mean squared error, R2 and the bias.

    Make it by :meth:`from_estimator` or :meth:`from_predictions`. Several, such as those of training
    and of test samples, go into one axes by ``ax=display.ax_``.

    Parameters
    ----------
    measured, predicted : ndarray of shape (n,)
        The numbers.
    rmse : float
        Root mean squared error.
    r2 : float
        Coefficient of determination.
    bias : float
        Mean of the predictions less that of the measurements.
    name : str, default="samples"
        Name in the legend.

    Attributes
    ----------
    {axes}
    line_ : PathCollection
        The points.
    diagonal_ : Line2D
        Where both are the same.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelPLS
    >>> from kernelsieve.displays import PredictedMeasuredDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLS(5, gamma="scale").fit(X[::2], y[::2])
    >>> display = PredictedMeasuredDisplay.from_estimator(model, X[::2], y[::2], name="training")
    >>> both = PredictedMeasuredDisplay.from_estimator(
    ...     model, X[1::2], y[1::2], name="test", ax=display.ax_
    ... )
    >>> both.rmse > display.rmse
    True
    """

    measured: np.ndarray
    predicted: np.ndarray
    _: KW_ONLY
    rmse: float
    r2: float
    bias: float
    name: str = "samples"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        target: int = 0,
        name: str = "samples",
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the predictions of a fitted regressor.

        Parameters
        ----------
        estimator : regressor
            A fitted one, of any library, with ``predict``.
        X : array-like or CSR matrix of shape (n, d)
            Samples.
        y : array-like of shape (n,) or (n, q)
            Measured values.
        sample_weight, target, name
            As for :meth:`from_predictions`.
        {drawing}
        """
        check_has(estimator, ["predict"], "a fitted regressor")
        return cls.from_predictions(
            y,
            estimator.predict(X),
            sample_weight=sample_weight,
            target=target,
            name=name,
            ax=ax,
            **plot_options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        sample_weight: Any = None,
        target: int = 0,
        name: str = "samples",
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw predictions, such as those of ``sklearn.model_selection.cross_val_predict``.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,) or (n, q)
            Measured and predicted values.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples in the figures of the legend.
        target : int, default=0
            Column to draw, if there are several.
        name : str, default="samples"
            Name in the legend.
        {drawing}
        """
        measured = _one_column("y_true", y_true, target)
        predicted = _one_column("y_pred", y_pred, target)
        if measured.shape != predicted.shape:
            raise InvalidDataError(
                f"y_true has {len(measured)} numbers and y_pred {len(predicted)}; pass as many of both."
            )
        display = cls(
            measured,
            predicted,
            rmse=float(root_mean_squared_error(measured, predicted, sample_weight=sample_weight)),
            r2=float(r2_score(measured, predicted, sample_weight=sample_weight)),
            bias=float(np.average(predicted - measured, weights=sample_weight)),
            name=name,
        )
        return display.plot(ax, **plot_options)

    def plot(self, ax: Any = None, **scatter_options: Any) -> Self:
        """Draw the predictions.

        Parameters
        ----------
        {ax}
        **scatter_options
            For matplotlib's ``scatter``.

        {display}
        """
        (panel,) = self._take_panels(ax, size=(5.6, 5.8))
        points = np.column_stack([self.measured, self.predicted])
        self.line_ = draw_markers(panel, points, self._label, scatter_options, s=24)
        self.diagonal_ = _diagonal_of(panel)
        panel.set_aspect("equal", adjustable="datalim")
        finish_axes(panel, "measured", "predicted")
        return self

    @property
    def _label(self) -> str:
        """The legend entry; the bias has as many decimals as the error."""
        decimals = 2 - int(np.floor(np.log10(self.rmse))) if self.rmse > 0 else 3
        bias = round(self.bias, decimals) + 0.0  # without the sign of a zero
        return f"{self.name}: RMSE {self.rmse:.3g}, R$^2$ {self.r2:.3f}, bias {bias:g}"


def _one_column(name: str, values: Any, target: int) -> np.ndarray:
    """Return one target column, checked to be finite numbers."""
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    if numbers.ndim != 2 or not len(numbers) or not np.isfinite(numbers).all():
        raise InvalidDataError(
            f"{name} has shape {numbers.shape}; it must be finite numbers, one a sample and target."
        )
    if not isinstance(target, int | np.integer) or not 0 <= target < numbers.shape[1]:
        raise InvalidParameterError(
            f"target={target!r} is not between 0 and {numbers.shape[1] - 1}, the columns of {name}."
        )
    return numbers[:, target]


def _diagonal_of(panel: Any) -> Any:
    """Return the diagonal line of the axes, drawn at most once."""
    for line in panel.get_lines():
        if line.get_gid() == _DIAGONAL:
            return line
    line = panel.axline((0, 0), slope=1, color="0.55", linewidth=0.8, zorder=1)
    line.set_gid(_DIAGONAL)
    return line
