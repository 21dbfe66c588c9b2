"""Subspace kernel features: a subspace of the feature space, learned from labels (SKFE)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from .._sklearn import Interval, StrOptions
from ..data import TargetEncoder
from ..deflation import Criterion
from ..estimators import check_precomputed_columns
from ..exceptions import InvalidDataError, InvalidParameterError, warn
from ..fitting import Problem
from ..kernels import KernelLike, Precomputed, Rows
from ..model import Fit, KernelModel, Search
from .base import SubspaceEstimator
from .images import Images, input_images
from .learning import learn_directions, learn_points
from .objectives import MARGINS, objective_and_value
from .optimise import Ending


class SubspaceKernelFeatures(SubspaceEstimator):
    """Features along a subspace of the feature space that is learned from labels (SKFE).

    Projecting on a subspace of the feature space changes the kernel, and what describes the subspace
    becomes parameters of that kernel. They are learned: by maximising the kernel-target alignment,
    which lets samples of the same class come close to each other, or by minimising the objective of a
    support vector machine or its radius-margin bound. A handful of features often lets a
    nearest-neighbour classifier do better than the raw data.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features; None for as many as the data give, at most the number of classes, or that
        of the directions or points in ``init``.
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
        Samples that directions combine. "all" takes every training sample, and costs a new sample as
        many kernel evaluations; with a pool, given as a number or as an array of points (row numbers,
        for a precomputed kernel), training needs one pass and a new sample one evaluation for each of
        them. "auto" is "all" up to 2,000 samples. Under the linear kernel "auto" and "all" are the
        same, with one landmark for each feature: the direction itself. Pass
        :class:`~kernelsieve.Candidates` to say how they are drawn.
    tol : float, default=0.0001
        The search has converged when ten iterations gained at most this each, on average.
    init : {"koc", "kpls"} or array, default="koc"
        Where the search begins: the span of the classes' centroids, the directions of kernel PLS, or
        combinations of the candidates, with one row for each of them and one column for each
        direction. With fewer features than centroids the search begins with the best of their span,
        with more it adds the directions of largest variance. For ``span="points"`` an array of points.
    span : {"examples", "points"}, default="examples"
        Span of the subspace: combinations of the candidates, or the images of ``n_components``
        points that are themselves learned. A new sample then costs ``n_components`` kernel evaluations.
        For the "rbf", "poly" and "linear" kernels; for the last it makes no difference. Where the
        points are not as many as the classes they begin with k-means, so the result depends on
        ``random_state``. Points that meet count once.
    objective : {"alignment", "large_margin", "radius_margin"} or (str, value), default="alignment"
        Objective to maximise. "alignment" is that with the kernel of labels, and ("alignment",
        target_kernel) says what this is for two samples: "indicators", which the word alone has, is 1
        for the same class and 0 otherwise; "signs" is 1 and ``-1 / (c - 1)``, which is -1 for two
        classes; "balanced" is one over the size of the class and 0; or a positive semidefinite matrix
        with a row and a column for each sample. "large_margin" is the objective of a support vector
        machine with squared slack on the features; with ``span="points"`` that is the sparse large
        margin classifier. "radius_margin" is the bound on the leave-one-out error of such a machine.
        Of more than two classes each is separated from the rest. ("large_margin", C) and
        ("radius_margin", C) say the price of slack, which is 1 for the word alone, for a kernel whose
        mean of k(x, x) is 1.
    solver : {"lbfgs", "cg"}, default="lbfgs"
        L-BFGS, or conjugate gradients as in the paper.
    max_iter : int or None, default=None
        Most iterations. The alignment rises fast at first, and what it gains late is often that of
        single training samples; None stops after 30 iterations for that reason, without a warning. The
        30 were chosen on text data, with the linear kernel, ``objective="alignment"`` and
        ``span="examples"``; they are no more than a first guess elsewhere. It is worth
        cross-validating: the best number differs between data sets.
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    subspace_kernel_ : callable
        ``f(X, Z)``, the kernel after projection, for any kernel machine: ``SVC(kernel=...)``.
    alignment_path_ : ndarray of shape (``n_iter_`` + 1,)
        The alignment at the start and after each iteration; it never falls. For "large_margin" and
        "radius_margin" minus the logarithm of the objective or bound.
    n_iter_ : int
        Number of iterations.
    ending_ : str
        Why the search ended. Where it should have converged, and did not, a ``ConvergenceWarning``
        says so too.
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
    With K the kernel matrix and W the coefficients of the directions, the kernel after projection is
    ``K W (W'KW)^-1 W'K``, and its alignment with the kernel of labels, for indicators Y of the classes
    ``Y Y'``, is maximised over W. It depends on the span of the directions only. The search runs in
    orthonormal coordinates of what the candidates span: the derivative is that of formulas (23) to
    (27) in another basis, and stays well scaled where K is nearly singular. Features are
    coordinates along orthonormal directions in the order of what they add to the alignment;
    ``criterion_path_`` is the alignment of the first j features. Images are not centred. Weights
    count as repeated samples.

    References
    ----------
    M. Wu, J. Farquhar. A subspace kernel for nonlinear feature extraction. International Joint
    Conference on Artificial Intelligence, 2007.

    M. Wu, B. Schoelkopf, G. Bakir. Building sparse large margin classifiers. International Conference
    on Machine Learning, 2005.

    O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee. Choosing multiple parameters for support vector
    machines. Machine Learning 46, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from kernelsieve import SubspaceKernelFeatures
    >>> X, y = load_iris(return_X_y=True)
    >>> learned = SubspaceKernelFeatures(gamma=0.1).fit(X, y)
    >>> learned.transform(X).shape
    (150, 3)
    >>> bool(learned.alignment_path_[-1] > learned.alignment_path_[0])
    True
    >>> SVC(kernel=learned.subspace_kernel_).fit(X, y).score(X, y) > 0.95
    True
    """

    _nested: ClassVar[bool] = False  # the whole subspace is learned together
    _use_of_candidates: ClassVar[str] = "solved"
    _moved: ClassVar[dict[str, str]] = {
        "C": "pass objective=('large_margin', C) or ('radius_margin', C).",
        "target_kernel": "pass objective=('alignment', target_kernel).",
    }
    _parameter_constraints: ClassVar[dict] = {
        **SubspaceEstimator._parameter_constraints,
        "init": [StrOptions({"koc", "kpls"}), "array-like"],
        "span": [StrOptions({"examples", "points"})],
        "objective": [StrOptions({"alignment", *MARGINS}), tuple],
        "solver": [StrOptions({"lbfgs", "cg"})],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
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
        tol: float = 0.0001,
        init: Any = "koc",
        span: str = "examples",
        objective: str | tuple[str, Any] = "alignment",
        solver: str = "lbfgs",
        max_iter: int | None = None,
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
        self.tol = tol
        self.init = init
        self.span = span
        self.objective = objective
        self.solver = solver
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _screening(self) -> Criterion | None:
        return super()._screening() if self._candidates().how == "screen" else None

    @property
    def subspace_kernel_(self) -> SubspaceKernel:
        return SubspaceKernel(self._current_fit().model)

    @property
    def alignment_path_(self) -> np.ndarray:
        return self._search().path

    @property
    def n_iter_(self) -> int:
        return len(self._search().path) - 1

    @property
    def ending_(self) -> str:
        return self._search().ending

    def _search(self) -> Search:
        search = self._current_fit().search
        assert search is not None
        return search

    def _options(self) -> dict[str, Any]:
        """Return the parameters of the search."""
        return {"solver": self.solver, "max_iter": self.max_iter, "tol": self.tol}

    def _find(self, images: Images) -> Fit:
        aim = objective_and_value(self.objective)
        return learn_directions(images, aim, self.init, self.n_components, self._options())

    def _needs_samples(self) -> bool:
        objective, value = objective_and_value(self.objective)
        return objective in MARGINS or not isinstance(value, str)

    def _out_of_core_obstacle(self) -> str:
        objective, value = objective_and_value(self.objective)
        if objective in MARGINS:
            return f"objective={objective!r} looks at all samples; pass objective='alignment'."
        if not isinstance(value, str):
            return "its target kernel is a matrix of all samples; pass objective='alignment'."
        if self.span == "points":
            return "span='points' optimises points on all samples; pass span='examples'."
        return super()._out_of_core_obstacle()

    def _solve(self, problem: Problem) -> Fit:
        if self.span == "examples":
            return super()._solve(problem)
        if problem.given is not None:
            raise InvalidParameterError(
                "span='points' learns its points and takes no candidates; pass them as init, or pass "
                "span='examples'."
            )
        if self._takes_inputs(problem.kernel):
            return super()._solve(problem)
        if isinstance(problem.kernel, Precomputed):
            raise InvalidParameterError(
                "span='points' optimises points in the space of X, which a precomputed kernel does not "
                "have; pass span='examples', or kernel='rbf', 'poly' or 'linear'."
            )
        aim, options = objective_and_value(self.objective), self._options()
        known = problem.rows, problem.kernel, aim, self.init, self.n_components
        return learn_points(*known, options, problem.random_state)

    def _solve_inputs(self, problem: Problem) -> Fit:
        if isinstance(self.init, str):
            return super()._solve_inputs(problem)
        return self._find(input_images(problem.rows))  # init combines the samples

    def _set_fit(self, fit: Fit, encoder: TargetEncoder, rows: Rows) -> None:
        super()._set_fit(fit, encoder, rows)
        search = fit.search
        if search is not None and search.ending in (Ending.LIMIT, Ending.STUCK):
            warn(
                f"The optimisation ended after {len(search.path) - 1} iterations before it converged: "
                f"{search.ending}.",
                ConvergenceWarning,
            )


class SubspaceKernel:
    """The kernel ``K_w(x, x')``, formula (14): the inner product of projections onto a subspace.

    A function ``f(X, Z)`` that can be pickled and handed to any kernel machine of scikit-learn. Some,
    such as ``KernelRidge``, call it for one pair of samples at a time; ``kernel="precomputed"`` with
    ``f(X, X)`` is much faster there.

    Parameters
    ----------
    model : KernelModel
        Features along orthonormal directions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from kernelsieve import SubspaceKernelFeatures
    >>> X, y = load_iris(return_X_y=True)
    >>> kernel = SubspaceKernelFeatures().fit(X, y).subspace_kernel_
    >>> bool(SVC(kernel=kernel).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(self, model: KernelModel) -> None:
        self._model = model

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray | float:
        if np.ndim(X) == 1 and np.ndim(Z) == 1:  # how pairwise_kernels asks
            return float(self._features([X])[0] @ self._features([Z])[0])
        left = self._features(X)
        return left @ (left if Z is None else self._features(Z)).T

    def diag(self, X: Any) -> np.ndarray:
        """Return ``K_w(x, x)``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        features = self._features(X)
        return np.einsum("nk,nk->n", features, features)

    def _features(self, X: Any) -> np.ndarray:
        rows: Rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        kernel, landmarks = self._model.kernel, self._model.landmarks
        if isinstance(kernel, Precomputed):
            check_precomputed_columns(rows, (kernel.n_columns, len(landmarks)), "the subspace kernel")
        elif rows.shape[1] != landmarks.shape[1]:
            raise InvalidDataError(
                f"X has {rows.shape[1]} features, but the subspace kernel was learned on "
                f"{landmarks.shape[1]}."
            )
        return self._model.features(rows)
