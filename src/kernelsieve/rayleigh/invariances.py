"""Transforms of square images by small steps: translation, rotation, line thickening."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isqrt

import numpy as np
from scipy import ndimage, sparse

from ..exceptions import InvalidDataError
from ..kernels import Rows


class ImageTransform(ABC):
    """Transforms flat square images by a small step; can be pickled."""

    def __call__(self, X: Rows) -> np.ndarray:
        """Return the transformed images, of the shape of X."""
        rows = np.asarray(X.toarray() if sparse.issparse(X) else X)
        if rows.dtype.kind != "f":  # parts of a pixel, and sums that are larger than a pixel can be
            rows = rows.astype(np.float64)
        side = isqrt(rows.shape[-1]) if rows.ndim == 2 else 0
        if side == 0 or side * side != rows.shape[1]:
            raise InvalidDataError(
                f"X has the shape {rows.shape}, which is not a square image; images of other shapes "
                "need a transformation of your own, a function from X to X transformed."
            )
        moved = self.move(rows.reshape(-1, side, side))
        return np.asarray(moved).reshape(rows.shape).astype(rows.dtype, copy=False)

    @abstractmethod
    def move(self, images: np.ndarray) -> np.ndarray:
        """Return transformed images.

        Parameters
        ----------
        images : ndarray of shape (n, side, side)
            Square images.

        Returns
        -------
        ndarray of shape (n, side, side)
        """


@dataclass(frozen=True)
class ImageTranslation(ImageTransform):
    """Shift images, also by fractions of a pixel; new pixels repeat the border.

    Parameters
    ----------
    right : float, default=1.0
        Pixels to the right.
    down : float, default=0.0
        Pixels down.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh import ImageTranslation
    >>> ImageTranslation(right=1)(np.array([[0.0, 1.0, 2.0, 3.0]]))
    array([[0., 0., 2., 2.]])
    >>> ImageTranslation(right=0, down=1)(np.array([[0.0, 1.0, 2.0, 3.0]]))
    array([[0., 1., 0., 1.]])
    """

    right: float = 1.0
    down: float = 0.0

    def move(self, images: np.ndarray) -> np.ndarray:
        return ndimage.shift(images, (0, self.down, self.right), order=1, mode="nearest")


@dataclass(frozen=True)
class ImageRotation(ImageTransform):
    """Rotate images about their centre, counterclockwise as they are seen.

    Parameters
    ----------
    degrees : float, default=5.0
        Angle.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh import ImageRotation
    >>> ImageRotation(90)(np.array([[1.0, 2.0, 3.0, 4.0]])).round(6)
    array([[2., 4., 1., 3.]])
    """

    degrees: float = 5.0

    def move(self, images: np.ndarray) -> np.ndarray:
        return ndimage.rotate(images, self.degrees, axes=(1, 2), reshape=False, order=1, mode="nearest")


@dataclass(frozen=True)
class LineThickening(ImageTransform):
    """Thicken bright lines (thin them, for a negative step).

    Adds the squared length of the gradient of an image, times the step: P. Y. Simard, Y. LeCun,
    J. S. Denker, B. Victorri, "Transformation invariance in pattern recognition", 1998.

    Parameters
    ----------
    step : float, default=0.1
        Length of the step.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh import LineThickening
    >>> line = np.array([[0.0, 1.0, 0.0]] * 3)
    >>> LineThickening(0.5)(line.reshape(1, -1)).reshape(3, 3)
    array([[0.5, 1. , 0.5],
           [0.5, 1. , 0.5],
           [0.5, 1. , 0.5]])
    """

    step: float = 0.1

    def move(self, images: np.ndarray) -> np.ndarray:
        down, right = np.gradient(images, axis=(1, 2))
        return images + self.step * (down**2 + right**2)
