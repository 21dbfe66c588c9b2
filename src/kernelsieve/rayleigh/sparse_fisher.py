"""Sparse kernel Fisher discriminants by mathematical programming: SKFD, LSKFD, other noise models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._sklearn import Interval, StrOptions
from ..deflation import NEVER, Heads, Outcome
from ..estimators import KernelEstimator, PredictMixin, estimator
from ..exceptions import FewerFeaturesWarning, warn
from ..fitting import Problem
from ..kernels import Kernel
from ..model import Fit, KernelModel
from ..rows import Batch, Pool, check_not_constant, weighted_targets
from .column_generation import SparseSolution, merged_coefficients
from .decisions import (
    DECISION_CONSTRAINTS,
    check_few_classes,
    decided,
    fit_discriminant,
    held_out,
    mean_ridge_leverage,
    predict_proba,
    probability_link,
    sparsity,
    thresholds,
)
from .invariance_mixin import InvarianceMixin
from .outputs import Moments, Outputs, explained_targets
from .penalties import as_penalties, strength_and_priors, why_constant
from .scatter import Tangent
from .solvers import ClassPrograms, DiscriminantProgram
from .thresholds import decision_heads, prior_heads

_LARGEST_LEVERAGE = 0.9  # as many coefficients as samples would leave nothing to hold out


@estimator
class SparseKernelFisherDiscriminant(PredictMixin, InvarianceMixin, KernelEstimator):
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
    loss : {"squared", "absolute", "huber", "epsilon_insensitive", ...}, default="squared"
        Of the residuals xi, or the model of their noise. "squared" is SKFD, xi^2; "absolute" is
        LSKFD, ``|xi|``; "huber" is xi^2 up to delta and a line beyond; "epsilon_insensitive" is
        ``max(0, |xi| - epsilon)``; "polynomial" is ``|xi|^power``. With the l1 penalty the second and
        the fourth are linear programs and need ``kernelsieve[solvers]``.
    delta : float, default=1.0
        Where the Huber loss becomes a line.
    epsilon : float, default=0.1
        Residuals up to here cost nothing with the epsilon-insensitive loss.
    power : float, default=4.0
        Of the polynomial loss, at least 2.
    penalty : {"l1", "alpha", "norm"}, default="l1"
        What C multiplies: "l1" is the sum of the absolute values of the coefficients alpha, which are
        zero for most candidates; "alpha" is the sum of their squares and "norm" is alpha'K alpha, the
        squared length of the direction, with which no coefficient is zero and the kernel columns of
        all candidates are kept in memory.
    candidates : {"auto", "all"}, int or array, default="auto"
        Samples whose kernel columns may be used: "all", a number of them, or an array of points
        (row numbers, for a precomputed kernel). "auto" is "all" up to 2,000 rows and 2,000 examples
        beyond.
    pool : {"random", "kmeans", "rpcholesky"}, default="random"
        How candidates given as a number are drawn.
    multi_class : {"ovr", "joint"}, default="ovr"
        How more than two classes are penalised: "ovr" for each class alone, which is one against the
        rest; "joint" by the length of the vector of a column's coefficients for all classes, so that
        all classes use the same few columns. "joint" is for the squared loss.
    tol : float, default=1e-08
        A column is taken up when its optimality condition is violated by more than this part of C.
    max_iter : int, default=5000
        How many linear systems may be solved for a class, but for linear programs; a warning says
        that they were not enough.
    threshold : {"least_squares", "auto", "intercept", "margin", ...}, default="least_squares"
        How a feature decides. "intercept" is the constant that the program itself finds, "margin" the
        linear program (15) of the paper, "least_squares" where least squares of the labels on the
        feature changes sign, "midpoint" the middle of the means of the classes, and "gaussian" where
        both classes are as probable by a Gaussian model of the feature. "auto" is "least_squares".
    invariances : list of (transform, weight), default=None
        Features are to change little under these: each transform is a function from X to X transformed
        by a small step, such as ``kernelsieve.rayleigh.ImageRotation(5.0)``. The changes of all
        samples pay with that weight, by their squares, or by their absolute values in the linear
        programs.
    {parameters}

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
    {attributes}

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

    ``multi_class="joint"`` is ``min sum_i w_i ||xi_i||^2 + C sum_j ||alpha_j||``, with the coefficients
    of a column for all classes in alpha_j; ``criterion_path_`` then has the part of each class in it.
    Lengths are less than sums of absolute values, so C is to be larger than for "ovr".

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
    >>> skfd = SparseKernelFisherDiscriminant(5.0, threshold="margin").fit(X[:400], y[:400])
    >>> bool(skfd.score(X[400:], y[400:]) > 0.95), bool(skfd.sparsity_ > 0.9)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **DECISION_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "loss": [StrOptions({"squared", "absolute", "huber", "epsilon_insensitive", "polynomial"})],
        "power": [Interval(Real, 2, None, closed="left")],
        "penalty": [StrOptions({"l1", "alpha", "norm"})],
        "delta": [Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "pool": [StrOptions({"random", "kmeans", "rpcholesky"})],
        "multi_class": [StrOptions({"ovr", "joint"})],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "threshold": [
            StrOptions({"auto", "intercept", "margin", "midpoint", "least_squares", "gaussian"})
        ],
    }

    C: Any = 1.0
    _: KW_ONLY
    loss: str = "squared"
    delta: float = 1.0
    epsilon: float = 0.1
    power: float = 4.0
    penalty: str = "l1"
    candidates: Any = "auto"
    pool: str = "random"
    multi_class: str = "ovr"
    tol: float = 1e-8
    max_iter: int = 5000
    invariances: list[tuple[Callable, float]] | None = None
    threshold: str = "least_squares"
    nu: float | str = 0.5
    class_weight: dict[Any, float] | str | None = None
    probability: str = "loo"
    probability_cv: int | None = None

    fit = fit_discriminant
    predict_proba = predict_proba
    _probability_link = probability_link
    thresholds_ = property(thresholds)
    sparsity_ = property(sparsity)

    def path(
        self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None
    ) -> list[SparseKernelFisherDiscriminant]:
        """Fit for several penalties, each from the solution for the next larger one.

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
        """How many kernel columns were in memory at the end."""
        return self._current_fit().n_columns

    @property
    def n_iter_(self) -> int:
        """How many linear systems the class with most of them needed."""
        return self._current_fit().n_iter

    # ------------------------------------------------------------------ fitting

    def _target_kind(self) -> str:
        return "classes"

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
        return self._fit_of(solutions, programs, rows, problem.kernel, n_columns)

    def _programs(self, problem: Problem) -> ClassPrograms:
        """Return the programs of all classes, on candidates that are given, drawn, or all samples."""
        rows, kernel, candidates = problem.rows, problem.kernel, problem.given
        union = self._with_moved(rows)
        size = self._pool_size(problem, len(union))
        if candidates is None and size < len(union):
            candidates = self._draw(problem, size)
        if candidates is not None:
            pool, W = candidates.pool, candidates.W
        else:
            everyone = np.arange(len(union))  # the index of a transformed sample is that of the sample
            pool, W = Pool(kernel.points(union.X, everyone), everyone % len(rows)), None
        program = DiscriminantProgram(
            loss=self.loss,
            delta=float(self.delta),
            epsilon=float(self.epsilon),
            power=float(self.power),
            penalty=self.penalty,
            joint=self.multi_class == "joint",
            tol=self.tol,
            max_iter=self.max_iter,
            priors=strength_and_priors(self.C, len(pool))[1],
        )
        return ClassPrograms(program, rows, kernel, pool, W, self._tangents(), self.n_jobs)

    def _fit_of(
        self,
        solutions: list[SparseSolution],
        programs: ClassPrograms,
        batch: Batch,
        kernel: Kernel,
        n_columns: int,
    ) -> Fit:
        columns, pool = programs.columns, programs.pool
        chosen, first_use, alpha = merged_coefficients(solutions, len(pool))
        if not alpha.any():
            first = np.abs(columns.take(np.zeros(1, np.intp))[:, 0])
            terms = min(self.tol, 1e-6) * float(first @ batch.root_weight**2)
            limit = min(solution.largest_price for solution in solutions)
            warn(why_constant(self.C, limit, terms, bool(self._tangents())), FewerFeaturesWarning)
        b = np.array([solution.intercept for solution in solutions])
        outputs = columns.take(chosen) @ alpha + b
        moments = Moments.of(outputs, batch.Y, batch.weight)
        features = weighted_targets(replace(batch, targets=outputs), True)
        fit = Fit(
            model=KernelModel(kernel, pool.points[chosen], alpha, -b, first_use),
            landmark_indices=pool.first_of_equals(chosen).indices[chosen],
            criterion_path=np.array([solution.objective for solution in solutions]),
            explained_variance_ratio=programs.explained_variance(chosen, alpha, features),
            explained_target_ratio=explained_targets(features, weighted_targets(batch, True)),
            outcome=Outcome.COMPLETE,
            n_columns=n_columns,
            n_iter=max(1, *(solution.n_iter for solution in solutions)),
        )
        rows = Outputs(outputs, batch.Y, batch.root_weight**2)
        heads = self._heads(rows, moments) if alpha.any() else prior_heads(moments)
        leverages = self._leverages(programs, chosen, alpha, rows.weight)
        targets = 2.0 * np.eye(batch.Y.shape[1])[:, -outputs.shape[1] :] - 1
        left = held_out(self, rows, rows.indicators @ targets, np.tile(leverages, (len(batch), 1)))
        return decided(fit, heads, left, len(pool), joint=False)

    def _heads(self, rows: Outputs, moments: Moments) -> Heads:
        if self.threshold == "intercept":
            n_outputs = rows.values.shape[1]
            lower = np.where(np.tri(n_outputs, dtype=bool), 0.0, NEVER)
            return Heads(lower, np.eye(n_outputs))
        return decision_heads(self.threshold, moments, rows, self.nu)

    def _leverages(
        self, programs: ClassPrograms, chosen: np.ndarray, alpha: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Return the mean leverage of samples in each output, as if the loss were that of squares."""
        if self.penalty == "l1":  # given the support, nearly least squares on its columns
            n_used = np.count_nonzero(alpha, axis=0)
            found = (n_used + (n_used > 0)) / weight.sum()
        else:
            columns, C = programs.columns.take(chosen), float(np.mean(self.C))
            lengths = programs.among(chosen) if self.penalty == "norm" else None
            found = np.full(alpha.shape[1], mean_ridge_leverage(columns, weight, C, lengths))
        return np.minimum(found, _LARGEST_LEVERAGE)
