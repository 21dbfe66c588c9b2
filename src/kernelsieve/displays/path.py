"""Display of the score for every number of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from ..exceptions import InvalidParameterError
from .drawing import Display, check_choice, draw_line, draw_star, finish_axes
from .path_table import PathCurve, all_curves, asked_curves, chosen_curve

_AXES = {
    "n_components": "number of features, k",
    "kernel_evaluations": "kernel evaluations for a new sample",
}
_BANDS = {
    "standard_error": "mean and standard error",
    "deviation": "mean and standard deviation",
    "range": "mean and range",
    None: "mean",
}
_NEGATIVE = "negative "  # how the name of a negative error begins
_SETS = {"test": ("test",), "train": ("train",), "both": ("test", "train")}
_SET_NAMES = {"test": "held out", "train": "training"}


@dataclass(eq=False, repr=False)
class ComponentPathDisplay(Display):
    """Score against the number of features, or against the kernel evaluations of a prediction.

    Make it by :meth:`from_estimator` or :meth:`from_path`. The line is the mean of the folds, the band
    their spread, and a star marks the chosen number of features.

    Parameters
    ----------
    curves : sequence of PathCurve
        One for each setting of the parameters that is drawn, the chosen one first.
    best_n_components : int, default=None
        The chosen number of features of the first curve, which is marked; None marks nothing.
    score_name : str, default="score"
        Name of the score, for the axis label.
    name : str, default=None
        Name in the legend, for several displays in one axes.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of two
        Two for ``against="both"``.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : Line2D or list of Line2D
        The lines: for every panel and curve, the held-out folds first. One alone is not in a list.
    band_ : list of PolyCollection
        The bands, in the same order.
    choice_ : Line2D, list of Line2D or None
        The star, one a panel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.displays import ComponentPathDisplay
    >>> k = np.tile([1, 2, 3], 2)
    >>> path = {
    ...     "fold": np.repeat([0, 1], 3),
    ...     "k": k,
    ...     "train_score": 1 - 0.4 / k,
    ...     "test_score": np.array([0.5, 0.8, 0.7, 0.6, 0.8, 0.8]),
    ...     "kernel_evaluations": k,
    ... }
    >>> display = ComponentPathDisplay.from_path(path, best_n_components=2)
    >>> display.ax_.get_xlabel()
    'number of features, k'
    """

    curves: Sequence[PathCurve]
    _: KW_ONLY
    best_n_components: int | None = None
    score_name: str = "score"
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        params: Any = None,
        score_name: str | None = None,
        name: str | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the path of a fitted ``ComponentPathCV``, with its choice marked.

        Parameters
        ----------
        estimator : ComponentPathCV
            A fitted one: it has ``path_``, ``best_n_components_`` and ``best_params_``.
        params, name
            As for :meth:`from_path`.
        score_name : str, default=None
            Name of the score; None takes the scorer's name, if it has one.
        {drawing}
        """
        path = getattr(estimator, "path_", None)
        if path is None:
            raise NotFittedError(
                f"This {type(estimator).__name__} has no path_; pass a fitted ComponentPathCV."
            )
        # A model of all samples that breaks a budget is cut, maybe to fewer features than drawn.
        best = estimator.best_n_components_
        return cls.from_path(
            path,
            best_n_components=best if best >= np.min(path["k"]) else None,
            best_params=estimator.best_params_,
            params=params,
            score_name=_score_name(estimator) if score_name is None else score_name,
            name=name,
            ax=ax,
            **plot_options,
        )

    @classmethod
    def from_path(
        cls,
        path: Mapping[str, Any],
        *,
        best_n_components: int | None = None,
        best_params: Mapping[str, Any] | None = None,
        params: Any = None,
        score_name: str = "score",
        name: str | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw a table of scores.

        Parameters
        ----------
        path : mapping of str to array-like
            Columns of equal length: "fold", "k", "train_score", "test_score", "kernel_evaluations" and
            "param_<name>" for each parameter of a grid, as in ``ComponentPathCV.path_``. Numbers of
            features that some fold has not are left out.
        best_n_components : int, default=None
            The chosen number of features, which is marked. One that is not in the table, but between
            others that are, is marked on the line between them.
        best_params : dict, default=None
            The chosen setting of the parameters; None takes the one whose best mean test score is
            highest.
        params : dict, list of dict or "all", default=None
            Other settings of the parameters to draw beside the chosen one. A dict may name some of
            the parameters only; then every setting that has these values is drawn.
        score_name : str, default="score"
            Name of the score.
        name : str, default=None
            Name in the legend, for several displays in one axes.
        {drawing}
        """
        curves = all_curves(path)
        chosen = chosen_curve(curves, best_params)
        fewest, most = chosen.n_components[[0, -1]]
        if best_n_components is not None and not fewest <= best_n_components <= most:
            raise InvalidParameterError(
                f"best_n_components={best_n_components} is not in the path, which goes from {fewest} "
                f"to {most}; pass a number between these, or None."
            )
        others = [curve for curve in asked_curves(curves, params) if curve is not chosen]
        display = cls(
            [chosen, *others], best_n_components=best_n_components, score_name=score_name, name=name
        )
        return display.plot(ax, **plot_options)

    def plot(
        self,
        ax: Any = None,
        *,
        against: str = "n_components",
        score_type: str = "both",
        band: str | None = "standard_error",
        negate_score: bool | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw, two of them for ``against="both"``; None makes a new figure. In a figure with
            a layout engine the legend stands below the axes.
        against : {"n_components", "kernel_evaluations", "both"}, default="n_components"
            Unit of the horizontal axis; "both" draws two panels. Folds that need different
            numbers of evaluations are drawn at their mean.
        score_type : {"test", "train", "both"}, default="both"
            Scores of which samples.
        band : {"standard_error", "deviation", "range", None}, default="standard_error"
            Band over the folds: the mean with its standard error, with the standard
            deviation of a fold, or the range of all folds. There is none for a single fold.
        negate_score : bool, default=None
            Draw the negative scores; None does so where ``score_name`` says "negative ...", as that of
            scorers that are negative errors does, so that errors are drawn as positive numbers.
        **line_options
            For matplotlib's ``plot``, for all lines.

        {display}
        """
        check_choice("against", against, [*_AXES, "both"])
        check_choice("score_type", score_type, list(_SETS))
        check_choice("band", band, list(_BANDS))
        axes_of = list(_AXES) if against == "both" else [against]
        panels = self._take_panels(ax, len(axes_of))
        if negate_score is None:
            negate_score = self.score_name.startswith(_NEGATIVE)
        sign = -1 if negate_score else 1
        self.band_ = []
        lines: list[Any] = []
        stars: list[Any] = []
        for panel, axis in zip(panels, axes_of, strict=True):
            for curve in self.curves:
                for which in _SETS[score_type]:
                    at, scores = getattr(curve, axis), sign * curve.scores(which)
                    name = self._line_name(curve, which)
                    lines.append(draw_line(panel, at, scores.mean(axis=0), name, line_options))
                    if band is not None and len(scores) > 1:
                        look = {"color": lines[-1].get_color(), "alpha": 0.18, "linewidth": 0}
                        self.band_.append(panel.fill_between(at, *_limits(scores, band), **look))
            if self.best_n_components is not None:
                scores = sign * self.curves[0].scores(_SETS[score_type][0])
                stars.append(
                    self._draw_choice(panel, axis, scores.mean(axis=0), self.best_n_components)
                )
            label = self._score_label(band, negate_score)
            finish_axes(panel, _AXES[axis], label, whole_numbers=True)
        self.line_ = lines[0] if len(lines) == 1 else lines
        self.choice_ = (stars[0] if len(stars) == 1 else stars) if stars else None
        return self

    def _draw_choice(self, panel: Any, axis: str, means: np.ndarray, k: int) -> Any:
        """Mark the chosen number of features on the line of these means."""
        curve = self.curves[0]
        at = np.interp(k, curve.n_components, getattr(curve, axis))
        name = f"{self._prefix}chosen: k = {k}"
        if axis == "kernel_evaluations":
            name += f", {at:g} evaluations"
        panel.axvline(at, color="0.4", linewidth=0.8, linestyle=":", zorder=1)
        return draw_star(panel, at, np.interp(k, curve.n_components, means), name)

    @property
    def _prefix(self) -> str:
        return f"{self.name}, " if self.name else ""

    def _line_name(self, curve: PathCurve, which: str) -> str:
        setting = f"{curve.name}, " if len(self.curves) > 1 else ""
        return f"{self._prefix}{setting}{_SET_NAMES[which]}"

    def _score_label(self, band: str | None, negate_score: bool) -> str:
        n_folds = len(self.curves[0].test_scores)
        name = self.score_name
        if negate_score:
            name = name.removeprefix(_NEGATIVE) if name.startswith(_NEGATIVE) else f"{_NEGATIVE}{name}"
        return name if n_folds == 1 else f"{name}\n({_BANDS[band]} of {n_folds} folds)"


def _limits(scores: np.ndarray, band: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper edge of the band over the folds."""
    if band == "range":
        return scores.min(axis=0), scores.max(axis=0)
    spread = scores.std(axis=0, ddof=1)
    if band == "standard_error":
        spread = spread / np.sqrt(len(scores))
    mean = scores.mean(axis=0)
    return mean - spread, mean + spread


def _score_name(estimator: Any) -> str:
    """Return the name of the estimator's scores; a custom scorer has none."""
    scoring = getattr(estimator, "scoring", None)
    tags = getattr(estimator, "__sklearn_tags__", None)
    if scoring is None and tags is not None:
        scoring = {"classifier": "accuracy", "regressor": "r2"}.get(tags().estimator_type)
    if not isinstance(scoring, str):
        return "score"
    if scoring == "r2":
        return "R$^2$"
    name = scoring.replace("_", " ")
    return f"{_NEGATIVE}{name[4:]}" if name.startswith("neg ") else name
