"""Sparse kernel Fisher discriminants by mathematical programming: SKFD, LSKFD, other noise models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._sklearn import Interval, StrOptions
from ..data import Pool, check_not_constant, weighted_targets
from ..deflation import NEVER, Heads, Outcome
from ..exceptions import FewerFeaturesWarning, warn
from ..fitting import Problem
from ..kernels import KernelLike
from ..model import Fit, KernelModel
from .column_generation import SparseSolution, merged_coefficients
from .decisions import (
    Moments,
    Outputs,
    add_decision,
    decision_heads,
    explained_targets,
    prior_heads,
)
from .discriminant import THRESHOLDS, DecisionRule, KernelDiscriminant, check_few_classes
from .programs import (
    LOSS_NUMBERS,
    ClassPrograms,
    as_penalties,
    explain_zero_solution,
    strength_and_priors,
)
from .scatter import Tangent, with_moved


class SparseKernelFisherDiscriminant(KernelDiscriminant):
    """Kernel Fisher discriminant with few coefficients (SKFD, LSKFD).

    Fisher's discriminant is least squares to labels -1 and 1. Here the coefficients of the kernel
    columns pay by their absolute value, so most of them are zero, and a new sample is compared with the
    others only. Two classes have one feature; more have one for each class, which separates it from the
    rest.

    Kernel columns are evaluated in blocks and taken up when they would lower the objective; the kernel
    matrix is not stored. Several classes with the squared loss share a triangular factor of it, where
    that has no more than 16 million values.

    Parameters
    ----------
    C : float or array of shape (n_candidates,), default=1.0
        Penalty of the coefficients, beside a sum of losses over the samples; an array has one for each
        candidate, the precisions of their priors.
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
        Samples whose kernel columns may be used: "all", a number of them, or an array of points (row
        numbers, for a precomputed kernel). "auto" is "all" up to 2,000 rows and 2,000 examples
        beyond. Pass :class:`~kernelsieve.Candidates` to say how they are drawn.
    tol : float, default=1e-08
        A column is taken up when its optimality condition is violated by more than this part of C.
    loss : {"squared", "absolute", "huber", ...} or (str, float), default="squared"
        Of the residuals xi, or the model of their noise. "squared" is SKFD, xi^2; "absolute" is
        LSKFD, ``|xi|``; ("huber", delta) is xi^2 up to delta and a line beyond, and "huber" alone has
        delta 1; ("epsilon_insensitive", epsilon) is ``max(0, |xi| - epsilon)``, and the word alone has
        epsilon 0.1; ("polynomial", power) is ``|xi|^power`` with a power of at least 2, and the word
        alone has 4. With the l1 penalty "absolute" and "epsilon_insensitive" are linear programs and
        need ``kernelsieve[solvers]``.
    penalty : {"l1", "alpha", "norm"}, default="l1"
        Penalty term of C: "l1" is the sum of the absolute values of the coefficients alpha, which are
        zero for most candidates; "alpha" is the sum of their squares and "norm" is alpha'K alpha, the
        squared length of the direction, with which no coefficient is zero and the kernel columns of
        all candidates are kept in memory.
    invariances : list of (transform, weight) or Tangent, default=None
        Features are to change little under these: each transform is a function from X to X transformed
        by a small step, such as ``kernelsieve.rayleigh.ImageRotation(5.0)``. The changes of all
        samples pay with that weight, by their squares, or by their absolute values in the linear
        programs.
        :class:`~kernelsieve.rayleigh.Tangent` in place of a pair may give ``virtual_candidates``.
    decision : str or DecisionRule, default="least_squares"
        How features decide, and how probable that is: the word for a threshold, "auto",
        "least_squares", "margin", "midpoint", "intercept", "gaussian" or "alignment", or a
        :class:`~kernelsieve.rayleigh.DecisionRule` with ``threshold``, ``nu``, ``multi_class`` and
        ``probability``.
    class_weight : dict or "balanced", default=None
        Weights of labels, which multiply the sample weights; "balanced" gives all classes the same.
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    sparsity_ : float
        Fraction of the candidates whose coefficients are zero.
    n_columns_ : int
        How many kernel columns were in memory at the end, of those of all candidates; along a path
        they are those of the larger penalties too.
    n_iter_ : int
        How many linear systems, or rounds of a linear program, the class with most of them needed.
    thresholds_ : ndarray
        b of each feature: the sign of feature + b decides.
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
    Problems (12) and (14) of the paper: ``min sum_i w_i loss(xi_i) + C ||alpha||_1`` subject to
    ``K alpha + 1 b = y - xi``; with the other penalties problem (9), and the squared norm or alpha'K
    alpha instead of the sum. Features are ``K alpha + b``, and ``criterion_path_`` is the objective
    of each. At the optimum the slopes d of the losses satisfy ``|k_j' d| <= C`` for all candidates,
    with equality where a coefficient is not zero, and ``1'd = 0``. These conditions are checked for
    all candidates before a fit is called done. With "alpha" and all samples as candidates, a sample
    of weight w counts as w equal candidates. ``penalty="norm"`` with the squared loss is the least
    squares support vector machine, and with the epsilon-insensitive loss support vector regression
    to the labels. Real-valued targets, with which problem (9) is kernel ridge regression, are left
    to regressors such as scikit-learn's ``KernelRidge`` and ``SVR``: this is a classifier.
    Invariances, which the paper has for the dense discriminant, are our extension of the programs:
    lines ``k(x_i)' alpha - k(t x_i)' alpha = -xi`` that have no constant.

    At most ``max_systems`` linear systems, 5,000 unless a subclass says another number, are solved for
    a class, but for linear programs; a warning says that they were not enough.

    ``DecisionRule(multi_class="joint")`` is ``min sum_i w_i ||xi_i||^2 + C sum_j ||alpha_j||``, with
    the coefficients of a column for all classes in alpha_j; ``criterion_path_`` then has the part of
    each class in it. Lengths are less than sums of absolute values, so C is to be larger than for
    "ovr".

    Log odds of probabilities are the decisions times one slope, by maximum likelihood. Outputs of
    samples that are left out are those of least squares, on the columns of the support or with the
    quadratic penalty, as if all samples had the same leverage, which is a fair approximation. If all
    coefficients are zero, the probabilities are the shares of the classes.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003. Column generation: G.
    Raetsch, A. Demiriz, K. Bennett. Sparse regression ensembles in infinite and finite hypothesis
    spaces. Machine Learning 48, 2002. Screening: R. Tibshirani, J. Bien, J. Friedman, T. Hastie, N.
    Simon, J. Taylor, R. J. Tibshirani. Strong rules for discarding predictors in lasso-type problems.
    Journal of the Royal Statistical Society B 74(2), 2012. Joint penalty: M. Yuan, Y. Lin. Model
    selection and estimation in regression with grouped variables. Journal of the Royal Statistical
    Society B 68(1), 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import SparseKernelFisherDiscriminant
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> skfd = SparseKernelFisherDiscriminant(5.0, decision="margin").fit(X[:400], y[:400])
    >>> bool(skfd.score(X[400:], y[400:]) > 0.95), bool(skfd.sparsity_ > 0.9)
    (True, True)
    """

    #: How many linear systems may be solved for a class, but for linear programs.
    max_systems: ClassVar[int] = 5000

    _counts_components: ClassVar[bool] = False
    _finds_intercept: ClassVar[bool] = True
    _moved: ClassVar[dict[str, str]] = KernelDiscriminant._moved | {
        "delta": "pass loss=('huber', delta).",
        "epsilon": "pass loss=('epsilon_insensitive', epsilon).",
        "power": "pass loss=('polynomial', power).",
        "max_iter": "a subclass may set another number as its attribute max_systems.",
    }
    _parameter_constraints: ClassVar[dict] = {
        **KernelDiscriminant._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "loss": [StrOptions({"squared", "absolute", *LOSS_NUMBERS}), tuple],
        "penalty": [StrOptions({"l1", "alpha", "norm"})],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "decision": [StrOptions({*THRESHOLDS, "intercept"}), DecisionRule],
    }

    def __init__(
        self,
        C: Any = 1.0,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        tol: float = 1e-08,
        loss: str | tuple[str, float] = "squared",
        penalty: str = "l1",
        invariances: Sequence[Any] | None = None,
        decision: str | DecisionRule = "least_squares",
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.tol = tol
        self.loss = loss
        self.penalty = penalty
        self.invariances = invariances
        self.decision = decision
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def path(
        self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None
    ) -> list[SparseKernelFisherDiscriminant]:
        """Fit for several penalties, each starting from the solution of the next larger one.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Training samples, as for ``fit``.
        y : array-like of shape (n,)
            Class labels.
        Cs : sequence of float
            Penalties, in any order.
        sample_weight : array-like of shape (n,), default=None
            Weights.

        Returns
        -------
        list of SparseKernelFisherDiscriminant
            A fitted estimator for each penalty, in their order; this one is left as it was.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.preprocessing import scale
        >>> from kernelsieve import SparseKernelFisherDiscriminant
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> path = SparseKernelFisherDiscriminant().path(scale(X), y, [1.0, 10.0, 100.0])
        >>> [len(model.landmarks_) for model in path]
        [56, 15, 3]
        """
        penalties = as_penalties(Cs)
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):  # all fits must draw the same candidates
            seed = check_random_state(seed).randint(2**31 - 1)
        shared: list[ClassPrograms] = []
        fitted: dict[int, SparseKernelFisherDiscriminant] = {}
        for i in np.argsort(-np.array(penalties), kind="stable"):
            model = clone(self).set_params(C=penalties[i], random_state=seed)
            model._shared = shared
            fitted[int(i)] = model.fit(X, y, sample_weight)
            model.set_params(random_state=self.random_state)
            del model._shared
        return [fitted[i] for i in range(len(penalties))]

    @property
    def n_columns_(self) -> int:
        """Number of kernel columns in memory at the end."""
        return self._current_fit().n_columns

    @property
    def n_iter_(self) -> int:
        """Number of linear systems solved, the largest over the classes."""
        return self._current_fit().n_iter

    # ------------------------------------------------------------------ fitting

    def _tangents(self) -> list[Tangent]:
        # Without a weight there is nothing to pay, and no line of the program.
        return [tangent for tangent in super()._tangents() if tangent.weight > 0]

    def _solve(self, problem: Problem) -> Fit:
        rows = problem.rows
        what = "SparseKernelFisherDiscriminant solves a programme"
        check_few_classes(rows.n_targets, what, "Use KernelFisherDiscriminant.")
        check_not_constant(weighted_targets(rows, True), rows.Y * rows.root_weight[:, None])
        of_path: list[ClassPrograms] = vars(self).get("_shared", [])
        if not of_path:
            of_path.append(self._programs(problem))
        programs = of_path[0]
        solutions = programs.solve(strength_and_priors(self.C, len(programs.pool))[0])
        n_columns = programs.columns.n_kept
        self._say(f"{n_columns} of {len(programs.pool)} columns kept, {len(rows)} samples")
        return self._described(solutions, programs, problem, n_columns)

    def _programs(self, problem: Problem) -> ClassPrograms:
        """Return the programs of all classes, on given or drawn candidates, or all samples."""
        rows, kernel, pool = problem.rows, problem.kernel, problem.given
        union = with_moved(rows, self._tangents())
        size = self._pool_size(problem, len(union))
        if pool is None and size < len(union):
            pool = self._draw(problem, size)
        W = None if pool is None else pool.W
        if pool is None:
            everyone = np.arange(len(union))  # the index of a transformed sample is that of the sample
            pool = Pool(kernel.points(union.X, everyone), everyone % len(rows))
        return ClassPrograms(
            rows,
            kernel,
            pool,
            W,
            self._tangents(),
            loss=self.loss,
            penalty=self.penalty,
            joint=self._rule.multi_class == "joint",
            priors=strength_and_priors(self.C, len(pool))[1],
            tol=self.tol,
            max_iter=self.max_systems,
            n_jobs=self.n_jobs,
        )

    def _described(
        self, solutions: list[SparseSolution], programs: ClassPrograms, problem: Problem, n_columns: int
    ) -> Fit:
        """Return the fit: the features of the solutions, with decision heads."""
        rows, columns, pool = problem.rows, programs.columns, programs.pool
        chosen, first_use, alpha = merged_coefficients(solutions, len(pool))
        if not alpha.any():
            first = np.abs(columns.select(np.zeros(1, np.intp))[:, 0])
            rounding = min(self.tol, 1e-6) * float(first @ rows.root_weight**2)
            limit = min(solution.largest_price for solution in solutions)
            why = explain_zero_solution(self.C, limit, rounding, bool(self._tangents()))
            warn(why, FewerFeaturesWarning)
        b = np.array([solution.intercept for solution in solutions])
        outputs = Outputs(columns.select(chosen) @ alpha + b, rows.Y, rows.root_weight**2)
        features = weighted_targets(replace(rows, targets=outputs.values), True)
        fit = Fit(
            model=KernelModel(problem.kernel, pool.points[chosen], alpha, -b, first_use),
            landmark_indices=pool.first_of_equals(chosen).indices[chosen],
            criterion_path=np.array([solution.objective for solution in solutions]),
            explained_variance_ratio=programs.explained_variance(chosen, alpha, features),
            explained_target_ratio=explained_targets(features, weighted_targets(rows, True)),
            outcome=Outcome.COMPLETE,
            n_columns=n_columns,
            n_iter=max(1, *(solution.n_iter for solution in solutions)),
        )
        moments = Moments.from_outputs(outputs.values, rows.Y, rows.weight)
        if not alpha.any():
            heads = prior_heads(moments)
        elif self._rule.threshold == "intercept":
            lower = np.where(np.tri(len(b), dtype=bool), 0.0, NEVER)
            heads = Heads(lower, np.eye(len(b)))
        else:
            heads = decision_heads(self._rule.threshold, moments, outputs, self._rule.nu)
        targets = 2.0 * np.eye(rows.Y.shape[1])[:, -len(b) :] - 1
        leverages = programs.mean_leverages(chosen, alpha, float(np.mean(self.C)))
        outputs = self._held_out(outputs, outputs.indicators @ targets, leverages)
        return add_decision(fit, heads, outputs, len(pool), joint=False)
