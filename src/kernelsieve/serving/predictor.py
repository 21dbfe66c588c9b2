"""A fitted pipeline as one plain function: kernel values, one product, done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..estimators import KernelEstimator
from ..exceptions import InvalidParameterError
from ..kernels import Inputs, Precomputed, Rows
from ..model import KernelModel, Projector
from ..model_selection import ExtractorWithHead
from ..rows import row_slices, rows_per_block
from .affine import AFFINE_STEPS, Affine, affine_of, plus
from .response import Response, read_head

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

    ``p(x)`` is ``p.predict(x)``. Nothing is checked: samples are float arrays, one of shape
    (n_features,) or several of shape (n_samples, n_features), or CSR matrices where the model takes
    them. It runs in the thread that calls it, may be called by several at once, and can be pickled.

    Attributes
    ----------
    kernel_evaluations : int
        Kernel evaluations for a sample.
    classes : ndarray of shape (n_classes,) or None
        Labels, where labels are predicted.
    """

    def __init__(
        self, before: Affine | None, model: KernelModel, after: Affine, response: Response
    ) -> None:
        self._parts = before, model, after, response
        self._before, self._response = before, response
        self.classes = response.classes
        self.kernel_evaluations = len(model.projection)
        folded = _folded(model, after)
        self._after = None if _is_precise(folded, model, after) else after
        served = folded if self._after is None else model
        self._block_rows = rows_per_block(len(served.projection), _BLOCK_BYTES)
        self._projector = Projector(served)
        self._of_one = None if self._after else self._projector.of_one()

    def __reduce__(self) -> tuple:
        return Predictor, self._parts

    def __call__(self, X: Rows) -> Any:
        """Predict, as :meth:`predict` does."""
        return self._applied(X, self._response.predict)

    def predict(self, X: Rows) -> Any:
        """Return the prediction of a sample, or an array of those of several."""
        return self._applied(X, self._response.predict)

    @available_if(_has_classes)
    def decision_function(self, X: Rows) -> Any:
        """Return one number for two classes, positive for the second; one for each class otherwise."""
        return self._applied(X, self._response.decide)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> Any:
        """Return the probability of each class."""
        return self._applied(X, self._response.probabilities)  # type: ignore[arg-type]

    def _applied(self, X: Rows, function: Callable[[np.ndarray], np.ndarray]) -> Any:
        rows = X if sparse.issparse(X) else np.asarray(X)
        if rows.ndim == 1:
            return function(self._scores_of_one(rows))[0]
        slices = row_slices(rows.shape[0], self._block_rows)
        return function(np.concatenate([self._scores(rows[part]) for part in slices]))

    def _scores_of_one(self, x: np.ndarray) -> np.ndarray:
        if self._of_one is None:
            return self._scores(x[None, :])
        return self._of_one(x if self._before is None else self._before(x))[None, :]

    def _scores(self, X: Rows) -> np.ndarray:
        features = self._projector(X if self._before is None else self._before(X))
        return features if self._after is None else self._after(features)


def _folded(model: KernelModel, after: Affine) -> KernelModel:
    """Return the model whose features are an affine function of those of another."""
    offset = plus(model.offset, after.centre) @ after.matrix
    return replace(
        model,
        projection=model.projection @ after.matrix,
        offset=offset if after.shift is None else offset - after.shift,
        first_use=np.zeros(len(model.projection), dtype=np.intp),  # every output needs all landmarks
        refinement=None,
    )


def _is_precise(folded: KernelModel, model: KernelModel, after: Affine) -> bool:
    """Tell if folding loses no digits that features in two steps keep, by outputs for landmarks."""
    if model.refinement is None:
        return True
    if isinstance(model.kernel, Precomputed):
        return False
    rows = model.landmarks[:_COMPARED]
    scores = after(Projector(model)(rows).astype(np.float64))
    difference = np.abs(Projector(folded)(rows) - scores).max()
    return bool(difference <= _MOST_ROUNDING * max(1.0, np.abs(scores).max()))


def predictor(model: Any) -> Predictor:
    """Return a fitted model as one plain function of samples, for serving.

    Features and a linear head are one product with kernel values: ``kernel(x, landmarks) @
    coefficients + intercept``. So what was a pipeline costs little more than its kernel values, and
    one sample takes microseconds.

    Parameters
    ----------
    model : fitted estimator
        An estimator of kernelsieve that predicts; or a ``Pipeline`` of steps that are affine (scalers,
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
    check_is_fitted(model)
    *steps, (name, last) = _steps(model)
    if isinstance(last, KernelEstimator):
        steps.append((name, last))
    before, extractor, after = _composed(steps)
    n_inputs = last.n_components_ if isinstance(last, KernelEstimator) else last.n_features_in_
    read = read_head(last, n_inputs)
    if read is None:
        raise InvalidParameterError(
            f"Step {name!r} ({type(last).__name__}) does not predict by a linear function of its "
            "inputs, so it cannot be folded; use a linear predictor, such as Ridge or "
            "LogisticRegression, or call projector() of the extractor and the last step yourself."
        )
    head, response = read
    after = head if after is None else after.then(head)
    if extractor is None:  # all of it is affine
        return Predictor(None, *_of_inputs(after if before is None else before.then(after)), response)
    return Predictor(before, extractor, after, response)


def _steps(model: Any, name: str = "model") -> Iterator[tuple[str, Any]]:
    """Return the steps that a model consists of, with those of what is inside them."""
    chosen = getattr(model, "best_estimator_", None)
    if chosen is not None:
        yield from _steps(chosen, name)
    elif isinstance(model, ExtractorWithHead):
        yield from _steps(model.extractor, "extractor")
        yield from _steps(model.head, "head")
    elif isinstance(model, Pipeline):
        for inner, step in model.steps:
            yield from _steps(step, inner)
    elif model is not None and not (isinstance(model, str) and model == "passthrough"):
        yield name, model


def _composed(
    steps: list[tuple[str, Any]],
) -> tuple[Affine | None, KernelModel | None, Affine | None]:
    """Return what is before the extractor, its model, and what is behind it."""
    before: Affine | None = None
    after: Affine | None = None
    extractor: KernelModel | None = None
    for name, step in steps:
        affine = affine_of(step)
        if affine is not None and extractor is None:
            before = affine if before is None else before.then(affine)
        elif affine is not None:
            after = affine if after is None else after.then(affine)
        elif isinstance(step, KernelEstimator) and extractor is None:
            extractor = step._current_fit().model
        else:
            raise InvalidParameterError(_cannot_fold(name, step))
    return before, extractor, after


def _cannot_fold(name: str, step: Any) -> str:
    if isinstance(step, KernelEstimator):
        return (
            f"Step {name!r} ({type(step).__name__}) has a kernel of features that are kernel features "
            "themselves; of these one can be folded. Call predict of the pipeline."
        )
    return (
        f"Step {name!r} ({type(step).__name__}) is no affine function that is known here, so it "
        f"cannot be folded; these can: {AFFINE_STEPS} (without clip), and what selects inputs. Apply "
        "that step to samples yourself, and pass a Pipeline of the fitted steps after it."
    )


def _of_inputs(affine: Affine) -> tuple[KernelModel, Affine]:
    """Return an affine function as a model of the inputs themselves."""
    dense = affine.dense
    d = len(dense.matrix)
    inputs = np.arange(d)
    model = KernelModel(Inputs(), inputs, np.eye(d), np.zeros(d), inputs)
    return model, dense
