"""Scatters: the quadratic forms in Rayleigh coefficients.

Each is a sum over the training samples, or a mean over them times their number, so that weights of
different kinds compare. All are known from one pass over the samples, for a pool of candidates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ..data import Batch, Pool
from ..estimators import KernelEstimator
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import Problem
from ..kernels import Kernel, Linear, Precomputed, Rows
from ..statistics import AugmentedBlock, Coordinates, TriangularStatistic, change_block, gather

#: A former parameter of the estimators with invariances.
MOVED_TO_TANGENT = {
    "virtual_candidates": "pass Tangent(transform, weight, virtual_candidates=True), of "
    "kernelsieve.rayleigh, in place of the pair (transform, weight)."
}

#: Transforms samples by a small step: X to an array of the same shape.
Transform = Callable[[Rows], Rows]


@dataclass(frozen=True)
class Seen:
    """The training samples as scatters see them: centred kernel columns and targets."""

    kernel: Kernel
    pool: Pool
    coordinates: Coordinates
    between: np.ndarray  # a factor of the scatter of the class means about the mean of all
    within: np.ndarray  # a factor of the scatter about the means of the classes
    n_jobs: int | None = None


class Scatter(ABC):
    """A weighted quadratic form in directions, a term of a sum of scatters.

    To write your own, return in :meth:`factor` a matrix F with ``F'F`` the form in the coefficients
    alpha of the candidates. A form that sees the samples in another way than through their kernel
    columns gives an :meth:`augmented_block`: the squares of its lines are summed up beside the pass.

    Parameters
    ----------
    weight : float, default=1.0
        Weight in a sum.
    """

    #: Whether class labels are needed.
    supervised: ClassVar[bool] = False

    def __init__(self, weight: float = 1.0) -> None:
        if not (np.isfinite(weight) and weight >= 0):
            raise InvalidParameterError(
                f"weight={weight} of {type(self).__name__} must be a finite number, not negative."
            )
        self.weight = weight

    def __repr__(self) -> str:
        return f"{type(self).__name__}(weight={self.weight:g})"

    def augmented_block(self, kernel: Kernel, points: Rows) -> AugmentedBlock | None:
        """Return a function that fills lines, one a candidate, whose squares sum up to the form.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        points : array or CSR matrix of shape (n_candidates, n_features)
            The candidates.

        Returns
        -------
        AugmentedBlock or None
            None unless overridden: the kernel columns say everything.
        """
        return None

    @abstractmethod
    def factor(self, seen: Seen) -> np.ndarray:
        """Return F, without the weight; without rows if :meth:`augmented_block` covers the form.

        Parameters
        ----------
        seen : Seen
            The training samples as scatters see them: ``kernel``; ``pool.points``, the candidates;
            ``coordinates.columns``, an F of the scatter of all; ``between`` and ``within``, those of
            the scatters between and within classes; ``coordinates.total_weight``.

        Returns
        -------
        ndarray of shape (n_rows, n_candidates)
        """


class TotalScatter(Scatter):
    """Scatter of the images about their mean, which kernel PCA maximises; formula (2), times n.

    Parameters
    ----------
    weight : float, default=1.0
        Weight in a sum.

    Examples
    --------
    >>> from kernelsieve.rayleigh import TotalScatter
    >>> TotalScatter(weight=2.0)
    TotalScatter(weight=2)
    """

    def factor(self, seen: Seen) -> np.ndarray:
        return seen.coordinates.columns


class BetweenClasses(Scatter):
    """Scatter of the class means about the overall mean, weighted by class size.

    For two classes with m and l of n samples this is m l / n times M of formula (6).

    Parameters
    ----------
    weight : float, default=1.0
        Weight in a sum.

    Examples
    --------
    >>> from kernelsieve.rayleigh import BetweenClasses
    >>> BetweenClasses()
    BetweenClasses(weight=1)
    """

    supervised = True

    def factor(self, seen: Seen) -> np.ndarray:
        return seen.between


class WithinClasses(Scatter):
    """Scatter of the images about their class means: N of formula (7).

    Parameters
    ----------
    weight : float, default=1.0
        Weight in a sum.

    Examples
    --------
    >>> from kernelsieve.rayleigh import WithinClasses
    >>> WithinClasses()
    WithinClasses(weight=1)
    """

    supervised = True

    def factor(self, seen: Seen) -> np.ndarray:
        return seen.within


class Tangent(Scatter):
    """Change under a transformation: the tangent covariance of formula (3), summed over the samples.

    Parameters
    ----------
    transform : callable
        Maps X to an array of the same shape, transformed by a small step.
    weight : float, default=1.0
        Weight in a sum.
    virtual_candidates : bool, default=False
        Draw candidates among the transformed copies of the samples, too. A copy has the index of its
        sample in ``landmark_indices_``.

    Examples
    --------
    >>> from kernelsieve.rayleigh import ImageRotation, Tangent
    >>> Tangent(ImageRotation(5.0), weight=0.1)
    Tangent(ImageRotation(degrees=5.0), weight=0.1)
    """

    def __init__(
        self, transform: Transform, weight: float = 1.0, *, virtual_candidates: bool = False
    ) -> None:
        super().__init__(weight)
        if not callable(transform):
            raise InvalidParameterError(
                f"transform={transform!r} must be a function from X to X transformed."
            )
        self.transform = transform
        self.virtual_candidates = virtual_candidates

    def __repr__(self) -> str:
        copies = ", virtual_candidates=True" if self.virtual_candidates else ""
        return f"Tangent({self.transform!r}, weight={self.weight:g}{copies})"

    def augmented_block(self, kernel: Kernel, points: Rows) -> AugmentedBlock:
        if isinstance(kernel, Precomputed):
            raise InvalidParameterError(
                "Invariances transform X, which a precomputed kernel does not have; pass a kernel by "
                "its name or as a function."
            )
        return change_block(kernel.against(points), partial(move, self.transform), points.shape[0])

    def factor(self, seen: Seen) -> np.ndarray:
        return np.empty((0, len(seen.pool)))


class NoiseSamples(Scatter):
    """Scatter of noise samples about their mean, scaled to the number of training samples.

    Parameters
    ----------
    samples : array-like or CSR matrix of shape (s, d)
        Samples of the noise.
    weight : float, default=1.0
        Weight in a sum.

    Examples
    --------
    >>> from kernelsieve.rayleigh import NoiseSamples
    >>> NoiseSamples([[0.1, -0.2], [0.0, 0.3]])
    NoiseSamples(weight=1)
    """

    def __init__(self, samples: Any, weight: float = 1.0) -> None:
        super().__init__(weight)
        self.samples = samples

    def factor(self, seen: Seen) -> np.ndarray:
        points = seen.pool.points
        samples = check_array(
            self.samples, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="noise"
        )
        if isinstance(seen.kernel, Precomputed) or samples.shape[1] != points.shape[1]:
            raise InvalidDataError(
                f"noise has shape {samples.shape}; samples of noise must have the features of X, and "
                "cannot be used with a precomputed kernel."
            )
        if sparse.issparse(points) != sparse.issparse(samples):
            samples = samples.toarray() if sparse.issparse(samples) else sparse.csr_matrix(samples)
        frame = AugmentedBlock(seen.kernel.against(points), np.zeros(len(seen.pool)), np.zeros(0))
        batch = Batch(samples, np.empty((samples.shape[0], 0)))
        statistic = gather([batch], frame, TriangularStatistic, n_jobs=seen.n_jobs)
        columns = statistic.coordinates(np.zeros(0), frame.shift, center=True).columns
        return columns * np.sqrt(seen.coordinates.total_weight / samples.shape[0])


class NoiseCovariance(Scatter):
    """A noise covariance in input space, times the number of samples; for the linear kernel.

    Parameters
    ----------
    covariance : array-like of shape (d, d)
        Symmetric and positive semidefinite.
    weight : float, default=1.0
        Weight in a sum.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh import NoiseCovariance
    >>> NoiseCovariance(np.eye(3))
    NoiseCovariance(weight=1)
    """

    def __init__(self, covariance: Any, weight: float = 1.0) -> None:
        super().__init__(weight)
        self.covariance = covariance

    def factor(self, seen: Seen) -> np.ndarray:
        covariance = check_array(self.covariance, dtype=np.float64, input_name="noise")
        points = seen.pool.points
        if not isinstance(seen.kernel, Linear):
            raise InvalidParameterError(
                "A covariance in input space says nothing about the images of a kernel other than "
                "'linear'; pass kernel='linear', or the noise as samples."
            )
        size = points.shape[1]
        if covariance.shape != (size, size) or not np.allclose(covariance, covariance.T):
            raise InvalidDataError(
                f"The noise covariance has shape {covariance.shape}; it must be symmetric and "
                f"({size}, {size}), as X has {size} features."
            )
        values, vectors = np.linalg.eigh(covariance)
        if values[0] < -1e-10 * max(values[-1], 0.0) or values[-1] <= 0:
            raise InvalidDataError(
                f"The noise covariance has the eigenvalue {values[0]:g}; a covariance has none below "
                "zero, and some above."
            )
        root = vectors * np.sqrt(np.maximum(values, 0.0) * seen.coordinates.total_weight)
        return np.asarray(points @ root).T


def move(transform: Transform, X: Rows) -> Rows:
    """Apply a transformation, and check its result."""
    moved = transform(X.copy())  # it may work in place
    moved = moved if sparse.issparse(moved) else np.asarray(moved)
    shape = moved.shape
    if shape != X.shape:
        raise InvalidDataError(
            f"The transformation {transform!r} turned X of shape {X.shape} into {shape}; it must "
            "return an array of the same shape."
        )
    if sparse.issparse(X):
        moved = sparse.csr_matrix(moved)
    values = moved.data if sparse.issparse(moved) else moved
    if not np.isfinite(values).all():
        raise InvalidDataError(
            f"The transformation {transform!r} returned NaN or infinity; it must return finite numbers."
        )
    return moved


def read_tangents(invariances: Sequence[Any] | None, *, precomputed: bool) -> list[Tangent]:
    """Convert pairs (transform, weight) to scatters; keep scatters unchanged."""
    scatters: list[Tangent] = []
    for item in invariances or ():
        if isinstance(item, Tangent):
            scatters.append(item)
            continue
        if not (isinstance(item, (tuple, list)) and len(item) == 2):
            raise InvalidParameterError(
                f"invariances has the item {item!r}; it must be a list of pairs (transform, "
                "weight), or of kernelsieve.rayleigh.Tangent."
            )
        transform, weight = item
        if not isinstance(weight, Real):
            raise InvalidParameterError(
                f"invariances has the weight {weight!r}; weights must be numbers, not negative."
            )
        scatters.append(Tangent(transform, float(weight)))
    if scatters and precomputed:
        raise InvalidParameterError(
            "invariances transform X, which a precomputed kernel does not have; pass a kernel by "
            "its name or as a function, or invariances=None."
        )
    return scatters


def with_moved(batch: Batch, tangents: Sequence[Tangent]) -> Batch:
    """Append transformed copies of the samples if these may be candidates."""
    X = [batch.X]
    for tangent in tangents:
        if tangent.virtual_candidates:
            X.append(move(tangent.transform, batch.X))
    if len(X) == 1:
        return batch
    stacked = sparse.vstack(X, format="csr") if sparse.issparse(batch.X) else np.vstack(X)
    again = np.tile(np.arange(len(batch)), len(X))
    weight = None if batch.weight is None else batch.weight[again]
    return Batch(stacked.astype(batch.X.dtype), batch.targets[again], weight)


def draw_with_moved(self: Any, problem: Problem, size: int) -> Pool:
    """Draw candidates from the samples, and from transformed copies of them."""
    union = replace(problem, rows=with_moved(problem.rows, self._tangents()))
    drawn = KernelEstimator._draw(self, union, size)
    # The index of a transformed sample is that of the sample.
    return replace(drawn, indices=drawn.indices % len(problem.rows))
