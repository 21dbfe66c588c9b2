"""Kernel Fisher discriminants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..data import Batch, row_slices, rows_per_block, run_blocks
from ..estimators import OutOfCoreMixin
from ..fitting import Plan, RowPass, Settings
from ..kernels import KernelLike, Rows
from ..model import Fit
from .decisions import Moments, Outputs, add_decision, decision_heads, joint_heads
from .discriminant import DecisionRule, KernelDiscriminant, check_few_classes, spread_batch
from .ratios import LargestRatios, RayleighPass, solve_ratio
from .scatter import BetweenClasses, TotalScatter, WithinClasses


class KernelFisherDiscriminant(OutOfCoreMixin, KernelDiscriminant):
    """Kernel Fisher discriminant (KFD): features that separate classes, and a classifier on them.

    The features have the largest ratio of the scatter between the class means to the scatter within
    the classes, to which a ridge and the changes under known invariances are added. Two classes have
    one feature; more have one less than classes together, or one each with
    ``decision=DecisionRule(multi_class="ovr")``. With a linear kernel this is linear discriminant
    analysis.

    Directions are expanded in all samples or in a pool of them. A pool needs one pass over the
    samples, out of core too; all classes share it and one
    factorisation.

    Parameters
    ----------
    n_components : int, default=None
        Number of joint features; None for one less than there are classes. Not used with
        ``decision=DecisionRule(multi_class="ovr")``, which has one for each class.
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
        Samples that directions combine, all of which a new sample is compared with: "all", a number
        of them, or an array of points (row numbers, for a precomputed kernel). "auto" is "all" up to
        2,000 samples and 2,000 of them beyond. Pass :class:`~kernelsieve.Candidates` to say how they
        are drawn.
    tol : float, default=1e-10
        Ratios below this part of the largest are noise, and their features are dropped.
    reg : float, default=1.0
        Added to the denominator, which is a sum over the samples: ``reg * I`` or ``reg * K``, as
        ``penalty`` says. The default is the best for both penalties on ten sets of 130 to 700 samples,
        with a kernel of unit diagonal (``python -m papers run mika2003/default_reg``); other kernels
        need a value of their own.
    penalty : {"alpha", "norm"}, default="alpha"
        Quantity that ``reg`` keeps small: the coefficients alpha of the candidates, or the length of
        the direction in feature space.
    invariances : list of (transform, weight) or Tangent, default=None
        Features are to change little under these: each transform is a function from X to X transformed
        by a small step, such as ``kernelsieve.rayleigh.ImageRotation(5.0)``, and the squared changes,
        summed over the samples, are added to the denominator with that weight.
        :class:`~kernelsieve.rayleigh.Tangent` in place of a pair may give ``virtual_candidates``.
    decision : str or DecisionRule, default="auto"
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
        b of each feature that separates one class from the rest: the sign of feature + b decides.
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
    With N of formula (7) in the paper, ``penalty="alpha"`` solves with ``N + reg I`` and
    ``penalty="norm"`` with ``N + reg K``; N is a sum over the samples, so the same ``reg`` weighs less
    the more samples there are. Where all samples are candidates, a sample of weight w counts as w
    equal candidates in the penalty, as repeated samples would. Kernel columns are centred, not
    samples: generalised discriminant analysis on a doubly centred matrix has the same features with
    ``penalty="norm"``, and nearly the same with "alpha". For two classes the direction is that of
    ridge regression to the labels, problem (9).

    Features have the ratio's denominator, over the number of samples, equal to one: unit variance
    within classes but for the ridge. ``decision_function`` of one feature, and the features of
    ``DecisionRule(multi_class="ovr")``, are scaled so that the means of both sides differ by 2.

    Log odds of probabilities are the decisions times one slope, by maximum likelihood. A feature is
    ridge regression to its class means, ``1 + 1 / ratio`` times as far apart, so the output of a sample
    that is left out has a closed form: with target t, output f and leverage h it is
    ``t - (t - f) / (1 - h)``. The sample stays a candidate. Of a sample with a weight above one (times
    that of its class), one is left out.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003. Several classes: G. Baudat,
    F. Anouar. Generalized discriminant analysis using a kernel approach. Neural Computation 12(10),
    2000.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import KernelFisherDiscriminant
    >>> X, y = load_digits(return_X_y=True)
    >>> kfd = KernelFisherDiscriminant(gamma=0.001, reg=0.1, candidates=300, random_state=0)
    >>> kfd.fit(X[:1000], y[:1000]).transform(X[1000:]).shape
    (797, 9)
    >>> bool(kfd.score(X[1000:], y[1000:]) > 0.95)
    True
    >>> kfd.predict_proba(X[1000:1002]).shape
    (2, 10)
    """

    _moved: ClassVar[dict[str, str]] = KernelDiscriminant._moved | {
        "center": "features always have mean zero; add offset_ to them for those without centring."
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
        reg: float = 1.0,
        penalty: str = "alpha",
        invariances: Sequence[Any] | None = None,
        decision: str | DecisionRule = "auto",
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
        self.reg = reg
        self.penalty = penalty
        self.invariances = invariances
        self.decision = decision
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _solve = solve_ratio

    def _settings(self) -> Settings:
        return replace(super()._settings(), center=True, tol=self.tol)

    def _plan(self, X: Rows, y: Any, classes: Any, sample_weight: Any) -> Plan:
        self._check_out_of_core()
        return super()._plan(X, y, classes, sample_weight)

    def _row_pass(self, plan: Plan, copies: np.ndarray | None = None) -> RowPass:
        """Maximise the scatter M between classes over N, that within them, with a ridge: (8), (11)."""
        n_classes, multi_class = len(plan.target_shift), self._rule.multi_class
        joint = multi_class != "ovr" and n_classes > 2
        one_against_rest = multi_class == "ovr" and n_classes > 2
        if one_against_rest:
            what = "DecisionRule(multi_class='ovr') finds a feature"
            check_few_classes(n_classes, what, "Pass DecisionRule(multi_class='joint').")
        M = [BetweenClasses()]
        # For each class alone the scatter of all serves as well, and all classes share it.
        N = [TotalScatter() if one_against_rest else WithinClasses(), *self._tangents()]
        return RayleighPass(
            plan,
            M,
            N,
            reg=self.reg,
            penalty=self.penalty,
            copies=copies,
            one_against_rest=one_against_rest,
            complete=partial(self._complete, joint=joint),
            needs_rows=self._rule.threshold == "margin" and not joint,
        )

    def _complete(
        self, fit: Fit, found: LargestRatios, batches: Iterable[Batch] | None, *, joint: bool
    ) -> Fit:
        """Add decision heads and probabilities to a fit."""
        if len(found.ratios) == 0:  # which is refused later
            return fit
        rule, offset, samples = self._rule, fit.model.offset, None
        moments = class_moments(found, offset)
        if joint:
            heads = joint_heads(rule.threshold, moments, found.ratios)
        else:
            if rule.threshold == "margin":
                parts = [
                    (fit.model.features(batch.X, self.n_jobs), batch.Y, batch.root_weight**2)
                    for batch in batches or ()
                ]
                samples = Outputs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
            heads = decision_heads(rule.threshold, moments, samples, rule.nu)
        targets = regression_targets(moments, found.ratios, joint=joint)
        if isinstance(batches, list) and rule.folds is None:
            some = spread_batch(batches[0])
            features, leverages = features_and_leverages(found, some.X, offset, self.n_jobs)
            outputs = Outputs(features, some.Y, some.root_weight**2)
            outputs = self._held_out(outputs, outputs.indicators @ targets, leverages)
        else:
            outputs, coordinates = Outputs.drawn(moments), found.seen.coordinates
            sum_of_all = 1 + float(found.leverages(coordinates.columns).sum())
            leverages = np.array(sum_of_all / coordinates.total_weight)
            outputs = self._held_out(outputs, outputs.indicators @ targets, leverages, drawn=True)
        return add_decision(fit, heads, outputs, len(found.alpha), joint=joint)


def class_moments(found: LargestRatios, offset: np.ndarray) -> Moments:
    """Return the moments of the classes along the directions, by formulas (5) to (7)."""
    coordinates = found.seen.coordinates
    shares, total = coordinates.target_means, coordinates.total_weight
    # Products with centred indicators: the weight of a class times its mean less that of all.
    products = coordinates.targets.T @ (coordinates.columns @ found.alpha)
    weights = total * np.where(shares > 0, shares, 1.0)
    means = coordinates.means @ found.alpha - offset + products / weights[:, None]
    rest = found.seen.within @ found.alpha
    return Moments(total * shares, means, rest.T @ rest / total)


def features_and_leverages(
    found: LargestRatios, X: Rows, offset: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of samples, and their leverages as a column."""
    features, leverages = np.empty((X.shape[0], len(offset))), np.empty((X.shape[0], 1))
    seen = found.seen

    def write(rows: slice) -> None:
        columns = seen.kernel.block(X[rows], seen.pool.points)
        features[rows] = columns @ found.alpha - offset
        leverages[rows, 0] = found.leverages(columns - seen.coordinates.means)

    slices = list(row_slices(X.shape[0], rows_per_block(len(found.alpha))))
    run_blocks(write, slices, n_jobs)
    return features, leverages + 1 / seen.coordinates.total_weight


def regression_targets(moments: Moments, ratios: np.ndarray, *, joint: bool) -> np.ndarray:
    """Return the regression targets of each class (rows) that the features solve for.

    A feature with the largest ratio of scatters is ridge regression to the means that it has of the
    classes, with the distances multiplied by ``1 + 1 / ratio``; of one class against the rest, to the
    means of these two.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import Moments
    >>> from kernelsieve.rayleigh.fisher import regression_targets
    >>> moments = Moments(np.ones(2), np.array([[-1.0], [1.0]]), np.eye(1))
    >>> regression_targets(moments, np.array([4.0]), joint=True)
    array([[-1.25],
           [ 1.25]])
    """
    means = moments.means
    mean = moments.weights @ means / moments.weights.sum()
    if not joint and means.shape[1] > 1:
        sides = [side.means[:, 0] for side in moments.sides()]
        means = np.where(np.eye(len(sides), dtype=bool), *np.transpose(sides)[::-1])
    return np.asarray(mean + (1 + 1 / ratios) * (means - mean))
