"""Display of several ROC curves on the same samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics import auc, roc_curve
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import Display, draw_line, finish_axes


@dataclass(eq=False, repr=False, kw_only=True)
class RocComparisonDisplay(Display):
    """ROC curves of several classifiers, or of several features, on one set of samples.

    Make it by :meth:`from_estimator` or :meth:`from_predictions`. The area under each curve stands
    beside its name.

    Parameters
    ----------
    fpr, tpr : dict of str to ndarray
        False and true positive rates at falling thresholds, for each name.
    roc_auc : dict of str to float
        The area under each curve.
    pos_label : object, default=None
        The label that counts as positive, for the labels of the axes.

    Attributes
    ----------
    {axes}
    line_ : list of Line2D
        The curves, in the order of the names.
    chance_level_ : Line2D or None
        The diagonal.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from kernelsieve.displays import RocComparisonDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> features = SparseMaximalAlignment(2).fit_transform(X, y)
    >>> scores = {"feature 1": features[:, 0], "feature 2": features[:, 1]}
    >>> display = RocComparisonDisplay.from_predictions(y, scores)
    >>> len(display.line_)
    2
    """

    fpr: Mapping[str, np.ndarray]
    tpr: Mapping[str, np.ndarray]
    roc_auc: Mapping[str, float]
    pos_label: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curves of fitted classifiers.

        Parameters
        ----------
        estimators : dict of str to estimator
            Fitted classifiers for two classes, pipelines too, by the names in the legend. Their
            ``decision_function`` ranks the samples; without it ``predict_proba`` does.
        X : array-like or CSR matrix of shape (n, d)
            Samples to test on.
        y : array-like of shape (n,)
            Their labels.
        sample_weight, pos_label
            As for :meth:`from_predictions`.
        {drawing}
        """
        _check_named("estimators", estimators, "classifiers")
        positive = _positive_label(y, pos_label)
        scores = {name: _scores(name, each, X, positive) for name, each in estimators.items()}
        return cls.from_predictions(
            y, scores, sample_weight=sample_weight, pos_label=positive, ax=ax, **plot_options
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Mapping[str, Any],
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curves of scores: values of decision functions, probabilities, or features.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of the samples, of two classes.
        scores : dict of str to array-like of shape (n,)
            For each name in the legend a score a sample, larger for the positive label.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples.
        pos_label : object, default=None
            The label that counts as positive; None takes the second one.
        {drawing}
        """
        _check_named("scores", scores, "scores")
        positive = _positive_label(y_true, pos_label)
        fpr, tpr, area = {}, {}, {}
        for name, values in scores.items():
            given = np.asarray(values, dtype=float)
            if given.shape != (len(y_true),) or not np.isfinite(given).all():
                raise InvalidDataError(
                    f"The scores of {name!r} have shape {given.shape}; they must be one finite "
                    f"number a sample, ({len(y_true)},)."
                )
            fpr[name], tpr[name], _ = roc_curve(
                y_true, given, pos_label=positive, sample_weight=sample_weight
            )
            area[name] = float(auc(fpr[name], tpr[name]))
        return cls(fpr=fpr, tpr=tpr, roc_auc=area, pos_label=positive).plot(ax, **plot_options)

    def plot(
        self,
        ax: Any = None,
        *,
        plot_chance_level: bool = True,
        max_fpr: float = 1.0,
        **line_options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        {ax}
        plot_chance_level : bool, default=True
            Draw the diagonal, the curve of random scores.
        max_fpr : float, default=1.0
            Show false positive rates up to this one, to look closer at curves that are much alike. The
            areas remain those of the whole curves.
        **line_options
            For matplotlib's ``plot``, for all curves.

        {display}
        """
        if not 0 < max_fpr <= 1:
            raise InvalidParameterError(f"max_fpr={max_fpr!r} must be above 0 and at most 1.")
        self._take_panels(ax, size=(5.6, 5.8))
        self.line_ = []
        for name, rates in self.fpr.items():
            label = f"{name}, area {self.roc_auc[name]:.3f}"
            self.line_.append(draw_line(self.ax_, rates, self.tpr[name], label, line_options))
        self.chance_level_ = None
        if plot_chance_level:
            look = {"color": "0.55", "linewidth": 0.8, "label": "chance, area 0.500", "zorder": 1}
            (self.chance_level_,) = self.ax_.plot([0, 1], [0, 1], **look)
        positive = "" if self.pos_label is None else f"\n(positive label: {self.pos_label})"
        edge = 0.02 * max_fpr
        self.ax_.set(xlim=(-edge, max_fpr + edge), ylim=(-0.02, 1.02))
        if max_fpr == 1:
            self.ax_.set_aspect("equal")
        finish_axes(self.ax_, "false positive rate", f"true positive rate{positive}")
        return self


def _check_named(parameter: str, given: Any, what: str) -> None:
    if not isinstance(given, Mapping) or not given:
        raise InvalidParameterError(
            f"{parameter} is a {type(given).__name__}; pass a dict of {what} by their names, "
            "with one of them at least."
        )


def _positive_label(y: Any, pos_label: Any) -> Any:
    labels = np.unique(np.asarray(y))
    if type_of_target(y) != "binary" or len(labels) != 2:
        raise InvalidDataError(
            f"y has {len(labels)} different values; ROC curves need labels of two classes. Take one "
            "class against the others, for example y == label."
        )
    if pos_label is None:
        return labels[1]
    if pos_label not in labels:
        raise InvalidParameterError(
            f"pos_label={pos_label!r} is not among the labels; pass {labels[0]!r} or {labels[1]!r}."
        )
    return pos_label


def _scores(name: str, estimator: Any, X: Any, positive: Any) -> np.ndarray:
    """Return the score of each sample for the positive label."""
    check_is_fitted(estimator)
    decide = getattr(estimator, "decision_function", None)
    predict_proba = getattr(estimator, "predict_proba", None)
    classes = getattr(estimator, "classes_", None)
    if (decide is None and predict_proba is None) or classes is None:
        raise InvalidParameterError(
            f"{name!r} is a {type(estimator).__name__} without a decision_function or predict_proba; "
            "pass a classifier, or its scores to from_predictions."
        )
    if len(classes) != 2 or positive not in classes:
        raise InvalidParameterError(
            f"{name!r} was fitted with the labels {list(classes)}; ROC curves need two, and "
            f"{positive!r} among them."
        )
    if decide is not None:
        margin = np.asarray(decide(X))
        return margin if positive == classes[1] else -margin
    assert predict_proba is not None
    probabilities = np.asarray(predict_proba(X))
    return probabilities[:, int(np.flatnonzero(classes == positive)[0])]
