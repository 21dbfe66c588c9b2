"""Greedy kernel Fisher discriminants: forward selection of landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._sklearn import Interval
from ..data import Batch, TargetEncoder, distinct
from ..deflation import Alignment, Heads, RidgeAlignment
from ..estimators import OutOfCoreMixin
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import (
    OnePass,
    Plan,
    Problem,
    RowPass,
    Settings,
    candidates_needed,
    select_without_pool,
    use_of_candidates,
)
from ..kernels import KernelLike, Rows
from ..model import Decision, Fit
from ..statistics import Change
from .decisions import Moments, Outputs, decision_lines, likeliest_slope
from .discriminant import DecisionRule, KernelDiscriminant, spread_batch
from .scatter import Tangent, move, with_moved

_FRESH = candidates_needed(top=0.05, probability=0.95)  # 59 candidates a step


class GreedyKernelFisherDiscriminant(OutOfCoreMixin, KernelDiscriminant):
    """Kernel Fisher discriminant on few landmarks, chosen one after another.

    Each step adds the landmark with which the discriminant on all so far becomes best: the
    largest ratio of the scatter between classes to the scatter within them, with a ridge on the
    coefficients. All candidates are tried exactly, for one product with the kernel columns a step.

    One fit answers for every number of landmarks: ``predict(X, n_components=j)`` is the discriminant on
    the first j. Features are the chosen kernel columns made orthogonal one after another, the ridge
    included, and the discriminant is a combination of them. More than two classes share the landmarks;
    each has a combination of its own that separates it from the rest.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
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
        Samples among which landmarks are chosen. "all" is exact selection; a number draws a pool of
        that many; an array of points (row numbers, for a precomputed kernel) is the pool. "auto" is
        "all" up to 1,500 samples, or 1,000 for 100 components or more; beyond, a pool of one and a half
        times n_components, at least 150, where it is screened, of 1,000 otherwise. With
        ``Candidates(resample=True)`` it is 59 at every step. Pass :class:`~kernelsieve.Candidates` to
        say how they are drawn.
    tol : float, default=1e-10
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    stop_tol : float, default=0.03
        No landmark is added when the objective has fallen by less than this part of it a step, on
        average over the last five steps; 0 for never.
    reg : float, default=0.001
        Ridge C of the coefficients, added to the scatter within classes, a sum over the samples.
    invariances : list of (transform, weight) or Tangent, default=None
        Features are to change little under these: each transform is a function from X to X transformed
        by a small step, such as ``kernelsieve.rayleigh.ImageRotation(5.0)``, and the squared changes,
        summed over the samples, are added to the denominator with that weight.
        :class:`~kernelsieve.rayleigh.Tangent` in place of a pair may give ``virtual_candidates``.
    decision : str or DecisionRule, default="least_squares"
        How features decide, and how probable that is: the word for a threshold, "auto",
        "least_squares", "margin", "midpoint", "gaussian" or "alignment", or a
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
    thresholds_ : ndarray
        Constants of the decisions with all features.
    sparsity_ : float
        Fraction of the candidates whose coefficients are zero.
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
    For two classes ``criterion_path_`` is the objective after each step, ``2 / J`` with ``J = D'(N + C
    I)^-1 D``, where D is the difference of the class means of the chosen columns and N their scatter
    within classes. That is half the smallest sum of squared residuals of labels -1 and 1 and of the
    ridge, over coefficients with which the residuals of either class have mean zero.

    With ``invariances`` the squared changes under the transformations, each with its weight, are added
    to N. The changes are further samples with target zero, as the ridge is, summed up in the pass over
    the samples; all candidates are then a pool, and new ones are not drawn at every step.

    N differs from the scatter about the common mean along D only, so the selection is that of forward
    orthogonal least squares with the columns ``[K; sqrt(C) I]``: the loop of
    :class:`~kernelsieve.SparseMaximalAlignment`. This recursion is our own derivation, as is the
    objective for more than two classes (with the ratio of all targets that is explained in place of
    the one of a single target); the rule to stop has a threshold of our choice.

    Probabilities are found as in :class:`~kernelsieve.KernelFisherDiscriminant`, given the landmarks:
    that a sample might have changed the choice is seen with a number of folds alone.

    Equal samples are one candidate, or the ridge on two halves of a coefficient would be less than on
    the whole, and a sample of weight 2 another thing than two samples.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003. S. Mika, A. J. Smola, B.
    Schoelkopf. An improved training algorithm for kernel Fisher discriminants. AISTATS, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import GreedyKernelFisherDiscriminant
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> greedy = GreedyKernelFisherDiscriminant(20, stop_tol=0).fit(X[:400], y[:400])
    >>> greedy.landmarks_.shape
    (20, 30)
    >>> bool(greedy.score(X[400:], y[400:]) > 0.95)
    True
    >>> bool((greedy.predict(X[400:], n_components=5) == y[400:]).mean() > 0.9)
    True
    """

    _use_of_candidates: ClassVar[str] = "chosen"
    _candidate_options: ClassVar[frozenset[str]] = frozenset({"resample"})
    _shares_folds: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict] = {
        **KernelDiscriminant._parameter_constraints,
        "stop_tol": [Interval(Real, 0, 1, closed="left")],
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
        tol: float = 1e-10,
        stop_tol: float = 0.03,
        reg: float = 0.001,
        invariances: Sequence[Any] | None = None,
        decision: str | DecisionRule = "least_squares",
        class_weight: dict[Any, float] | str | None = None,
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
        self.stop_tol = stop_tol
        self.reg = reg
        self.invariances = invariances
        self.decision = decision
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _rule(self) -> DecisionRule:
        rule = super()._rule
        if rule.multi_class != "auto":
            raise InvalidParameterError(
                f"multi_class={rule.multi_class!r} is for several classes, and {type(self).__name__} "
                "takes two; leave multi_class out."
            )
        return rule

    @property
    def thresholds_(self) -> np.ndarray:
        """Intercepts of the decision function with all features."""
        return np.asarray(self._current_fit().heads.intercepts[-1])  # type: ignore[union-attr]

    def _settings(self) -> Settings:
        return replace(super()._settings(), center=True, tol=self.tol)

    def _criterion(self) -> RidgeAlignment:
        return RidgeAlignment(float(self.reg), float(self.stop_tol))

    def _screening(self) -> Alignment:
        return Alignment()  # without the ridge, without invariances, and without a rule to stop

    def _tangents(self) -> list[Tangent]:
        if self.invariances and (self._candidates().resample or self._is_precomputed):
            raise InvalidParameterError(
                f"invariances are given with kernel={self.kernel!r} and "
                f"candidates={self.candidates!r}; they need X, which is transformed, and one pool of "
                "candidates: pass a kernel by name or as a function, and no candidates with "
                "resample=True."
            )
        return super()._tangents()

    def _solve(self, problem: Problem) -> Fit:
        rows, criterion, pool = problem.rows, self._criterion(), problem.given
        tangents = self._tangents()
        size = problem.pool_size(len(rows), use_of_candidates(criterion), criterion, _FRESH)
        if pool is None and tangents:
            # The pass over a pool sums up the changes, whatever the number of candidates is.
            pool = self._draw(problem, self._pool_size(problem, len(with_moved(rows, tangents))))
        elif problem.has_pool(size):
            pool = pool or self._draw(problem, size)
        else:
            fit = select_without_pool(problem, rows, criterion, size)
            return self._with_decision(fit, rows.X, rows)
        plan = problem.plan(pool)
        return self._with_decision(self._row_pass(plan).fit([rows]), plan.pool.points, rows)

    def _row_pass(self, plan: Plan) -> RowPass:
        changes = [
            Change(partial(move, t.transform), t.weight) for t in self._tangents() if t.weight > 0
        ]
        return OnePass(plan, self._criterion(), changes)

    def _plan(self, X: Rows, y: Any, classes: Any, sample_weight: Any) -> Plan:
        self._check_out_of_core()
        if self._rule.threshold == "margin":
            raise InvalidParameterError(
                "decision='margin' looks at all samples at once; out of core pass "
                "decision='gaussian', 'midpoint' or 'least_squares'."
            )
        return super()._plan(X, y, classes, sample_weight)

    def _set_fit(self, fit: Fit, encoder: TargetEncoder, rows: Rows) -> None:
        if fit.model.n_components == 0:
            raise InvalidDataError(
                f"No feature could be found: with reg={self.reg:g} no landmark separates the "
                "classes. Look for constant columns of X or equal samples, lower reg, or choose "
                "another kernel or gamma."
            )
        if fit.decision is None:  # out of core; rows are the candidates
            fit = self._with_decision(fit, rows, None)
        super()._set_fit(fit, encoder, rows)

    # ------------------------------------------------------------------ decisions

    def _with_decision(self, fit: Fit, candidates: Rows, batch: Batch | None) -> Fit:
        """Add the decision heads on the first j features to a fit, for every j.

        Features are orthonormal together with the ridge, and their products with the targets are
        known, so that their moments need no further pass over the samples.
        """
        if fit.model.n_components == 0 or fit.heads is None:
            return fit  # which is refused later
        rule, features, directions = self._rule, moments_of_features(fit), fit.heads.coefficients
        directions = directions[:, 1:] if directions.shape[1] == 2 else directions
        samples = None
        if batch is not None and (rule.threshold == "margin" or rule.folds is None):
            some = batch if rule.threshold == "margin" else spread_batch(batch)
            values = fit.model.features(some.X, self.n_jobs)
            samples = Outputs(values, some.Y, some.root_weight**2)
        k, n_outputs = directions.shape
        coefficients, intercepts, slopes = np.zeros((k, k, n_outputs)), np.empty((k, n_outputs)), []
        for j in range(1, k + 1):
            first, V = features.first(j), directions[:j]
            outputs = None
            if samples is not None:
                outputs = replace(samples, values=samples.values[:, :j] @ V)
            scales, intercepts[j - 1] = decision_lines(rule.threshold, first.sides(V), outputs, rule.nu)
            coefficients[j - 1, :j] = V * scales
            left = self._left_out(fit, first, V, samples, outputs)
            decided = left.values * scales + intercepts[j - 1]
            slopes.append(likeliest_slope(decided, left.indicators, left.weight))
        explained = np.cumsum(fit.explained_target_ratio)
        scale = 2 / np.sum(1 / features.weights[features.weights > 0])
        return replace(
            fit,
            heads=Heads(intercepts, coefficients),
            criterion_path=scale * np.maximum(1 - explained, 0.0) / explained,
            decision=Decision(np.array(slopes), False, len(distinct(candidates))),
        )

    def _left_out(
        self,
        fit: Fit,
        features: Moments,
        directions: np.ndarray,
        samples: Outputs | None,
        outputs: Outputs | None,
    ) -> Outputs:
        """Return the outputs for fitting probabilities.

        Features are orthonormal together with the ridge, so leverages are their squares; outputs are
        regressions to the indicators of the classes.
        """
        (j, n_outputs), m = directions.shape, fit.total_weight
        if samples is not None and outputs is not None:
            leverages = (1 + (samples.values[:, :j] ** 2).sum(axis=1, keepdims=True)) / m
        else:
            if n_outputs <= j:  # what is drawn has as few dimensions as can be
                outputs = Outputs.drawn(features.combined(directions))
            else:
                drawn = Outputs.drawn(features)
                outputs = replace(drawn, values=drawn.values @ directions)
            penalised = 0.0 if fit.penalty is None else float(np.trace(fit.penalty[:j, :j]))
            leverages = np.array((1 + j - penalised / m) / m)
        shares = features.weights / features.weights.sum()
        wanted = (outputs.indicators - shares)[:, -n_outputs:]
        return self._held_out(outputs, wanted, leverages, drawn=samples is None)


def moments_of_features(fit: Fit) -> Moments:
    """Return the moments of the features, as the loop knows them."""
    m, k = fit.total_weight, fit.model.n_components
    heads = fit.heads
    assert heads is not None
    weights = m * heads.intercepts[0]  # means of the indicators of classes
    means = m * heads.coefficients.T / np.where(weights > 0, weights, np.inf)[:, None]
    total = m * np.eye(k) - (0.0 if fit.penalty is None else fit.penalty)
    within = total - means.T @ (weights[:, None] * means)
    return Moments(weights, means, within / m)
