"""What is made of a fitted model: fewer features, fewer landmarks, a plain function."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from ..data import Batch
from ..exceptions import InvalidParameterError
from ..kernels import Precomputed, Rows
from ..model import Fit
from ..model import prune as pruned_fit
from ..program import Link, Output, Program, ProgramStep, feature_steps
from .inputs import check_kernel_input, check_precomputed_columns, check_rows, check_weights

_Fitted = TypeVar("_Fitted", bound=Any)


def truncate(self: _Fitted, n_components: int) -> _Fitted:
    """Return a copy with the first features only, without the landmarks that only others need.

    Parameters
    ----------
    n_components : int
        How many of the components to keep.

    Returns
    -------
    estimator
        A fitted copy.
    """
    return self._with_fit(first_components(self._current_fit(), n_components))


def first_components(fit: Fit, n_components: int) -> Fit:
    """Return the fit with the first components only."""
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    if not whole or not 1 <= n_components <= fit.model.n_components:
        raise InvalidParameterError(
            f"n_components={n_components} is not between 1 and the {fit.model.n_components} "
            "components of this model; fit again with a larger n_components to get more."
        )
    return fit.truncate(n_components)


def program_steps(self: Any, output: Output) -> list[ProgramStep]:
    """Return the features as steps of a program."""
    return feature_steps(self._current_fit().model, self.n_features_in_)


def projector(self: Any, n_components: int | None = None) -> Program:
    """Return a plain callable from samples to features, for serving.

    It checks no values, and for one sample is an order of magnitude faster than :meth:`transform`.

    Parameters
    ----------
    n_components : int, default=None
        Use the first components only; None for all.

    Returns
    -------
    program.Program
        ``f(x)`` takes a float array of shape (n_features,) or (n_samples, n_features) and returns
        (n_components,) or (n_samples, n_components).
    """
    steps = feature_steps(self._prefix(n_components).model, self.n_features_in_)
    return Program([*steps, Link(steps[-1].n_outputs, called="features")])


def prune(
    self: _Fitted,
    X: Any,
    n_landmarks: int | None = None,
    *,
    tol: float = 0.01,
    sample_weight: Any = None,
) -> _Fitted:
    """Return a copy that computes nearly the same features from fewer landmarks.

    Sparse maximal alignment with the features of this model as targets chooses the landmarks, and
    the features become least squares on their kernel columns. Predictions keep their coefficients.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples to compare the features on, such as the training samples; more than landmarks.
    n_landmarks : int, default=None
        How many landmarks to keep; None for as few as ``tol`` allows. A ``FewerFeaturesWarning``
        says that fewer were kept, or that ``X`` has too few samples to choose them by.
    tol : float, default=0.01
        Largest share of the features' variance that may be lost on ``X``, on average.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.

    Returns
    -------
    estimator
        A fitted copy. It can be truncated as before, but every feature needs all of its landmarks.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import KernelPLSClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelPLSClassifier(10, candidates=500, gamma=0.001, random_state=0).fit(X, y)
    >>> pruned = model.prune(X, 100)
    >>> len(pruned.landmarks_), bool(pruned.score(X, y) > model.score(X, y) - 0.02)
    (100, True)
    """
    fit = self._current_fit()
    rows = self._check_new_rows(X, len(fit.model.projection))
    batch = Batch(rows, np.empty((rows.shape[0], 0)), check_weights(sample_weight, rows))
    return self._with_fit(pruned_fit(fit, batch, n_landmarks, tol, self.n_jobs))


def check_new_rows(self: Any, X: Any, n_landmarks: int, *, finite: bool = True) -> Rows:
    """Check samples for a prefix of this model, which has so many landmarks."""
    model = self._current_fit().model
    if isinstance(model.kernel, Precomputed):
        rows = check_rows(copy(self), X, reset=True, precomputed=True)
        known = (self.n_features_in_, len(model.projection), n_landmarks)
        check_precomputed_columns(rows, known, type(self).__name__)
        return rows
    rows = check_rows(self, X, reset=False, finite=finite)
    check_kernel_input(model.kernel, rows)
    return rows
