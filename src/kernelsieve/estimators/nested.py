"""How a fitted model is used: transform, prefixes, serving, and the fitted attributes."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from .._sklearn import wrap_output
from ..exceptions import InvalidParameterError
from ..kernels import Precomputed, Rows
from ..model import Fit, Projector
from .inputs import check_kernel_input, check_precomputed_columns, check_rows


class _NestedTransform:
    """Fitted attributes and ``transform``.

    Apart from :class:`TransformerMixin`, which would name the columns of a data frame after all
    features even where the first few only were asked for.
    """

    n_jobs: int | None
    n_features_in_: int

    def _current_fit(self) -> Fit:
        """Return the fit; a subclass may find it only now."""
        fit = vars(self).get("_fit")
        if fit is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call fit with data first."
            )
        return fit

    def __sklearn_is_fitted__(self) -> bool:
        return "_fit" in vars(self)

    @property
    def landmarks_(self) -> Rows:
        return self._current_fit().model.landmarks

    @property
    def landmark_indices_(self) -> np.ndarray:
        return self._current_fit().landmark_indices

    @property
    def projection_(self) -> np.ndarray:
        return self._current_fit().model.projection

    @property
    def offset_(self) -> np.ndarray:
        return self._current_fit().model.offset

    @property
    def n_components_(self) -> int:
        return self._current_fit().model.n_components

    @property
    def kernel_evaluations_(self) -> np.ndarray:
        return self._current_fit().model.evaluations

    @property
    def criterion_path_(self) -> np.ndarray:
        return self._current_fit().criterion_path

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        return self._current_fit().explained_variance_ratio

    @property
    def explained_target_ratio_(self) -> np.ndarray:
        return self._current_fit().explained_target_ratio

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any, n_components: int | None = None) -> Any:
        """Compute the features of new rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows with the inputs that ``fit`` saw. For a precomputed kernel, kernel values against
            the columns of the training matrix in its order or, where these are more than the
            landmarks, against the landmarks alone in theirs.
        n_components : int, default=None
            Use the first features only; None for all.

        Returns
        -------
        ndarray of shape (n, n_components)
            Or a data frame, where ``set_output`` asks for one.
        """
        fitted = self if n_components is None else self.truncate(n_components)
        model = fitted._current_fit().model
        rows = self._check_new_rows(X, len(model.projection), finite=False)
        features = model.features(rows, self.n_jobs)
        return wrap_output("transform", features, X, fitted)

    def truncate(self, n_components: int) -> Self:
        """Return a copy with the first features only, without the landmarks that only others need."""
        fit = self._current_fit()
        whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
        if not whole or not 1 <= n_components <= fit.model.n_components:
            raise InvalidParameterError(
                f"n_components={n_components} is not between 1 and the {fit.model.n_components} "
                "features of this model; fit again with a larger n_components to get more."
            )
        shorter = copy.copy(self)
        shorter._fit = fit.truncate(n_components)  # type: ignore[attr-defined]
        vars(shorter).pop("_stream", None)  # rows that come later belong to the whole model
        return shorter

    def projector(self, n_components: int | None = None) -> Projector:
        """Return a plain callable from rows to features, for serving.

        It checks nothing and is an order of magnitude faster than :meth:`transform` for one row.

        Parameters
        ----------
        n_components : int, default=None
            Use the first features only; None for all.

        Returns
        -------
        callable
            ``f(x)`` takes a float array of shape (d,) or (n, d) and returns (k,) or (n, k).
        """
        fitted = self if n_components is None else self.truncate(n_components)
        return Projector(fitted._current_fit().model)

    def _check_new_rows(self, X: Any, n_landmarks: int, *, finite: bool = True) -> Rows:
        model = self._current_fit().model
        if isinstance(model.kernel, Precomputed):
            rows = check_rows(copy.copy(self), X, reset=True, precomputed=True)
            name = type(self).__name__
            known = (self.n_features_in_, len(model.projection), n_landmarks)
            check_precomputed_columns(rows, known, name)
            return rows
        rows = check_rows(self, X, reset=False, finite=finite)
        check_kernel_input(model.kernel, rows)
        return rows


class NestedTransformer(
    _NestedTransform, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base of all estimators with the one model form."""

    #: Whether the first j features are those of a fit with j, so that one fit answers for all numbers.
    _nested: ClassVar[bool] = True
