"""The one form of every model: ``kernel(x, landmarks) @ projection - offset``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from .._compiled import DoubleDoubleRowProduct, LineProduct, RowProduct
from ..data import check_finite, counted, row_slices, rows_per_block, run_blocks
from ..exceptions import KernelError, ModelFileError
from ..kernels import Filler, Inputs, Kernel, Precomputed, Rows

_BLOCK_BYTES = 2**22  # of kernel values: enough for the interpreter not to be noticed


@dataclass(frozen=True)
class Refinement:
    """Features in two steps: nearly the same ones, and combinations of these.

    Where landmarks are nearly dependent, weights are large, and a last digit of one of them, or of a
    sum of such numbers, is seen in the features. So the sums of the first step are taken with twice the
    digits, for weights as they happen to be rounded, and the second step makes up for that rounding.
    """

    projection: np.ndarray  # (m, k)
    offset: np.ndarray  # (k,)
    triangle: np.ndarray  # (k, k), upper
    shift: np.ndarray  # (k,)

    def truncate(self, n_landmarks: int, n_components: int) -> Refinement:
        return Refinement(
            self.projection[:n_landmarks, :n_components],
            self.offset[:n_components],
            self.triangle[:n_components, :n_components],
            self.shift[:n_components],
        )


@dataclass(frozen=True)
class KernelModel:
    """Landmarks, projection and offset, with the kernel between them.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    landmarks : array or CSR matrix of shape (m, n_features)
        Landmarks; column numbers for a precomputed kernel.
    projection : ndarray of shape (m, k)
        What kernel values are multiplied by.
    offset : ndarray of shape (k,)
        What is subtracted from the products.
    first_use : ndarray of int of shape (m,)
        The feature that needs each landmark first, in ascending order, so the model with the first j
        features is a prefix of landmarks and of columns.
    dtype : type, default=numpy.float64
        Type of kernel values and features.
    refinement : Refinement, default=None
        The same projection and offset, in two steps that keep more digits.
    as_fitted : Kernel, default=None
        The kernel with values that are rounded as they were for all candidates.

    Attributes
    ----------
    n_components : int
        Number of features, k.
    evaluations : ndarray of shape (k,)
        Landmarks that the first 1, 2, ..., k features need.
    """

    kernel: Kernel
    landmarks: Rows
    projection: np.ndarray  # (m, k)
    offset: np.ndarray  # (k,)
    first_use: np.ndarray  # (m,)
    dtype: type = np.float64
    refinement: Refinement | None = None  # the same projection and offset, in two steps
    as_fitted: Kernel | None = None  # rounds values as they were rounded for all candidates

    @property
    def n_components(self) -> int:
        return int(self.projection.shape[1])

    @property
    def evaluations(self) -> np.ndarray:
        """Landmarks that the first 1, 2, ..., k features need."""
        return np.searchsorted(self.first_use, np.arange(1, self.n_components + 1))

    def truncate(self, n_components: int) -> KernelModel:
        """Return the model with the first features only, and only the landmarks that they need.

        Parameters
        ----------
        n_components : int
            How many features.

        Returns
        -------
        KernelModel
        """
        m = int(self.evaluations[n_components - 1])
        return replace(
            self,
            as_fitted=self.as_fitted or self.kernel.rounded_as_with(self.landmarks),
            # All of them stay one array, which a file holds once for all parts of a model.
            landmarks=self.landmarks if m == len(self.projection) else self.landmarks[:m],
            projection=np.ascontiguousarray(self.projection[:m, :n_components]),
            offset=self.offset[:n_components],
            first_use=self.first_use[:m],
            refinement=self.refinement and self.refinement.truncate(m, n_components),
        )

    def check_shapes(self, n_features: int | None) -> None:
        """Refuse parts, read from a file, whose shapes do not agree: compiled loops do not look.

        None stands for as many features as the landmarks have.
        """
        m, k = self.projection.shape
        of_points = not isinstance(self.kernel, Precomputed | Inputs)
        if of_points and n_features is None:
            n_features = self.landmarks.shape[1]
        expected = [
            (self.landmarks.shape, (m, n_features) if of_points else (m,)),
            (self.offset.shape, (k,)),
            (self.first_use.shape, (m,)),
        ]
        centre = getattr(self.as_fitted, "_centre", None)
        if centre is not None:
            expected.append((centre.origin.shape, (n_features,)))
        if self.refinement is not None:
            two = self.refinement
            shapes = [two.projection.shape, two.offset.shape, two.triangle.shape, two.shift.shape]
            expected += zip(shapes, [(m, k), (k,), (k, k), (k,)], strict=True)
        if any(found != right for found, right in expected) or self.dtype not in (
            np.float32,
            np.float64,
        ):
            raise ModelFileError("the shapes of landmarks, projection and offset do not agree.")

    def in_two_steps(self) -> KernelModel:
        """Return the model with the same features, computed in two steps."""
        k = self.n_components
        refinement = Refinement(self.projection, self.offset, np.eye(k), np.zeros(k))
        return self if self.refinement is not None else replace(self, refinement=refinement)

    def combined(self, triangle: np.ndarray, shift: np.ndarray) -> KernelModel:
        """Return the model with the features ``features @ triangle - shift``."""
        refinement = self.refinement
        if refinement is not None:
            refinement = replace(
                refinement,
                triangle=refinement.triangle @ triangle,
                shift=refinement.shift @ triangle + shift,
            )
        return replace(
            self,
            projection=self.projection @ triangle,
            offset=self.offset @ triangle + shift,
            refinement=refinement,
        )

    def features(self, X: Rows, n_jobs: int | None = None) -> np.ndarray:
        """Return the features of samples, computed in blocks by threads.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Samples. Those that are not finite are refused.
        n_jobs : int, default=None
            Threads; None for as many as BLAS uses.

        Returns
        -------
        ndarray of shape (n_samples, k)
        """
        out = np.empty((X.shape[0], self.n_components), self.dtype)
        with np.errstate(over="ignore"):  # what float32 does not hold is refused below
            write, is_tiled = self.writer()
        if sparse.issparse(X) or not is_tiled:
            check_finite(X, "X", n_jobs)
        suspects: list[slice] = []

        def transform(rows: slice) -> None:
            if not np.isfinite(write(X[rows], out[rows])):
                suspects.append(rows)
            done(rows.stop - rows.start)

        slices = list(row_slices(X.shape[0], rows_per_block(len(self.projection), _BLOCK_BYTES)))
        with counted(X.shape[0], stage="features") as done:
            run_blocks(transform, slices, n_jobs)
        if suspects:
            check_finite(X, "X", n_jobs)
            for rows in sorted(suspects, key=lambda rows: rows.start):
                _refuse(out[rows], rows.start)
        return out

    def line_filler(self) -> Filler:
        """Return what writes the features as lines, ``(k, len(X))``, for a statistic."""
        write, _ = self.writer()

        def fill(X: Rows, out: np.ndarray) -> None:
            features = np.empty((X.shape[0], self.n_components), self.dtype)
            write(X, features)
            out[...] = features.T

        return fill

    def writer(self) -> tuple[Callable[[Rows, np.ndarray], float], bool]:
        """Return what writes features of rows, and whether it notices dense rows that are not finite.

        It returns a sum that is finite only if all features are. Everything that does not depend on
        the rows is prepared once.
        """
        fill = (self.as_fitted or self.kernel).against(self.landmarks, self.dtype)
        first, *others = self.products()
        tiled = fill if isinstance(fill, LineProduct) else None

        def write(X: Rows, out: np.ndarray) -> float:
            if X.shape[0] == 0:
                return 0.0
            if tiled is not None and not sparse.issparse(X):
                total = first.of_rows(tiled, X, out)
            else:
                values = np.empty((len(self.projection), X.shape[0]), self.dtype)
                fill(X, values)
                total = first(values, out)
            for product in others:
                total += product(np.ascontiguousarray(out.T), out)
            return total

        return write, tiled is not None

    def of_one(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return what computes features of one dense row without filling tiles with others.

        It takes as long as a few features do, and rounds otherwise than a block; None where there is
        no such way.
        """
        fill = (self.as_fitted or self.kernel).against(self.landmarks, self.dtype)
        if not isinstance(fill, LineProduct) or self.refinement is not None:
            return None
        product, offset = fill.of_one(self.projection.T), self.offset
        return lambda row: product(row) - offset

    def products(self) -> list[RowProduct | DoubleDoubleRowProduct]:
        """Return what makes features of kernel values, one product after the other."""
        if self.refinement is None:
            right: np.ndarray = self.projection.astype(self.dtype)
            return [RowProduct(right, self.offset.astype(self.dtype), self.evaluations)]
        first, one_by_one = self.refinement, np.arange(1, self.n_components + 1)
        return [
            DoubleDoubleRowProduct(first.projection, first.offset, self.evaluations),
            RowProduct(first.triangle, first.shift, one_by_one),
        ]


def features_as_they_are(n_components: int) -> KernelModel:
    """Return the model whose rows are features already."""
    numbers = np.arange(n_components)
    return KernelModel(Inputs(), numbers, np.eye(n_components), np.zeros(n_components), numbers)


def _refuse(features: np.ndarray, start: int) -> None:
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if len(bad):
        raise KernelError(
            f"The kernel of row {start + bad[0]} with the landmarks is too large, or not a number; "
            "check that row, and scale new rows as the training rows were."
        )
