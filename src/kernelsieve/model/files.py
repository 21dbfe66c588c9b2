"""Fitted models as files that are safe to read: arrays and JSON, no code."""

from __future__ import annotations

import os
from typing import Any

from sklearn.base import BaseEstimator

from ..exceptions import ModelFileError
from .codec import load_object, save_object

_KIND, _VERSION = "model", 1


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that is safe to read: arrays and JSON, no code.

    Estimators of kernelsieve have it as a method, ``model.save(path)``. An old file stays until the new
    one is whole.

    Parameters
    ----------
    model : estimator
        Of kernelsieve; or a pipeline or column transformer of these and of scikit-learn's scalers,
        encoders, imputers and linear predictors.
    path : str or path-like
        Where to; ``.ksv`` is the usual ending.

    Raises
    ------
    ModelFileError
        If the model holds code of the user's, such as a callable kernel, or another estimator.

    See Also
    --------
    load : Reads it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import kernelsieve
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sieve = kernelsieve.SparseMaximalAlignment(10)
    >>> model = make_pipeline(StandardScaler(), sieve, Ridge()).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.ksv"
    ...     kernelsieve.save(model, path)
    ...     again = kernelsieve.load(path)
    >>> bool(np.array_equal(again.predict(X), model.predict(X)))
    True
    """
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"{type(model).__name__} is no estimator; pass a model of kernelsieve, or a pipeline."
        )
    save_object(path, _KIND, _VERSION, model)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote. Nothing that the file says is run.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        It transforms and predicts as the one that was saved, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, from a later version, or names what is not known.

    See Also
    --------
    save : Writes it, with an example.
    """
    return load_object(path, _KIND, _VERSION, BaseEstimator)
