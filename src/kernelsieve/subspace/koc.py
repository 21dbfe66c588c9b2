"""Kernel orthogonal centroids: the subspace that the centroids of the classes span."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from numbers import Integral
from typing import ClassVar

import numpy as np

from .._sklearn import Interval
from ..estimators import estimator
from ..fitting import Problem
from ..model import Fit
from ..rows import TargetEncoder
from .base import SubspaceEstimator
from .centroids import (
    Centroids,
    by_contribution,
    class_centroids,
    clusters_as_labels,
    exact_centroids,
    finish,
)
from .image_pass import SubspaceMethod
from .objectives import TargetAlignment


def orthogonal_centroids(centroids: Centroids, n_components: int | None) -> Fit:
    """Take an orthonormal basis of the span of the centroids, in the order of what it adds.

    With M the averages over classes and ``M'KM = R'R`` the samples have the coordinates
    ``Q = K M R^-1``. A rotation gives as much of the alignment with the labels Y as can be to the first
    features.
    """
    Q, Y = centroids.features, centroids.labels
    rotation = by_contribution(Q, Y)[:, :n_components]
    features = Q @ rotation
    return finish(
        *centroids.model(rotation),
        features,
        features,
        centroids,
        TargetAlignment(Y).prefixes(features),
        centroids.outcome(features.shape[1], n_components),
    )


@estimator
class KernelOrthogonalCentroid(SubspaceEstimator):
    """Projection on the span of the centroids of the classes (KOC).

    There is one feature for each class, or for each cluster where classes are divided into several.
    Distances between centroids are the same before and after, and distances of samples from centroids
    differ by what no centroid sees. It is the cheapest of the supervised subspaces: no system larger
    than the number of centroids is solved.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features, at most one for each centroid; None for as many.
    n_clusters : int, default=1
        Clusters in each class, found by k-means on the images of its samples.
    candidates : {"auto", "all"}, int or array, default="auto"
        Samples in whose span centroids are taken: "all" is exact, and costs a new sample as many kernel
        evaluations as there are training samples; with a pool, given as a number or as an array of
        points (row numbers, for a precomputed kernel), centroids are projected on its span. "auto" is
        "all" up to 10,000 samples. Under the linear kernel "auto" and "all" are exact, with one
        landmark for each feature: the direction itself.
    precision : {"auto", "fast", "safe"}, default="auto"
        How a pass over the samples accumulates inner products. "fast" does so in float64, which knows
        columns to half the digits; "safe" updates a triangular factor, at about twice the cost.
        "auto" is "safe" here.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With M the n x c matrix that averages over classes and ``M'KM = R'R``, features are
    ``R^-T M'k(x)``, rotated so that they come in the order of what they add to the kernel-target
    alignment. ``criterion_path_`` is the alignment of the first j features. Centroids that are
    combinations of others add no feature, and a ``FewerFeaturesWarning`` says so. The paper was not at
    hand: the method follows the description by Wu and Farquhar (2007).

    References
    ----------
    C. H. Park, H. Park. Nonlinear feature extraction based on centroids and kernel functions. Pattern
    Recognition 37, 2004.

    M. Wu, J. Farquhar. A subspace kernel for nonlinear feature extraction. International Joint
    Conference on Artificial Intelligence, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import KernelOrthogonalCentroid
    >>> X, y = load_digits(return_X_y=True)
    >>> koc = KernelOrthogonalCentroid(gamma=0.001).fit(X, y)
    >>> koc.transform(X).shape
    (1797, 10)
    >>> linear = KernelOrthogonalCentroid(kernel="linear").fit(X, y)
    >>> linear.landmarks_.shape  # ten kernel evaluations for a new sample
    (10, 64)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
    }

    n_components: int | None = None
    _: KW_ONLY
    n_clusters: int = 1

    def _method(self) -> SubspaceMethod:
        return lambda images: orthogonal_centroids(class_centroids(images), self.n_components)

    def _out_of_core_obstacle(self) -> str:
        if self.n_clusters > 1:
            return f"n_clusters={self.n_clusters} looks at all samples of a class; pass n_clusters=1."
        return super()._out_of_core_obstacle()

    def _solve(self, problem: Problem) -> Fit:
        if self.n_clusters > 1:
            rows, kernel, state = problem.rows, problem.kernel, problem.random_state
            clusters = clusters_as_labels(rows, kernel, self.n_clusters, state)
            encoder = TargetEncoder(np.arange(clusters.max() + 1), int(clusters.max() + 1))
            rows = replace(rows, targets=encoder.targets(clusters, len(rows)))
            problem = replace(problem, rows=rows, encoder=encoder)
        return super()._solve(problem)

    def _solve_among_all(self, problem: Problem) -> Fit:
        centroids = exact_centroids(problem.rows, problem.kernel, problem.settings)
        return orthogonal_centroids(centroids, self.n_components)
