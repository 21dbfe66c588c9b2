"""Kernel discriminant analysis by QR, exact and with the images of class means."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from .._sklearn import Interval, StrOptions
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import Problem
from ..kernels import KernelLike
from ..model import Fit, orthonormal_additions
from .base import SubspaceEstimator
from .centroids import Centroids, class_centroids, exact_centroids, make_fit, mean_images
from .images import Images


def discriminant_qr(
    centroids: Centroids,
    n_components: int | None,
    *,
    between: str = "projected",
    balanced: bool = False,
    regularization: float = 1e-3,
) -> Fit:
    """Find the discriminant directions V in the span of the centroids, by their eigenvalues.

    With M the averages over classes and ``M'KM = R'R`` the samples have the coordinates
    ``Q = K M R^-1``. T is their total scatter, B the scatter between the class means, and V has the
    eigenvectors of ``(T + ridge)^-1 B``; features are ``V'R^-T M'k(x)``.
    """
    Q, Y = centroids.features, centroids.labels
    n, total = centroids.class_sums, centroids.total_weight
    means = (Y.T @ Q) / n[:, None]
    centred = Q - np.outer(Y.sum(axis=1), n @ means / total)
    T = centred.T @ centred
    if not np.trace(T) > 1e-14 * np.sum(Q**2):
        raise InvalidDataError(
            "No feature could be found: the samples do not differ in the span of the centroids. "
            "Look for constant columns of X, center them if their means are large, or use another "
            "gamma."
        )
    counts = np.ones(len(n)) if balanced else n
    centres = means if between == "projected" else centroids.own
    N_Q = np.sqrt(counts)[:, None] * (centres - counts @ centres / counts.sum())
    B = N_Q.T @ N_Q
    ridge = regularization * np.trace(T) / len(T)
    values, V = eigh(B, T + ridge * np.eye(len(T)))
    values, V = values[::-1][:n_components], V[:, ::-1][:, :n_components]
    V /= np.linalg.norm(V, axis=0)
    return make_fit(
        *centroids.model(V),
        Q @ V,
        Q @ orthonormal_additions(V),
        centroids,
        np.maximum(values, 0.0),
        centroids.outcome(V.shape[1], n_components),
    )


class KernelDiscriminantQR(SubspaceEstimator):
    """Discriminant analysis in the span of the centroids (KDA/QR), or of class means (AKDA/QR).

    The data are projected on the span of the centroids of the classes, and discriminant analysis
    separates the classes there: a problem of the size of the number of classes. With
    ``approximate=True`` the images of the classes' means in input space stand for the centroids in
    feature space: a new sample then costs c kernel evaluations, and training O(n d c). There is a
    feature for each class; those after the first c - 1 separate nothing.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features, at most one for each class; None for as many. Centroids that are
        combinations of others add none, and a ``FewerFeaturesWarning`` says so.
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
        Samples in whose span centroids are taken, without ``approximate``: "all" is exact, and costs
        a new sample as many kernel evaluations as there are training samples; with a pool, given as a
        number or as an array of points (row numbers, for a precomputed kernel), centroids are
        projected on its span. "auto" is "all" up to 10,000 samples. Under the linear kernel "auto"
        and "all" are exact, with one landmark for each feature. Pass :class:`~kernelsieve.Candidates`
        to say how they are drawn.
    approximate : bool, default=False
        Take images of means instead of means of images (AKDA/QR).
    between : {"projected", "factor"}, default="projected"
        The scatter between classes: that of the projected class means, or that of the centroids
        themselves. They differ only where ``approximate=True``, and "factor" is closer to the code of
        the method's authors.
    balanced : bool, default=False
        Let all classes count alike in the scatter between them, as the code of the method's authors
        does, instead of by their sizes.
    regularization : float, default=0.001
        Ridge added to the total scatter, as a part of its mean eigenvalue.
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
    With ``M'KM = R'R`` as in :class:`KernelOrthogonalCentroid` and ``Q = K M R^-1`` the projected
    samples, T the total scatter of Q and B the scatter between its class means, weighted by the sizes
    of the classes, features are ``V'R^-T M'k(x)`` with V the eigenvectors of ``(T + ridge)^-1 B``, at
    unit length: coordinates along directions that are uncorrelated, and not orthogonal.
    ``criterion_path_`` are the eigenvalues. With "factor", ``B = R N N'R'`` instead, where N takes the
    weighted mean from the centroids, and eigenvalues may exceed 1. The paper was at hand in part only:
    the weights and the ridge relative to T are ours.

    References
    ----------
    T. Xiong, J. Ye, Q. Li, R. Janardan, V. Cherkassky. Efficient kernel discriminant analysis via QR
    decomposition. Advances in Neural Information Processing Systems 17, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import KernelDiscriminantQR
    >>> X, y = load_digits(return_X_y=True)
    >>> exact = KernelDiscriminantQR(gamma=0.001).fit(X, y)
    >>> fast = KernelDiscriminantQR(gamma=0.001, approximate=True).fit(X, y)
    >>> exact.landmarks_.shape, fast.landmarks_.shape
    ((1797, 64), (10, 64))
    """

    _parameter_constraints: ClassVar[dict] = {
        **SubspaceEstimator._parameter_constraints,
        "approximate": ["boolean"],
        "between": [StrOptions({"projected", "factor"})],
        "balanced": ["boolean"],
        "regularization": [Interval(Real, 0, None, closed="neither")],
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
        approximate: bool = False,
        between: str = "projected",
        balanced: bool = False,
        regularization: float = 0.001,
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
        self.approximate = approximate
        self.between = between
        self.balanced = balanced
        self.regularization = regularization
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _of_centroids(self, centroids: Centroids) -> Fit:
        return discriminant_qr(
            centroids,
            self.n_components,
            between=self.between,
            balanced=self.balanced,
            regularization=self.regularization,
        )

    def _find(self, images: Images) -> Fit:
        return self._of_centroids(class_centroids(images))

    def _out_of_core_obstacle(self) -> str:
        if self.approximate:
            return "approximate=True needs the means of all samples first; pass approximate=False."
        return super()._out_of_core_obstacle()

    def _solve(self, problem: Problem) -> Fit:
        if not self.approximate or problem.given is not None:
            return super()._solve(problem)
        if self._is_precomputed:
            raise InvalidParameterError(
                "approximate=True takes means of X, which a precomputed kernel does not have; "
                "pass approximate=False, or a kernel by its name or as a function."
            )
        return self._of_centroids(mean_images(problem.rows, problem.kernel, self.n_jobs))

    def _solve_among_all(self, problem: Problem) -> Fit:
        return self._of_centroids(exact_centroids(problem.rows, problem.kernel, problem.settings))
