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
from ..deflation import Alignment, RidgeAlignment
from ..estimators import KernelEstimator, OutOfCoreMixin, PredictMixin
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
from .decision_rule import DecisionRule
from .decisions import (
    DECISION_CONSTRAINTS,
    MOVED_TO_DECISION,
    check_out_of_core,
    fit_discriminant,
    held_out,
    likeliest_slope,
    predict_proba,
    probability_link,
    sparsity,
    spread_batch,
    two_class_rule,
    unweighted_copy,
    weighted_batch,
)
from .greedy_decisions import DecidingPass, moments_of_features, nested_heads
from .invariance_mixin import InvarianceMixin
from .outputs import Moments, Outputs
from .scatter import Tangent, move
from .thresholds import decision_lines

_FRESH = candidates_needed(top=0.05, probability=0.95)  # 59 candidates a step


class GreedyKernelFisherDiscriminant(PredictMixin, InvarianceMixin, OutOfCoreMixin, KernelEstimator):
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
        "all" up to 1,500 samples; beyond, a pool of one and a half times n_components where it is
        screened, three times beyond 20,000 samples, of 1,000 otherwise. With
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
        "least_squares", "margin", "midpoint" or "gaussian", or a
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
    _moved: ClassVar[dict[str, str]] = MOVED_TO_DECISION
    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        **DECISION_CONSTRAINTS,
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

    _rule = property(two_class_rule)
    _batch = weighted_batch
    _for_folds = unweighted_copy
    fit = fit_discriminant
    predict_proba = predict_proba
    _probability_link = probability_link
    sparsity_ = property(sparsity)

    @property
    def thresholds_(self) -> np.ndarray:
        """Intercepts of the decision function with all features."""
        return np.asarray(self._current_fit().heads.intercepts[-1])  # type: ignore[union-attr]

    def _target_kind(self) -> str:
        return "classes"

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
        size = problem.pool_size(len(rows), use_of_candidates(criterion), criterion, _FRESH)
        if pool is None and self._tangents():
            # The pass over a pool sums up the changes, whatever the number of candidates is.
            pool = self._draw(problem, self._pool_size(problem, len(self._with_moved(rows))))
        elif problem.has_pool(size):
            pool = pool or self._draw(problem, size)
        else:
            fit = select_without_pool(problem, rows, criterion, size)
            return self._deciding(fit, len(distinct(rows.X)), rows)
        return self._row_pass(problem.plan(pool)).fit([rows])

    def _row_pass(self, plan: Plan) -> RowPass:
        changes = [
            Change(partial(move, t.transform), t.weight) for t in self._tangents() if t.weight > 0
        ]
        one_pass = OnePass(plan, self._criterion(), changes)
        size = len(distinct(plan.pool.points))
        return DecidingPass(one_pass, lambda fit, batch: self._deciding(fit, size, batch))

    def _plan(self, X: Rows, y: Any, classes: Any, sample_weight: Any) -> Plan:
        check_out_of_core(self)
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
        super()._set_fit(fit, encoder, rows)

    # ------------------------------------------------------------------ decisions

    def _deciding(self, fit: Fit, n_candidates: int, batch: Batch | None) -> Fit:
        """Add the decision heads on the first j features to a fit, for every j.

        Features are orthonormal together with the ridge, and their products with the targets are
        known, so that their moments need no further pass over the samples.
        """
        if fit.decision is not None or fit.model.n_components == 0 or fit.heads is None:
            return fit  # which knows already, or is refused later
        features = moments_of_features(fit)
        directions = fit.heads.coefficients
        directions = directions[:, 1:] if directions.shape[1] == 2 else directions
        rows = self._rows(fit, batch) if batch is not None else None
        decisions, slopes = [], []
        for j in range(1, fit.model.n_components + 1):
            first = features.first(j)
            samples = None if rows is None else replace(rows, values=rows.values[:, :j])
            sides = first.sides(directions[:j])
            outputs = None if samples is None else samples.combined(directions[:j])
            lines = decision_lines(self._rule.threshold, sides, outputs, self._rule.nu)
            outputs = self._held_out(fit, samples, first, directions[:j])
            decisions.append(lines)
            decided = outputs.values * lines[0] + lines[1]
            slopes.append(likeliest_slope(decided, outputs.indicators, outputs.weight))
        explained = np.cumsum(fit.explained_target_ratio)
        scale = 2 / np.sum(1 / features.weights[features.weights > 0])
        return replace(
            fit,
            heads=nested_heads(decisions, directions),
            criterion_path=scale * np.maximum(1 - explained, 0.0) / explained,
            decision=Decision(np.array(slopes), False, n_candidates),
        )

    def _rows(self, fit: Fit, batch: Batch) -> Outputs | None:
        """Return the features of all samples for the margin, or else of a subset."""
        if self._rule.threshold != "margin":
            if self._rule.folds is not None:
                return None
            batch = spread_batch(batch)
        return Outputs(fit.model.features(batch.X, self.n_jobs), batch.Y, batch.root_weight**2)

    def _held_out(
        self, fit: Fit, samples: Outputs | None, features: Moments, directions: np.ndarray
    ) -> Outputs:
        """Return the outputs for fitting probabilities.

        Features are orthonormal together with the ridge, so leverages are their squares; outputs are
        regressions to the indicators of the classes.
        """
        (j, n_outputs), m = directions.shape, fit.total_weight
        shares = features.weights / features.weights.sum()
        if samples is not None:
            wanted = (samples.indicators - shares)[:, -n_outputs:]
            leverages = (1 + (samples.values**2).sum(axis=1)) / m
            return held_out(self, samples.combined(directions), wanted, leverages)
        if n_outputs <= j:  # what is drawn has as few dimensions as can be
            outputs = Outputs.drawn(features.combined(directions))
        else:
            outputs = Outputs.drawn(features).combined(directions)
        penalised = 0.0 if fit.penalty is None else float(np.trace(fit.penalty[:j, :j]))
        wanted = (outputs.indicators - shares)[:, -n_outputs:]
        return held_out(self, outputs, wanted, (1 + j - penalised / m) / m, drawn=True)
