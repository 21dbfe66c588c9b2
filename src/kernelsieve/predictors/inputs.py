"""Encode tables for kernels: one-hot categories, median imputation, equal scales."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from ..data import is_frame, row_hashes, row_slices
from ..estimators.inputs import check_names
from ..exceptions import IgnoredFeatureWarning, InvalidDataError, InvalidParameterError, warn
from ..program import AffineMap, EncodeColumns
from ..program.steps.encode import Indicator, Number, missing_indicator
from ..program.tables import (
    column_of,
    first_text,
    is_missing,
    is_number,
    numbers_of,
    rows_of,
)

_HASHED = 16_384  # rows together
_MOST_CATEGORIES = 50  # with an indicator of their own; rarer ones have none
_FEW_TEXTS = 0.05  # of the values of a column of numbers, which is text for the sake of them


@dataclass(frozen=True)
class CategoryColumn:
    """Indicators of the frequent values of a categorical feature; missing counts as a value.

    A feature with as many values as samples, as identifiers have, has none.
    """

    feature: int
    values: list[Any]  # None is a missing one

    @classmethod
    def fit(cls, feature: int, column: np.ndarray, name: object = None) -> Self:
        """Keep the most frequent values; of equally frequent ones, those that come first."""
        values, codes = _factorised(column)
        counts = np.bincount(codes, minlength=len(values))
        kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES])
        if len(values) == len(column):
            kept = kept[:0]
        if len(kept) < len(values):
            _warn_of_many_values(
                feature if name is None else name, values, counts[kept].sum() / len(column)
            )
        return cls(feature, [values[i] for i in kept])

    @property
    def indicators(self) -> list[Indicator]:
        """One indicator for each value; unknown values set none."""
        missing = missing_indicator(self.feature)
        return [missing if v is None else Indicator(self.feature, v) for v in self.values]


def _warn_of_many_values(name: object, values: list[Any], share: float) -> None:
    """Warn if a column has too many values to encode, so that most samples or all lose theirs."""
    texts = [value for value in values if isinstance(value, str) and not is_number(value)]
    if 0 < len(texts) <= _FEW_TEXTS * len(values):
        warn(
            f"Column {name!r} of X was taken for categories, as it has {texts[0]!r} among numbers; "
            "convert it to numbers, for example by pandas.to_numeric(..., errors='coerce').",
            IgnoredFeatureWarning,
        )
    elif share < 0.5:
        lost = f"only {share:.0%} have one with an indicator" if share else "so it was left out"
        warn(
            f"Column {name!r} of X has {len(values):,} different values among the samples, {lost}; "
            "drop the column, or group its values.",
            IgnoredFeatureWarning,
        )


def _factorised(column: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Return the distinct values, sorted as text, and the index of each entry's value."""
    plain = [None if is_missing(value) else value for value in column.tolist()]
    try:
        values = sorted(set(plain), key=lambda value: (value is None, str(value)))
    except TypeError:
        first = next(value for value in plain if not isinstance(value, Hashable))
        raise InvalidDataError(
            f"A column of X has values that cannot be categories, such as {str(first)[:60]}; "
            "convert it to numbers, texts or several columns."
        ) from None
    number = {value: i for i, value in enumerate(values)}
    return values, np.fromiter((number[value] for value in plain), np.intp, len(plain))


@dataclass(frozen=True)
class InputEncoder:
    """Encodes numeric features, missing-value indicators and categories at unit variance.

    The indicators of one category share a scale: together they have unit variance.
    """

    numeric: np.ndarray  # which features are numbers
    medians: np.ndarray
    with_missing: np.ndarray  # which of the numeric features had missing values
    categories: Sequence[CategoryColumn]
    scales: np.ndarray  # what columns are multiplied by; 0 for constant ones
    source: np.ndarray  # the feature that each column comes from
    n_features: int

    @classmethod
    def fit(cls, X: Any, categorical: np.ndarray) -> Self:
        """Learn the encoding of training samples; ``categorical`` marks the categorical features."""
        numeric = np.flatnonzero(~categorical)
        numbers = numbers_of(X, numeric)
        missing = np.isnan(numbers)
        medians = np.array([_median(column) for column in numbers.T])
        names = X.columns if is_frame(X) else range(X.shape[1])
        columns = [
            CategoryColumn.fit(i, column_of(X, i), names[i])
            for i in np.flatnonzero(categorical).tolist()
        ]
        with_missing = np.flatnonzero(missing.any(axis=0))
        of_categories = [column.feature for column in columns for _ in column.values]
        source = np.array([*numeric, *numeric[with_missing], *of_categories], dtype=np.intp)
        if len(source) == 0:
            raise InvalidDataError(
                "Every column of X has a value of its own for each sample, as identifiers have; pass "
                "other columns, or group their values."
            )
        ones = np.ones(len(source))
        plain = cls(numeric, medians, with_missing, columns, ones, source, X.shape[1])
        return plain._scaled(plain(X))

    @property
    def steps(self) -> tuple[EncodeColumns, AffineMap]:
        """The encoding and the scaling as program steps."""
        numbers = zip(self.numeric.tolist(), self.medians.tolist(), strict=True)
        columns: list[Number | Indicator] = [Number(i, median) for i, median in numbers]
        columns += [missing_indicator(int(self.numeric[i])) for i in self.with_missing]
        columns += [indicator for column in self.categories for indicator in column.indicators]
        return EncodeColumns(tuple(columns), self.n_features), AffineMap(self.scales)

    def __call__(self, X: Any) -> np.ndarray:
        """Encode samples."""
        encode, scale = self.steps
        return scale.run(encode.run(X))

    def take_state(self, state: dict[str, Any]) -> None:
        """Restore the fields from a file; older files hold variances of columns, too."""
        vars(self).update({known.name: state[known.name] for known in fields(self)})

    @property
    def groups(self) -> np.ndarray:
        """Group number of each column; columns of one category share it."""
        n_single = len(self.numeric) + len(self.with_missing)
        single, shared = np.arange(n_single), len(self.source) + self.source[n_single:]
        return np.unique(np.concatenate([single, shared]), return_inverse=True)[1]

    def _scaled(self, columns: np.ndarray) -> Self:
        vary = (columns != columns[0]).any(axis=0)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            variances = np.where(vary, columns.var(axis=0), 0.0)
        lost = np.flatnonzero(vary & ~((variances > 0) & (variances < np.inf)))
        if len(lost):
            values = np.abs(columns[:, lost[0]])
            raise InvalidDataError(
                f"Feature {self.source[lost[0]]} of X (counted from 0) has values up to "
                f"{values.max():.3g}, which are too large or too small for their variance to be a "
                "number; scale the feature, or leave it out."
            )
        groups = self.groups
        together = np.bincount(groups, variances)[groups]
        used = variances > 0
        scales = np.divide(1, np.sqrt(together), out=np.zeros(len(groups)), where=used)
        return replace(self, scales=scales)


