"""Kernel Fisher discriminants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .._sklearn import StrOptions
from ..estimators import KernelEstimator, OutOfCoreMixin, PredictMixin, estimator
from ..fitting import Plan, RowPass
from ..kernels import Rows
from ..model import Fit
from ..rows import Batch
from .decisions import (
    DECISION_CONSTRAINTS,
    check_few_classes,
    check_out_of_core,
    decided,
    fit_discriminant,
    held_out,
    predict_proba,
    probability_link,
    sparsity,
    thinned,
    thresholds,
)
from .invariance_mixin import InvarianceMixin
from .outputs import Outputs
from .scatter import BetweenClasses, TotalScatter, WithinClasses
from .solve import Maximum, Ratio, RayleighPass, solve_ratio
from .thresholds import decision_heads, joint_heads, regression_targets


@estimator
class KernelFisherDiscriminant(PredictMixin, InvarianceMixin, OutOfCoreMixin, KernelEstimator):
    """Kernel Fisher discriminant (KFD): features that separate classes, and a classifier on them.

    The features have the largest ratio of the scatter between the class means to the scatter within
    the classes, to which a ridge and the changes under known invariances are added. Two classes have
    one feature; more have one less than classes together, or one each with ``multi_class="ovr"``. With
    a linear kernel this is linear discriminant analysis.

    Maximum are expanded in all samples or in a pool of them. A pool needs one pass over the
    samples, out of core too; all classes share it and one
    factorisation.

    Parameters
    ----------
    n_components : int, default=None
        Number of joint features; None for one less than there are classes. Not used with
        ``multi_class="ovr"``, which has one for each class.
    candidates : {"auto", "all"}, int or array, default="auto"
        Samples that directions combine, all of which a new sample is compared with: "all", a number of
        them, or an array of points (row numbers, for a precomputed kernel). "auto" is "all" up to
        2,000 samples and 2,000 of them beyond.
    pool : {"random", "kmeans", "rpcholesky"}, default="random"
        How candidates given as a number are drawn; "kmeans" takes the samples nearest to the centres.
        For the centres themselves, pass ``candidates=KMeans(m).fit(X).cluster_centers_``.
    tol : float, default=1e-10
        Ratios below this part of the largest are noise, and their features are dropped.
    reg : float, default=1.0
        Added to the denominator, which is a sum over the samples: ``reg * I`` or ``reg * K``, as
        ``penalty`` says. The default is the best for both penalties on ten sets of 130 to 700 samples,
        with a kernel of unit diagonal (``python -m papers run mika2003/default_reg``); other kernels
        need a value of their own.
    {parameters}

    Attributes
    ----------
    thresholds_ : ndarray
        b of each feature that separates one class from the rest: the sign of feature + b decides.
    sparsity_ : float
        Fraction of the candidates whose coefficients are zero.
    {attributes}

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
    ``multi_class="ovr"``, are scaled so that the means of both sides differ by 2.

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

    _parameter_constraints: ClassVar[dict] = {
        **DECISION_CONSTRAINTS,
        "pool": [StrOptions({"random", "kmeans", "rpcholesky"})],
        "multi_class": [StrOptions({"joint", "ovr"})],
    }

    n_components: int | None = None
    _: KW_ONLY
    candidates: Any = "auto"
    pool: str = "random"
    center: bool = True
    tol: float = 1e-10
    reg: float = 1.0
    penalty: str = "alpha"
    invariances: list[tuple[Callable, float]] | None = None
    multi_class: str = "joint"
    threshold: str = "auto"
    nu: float | str = 0.5
    class_weight: dict[Any, float] | str | None = None
    probability: str = "loo"
    probability_cv: int | None = None

    _solve = solve_ratio
    fit = fit_discriminant
    predict_proba = predict_proba
    _probability_link = probability_link
    thresholds_ = property(thresholds)
    sparsity_ = property(sparsity)

    def _target_kind(self) -> str:
        return "classes"

    def _plan(self, X: Rows, y: Any, classes: Any, sample_weight: Any) -> Plan:
        check_out_of_core(self.get_params(deep=False))
        return super()._plan(X, y, classes, sample_weight)

    def _row_pass(self, plan: Plan, copies: np.ndarray | None = None) -> RowPass:
        """Maximise the scatter M between classes over N, that within them, with a ridge: (8), (11)."""
        n_classes = len(plan.target_shift)
        joint = self.multi_class == "joint" and n_classes > 2
        one_against_rest = self.multi_class == "ovr" and n_classes > 2
        if one_against_rest:
            what = "multi_class='ovr' finds a feature"
            check_few_classes(n_classes, what, "Pass multi_class='joint'.")
        M = [BetweenClasses()]
        # For each class alone the scatter of all serves as well, and all classes share it.
        N = [TotalScatter() if one_against_rest else WithinClasses(), *self._tangents()]
        ratio = Ratio(M, N, self.reg, self.penalty, one_against_rest)
        needs_rows = self.threshold == "margin" and not joint
        complete = partial(self._complete, joint=joint)
        return RayleighPass(plan, ratio, copies, complete, needs_rows=needs_rows)

    def _complete(
        self, fit: Fit, found: Maximum, batches: Iterable[Batch] | None, *, joint: bool
    ) -> Fit:
        """Add to a fit how it decides."""
        if len(found.ratios) == 0:  # which is refused later
            return fit
        offset, moments, samples = fit.model.offset, found.moments(fit.model.offset), None
        if self.threshold == "margin" and not joint:
            parts = [
                (fit.model.features(batch.X, self.n_jobs), batch.Y, batch.root_weight**2)
                for batch in batches or ()
            ]
            samples = Outputs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        if joint:
            heads = joint_heads(self.threshold, moments, found.ratios)
        else:
            heads = decision_heads(self.threshold, moments, samples, self.nu)
        targets = regression_targets(moments, found.ratios, joint=joint)
        if isinstance(batches, list) and self.probability_cv is None:
            some = thinned(batches[0])
            features, leverages = found.with_leverages(some.X, offset, self.n_jobs)
            outputs = Outputs(features, some.Y, some.root_weight**2)
            outputs = held_out(self, outputs, outputs.indicators @ targets, leverages)
        else:
            outputs = Outputs.drawn(moments)
            wanted = outputs.indicators @ targets
            outputs = held_out(self, outputs, wanted, found.mean_leverage, drawn=True)
        return decided(fit, heads, outputs, len(found.alpha), joint=joint)
