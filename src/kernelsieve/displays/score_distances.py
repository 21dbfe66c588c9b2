"""Display of the distances of samples from a fitted model: T2 against Q."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from ..exceptions import InvalidDataError
from .drawing import Display, check_has, draw_markers, finish_axes
from .points import draw_numbers, draw_rows

_AREA = 28.0  # square points


@dataclass(eq=False, repr=False)
class ScoreDistanceDisplay(Display):
    """Hotelling's T2 against Q residuals, with the limits of both.

    Make it by :meth:`from_estimator`. On the right are samples that are extreme in what the components
    describe, above those with a part that the components do not describe. Samples beyond a limit have
    their row number beside them, the farthest first, where there is room for it.

    Parameters
    ----------
    t2, q : ndarray of shape (n,)
        Distances of the samples.
    t2_limit, q_limit : float
        Limits.
    confidence : float
        At which.
    reference : ndarray of shape (m, 2), default=None
        T2 and Q of other samples, drawn in grey.

    Attributes
    ----------
    {axes}
    line_ : PathCollection
        The samples.
    limits_ : list of two Line2D
        The limits of T2 and of Q.
    numbers_ : list of Text
        The row numbers of samples beyond them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelPLS
    >>> from kernelsieve.displays import ScoreDistanceDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLS(3, kernel="linear").fit(X[:300], y[:300])
    >>> display = ScoreDistanceDisplay.from_estimator(model, X[300:], reference=X[:300])
    >>> display.t2.shape
    (142,)
    """

    t2: np.ndarray
    q: np.ndarray
    _: KW_ONLY
    t2_limit: float
    q_limit: float
    confidence: float
    reference: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        reference: Any = None,
        confidence: float = 0.95,
        n_components: int | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the distances of samples by a fitted estimator.

        Parameters
        ----------
        estimator : KernelPLS, KernelPLSClassifier or KernelPCA
            A fitted one.
        X : array-like or CSR matrix of shape (n, d)
            Samples.
        reference : array-like or CSR matrix of shape (m, d), default=None
            Samples that are as they should be, and that the model has not seen: they give the limit of
            Q, with a nonlinear kernel that of T2, too, and are drawn in grey. None takes X for that
            of Q.
        confidence : float, default=0.95
            Part of such samples that is below each limit.
        n_components : int, default=None
            Use the first components only; None for all.
        {drawing}
        """
        remedy = (
            "a KernelPLS, a KernelPLSClassifier or a KernelPCA, of a pipeline that step, with what "
            "comes before it applied to X"
        )
        check_has(estimator, ["hotelling_t2", "q_residuals"], remedy)
        good = X if reference is None else reference
        k = n_components
        known = None
        if reference is not None:
            known = np.column_stack([estimator.hotelling_t2(good, k), estimator.q_residuals(good, k)])
        limit = estimator.t2_limit(confidence, k)
        if known is not None and estimator.kernel != "linear":  # whose components are not normal
            limit = float(np.quantile(known[:, 0], confidence))
        display = cls(
            estimator.hotelling_t2(X, k),
            estimator.q_residuals(X, k),
            t2_limit=limit,
            q_limit=estimator.q_limit(good, confidence, k),
            confidence=confidence,
            reference=known,
        )
        return display.plot(ax, **plot_options)

    def plot(
        self, ax: Any = None, *, log: bool = True, numbers: bool = True, **scatter_options: Any
    ) -> Self:
        """Draw the distances.

        Parameters
        ----------
        {ax}
        log : bool, default=True
            Draw both axes in logarithms, where outliers leave room for the others.
        numbers : bool, default=True
            Write row numbers beside samples beyond a limit.
        **scatter_options
            For matplotlib's ``scatter`` of the samples.

        {display}
        """
        points = np.column_stack([self.t2, self.q])
        if not len(points):
            raise InvalidDataError("There are no samples to draw; pass at least one.")
        (panel,) = self._take_panels(ax)
        if log:
            panel.set(xscale="log", yscale="log")
            points = np.maximum(points, _smallest(points))
        if self.reference is not None:
            known = np.maximum(self.reference, _smallest(self.reference)) if log else self.reference
            (greys,) = draw_rows(panel, known, None)
            greys.set_label("reference")
        self.line_ = draw_markers(panel, points, "samples", scatter_options, s=_AREA)
        line = {"color": "black", "linestyle": "--", "linewidth": 1.0, "zorder": 2}
        label = f"limits at {100 * self.confidence:g} %"
        self.limits_ = [
            panel.axvline(self.t2_limit, label=label, **line),
            panel.axhline(self.q_limit, **line),
        ]
        finish_axes(panel, "Hotelling's T$^2$", "Q residual")
        self.numbers_ = self._number(panel, points) if numbers else []
        return self

    def _number(self, panel: Any, points: np.ndarray) -> list[Any]:
        """Write the row numbers of samples beyond a limit, the farthest first."""
        excess = np.maximum(self.t2 / self.t2_limit, self.q / max(self.q_limit, np.finfo(float).tiny))
        beyond = np.flatnonzero(excess > 1)
        beyond = beyond[np.argsort(-excess[beyond], kind="stable")]
        panel.figure.figure.draw_without_rendering()  # so that places are final
        radius = float(np.sqrt(self.line_.get_sizes()[0])) / 2 + 0.5
        return draw_numbers(panel, points[beyond], radius, texts=[str(row) for row in beyond])


def _smallest(points: np.ndarray) -> np.ndarray:
    """Return the smallest positive value of every column, drawn in place of zeros on log axes."""
    positive = np.where(points > 0, points, np.inf).min(axis=0)
    return np.where(np.isfinite(positive), positive, 1.0)
