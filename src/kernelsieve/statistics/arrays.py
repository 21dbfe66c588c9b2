"""Arrays of a statistic as other processes and files get them: half of a square, and checked."""

from __future__ import annotations

import numpy as np

from ..exceptions import ModelFileError


def packed(half: np.ndarray) -> np.ndarray:
    """Return what is below and on the diagonal, row by row."""
    return half[np.tril_indices(len(half))]


def unpacked(values: np.ndarray, size: int) -> np.ndarray:
    """Return packed rows below and on the diagonal of a square of zeros."""
    check_shape("sums", values, (size * (size + 1) // 2,))
    half = np.zeros((size, size))
    half[np.tril_indices(size)] = values
    return half


def check_shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse an array of a file that is not as it was written."""
    if array.shape != shape or array.dtype != np.float64:
        raise ModelFileError(
            f"{name} should have shape {shape} and float64 numbers; the file has {array.shape} and "
            f"{array.dtype}."
        )
