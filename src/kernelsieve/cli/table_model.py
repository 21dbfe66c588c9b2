"""The content of a model file of the command line: a pipeline and the types of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from .._sklearn import has_method
from ..predictors import SieveRegressor
from ..predictors.base import SievePredictor
from ..predictors.calibration import HeldOut
from ..predictors.losses import LOSSES
from ..program import Explanation, Program, compiled
from .columns import CATEGORY, NUMBER, LostValues, as_texts, coerce_columns
from .errors import TableError
from .methods import find_extractor


def _labels(classes: np.ndarray) -> np.ndarray:
    """Convert class labels to whole numbers or text, as tables hold them."""
    return classes.astype(np.int64 if classes.dtype.kind in "iuf" else str)


class TableModel(BaseEstimator):
    """A fitted pipeline with the types of its table's columns.

    It takes data frames whose columns are in any order and of any type that can be read as what they
    are: dates as text, numbers as text.

    Parameters
    ----------
    pipeline : Pipeline
        Encodes columns, and predicts or gives features; or a sieve alone, which takes tables.
    kinds : dict
        "number", "category", "date", or "date, day first" and the like for every column.
    target : str
        The column that is predicted; empty where it is not known, as for sieves from Python.
    task : {"regression", "classification"}
        The fitted pipeline.
    notes : list of str
        Assumptions and results of the fit.
    landmarks : dict of list of str, default=None
        The first landmarks: values of the table that was fitted, by column.
    landmark_rows : ndarray of shape (n_landmarks,), default=None
        Numbers of all landmarks among the rows of that table, from 0.
    residuals : ndarray of shape (n_rows,), default=None
        Of rows that were held out, for intervals.
    weights : ndarray of shape (n_rows,), default=None
        Of these rows.
    """

    landmarks: Mapping[str, list[str]] | None = None  # of files that were written without
    landmark_rows: np.ndarray | None = None
    residuals: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __init__(
        self,
        pipeline: Pipeline,
        kinds: Mapping[str, str],
        target: str,
        task: str,
        notes: Sequence[str] = (),
        landmarks: Mapping[str, list[str]] | None = None,
        landmark_rows: np.ndarray | None = None,
        residuals: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> None:
        self.pipeline = pipeline
        self.kinds = kinds
        self.target = target
        self.task = task
        self.notes = notes
        self.landmarks = landmarks
        self.landmark_rows = landmark_rows
        self.residuals = residuals
        self.weights = weights

    @classmethod
    def from_sieve(cls, sieve: SievePredictor) -> TableModel:
        """Wrap a sieve that was fitted in Python as a model of tables with the same columns."""
        encoder = sieve._current_fit().preparation.encoder
        names = getattr(sieve, "feature_names_in_", [f"x{i}" for i in range(encoder.n_features)])
        texts = set()  # other categories are numbers, and equal to what is read as numbers
        for column in encoder.categories:
            if not column.values or any(isinstance(value, str) for value in column.values):
                texts.add(column.feature)
                values = pandas.Series(column.values, dtype=object)
                column.values[:] = as_texts(values).where(values.notna(), None).tolist()
        kinds = {name: CATEGORY if i in texts else NUMBER for i, name in enumerate(names)}
        if not is_classifier(sieve):
            return cls(Pipeline([("model", sieve)]), kinds, "", "regression")
        sieve.classes_ = _labels(sieve.classes_)
        return cls(Pipeline([("model", sieve)]), kinds, "", "classification")

    @property
    def fitted(self) -> Any:
        """The last step: an estimator of kernelsieve, or a search that has chosen one."""
        return self.pipeline.steps[-1][1]

    @property
    def predicts(self) -> bool:
        """Whether the model predicts, and does not only compute features."""
        return has_method(self.fitted, "predict")

    @property
    def has_probabilities(self) -> bool:
        return has_method(self.fitted, "predict_proba")

    @property
    def program(self) -> Program:
        """The pipeline compiled to a program; without a head, the program computes features."""
        return compiled(self.pipeline, "prediction" if self.predicts else "features")

    @property
    def classes_(self) -> np.ndarray:
        return self.pipeline.classes_

    @property
    def input_names(self) -> list[str]:
        """Names of the encoded inputs: columns, and indicators of categories."""
        if len(self.pipeline) == 1:
            return list(self.kinds)
        names = self.pipeline[:-1].get_feature_names_out()
        return [str(name).partition("__")[2] or str(name) for name in names]

    def table(self, frame: pandas.DataFrame, lost: LostValues | None = None) -> pandas.DataFrame:
        """Convert the columns of the model to their types, and count lost values."""
        table = coerce_columns(frame, self.kinds)
        if lost is not None:
            lost.add(frame, table)
        return table

    @available_if(lambda model: model.predicts)
    def predict(self, frame: pandas.DataFrame) -> np.ndarray:
        """Predict the target of rows."""
        return self.program.predict(self.table(frame))

    @available_if(lambda model: model.has_probabilities)
    def predict_proba(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the probability of every class for rows."""
        return self.program.predict_proba(self.table(frame))

    def predict_interval(self, frame: pandas.DataFrame, coverage: float = 0.9) -> np.ndarray:
        """Return lower and upper ends of intervals that hold the target with a probability."""
        self.check_has_intervals()
        if isinstance(self.fitted, SieveRegressor):
            return self.fitted.predict_interval(self.table(frame), coverage)
        residuals = np.asarray(self.residuals)[:, None]
        weights = np.ones(len(residuals)) if self.weights is None else self.weights
        held_out = HeldOut(np.zeros_like(residuals), residuals, weights)
        scores = self.program.scores(self.table(frame))
        return LOSSES["squared_error"].intervals(scores, held_out, coverage)[:, 0]

    def explain(self, frame: pandas.DataFrame) -> Explanation:
        """Return the contributions of landmarks to the predictions of rows."""
        rows = self.landmark_rows
        rows = find_extractor(self.fitted).landmark_indices_ if rows is None else rows
        return self.program.explain(self.table(frame), rows)

    @property
    def has_intervals(self) -> bool:
        known = self.residuals is not None or isinstance(self.fitted, SieveRegressor)
        return self.task == "regression" and known

    def check_has_intervals(self) -> None:
        """Raise an error if the model has no held-out residuals to make intervals from."""
        if self.task == "classification":
            raise TableError("Labels have no intervals; ask for --proba instead of --interval.")
        if not self.has_intervals:
            raise TableError(
                "The model was fitted to sums, without held-out rows, so it has no intervals; fit it "
                "to a table."
            )

    @available_if(lambda model: has_method(model.fitted, "transform"))
    def transform(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the features of rows."""
        return compiled(self.pipeline, "features")(self.table(frame))

    def __sklearn_is_fitted__(self) -> bool:
        return True
