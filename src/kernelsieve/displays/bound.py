"""Display of the stability bound beside the quantity that it bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..exceptions import InvalidDataError, InvalidParameterError
from ..model_selection import stability_bound
from .drawing import Display, check_choice, draw_line, draw_star, finish_axes

_ARRAYS = ("empirical", "complexity", "confidence")
_NUMBERS = ("cost", "delta", "n_examples")


@dataclass(eq=False, repr=False, kw_only=True)
class StabilityBoundDisplay(Display):
    """The lower bound of the expected squared covariance for every number of features.

    Make it by :meth:`from_estimator` or :meth:`from_bound`. With the cost of features taken
    off, as Dhanjal, Gunn and Shawe-Taylor (2009) draw it in their Figure 4, or term by term.

    Parameters
    ----------
    empirical, complexity, confidence : ndarray of shape (k,)
        The mean on the training samples, and the two terms that are taken off it.
    cost : float
        The price of a feature.
    delta : float
        The bound holds with probability ``1 - delta``.
    n_examples : int
        Number of training samples.
    test_expectation : ndarray of shape (k,), default=None
        The mean on other samples, before any cost.

    Attributes
    ----------
    {axes}
    line_ : list of Line2D
        The bound, the means on training and (where given) test samples, then the complexity
        and the confidence term for ``kind="terms"``.
    choice_ : Line2D or None
        The star at the largest bound less cost, for ``kind="adjusted"``.

    References
    ----------
    C. Dhanjal, S. R. Gunn, J. Shawe-Taylor. Efficient sparse kernel feature extraction based on
    partial least squares. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(8), 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.displays import StabilityBoundDisplay
    >>> k = np.arange(1, 6)
    >>> display = StabilityBoundDisplay(
    ...     empirical=1 - 0.5**k, complexity=0.01 * k, confidence=0.02 * k, cost=0.1, delta=0.1,
    ...     n_examples=1000,
    ... ).plot()
    >>> display.choice_.get_label()
    'largest: k = 2'
    """

    empirical: np.ndarray
    complexity: np.ndarray
    confidence: np.ndarray
    cost: float
    delta: float
    n_examples: int
    test_expectation: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        extractor: Any,
        X: Any,
        y: Any,
        *,
        delta: float = 0.1,
        cost: float | None = None,
        trim: float = 0.0,
        X_test: Any = None,
        y_test: Any = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Find the bound by :func:`stability_bound`, which fits a copy of the extractor, and draw it.

        Parameters
        ----------
        extractor : kernel extractor
            Need not be fitted.
        X, y, delta, cost, trim
            As for :func:`stability_bound`.
        X_test : array-like or CSR matrix of shape (m, d), default=None
            Other samples, whose mean is drawn beside the bound.
        y_test : array-like of shape (m,) or (m, q), default=None
            Their targets.
        {drawing}
        """
        if (X_test is None) != (y_test is None):
            given, missing = ("y_test", "X_test") if X_test is None else ("X_test", "y_test")
            raise InvalidParameterError(f"{given} was given without {missing}; pass both, or neither.")
        found = stability_bound(extractor, X, y, delta, cost, trim)
        tested = None if X_test is None else found.expectation(X_test, y_test)
        return cls.from_bound(found, tested, ax=ax, **plot_options)

    @classmethod
    def from_bound(
        cls, result: Any, test_expectation: Any = None, *, ax: Any = None, **plot_options: Any
    ) -> Self:
        """Draw the result of ``stability_bound``.

        Parameters
        ----------
        result : object
            With arrays ``empirical``, ``complexity`` and ``confidence``, a number for each k, and with
            ``cost``, ``delta`` and ``n_examples``.
        test_expectation : array-like of shape (k,), default=None
            The mean on other samples for each k, before any cost, to draw beside the bound.
        {drawing}
        """
        missing = [name for name in (*_ARRAYS, *_NUMBERS) if name not in dir(result)]
        if missing:
            raise InvalidDataError(
                f"A {type(result).__name__} has no {', '.join(missing)}; pass what stability_bound "
                "returned."
            )
        arrays: dict[str, Any] = {
            name: np.asarray(getattr(result, name), dtype=float) for name in _ARRAYS
        }
        if test_expectation is not None:
            arrays["test_expectation"] = np.asarray(test_expectation, dtype=float)
        n_features = arrays["empirical"].size
        for name, values in arrays.items():
            if values.shape != (n_features,):
                raise InvalidDataError(
                    f"{name} has shape {values.shape}; it must be one number for each of the "
                    f"{n_features} features, ({n_features},)."
                )
        display = cls(**arrays, **{name: getattr(result, name) for name in _NUMBERS})
        return display.plot(ax, **plot_options)

    def plot(self, ax: Any = None, *, kind: str = "adjusted", **line_options: Any) -> Self:
        """Draw the bound.

        Parameters
        ----------
        {ax}
        kind : {"adjusted", "terms"}, default="adjusted"
            The bound and the means less the cost of the features, with a star at the largest bound; or
            the bound, the means and the two terms that are taken off, without any cost.
        **line_options
            For matplotlib's ``plot``, for all lines.

        {display}
        """
        check_choice("kind", kind, ["adjusted", "terms"])
        self._take_panels(ax)
        values = self._values(kind)
        self.line_ = [
            draw_line(self.ax_, self._n_components, line, name, line_options)
            for name, line in values.items()
        ]
        self.choice_ = self._draw_choice() if kind == "adjusted" else None
        what = "cumulative pointwise squared covariance"
        what = f"{what}\nless the cost of k features" if kind == "adjusted" else what
        self.ax_.ticklabel_format(axis="y", scilimits=(-3, 4))
        finish_axes(self.ax_, "number of features, k", what, whole_numbers=True)
        return self

    @property
    def _n_components(self) -> np.ndarray:
        return np.arange(1, len(self.empirical) + 1)

    @property
    def _bound(self) -> np.ndarray:
        return self.empirical - self.complexity - self.confidence

    def _values(self, kind: str) -> dict[str, np.ndarray]:
        """Return the curves by their legend names."""
        cost = self.cost * self._n_components if kind == "adjusted" else 0.0
        values = {
            f"lower bound, probability {100 * (1 - self.delta):g} %": self._bound - cost,
            f"mean of {self.n_examples:,} training samples": self.empirical - cost,
        }
        if self.test_expectation is not None:
            values["mean of test samples"] = self.test_expectation - cost
        if kind == "terms":
            values["complexity term"] = self.complexity
            values["confidence term"] = self.confidence
        return values

    def _draw_choice(self) -> Any:
        adjusted = self._bound - self.cost * self._n_components
        best = int(np.argmax(adjusted))
        return draw_star(self.ax_, best + 1, adjusted[best], f"largest: k = {best + 1}")
