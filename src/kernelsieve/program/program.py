"""A fitted pipeline as a short list of pure steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from ..data import is_frame, row_slices, rows_per_block
from ..exceptions import InvalidDataError, InvalidParameterError
from ..kernels import Rows
from ..model import landmark_contributions
from .explanation import Explanation
from .steps.affine import AffineMap
from .steps.encode import EncodeColumns
from .steps.kernel_sum import KernelSum
from .steps.link import Link
from .steps.step import ProgramStep
from .tables import rows_of

_BLOCK_BYTES = 2**22  # of kernel values
_TOGETHER = 16_384  # rows that threads share


def _has_classes(program: Program) -> bool:
    if program.classes is None:
        raise AttributeError("This program predicts numbers, so it has no decision_function.")
    return True


def _has_probabilities(program: Program) -> bool:
    if program.link.probabilities is None:
        raise AttributeError(
            "The last step of this model gives no probabilities, or not by a function of its linear "
            "scores; call predict_proba of the model itself, if it has one."
        )
    return True


class Program:
    """A fitted model as a plain function of samples, for serving; made by :func:`predictor`.

    ``p(x)`` is ``p.predict(x)``. Samples are float arrays, one of shape (n_features,) or several of
    shape (n_samples, n_features), or CSR matrices where the model takes them. A model of a table with
    categories takes data frames and arrays of objects. The number of features is checked, and the names
    of the columns of a data frame. Values are not checked: NaN gives no meaningful prediction where the
    model does not impute it. A program runs in the thread that calls it, may be called by several at
    once, and can be pickled.

    Attributes
    ----------
    kernel_evaluations : int
        Kernel evaluations for a sample.
    classes : ndarray of shape (n_classes,) or None
        Labels, where labels are predicted.
    steps : tuple of ProgramStep
        Pure functions, one after the other: encode columns, affine map, kernel sum, affine map, link.
    """

    def __init__(self, steps: Sequence[ProgramStep], names: Sequence[str] | None = None) -> None:
        *before, last = steps
        assert isinstance(last, Link)
        self.steps, self.link = tuple(steps), last
        self.names = None if names is None else list(names)
        self.classes = last.classes
        self.kernel_sum: KernelSum | None = next(
            (step for step in before if isinstance(step, KernelSum)), None
        )
        self.encoding = before[0] if before and isinstance(before[0], EncodeColumns) else None
        m = 0 if self.kernel_sum is None else len(self.kernel_sum.model.projection)
        self.kernel_evaluations = m
        self.n_features = steps[0].n_inputs
        place = len(before) if self.kernel_sum is None else before.index(self.kernel_sum)
        self._before, self._to_kernel = tuple(before), tuple(before[:place])
        self._from_kernel = tuple(before[place + 1 :])
        self._run_one = tuple(step.run_one for step in before)
        self._block_rows = rows_per_block(max(m, 1), _BLOCK_BYTES)

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs; x0, x1, ... where they have none."""
        return [f"x{i}" for i in range(self.n_features or 0)] if self.names is None else self.names

    def __reduce__(self) -> tuple:
        return Program, (self.steps, self.names)

    def __call__(self, X: Rows) -> Any:
        """Predict, as :meth:`predict` does."""
        return self._applied(X, self.link.run)

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
        return self._applied(X, self.link.run)

    @available_if(_has_classes)
    def decision_function(self, X: Rows) -> Any:
        """Return one score for two classes, positive for the second; otherwise one for each class.

        Parameters
        ----------
        X : array of shape (n_features,) or (n_samples, n_features), or CSR matrix
            One sample, or several, as for :meth:`predict`.

        Returns
        -------
        float or ndarray of shape (n_samples,)
            With a further axis of n_classes, where there are more than two classes.
        """
        return self._applied(X, self.link.decide)

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
        return self._applied(X, self.link.probabilities)  # type: ignore[arg-type]

    def inputs(self, X: Any) -> np.ndarray:
        """Return samples preprocessed for the kernel.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_inputs)
        """
        return self._in_blocks(X, self._to_kernel, _TOGETHER)

    def scores(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the scores that the link converts to predictions; raise an error for NaN or infinity.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features)
            Samples.
        n_jobs : int, default=None
            Number of threads; None for as many as BLAS uses.

        Returns
        -------
        ndarray of shape (n_samples, n_scores)
        """
        found = self.inputs(X)
        if self.kernel_sum is not None:
            found = self.kernel_sum.model.features(found, n_jobs)
        return self._run(self._from_kernel, found)

    def explain(self, X: Any, landmark_indices: np.ndarray) -> Explanation:
        """Return the contributions of landmarks to scores; for two classes, to the score of the second.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features)
            Samples.
        landmark_indices : ndarray of shape (n_landmarks,)
            Rows of the training samples that the landmarks are.

        Returns
        -------
        Explanation
            With an axis of outputs where there are several, and not two classes.

        Raises
        ------
        InvalidParameterError
            If the scores are not sums over landmarks.
        """
        if self.kernel_sum is None or not all(isinstance(s, AffineMap) for s in self._from_kernel):
            raise InvalidParameterError(
                "The scores of this model are no sums over landmarks, so they cannot be explained; "
                "pass a model with a kernel and a linear head."
            )
        model, inputs = self.kernel_sum.model, self.inputs(X)
        coefficients = model.projection
        for step in self._from_kernel:  # where digits would be lost by folding
            coefficients = step.run(coefficients) - step.run(np.zeros((1, len(coefficients.T))))
        values = model.kernel.block(np.ascontiguousarray(inputs), model.landmarks)
        added = landmark_contributions(model.kernel, model.landmarks, coefficients, values)
        scores = self._run(self._from_kernel, self.kernel_sum.run(inputs))
        found = Explanation(added, scores - added.sum(axis=1), landmark_indices, values)
        if self.classes is not None and self.link.n_scores == 2:
            return found.of_difference(1, 0)
        is_one = self.link.n_scores == 1 and (self.link.flat or self.classes is not None)
        return found.of_output(0) if is_one else found

    def _applied(self, X: Rows, function: Callable[[np.ndarray], np.ndarray]) -> Any:
        rows = self._as_rows(X)
        if rows.shape[-1] != self.n_features or not isinstance(X, np.ndarray):
            self._check_columns(rows, X)
        if rows.ndim == 1:
            for run in self._run_one:
                rows = run(rows)
            return function(rows[None, :])[0]
        return function(self._in_blocks(rows, self._before, self._block_rows))

    def _in_blocks(self, X: Any, steps: Sequence[ProgramStep], n_rows: int) -> Any:
        """Apply steps to blocks of samples."""
        if not steps:
            return X
        slices = list(row_slices(X.shape[0], n_rows)) or [slice(0, 0)]
        found = [self._run(steps, rows_of(X, part)) for part in slices]
        return found[0] if len(found) == 1 else np.concatenate(found)

    @staticmethod
    def _run(steps: Sequence[ProgramStep], X: Any) -> Any:
        for step in steps:
            X = step.run(X)
        return X

    def _as_rows(self, X: Any) -> Any:
        """Convert samples to a form that can be sliced; matrices stay as they are.

        Data frames that are to be encoded stay as well; a row of one is a series.
        """
        encoding = self.encoding
        if sparse.issparse(X) or (encoding is not None and is_frame(X) and X.ndim == 2):
            return X
        return np.asarray(X, dtype=object if encoding is not None and encoding.texts else None)

    def _check_columns(self, rows: Any, X: Any) -> None:
        """Raise an error if the number of features or the column names differ from those of fit."""
        if self.n_features is not None and rows.shape[-1] != self.n_features:
            raise InvalidDataError(
                f"X has {rows.shape[-1]} features, and the model has {self.n_features}: pass one "
                f"sample of shape ({self.n_features},), or several of shape (n_samples, "
                f"{self.n_features})."
            )
        given = list(map(str, getattr(X, "columns", ())))
        if given and self.names is not None and given != self.names:
            i = next(
                i for i, pair in enumerate(zip(given, self.names, strict=True)) if len(set(pair)) > 1
            )
            raise InvalidDataError(
                f"Column {i} of X is {given[i]!r}, and was {self.names[i]!r} in fit; pass the columns "
                "of fit, in their order."
            )
