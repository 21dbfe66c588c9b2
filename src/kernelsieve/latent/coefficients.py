"""Regression coefficients: predictions as one linear function of kernel values or of X."""

from __future__ import annotations

from typing import Any

import numpy as np


def dual_coefficients(estimator: Any) -> np.ndarray:
    """Return one coefficient for each landmark, and for each of several targets.

    ``alpha = B (T'KB)^-1 T'Y`` of Dhanjal et al. (2009), for features that are centred.
    """
    alpha, _ = _linear_function(estimator)
    return alpha[:, 0] if _is_one_number(estimator) else alpha


def primal_coefficients(estimator: Any) -> np.ndarray:
    """Return one coefficient for each feature of X, with one row for each of several targets.

    ``W = U (P'U)^-1 C'`` of Dhanjal et al. (2009), transposed as scikit-learn does.
    """
    alpha, _ = _linear_function(estimator)
    coefficients = np.zeros((alpha.shape[1], estimator.n_features_in_))
    coefficients[:, estimator.landmarks_] = alpha.T
    return coefficients[0] if _is_one_number(estimator) else coefficients


def intercept(estimator: Any) -> np.ndarray:
    """Return the intercept that belongs to the coefficients."""
    _, constant = _linear_function(estimator)
    return constant[0] if _is_one_number(estimator) else constant


def _linear_function(estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of the kernel values, and the intercepts."""
    fit = estimator._current_fit()
    if fit.heads is None:
        raise AttributeError("There are no coefficients, because the features were found without y.")
    k = fit.model.n_components
    of_features, constants = fit.heads.coefficients, fit.heads.intercepts[k - 1]
    if of_features.ndim == 3:  # those of k features depend on k
        of_features = of_features[k - 1]
    return fit.model.projection @ of_features, constants - fit.model.offset @ of_features


def _is_one_number(estimator: Any) -> bool:
    return not estimator._predicts_labels() and estimator._one_dimensional_y
