"""Display of the landmarks that contribute most to one prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..exceptions import InvalidParameterError
from .drawing import COLOURS, Display, check_has, draw_bars


@dataclass(eq=False, repr=False)
class ContributionDisplay(Display):
    """The contributions of landmarks to the prediction for one sample, as bars.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    contributions : ndarray of shape (n_landmarks,)
        Contribution of each landmark to the score.
    baseline : float
        The score without these contributions.
    landmark_indices : ndarray of shape (n_landmarks,)
        Rows of the training samples that the landmarks are.

    Attributes
    ----------
    {axes}
    line_ : BarContainer
        The bars, the strongest first; the last one is the sum of all others.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SieveRegressor
    >>> from kernelsieve.displays import ContributionDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sieve = SieveRegressor(20, metric=False, kernel="rbf", random_state=0).fit(X, y)
    >>> ContributionDisplay.from_estimator(sieve, X[:1]).ax_.get_xlabel()
    'contribution to the prediction'
    """

    contributions: np.ndarray
    baseline: float
    landmark_indices: np.ndarray

    @classmethod
    def from_estimator(
        cls, estimator: Any, x: Any, *, output: int = 0, ax: Any = None, **plot_options: Any
    ) -> Self:
        """Draw the contributions of the landmarks to the prediction for one sample.

        Parameters
        ----------
        estimator : SieveRegressor or SieveClassifier
            A fitted one, or another with ``explain``.
        x : array-like or data frame of shape (1, n_features)
            The sample.
        output : int, default=0
            Target or class to explain, if there are several.
        {drawing}
        """
        check_has(estimator, ["explain"], "a SieveRegressor or a SieveClassifier")
        found = estimator.explain(x)
        if len(found.contributions) != 1:
            raise InvalidParameterError(
                f"x has {len(found.contributions)} samples; pass one, as an array of one row."
            )
        one = found.of_output(output) if found.contributions.ndim == 3 else found
        display = cls(one.contributions[0], float(one.baseline[0]), one.landmark_indices)
        return display.plot(ax, **plot_options)

    def plot(self, ax: Any = None, *, max_landmarks: int = 12, **bar_options: Any) -> Self:
        """Draw the contributions.

        Parameters
        ----------
        {ax}
        max_landmarks : int, default=12
            Most landmarks, of which the strongest are drawn.
        **bar_options
            For matplotlib's ``barh``.

        {display}
        """
        if max_landmarks < 1:
            raise InvalidParameterError(f"max_landmarks={max_landmarks} must be at least 1.")
        (panel,) = self._take_panels(ax)
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        shown, others = order[:max_landmarks], order[max_landmarks:]
        values = [*self.contributions[shown], self.contributions[others].sum()]
        names = [f"sample {i}" for i in self.landmark_indices[shown]] + [f"{len(others)} others"]
        look = {"color": [COLOURS[int(value < 0)] for value in values], **bar_options}
        self.line_ = draw_bars(panel, values, names, "contribution to the prediction", look)
        panel.axvline(0.0, color="black", linewidth=0.8)
        total = self.baseline + float(self.contributions.sum())
        panel.set_title(f"baseline {self.baseline:.3g}, prediction {total:.3g}", fontsize="medium")
        return self
