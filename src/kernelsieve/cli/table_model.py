"""A model of a table: it knows its columns by name and kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .columns import coerced


class TableModel(BaseEstimator):
    """A fitted pipeline, and what the columns of its tables are.

    It takes data frames whose columns are in any order and of any type that can be read as what they
    are: dates as text, numbers as text.

    Parameters
    ----------
    pipeline : Pipeline
        Encodes columns, and predicts or gives features.
    kinds : dict
        "number", "date" or "category" for every column.
    target : str
        The column that is predicted.
    task : {"regression", "classification"}
        What was fitted.
    notes : list of str
        What was assumed and found.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        kinds: Mapping[str, str],
        target: str,
        task: str,
        notes: Sequence[str] = (),
    ) -> None:
        self.pipeline = pipeline
        self.kinds = kinds
        self.target = target
        self.task = task
        self.notes = notes

    @property
    def fitted(self) -> Any:
        """The last step: an estimator of kernelsieve, or a search that has chosen one."""
        return self.pipeline.steps[-1][1]

    @property
    def classes_(self) -> np.ndarray:
        return self.pipeline.classes_

    def encoded(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the inputs of the last step."""
        return np.asarray(self.pipeline[:-1].transform(coerced(frame, self.kinds)), dtype=np.float64)

    def predict(self, frame: pandas.DataFrame) -> np.ndarray:
        """Predict the target of rows."""
        return self.fitted.predict(self.encoded(frame))

    def predict_proba(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the probability of every class for rows."""
        return self.fitted.predict_proba(self.encoded(frame))

    def transform(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the features of rows."""
        return np.asarray(self.fitted.transform(self.encoded(frame)))

    def __sklearn_is_fitted__(self) -> bool:
        return True
