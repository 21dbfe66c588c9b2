"""Checks of what users hand in: every refusal names the row, the parameter and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from ..data import Pool, check_finite, row_number, row_slices
from ..exceptions import InputScaleWarning, InvalidDataError, InvalidParameterError, warn
from ..fitting import Candidates
from ..kernels import KERNELS, Kernel, Precomputed, Rows, has_width
from ..program.tables import first_text

_LARGEST_WEIGHT = 1e100
_COMPARED_VALUES = 500_000  # looked at together
_SCALE_RATIO, _SCALE_SAMPLE = 1e3, 1000  # of standard deviations, and samples that tell them


def check_rows(
    estimator: BaseEstimator,
    X: Any,
    *,
    reset: bool,
    min_rows: int = 1,
    precomputed: bool = False,
    finite: bool = True,
) -> Rows:
    """Return X as a dense float array or CSR matrix, float32 and float64 as they are.

    Without ``finite``, the caller checks that values are finite.
    """
    if getattr(X, "columns", None) is not None:
        check_names(X)
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            skip_check_array=False,
            accept_sparse=False if precomputed else "csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
        )
    except ValueError as error:
        if "could not convert string" in str(error):
            raise InvalidDataError(_about_text(X)) from error
        raise
    if finite:
        check_finite(X, "X", getattr(estimator, "n_jobs", None))
    return _summed(X) if sparse.issparse(X) else X


def check_names(X: Any) -> None:
    """Refuse a data frame with two columns of one name."""
    names = list(getattr(X, "columns", ()))
    if len(set(names)) == len(names):
        return
    twice = next(name for i, name in enumerate(names) if name in names[:i])
    raise InvalidDataError(
        f"X has {names.count(twice)} columns that are named {twice!r}; rename or drop all but one."
    )


def _about_text(X: Any) -> str:
    """Name the first column that holds text, and what to do about it."""
    return (
        f"There is text in {first_text(X)}; encode it, for example by OneHotEncoder in a "
        "ColumnTransformer, or use SieveRegressor or SieveClassifier, which take categories."
    )


def _summed(X: Rows) -> Rows:
    """Add up entries that a CSR matrix holds in parts; what looks at entries would miss the sum."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_weights(sample_weight: Any, X: Rows) -> np.ndarray | None:
    """Return float64 weights, or None where all are equal to one."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(X.shape[0], float(weight))
    if weight.shape != (X.shape[0],):
        raise InvalidDataError(
            f"sample_weight has shape {weight.shape}; it must be one number a sample, ({X.shape[0]},)."
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise InvalidDataError(
            f"sample_weight has {weight[bad[0]]} in row {row_number(bad[0])}; weights must be "
            "finite and not negative; remove the sample, or give it weight 0."
        )
    extreme = np.flatnonzero(
        (weight > 0) & ((weight < 1 / _LARGEST_WEIGHT) | (weight > _LARGEST_WEIGHT))
    )
    if len(extreme):
        raise InvalidDataError(
            f"sample_weight has {weight[extreme[0]]} in row {row_number(extreme[0])}, which cannot be "
            "squared and summed up; divide all weights by their mean, or pass 0 for very small ones."
        )
    return None if (weight == 1.0).all() else weight


def check_points(points: Any, X: Rows, name: str = "candidates") -> Rows:
    """Return candidates that were given as an array of points."""
    points = check_array(
        points, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    check_finite(points, name)
    points = _summed(points) if sparse.issparse(points) else points
    if points.shape[1] != X.shape[1]:
        raise InvalidParameterError(
            f"{name} has {points.shape[1]} columns and X has {X.shape[1]}; pass points with the "
            "same features as X."
        )
    if sparse.issparse(X) and not sparse.issparse(points):
        return sparse.csr_matrix(points)
    return points.toarray() if sparse.issparse(points) and not sparse.issparse(X) else points


def check_candidates(self: Any, X: Rows) -> tuple[Candidates, Rows | None]:
    """Return how candidates are drawn, and those that were given: points, or rows of a kernel matrix.

    What this class does not understand of them is refused.
    """
    found, name = self._candidates(), type(self).__name__
    for option, value in (("resample", found.resample), ("scored_on", found.scored_on)):
        if value and option not in self._candidate_options:
            raise InvalidParameterError(
                f"{found} has {option}={value!r}, which {name} does not understand; it takes size "
                f"and how. Leave {option} out."
            )
    if found.how == "screen" and self._screening() is None:
        raise InvalidParameterError(
            f"{found} is screened, and {name} has no criterion to screen by; pass how='random', "
            "'kmeans' or 'rpcholesky'."
        )
    parameter = self._candidates_parameter
    if self._is_precomputed:
        return found, _given_rows(found, X, parameter)
    return found, check_points(found.size, X, parameter) if found.are_points else None


def _given_rows(candidates: Candidates, X: np.ndarray, name: str) -> np.ndarray | None:
    """Return row numbers of a precomputed kernel that were given as candidates."""
    if not candidates.are_points:
        check_precomputed(X, None, name)
        return None
    rows = np.asarray(candidates.size)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InvalidParameterError(
            f"kernel='precomputed' needs {name} as a number, or as the row numbers of the pool "
            f"(a list of integers); got an array of shape {rows.shape}."
        )
    if rows.size == 0 or rows.min() < 0 or rows.max() >= X.shape[0]:
        raise InvalidParameterError(
            f"{name} must be row numbers from 0 to {X.shape[0] - 1} for kernel='precomputed'."
        )
    check_precomputed(X, rows, name)
    return rows


def given_pool(X: Rows, kernel: Kernel, points: Rows) -> Pool:
    """Return given candidates with their own kernel matrix."""
    if not isinstance(kernel, Precomputed):
        return Pool(points, np.arange(points.shape[0]), kernel.block(points, points))
    is_square = X.shape[0] == X.shape[1]
    columns = points if is_square else np.arange(len(points))
    return Pool(columns, points, X[np.ix_(points, columns)].astype(np.float64))


def check_kernel_input(kernel: Kernel, X: Rows, *, fitting: bool = False) -> None:
    """Refuse sparse X for a kernel that needs dense X; look at the scales of training samples.

    A kernel of one width for all features of X may see only the largest of them, which is warned of.
    """
    if sparse.issparse(X) and not kernel.accepts_sparse:
        others = ", ".join(repr(name) for name in sorted(KERNELS) if KERNELS[name].accepts_sparse)
        raise InvalidDataError(
            f"kernel={kernel.name!r} needs dense input and X is sparse; pass X.toarray(), or choose "
            f"one of {others}."
        )
    # A thousand samples tell the scales. Sparse features, such as counts of words, are not looked at.
    is_asked = fitting and X.shape[0] > 1 and not kernel.non_negative and has_width(kernel)
    if not is_asked or sparse.issparse(X):
        return
    scales = np.asarray(X[:: max(1, X.shape[0] // _SCALE_SAMPLE)], dtype=np.float64).std(axis=0)
    vary = np.flatnonzero(scales > 0)
    if len(vary) < 2:
        return
    small, large = vary[scales[vary].argmin()], vary[scales[vary].argmax()]
    if scales[large] > _SCALE_RATIO * scales[small]:
        warn(
            f"The features of X have standard deviations from {scales[small]:.2g} (feature {small}) to "
            f"{scales[large]:.2g} (feature {large}), and the kernel has one width for all: it sees "
            "little but the largest, and new samples may be far from all landmarks. Scale X, for "
            "example by sklearn.preprocessing.StandardScaler in a pipeline.",
            InputScaleWarning,
        )


def check_precomputed(X: np.ndarray, given_rows: np.ndarray | None, name: str) -> None:
    """Check the matrix of a precomputed kernel: square and symmetric, or n x c with its c rows."""
    n_rows, n_columns = X.shape
    if given_rows is not None and n_columns == len(given_rows) != n_rows:
        _check_symmetric(X[given_rows], f"X[{name}]")
        return
    if n_rows != n_columns:
        columns = f", or the n x c columns of a pool with {name}=<its c row numbers>" if name else ""
        raise InvalidDataError(
            "kernel='precomputed' needs the n x n kernel matrix of the training samples; X is "
            f"{n_rows} x {n_columns}. Pass a square matrix{columns}."
        )
    _check_symmetric(X, "X")


def _check_symmetric(X: np.ndarray, name: str) -> None:
    for rows in row_slices(len(X), max(1, _COMPARED_VALUES // len(X))):
        gap = np.abs(X[rows] - X[:, rows].T)
        if gap.max() > 1e-6 * max(1e-300, np.abs(X[rows]).max()):
            row, column = np.unravel_index(int(gap.argmax()), gap.shape)
            row = rows.start + int(row)
            raise InvalidDataError(
                f"kernel='precomputed' needs a symmetric matrix; {name}[{row}, {column}] is "
                f"{X[row, column]:g} and {name}[{column}, {row}] is {X[column, row]:g}. "
                "Pass (X + X.T) / 2 if the difference is rounding; columns of a pool must be in the "
                "order of candidates."
            )


def is_rounded(X: np.ndarray) -> bool:
    """Tell if values have the digits of float32 alone, whatever type they are; whole ones are exact."""
    are_whole = True
    for rows in row_slices(len(X), max(1, _COMPARED_VALUES // X.shape[1])):
        with np.errstate(over="ignore"):
            rounded = X[rows].astype(np.float32)
        if not np.array_equal(rounded, X[rows]):
            return False
        are_whole = are_whole and np.array_equal(np.rint(rounded), rounded)
    return not are_whole


def check_precomputed_columns(X: Rows, known: tuple[int, ...], name: str) -> None:
    """Check the width of precomputed kernel values: of the training matrix, or of the landmarks.

    Where both are as wide, columns are taken to be in the order of the training matrix.
    """
    if X.shape[1] not in known:
        raise InvalidDataError(
            f"X has {X.shape[1]} features, but {name} is expecting {known[0]} features as input: "
            "kernel values against the columns of the training matrix, in its order. Where landmarks "
            f"are fewer, values against these {known[1]}, in the order of landmarks_, would do as well."
        )
