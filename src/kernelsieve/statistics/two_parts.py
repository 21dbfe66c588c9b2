"""Arrays of sums: in two parts, and as files hold them."""

from __future__ import annotations

import numpy as np

from ..exceptions import ModelFileError


def scaled(high: np.ndarray, low: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts of a product, with what the product of the high parts rounds off."""
    product = high * factor
    (a, b), (c, d) = _halves(high), _halves(np.asarray(factor))
    rounded_off = ((a * c - product) + a * d + b * c) + b * d
    return product, rounded_off + low * factor


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers into two of half as many digits, whose products are exact (Veltkamp)."""
    enlarged = values * (2.0**27 + 1)
    upper = enlarged - (enlarged - values)
    return upper, values - upper


def check_shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse an array of a file that is not as it was written."""
    if array.shape != shape or array.dtype != np.float64:
        raise ModelFileError(
            f"{name} should have shape {shape} and float64 numbers; the file has {array.shape} and "
            f"{array.dtype}."
        )