def _median(column: np.ndarray) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if len(known) else 0.0


# ---------------------------------------------------------------------- tables and arrays


def as_table(X: Any, min_samples: int = 1) -> Any:
    """Return data frames unchanged, and other input as a float array that may hold NaN."""
    if getattr(X, "ndim", 2) == 1:
        check_array(X, dtype=None, input_name="X")  # which says how to pass one sample
    if is_frame(X):
        check_names(X)
        if X.shape[1] == 0 or X.shape[0] < min_samples:
            raise InvalidDataError(
                f"X has {X.shape[0]} sample(s) and {X.shape[1]} feature(s); at least {min_samples} "
                "and 1 are needed."
            )
        return X
    if sparse.issparse(X):
        raise InvalidDataError(
            "Sparse data was passed for X, but dense data is required; pass X.toarray(), or use "
            "SparseMaximalAlignment in a pipeline, which takes sparse X."
        )
    try:
        return check_array(
            X,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            input_name="X",
            ensure_min_samples=min_samples,
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise InvalidDataError(
            f"There is text in {first_text(X)}; convert it, or pass a pandas data frame, in which "
            "columns of text are categories."
        ) from error


def categorical_mask(X: Any, categorical_features: Any, names: np.ndarray | None) -> np.ndarray:
    """Return a mask of the categorical features, read as ``HistGradientBoostingRegressor`` does.

    "from_dtype" are the columns of a data frame that are categories or text.
    """
    n_features = X.shape[1]
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise InvalidParameterError(
                f"categorical_features={categorical_features!r} is not known; pass 'from_dtype', None, "
                "names or numbers of features, or a mask."
            )
        return np.array([is_frame(X) and _is_text(X.dtypes.iloc[i]) for i in range(n_features)])
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    given = np.asarray(categorical_features)
    if given.size == 0:
        return mask
    if given.dtype == bool and given.shape == (n_features,):
        return given.copy()
    mask[[_number_of(value, n_features, names) for value in given.tolist()]] = True
    return mask


def _number_of(value: Any, n_features: int, names: np.ndarray | None) -> int:
    if isinstance(value, str) and names is not None and value in set(names):
        return int(np.flatnonzero(names == value)[0])
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n_features:
        return value
    raise InvalidParameterError(
        f"categorical_features has {value!r}, which is not a feature of X; pass names of its columns, "
        f"numbers from 0 to {n_features - 1}, or a mask of {n_features} truth values."
    )


def _is_text(dtype: Any) -> bool:
    return str(dtype) in ("category", "object", "string", "str") or getattr(dtype, "kind", "") == "O"


def table_hashes(X: Any, categorical: np.ndarray) -> np.ndarray:
    """Return a hash for each row of a table, which depends on the values of that row only."""
    found = np.empty(X.shape[0], np.uint64)
    numeric, categories = np.flatnonzero(~categorical), np.flatnonzero(categorical).tolist()
    for part in row_slices(X.shape[0], _HASHED):
        rows = rows_of(X, part)
        columns = [numbers_of(rows, numeric), *(_as_numbers(column_of(rows, i)) for i in categories)]
        found[part] = row_hashes(np.column_stack(columns) if len(columns) > 1 else columns[0])
    return found


def _as_numbers(column: np.ndarray) -> np.ndarray:
    """Hash each value of a categorical column to a 48-bit number."""
    values, codes = _factorised(column)
    digests = [blake2b(repr(value).encode(), digest_size=6).digest() for value in values]
    return np.array([int.from_bytes(digest) for digest in digests], np.float64)[codes]
