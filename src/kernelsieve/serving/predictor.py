"""A fitted pipeline as one plain function: kernel values, one product, done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..exceptions import InvalidDataError
from ..kernels import Inputs, Precomputed, Rows
from ..model import KernelModel, Projector
from ..rows import row_slices, rows_per_block
from .affine import Affine
from .encoding import Encoding, as_rows
from .parts import folded, prediction_parts
from .response import Response

_BLOCK_BYTES = 2**22  # of kernel values
_COMPARED, _MOST_ROUNDING = 200, 1e-11  # landmarks, and what folding may change, as a part of scores


def _has_classes(predictor: Predictor) -> bool:
    if predictor.classes is None:
        raise AttributeError("This predictor returns numbers, so it decides nothing.")
    return True


def _has_probabilities(predictor: Predictor) -> bool:
    if predictor._response.probabilities is None:
        raise AttributeError(
            "The last step of this model gives no probabilities, or not by a function of its linear "
            "scores; call predict_proba of the model itself, if it has one."
        )
    return True


class Predictor:
    """A fitted model as a plain function of samples, for serving; made by :func:`predictor`.

    ``p(x)`` is ``p.predict(x)``. Samples are float arrays, one of shape (n_features,) or several of
    shape (n_samples, n_features), or CSR matrices where the model takes them. A model of a table with
    categories takes data frames and arrays of objects. The number of features is checked, and the names
    of the columns of a data frame. Values are not checked: NaN gives no meaningful prediction where the
    model does not impute it. A predictor runs in the thread that calls it, may be called by several at
    once, and can be pickled.

    Attributes
    ----------
    kernel_evaluations : int
        Kernel evaluations for a sample.
    classes : ndarray of shape (n_classes,) or None
        Labels, where labels are predicted.
    """

    def __init__(
        self,
        encoding: Encoding | None,
        before: Affine | None,
        model: KernelModel,
        after: Affine,
        response: Response,
        names: Sequence[str] | None = None,
    ) -> None:
        self._parts = encoding, before, model, after, response, names
        self._n_features = _n_features(encoding, before, model)
        self._names = None if names is None else list(names)
        self._encoding, self._before, self._response = encoding, before, response
        self.classes = response.classes
        self.kernel_evaluations = len(model.projection)
        in_one = folded(model, after)
        self._after = None if _is_precise(in_one, model, after) else after
        served = in_one if self._after is None else model
        self._block_rows = rows_per_block(len(served.projection), _BLOCK_BYTES)
        self._projector = Projector(served)
        self._of_one = None if self._after else self._projector.of_one()

    def __reduce__(self) -> tuple:
        return Predictor, self._parts

    def __call__(self, X: Rows) -> Any:
        """Predict, as :meth:`predict` does."""
        return self._applied(X, self._response.predict)

    def predict(self, X: Rows) -> Any:
        """Return the prediction of a sample, or an array of those of several.

        Parameters
        ----------
        X : array of shape (n_features,) or (n_samples, n_features), or CSR matrix
            One sample, or several; a data frame where the model is of a table with categories.

        Returns
        -------
        number, label or ndarray of shape (n_samples,)
            With a further axis of n_targets, where there are several targets.
        """
        return self._applied(X, self._response.predict)

    @available_if(_has_classes)
    def decision_function(self, X: Rows) -> Any:
        """Return one number for two classes, positive for the second; one for each class otherwise.

        Parameters
        ----------
        X : array of shape (n_features,) or (n_samples, n_features), or CSR matrix
            One sample, or several, as for :meth:`predict`.

        Returns
        -------
        float or ndarray of shape (n_samples,)
            With a further axis of n_classes, where there are more than two classes.
        """
        return self._applied(X, self._response.decide)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> Any:
        """Return the probability of each class.

        Parameters
        ----------
        X : array of shape (n_features,) or (n_samples, n_features), or CSR matrix
            One sample, or several, as for :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_classes,) or (n_samples, n_classes)
            In the order of ``classes``.
        """
        return self._applied(X, self._response.probabilities)  # type: ignore[arg-type]

    def _applied(self, X: Rows, function: Callable[[np.ndarray], np.ndarray]) -> Any:
        rows = as_rows(X, self._encoding)
        if rows.shape[-1] != self._n_features or hasattr(X, "columns"):
            self._check_columns(rows, X)
        if rows.ndim == 1:
            return function(self._scores_of_one(rows))[0]
        slices = row_slices(rows.shape[0], self._block_rows)
        cut: Any = getattr(rows, "iloc", rows)
        return function(np.concatenate([self._scores(cut[part]) for part in slices]))

    def _check_columns(self, rows: Any, X: Any) -> None:
        """Refuse another number of features, and data frames with other columns than those of fit."""
        if self._n_features is not None and rows.shape[-1] != self._n_features:
            raise InvalidDataError(
                f"X has {rows.shape[-1]} features, and the model has {self._n_features}: pass one "
                f"sample of shape ({self._n_features},), or several of shape (n_samples, "
                f"{self._n_features})."
            )
        given = list(map(str, getattr(X, "columns", ())))
        if given and self._names is not None and given != self._names:
            i = next(
                i for i, pair in enumerate(zip(given, self._names, strict=True)) if len(set(pair)) > 1
            )
            raise InvalidDataError(
                f"Column {i} of X is {given[i]!r}, and was {self._names[i]!r} in fit; pass the columns "
                "of fit, in their order."
            )

    def _scores_of_one(self, x: np.ndarray) -> np.ndarray:
        if self._of_one is None:
            return self._scores(x[None, :])
        x = x if self._encoding is None else self._encoding(x[None, :])[0]
        return self._of_one(x if self._before is None else self._before(x))[None, :]

    def _scores(self, X: Rows) -> np.ndarray:
        X = X if self._encoding is None else self._encoding(X)
        features = self._projector(X if self._before is None else self._before(X))
        return features if self._after is None else self._after(features)


def _n_features(encoding: Encoding | None, before: Affine | None, model: KernelModel) -> int | None:
    """Return how many features a sample has; None where it has kernel values instead."""
    if encoding is not None:
        return encoding.n_inputs
    if before is not None:
        return len(before.matrix)
    if isinstance(model.kernel, Precomputed):
        return None
    return len(model.projection) if isinstance(model.kernel, Inputs) else int(model.landmarks.shape[1])


def _is_precise(in_one: KernelModel, model: KernelModel, after: Affine) -> bool:
    """Tell if folding loses no digits that features in two steps keep, by outputs for landmarks."""
    if model.refinement is None:
        return True
    if isinstance(model.kernel, Precomputed):
        return False
    rows = model.landmarks[:_COMPARED]
    scores = after(Projector(model)(rows).astype(np.float64))
    difference = np.abs(Projector(in_one)(rows) - scores).max()
    return bool(difference <= _MOST_ROUNDING * max(1.0, np.abs(scores).max()))


def predictor(model: Any) -> Predictor:
    """Return a fitted model as one plain function of samples, for serving.

    Features and a linear head are one product with kernel values: ``kernel(x, landmarks) @
    coefficients + intercept``. So what was a pipeline costs little more than its kernel values, and
    one sample takes microseconds.

    Parameters
    ----------
    model : fitted estimator
        An estimator of kernelsieve that predicts; or a ``Pipeline`` of steps that encode tables
        (``SimpleImputer``, ``OneHotEncoder``, ``ColumnTransformer``), steps that are affine (scalers,
        PCA, a choice of inputs), at most one extractor of kernelsieve with a kernel, and a linear
        predictor of scikit-learn or one of kernelsieve; or a search, such as ``ComponentPathCV`` or
        ``GridSearchCV``, that has chosen one.

    Returns
    -------
    Predictor
        ``p(x)`` predicts for a float array of shape (n_features,) or (n_samples, n_features), and
        ``p.decision_function``, ``p.predict_proba`` are there where the model has them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelsieve import SparseMaximalAlignment, predictor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), SparseMaximalAlignment(20), Ridge()).fit(X, y)
    >>> p = predictor(pipeline)
    >>> bool(np.allclose(p(X), pipeline.predict(X))), p.kernel_evaluations
    (True, 20)
    >>> bool(np.isclose(p(X[0]), p(X)[0]))
    True
    """
    return Predictor(*prediction_parts(model), getattr(model, "feature_names_in_", None))
