"""Rectangle features of images: differences of sums over neighbouring rectangles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..data import row_slices
from ..exceptions import InvalidDataError, InvalidParameterError

_IMAGES_AT_ONCE = 256  # whose integral images stay in the cache
_FIELDS = [("kind", "U16"), *((name, np.intp) for name in ("top", "left", "height", "width"))]


class _Kind(NamedTuple):
    """A rectangle feature: weights of equal cells, in a window with sides in multiples of ``unit``."""

    name: str
    weights: tuple[tuple[int, ...], ...]
    unit: int

    @property
    def corners(self) -> list[tuple[int, int, int]]:
        """Corners of the cells, with their weights in the integral image."""
        counts = np.diff(np.diff(np.pad(self.weights, 1), axis=0), axis=1)
        return [(int(i), int(j), int(counts[i, j])) for i, j in np.argwhere(counts)]


_KINDS = (
    _Kind("two_horizontal", ((-1, 1),), 2),
    _Kind("two_vertical", ((-1,), (1,)), 2),
    _Kind("three_horizontal", ((-1, 1, -1),), 3),
    _Kind("three_vertical", ((-1,), (1,), (-1,)), 3),
    _Kind("four", ((1, -1), (-1, 1)), 2),
)


def rectangle_features(
    images: Any,
    image_shape: tuple[int, int] = (19, 19),
    *,
    dtype: Any = np.float64,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the rectangle features of Viola and Jones at every place and scale.

    Two-rectangle features are the right rectangle less the left one, and the lower less the upper one;
    three-rectangle features the middle one less those beside it, horizontally and vertically; the
    four-rectangle feature is the difference of the diagonal pairs. Windows of two and four rectangles
    have sides that are multiples of 2, those of three rectangles multiples of 3. For images of 19 x 19
    pixels that makes the 30,798 features of Dhanjal, Gunn and Shawe-Taylor (2009), section 6.4.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width) or (n_images, height * width)
        Grey values.
    image_shape : tuple of two int, default=(19, 19)
        Height and width.
    dtype : {float64, float32}, default=float64
        Of the features. Sums are taken in float64 in any case.
    out : ndarray of shape (n_images, n_features), default=None
        Output array, such as a memory map; None makes a new array of ``dtype``.

    Returns
    -------
    ndarray of shape (n_images, n_features)
        :func:`rectangle_windows` tells what each column is.

    Notes
    -----
    Each feature takes six to nine values of the integral image, whatever its size. Apart from the
    features themselves, a few hundred images are in memory at a time.

    References
    ----------
    P. Viola, M. J. Jones. Robust real-time face detection. International Journal of Computer Vision
    57(2), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.datasets import rectangle_features
    >>> faces = np.random.default_rng(0).random((5, 19, 19))
    >>> rectangle_features(faces, dtype=np.float32).shape
    (5, 30798)
    """
    windows = list(_windows(image_shape))
    pixels = _pixels(images, image_shape)
    n_features = sum(rows * columns for *_, rows, columns in windows)
    features = _destination(out, (len(pixels), n_features), dtype)
    for some in row_slices(len(pixels), _IMAGES_AT_ONCE):
        integral = _integral_images(pixels[some])
        first = 0
        for kind, height, width, rows, columns in windows:
            values = _at_every_place(integral, kind, height, width, rows, columns)
            last = first + rows * columns
            features[some, first:last] = values.reshape(len(values), -1)
            first = last
    return features


def rectangle_windows(image_shape: tuple[int, int] = (19, 19)) -> np.ndarray:
    """Return the kind and the window of every rectangle feature, in the order of the columns.

    Parameters
    ----------
    image_shape : tuple of two int, default=(19, 19)
        Height and width of the images.

    Returns
    -------
    structured ndarray of shape (n_features,)
        With fields ``kind`` (``"two_horizontal"``, ``"two_vertical"``, ``"three_horizontal"``,
        ``"three_vertical"``, ``"four"``), ``top``, ``left``, ``height`` and ``width``.

    Examples
    --------
    >>> from kernelsieve.datasets import rectangle_windows
    >>> windows = rectangle_windows()
    >>> len(windows), windows[-1].item()
    (30798, ('four', 1, 1, 18, 18))
    """
    parts = []
    for kind, height, width, rows, columns in _windows(image_shape):
        part = np.empty(rows * columns, dtype=_FIELDS)
        part["kind"], part["height"], part["width"] = kind.name, height, width
        part["top"], part["left"] = np.divmod(np.arange(rows * columns), columns)
        parts.append(part)
    return np.concatenate([np.empty(0, dtype=_FIELDS), *parts])


def _windows(image_shape: tuple[int, int]) -> Iterator[tuple[_Kind, int, int, int, int]]:
    """Yield each kind with each window size, and its numbers of positions."""
    height, width = _check_shape(image_shape)
    for kind in _KINDS:
        for tall in range(kind.unit, height + 1, kind.unit):
            for wide in range(kind.unit, width + 1, kind.unit):
                yield kind, tall, wide, height - tall + 1, width - wide + 1


def _integral_images(pixels: np.ndarray) -> np.ndarray:
    """Return integral images: sums of the pixels above and to the left, padded with zeros."""
    sums = pixels.astype(np.float64).cumsum(axis=1).cumsum(axis=2)
    return np.pad(sums, ((0, 0), (1, 0), (1, 0)))


def _at_every_place(
    integral: np.ndarray, kind: _Kind, height: int, width: int, rows: int, columns: int
) -> np.ndarray:
    """Return a feature of one size at every position in every image."""
    cell_height, cell_width = height // len(kind.weights), width // len(kind.weights[0])
    values = np.zeros((len(integral), rows, columns))
    for i, j, count in kind.corners:
        top, left = i * cell_height, j * cell_width
        values += count * integral[:, top : top + rows, left : left + columns]
    return values


def _check_shape(image_shape: tuple[int, int]) -> tuple[int, int]:
    sides = np.asarray(image_shape)
    if sides.shape != (2,) or sides.dtype.kind not in "iu" or (sides < 2).any():
        raise InvalidParameterError(
            f"image_shape={image_shape!r} must be two whole numbers, height and width, of at least 2."
        )
    return int(sides[0]), int(sides[1])


def _pixels(images: Any, image_shape: tuple[int, int]) -> np.ndarray:
    pixels = np.asarray(images)
    height, width = image_shape
    if pixels.shape[1:] not in ((height, width), (height * width,)) or pixels.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"images have shape {pixels.shape} and type {pixels.dtype}; they must be numbers of shape "
            f"(n_images, {height}, {width}) or (n_images, {height * width}). Pass their image_shape."
        )
    return pixels.reshape(len(pixels), height, width)


def _destination(out: np.ndarray | None, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InvalidParameterError(f"dtype={dtype!r} must be float64 or float32.")
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape:
        raise InvalidParameterError(f"out has shape {out.shape}; it must have shape {shape}.")
    return out
