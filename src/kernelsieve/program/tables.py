"""Access to data frames and arrays by columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ..data import is_frame
from ..exceptions import InvalidDataError


def is_missing(value: Any) -> bool:
    """Return True for None, NaN and NA."""
    return value is None or value != value or type(value).__name__ == "NAType"


def rows_of(X: Any, rows: np.ndarray | slice) -> Any:
    """Return rows of a table."""
    return X.iloc[rows] if is_frame(X) else X[rows]


def column_of(X: Any, feature: int) -> np.ndarray:
    """Return a column as Python objects."""
    column = X.iloc[:, feature] if is_frame(X) else X[:, feature]
    return np.asarray(column, dtype=object)


def numbers_of(X: Any, features: np.ndarray) -> np.ndarray:
    """Return numeric columns as float64, with NaN for missing values."""
    if not is_frame(X):
        return X if len(features) == X.shape[1] else X[:, features]
    if len(features) == 0:
        return np.empty((X.shape[0], 0))
    try:
        numbers = X.iloc[:, features].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"There is text in {first_text(X.iloc[:, features])}, which should be numeric; convert it, "
            "or name the column in categorical_features when fitting."
        ) from error
    return check_array(
        numbers, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X", ensure_min_features=0
    )


def first_text(X: Any) -> str:
    """Return the first column that holds text, with its first non-numeric value."""
    names = list(getattr(X, "columns", ()))
    values = np.asarray(X, dtype=object)
    where, first = "X", ""
    for i, column in enumerate(values.T if values.ndim == 2 else ()):
        texts = [value for value in column.tolist() if isinstance(value, str) and not is_number(value)]
        if texts:
            where = f"column {repr(names[i]) if names else i} of X"
            first = f" ({texts[0]!r})"
            break
    return where + first


def is_number(text: str) -> bool:
    """Return True if a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
