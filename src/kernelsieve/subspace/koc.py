"""Kernel orthogonal centroids: the subspace spanned by the class centroids."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .._sklearn import Interval
from ..data import TargetEncoder
from ..fitting import Problem
from ..kernels import KernelLike
from ..model import Fit
from .base import SubspaceEstimator
from .centroids import (
    Centroids,
    by_contribution,
    class_centroids,
    clusters_as_labels,
    exact_centroids,
    make_fit,
)
from .images import Images
from .objectives import TargetAlignment


def orthogonal_centroids(centroids: Centroids, n_components: int | None) -> Fit:
    """Return an orthonormal basis of the centroids' span, sorted by contribution.

    With M the averages over classes and ``M'KM = R'R`` the samples have the coordinates
    ``Q = K M R^-1``. A rotation gives as much of the alignment with the labels Y as can be to the first
    features.
    """
    Q, Y = centroids.features, centroids.labels
    rotation = by_contribution(Q, Y)[:, :n_components]
    features = Q @ rotation
    return make_fit(
        *centroids.model(rotation),
        features,
        features,
        centroids,
        TargetAlignment(Y).prefixes(features),
        centroids.outcome(features.shape[1], n_components),
    )


class KernelOrthogonalCentroid(SubspaceEstimator):
    """Projection onto the span of the class centroids (KOC).

    There is one feature for each class, or for each cluster where classes are divided into several.
    Distances between centroids are the same before and after, and distances of samples from centroids
    differ by what no centroid sees. It is the cheapest of the supervised subspaces: no system larger
    than the number of centroids is solved.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features, at most one for each centroid; None for as many.
    kernel : str, callable or Kernel, default="rbf"
        A name, "chi2", "cosine", "laplacian", "linear", "matern", "matern12", "matern32", "matern52",
        "poly", "precomputed", "rational_quadratic", "rbf", "sigmoid"; an object of
        :class:`~kernelsieve.kernels.Kernel`; or a function: vectorised, ``f(X, Z)`` giving an array of
        shape (len(X), len(Z)), or pairwise, ``f(x, z)`` giving a number.
    gamma : {"scale", "median"}, part or multiple of these, "cv", or float, default="scale"
        Width of a named kernel; rbf is exp(-gamma d^2). "scale" is one over (number of features times
        variance of X, or standard deviation for a distance that is not squared); "median" is one over
        the median (squared) distance of a sample; "scale/4" and "median*2" are understood. With
        candidates given as points they are taken from these points, so that a fit may go out of core.
        "cv" is the best of eight multiples of "median", from narrow to nearly linear, by five folds of
        at most 1,000 samples; for estimators that predict, and within ``ComponentPathCV``.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1.0
        Constant term of the "poly" and "sigmoid" kernels.
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function, or other parameters of a named kernel.
    candidates : {"auto", "all"}, int, array or Candidates, default="auto"
        Samples in whose span centroids are taken: "all" is exact, and costs a new sample as many
        kernel evaluations as there are training samples; with a pool, given as a number or as an
        array of points (row numbers, for a precomputed kernel), centroids are projected on its span.
        "auto" is "all" up to 10,000 samples. Under the linear kernel "auto" and "all" are exact, with
        one landmark for each feature: the direction itself. Pass :class:`~kernelsieve.Candidates` to
        say how they are drawn.
    n_clusters : int, default=1
        Clusters in each class, found by k-means on the images of its samples.
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, n_features)
        The chosen samples, in the order of choice; column numbers for a precomputed kernel.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Indices of the landmarks in the training set, or in the given candidates; -1 for other points.
    projection_ : ndarray of shape (n_landmarks, n_components)
        Features are ``kernel(x, landmarks_) @ projection_ - offset_``.
    offset_ : ndarray of shape (n_components,)
        Subtracted from the features, so that centred features have mean zero.
    n_components_ : int
        Number of components found.
    kernel_, gamma_ : Kernel, float
        The fitted kernel with all its parameters, and its width if it has one.
    kernel_evaluations_ : ndarray of shape (n_components,)
        Kernel evaluations for a new sample with the first 1, 2, ... components.
    criterion_path_ : ndarray of shape (n_components,)
        The criterion's value at each step.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the kernel images that each component adds.
    explained_target_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the targets that each component explains; zeros without targets.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if ``y`` holds labels.
    n_features_in_, feature_names_in_
        Number and names of the features of X, as in scikit-learn.

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
        **SubspaceEstimator._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        n_clusters: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _find(self, images: Images) -> Fit:
        return orthogonal_centroids(class_centroids(images), self.n_components)

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
