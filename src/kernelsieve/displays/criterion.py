"""Display of the criterion at each step, and of the variance that the features explain."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import Display, check_choice, draw_line, finish_axes

_QUANTITIES = ("criterion", "explained")


@dataclass(eq=False, repr=False)
class CriterionPathDisplay(Display):
    """The criterion at each step, with the explained shares of variance and target.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    criterion_path : ndarray of shape (k,)
        The criterion's value at each step.
    explained_variance_ratio, explained_target_ratio : ndarray of shape (k,), default=None
        The ratio that each component adds; None where it is not known.
    name : str, default=None
        Name in the legend, for several estimators in one axes.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of two
        Two for ``quantity="both"``.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : Line2D or list of Line2D
        The criterion, then the explained variance, then the explained target; those that are drawn. One
        alone is not in a list.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from kernelsieve.displays import CriterionPathDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sieve = SparseMaximalAlignment(10, gamma="median").fit(X, y)
    >>> display = CriterionPathDisplay.from_estimator(sieve, quantity="explained")
    >>> display.ax_.get_ylabel()
    'explained by the first features, %'
    """

    criterion_path: np.ndarray
    _: KW_ONLY
    explained_variance_ratio: np.ndarray | None = None
    explained_target_ratio: np.ndarray | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None, **plot_options: Any
    ) -> Self:
        """Draw the steps of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted one with ``criterion_path_``.
        name : str, default=None
            Name in the legend, for several estimators in one axes.
        {drawing}
        """
        if "criterion_path_" not in dir(type(estimator)):
            raise InvalidParameterError(
                f"A {type(estimator).__name__} has no criterion_path_; pass a fitted estimator of "
                "kernelsieve, of a pipeline the step that extracts the features."
            )
        check_is_fitted(estimator)
        target = np.asarray(estimator.explained_target_ratio_)
        display = cls(
            np.asarray(estimator.criterion_path_),
            explained_variance_ratio=np.asarray(estimator.explained_variance_ratio_),
            explained_target_ratio=target if target.any() else None,  # without a target all are 0
            name=name,
        )
        return display.plot(ax, **plot_options)

    def plot(
        self,
        ax: Any = None,
        *,
        quantity: str = "criterion",
        log_scale: bool = False,
        **line_options: Any,
    ) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw, two of them for ``quantity="both"``; None makes a new figure.
        quantity : {"criterion", "explained", "both"}, default="criterion"
            The criterion at each step, or what the features up to each step explain together; "both"
            draws two panels.
        log_scale : bool, default=False
            Draw the criterion on a logarithmic scale.
        **line_options
            For matplotlib's ``plot``, for all lines.

        {display}
        """
        check_choice("quantity", quantity, [*_QUANTITIES, "both"])
        quantities = list(_QUANTITIES) if quantity == "both" else [quantity]
        panels = self._take_panels(ax, len(quantities))
        lines: list[Any] = []
        for panel, each in zip(panels, quantities, strict=True):
            if each == "criterion":
                lines.extend(self._draw_criterion(panel, log_scale, line_options))
            else:
                lines.extend(self._draw_explained(panel, line_options))
        self.line_ = lines[0] if len(lines) == 1 else lines
        return self

    def _draw_criterion(self, ax: Any, log_scale: bool, given: dict[str, Any]) -> list[Any]:
        values = np.asarray(self.criterion_path)
        if log_scale:
            if not (values > 0).all():
                raise InvalidParameterError(
                    "log_scale=True needs positive values, and the criterion has others; "
                    "pass log_scale=False."
                )
            ax.set_yscale("log")
        else:
            ax.ticklabel_format(axis="y", scilimits=(-3, 4))
        line = draw_line(ax, np.arange(1, len(values) + 1), values, self.name, given)
        finish_axes(ax, "step", "criterion's value at the step", whole_numbers=True)
        return [line]

    def _draw_explained(self, ax: Any, given: dict[str, Any]) -> list[Any]:
        shares = {
            "variance of the kernel images": self.explained_variance_ratio,
            "target": self.explained_target_ratio,
        }
        known = {name: share for name, share in shares.items() if share is not None}
        if not known:
            raise InvalidDataError(
                "The explained ratios are unknown; pass explained_variance_ratio or "
                "explained_target_ratio, or draw quantity='criterion'."
            )
        lines = []
        for name, share in known.items():
            named = f"{self.name}, {name}" if self.name else name
            percent = 100 * np.cumsum(share)
            lines.append(draw_line(ax, np.arange(1, len(percent) + 1), percent, named, given))
        # The label of the scale means little without both of its ends.
        ax.set_ylim(0, max(100.0, ax.get_ylim()[1]))
        what = "explained by the first features, %"
        finish_axes(ax, "number of features, k", what, whole_numbers=True)
        return lines
