"""Decisions by features: moments of the classes, thresholds, class scores and their log odds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from ..deflation import NEVER, Heads
from ..exceptions import IgnoredParameterWarning, warn
from ..model import Decision, Fit, orthonormal_combinations
from .linear_program import margin_threshold

_DRAWN = 400  # outputs of each class that stand for its Gaussian
_MOST_INDICATORS = 2**22  # of their classes
_SLOPES = 1e-6, 1e6  # smallest and largest, for decisions of unit size
_SMALLEST_VARIANCE = 1e-10  # of the squared distance of the means: outputs of a perfect fit have none


@dataclass(frozen=True)
class Moments:
    """Weights, means and pooled covariance of the classes, which determine Gaussian models.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import Moments
    >>> moments = Moments.from_outputs(np.array([[0.0], [2.0], [5.0]]), np.eye(2)[[0, 0, 1]])
    >>> moments.weights, moments.means.ravel(), moments.covariance.round(3)
    (array([2., 1.]), array([1., 5.]), array([[0.667]]))
    """

    weights: np.ndarray  # of each class in all, (c,)
    means: np.ndarray  # (c, q)
    covariance: np.ndarray  # about the means of the classes, (q, q)

    @classmethod
    def from_outputs(
        cls, outputs: np.ndarray, indicators: np.ndarray, weight: np.ndarray | None = None
    ) -> Self:
        """Compute the moments of outputs (n, q), given class indicators (n, c)."""
        shares = indicators if weight is None else indicators * weight[:, None]
        weights = shares.sum(axis=0)
        means = shares.T @ outputs / np.where(weights > 0, weights, 1.0)[:, None]
        rest = outputs - indicators @ means
        scatter = rest.T @ (rest * shares.sum(axis=1)[:, None])
        return cls(weights, means, scatter / weights.sum())

    def sides(self, directions: np.ndarray | None = None) -> list[Moments]:
        """Return the moments of each class against the rest along directions; None for the outputs.

        It is the class of the same number; the second of two, for a single direction.
        """
        directions = np.eye(self.means.shape[1]) if directions is None else directions
        total, mean = self.weights.sum(), self.weights @ self.means / self.weights.sum()
        centred = self.means - mean
        scatter = centred.T @ (self.weights[:, None] * centred)
        classes = slice(1, None) if directions.shape[1] == 1 else slice(None)
        own, overall = np.einsum("ok,ko->o", self.means[classes], directions), mean @ directions
        of_own, of_rest = self.weights[classes], total - self.weights[classes]
        rest = (total * overall - of_own * own) / of_rest
        spread = np.einsum("ko,ko->o", directions, scatter @ directions)
        spread += total * (overall - rest) ** 2 - of_own * (own - rest) ** 2
        variance = np.einsum("ko,ko->o", directions, self.covariance @ directions)
        variance += np.maximum(spread, 0.0) / total
        both = np.column_stack([of_rest, of_own]), np.stack([rest, own])[None].T
        return [Moments(*moments) for moments in zip(*both, variance[:, None, None], strict=True)]

    @property
    def distance(self) -> float:
        """Distance of the means of two classes, along one output."""
        return float(self.means[1, 0] - self.means[0, 0])

    def first(self, n_outputs: int) -> Moments:
        """Return the moments of the first outputs."""
        j = n_outputs
        return Moments(self.weights, self.means[:, :j], self.covariance[:j, :j])

    def combined(self, directions: np.ndarray) -> Moments:
        """Return the moments of linear combinations of the outputs, one for each column."""
        covariance = directions.T @ self.covariance @ directions
        return replace(self, means=self.means @ directions, covariance=covariance)


@dataclass(frozen=True)
class Outputs:
    """Outputs of samples, with class indicators and weights."""

    values: np.ndarray  # (n, q)
    indicators: np.ndarray  # of the classes, (n, c)
    weight: np.ndarray  # (n,)

    @classmethod
    def drawn(cls, moments: Moments) -> Self:
        """Draw outputs of Gaussian classes with the given moments."""
        n_classes, n_outputs = moments.means.shape
        half = np.random.default_rng(0).normal(size=(_DRAWN // 2, n_outputs))
        values, vectors = np.linalg.eigh(moments.covariance)
        noise = np.vstack([half, -half]) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        # Of many classes some outputs, from all over them.
        places = spread_places(n_classes * _DRAWN, max(1, _MOST_INDICATORS // n_classes))
        classes, draws = np.divmod(places, _DRAWN)
        indicators = np.zeros((len(classes), n_classes))
        indicators[np.arange(len(classes)), classes] = 1.0
        return cls(moments.means[classes] + noise[draws], indicators, moments.weights[classes] / _DRAWN)


def spread_places(n: int, most: int) -> np.ndarray:
    """Return evenly spaced indices of a sequence.

    Examples
    --------
    >>> from kernelsieve.rayleigh.decisions import spread_places
    >>> spread_places(9, 3), spread_places(3, 9)
    (array([0, 4, 8]), array([0, 1, 2]))
    """
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def explained_targets(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the share of the squared targets that each feature adds to the earlier ones."""
    products = orthonormal_combinations(features.T @ features).T @ (features.T @ targets)
    return np.asarray((products**2).sum(axis=1) / (float((targets**2).sum()) or np.inf))


def midpoint_threshold(moments: Moments) -> float:
    """Return b that places zero midway between the means of two classes."""
    return -float(moments.means[:, 0].mean())


def least_squares_threshold(moments: Moments) -> float:
    """Return b where a least-squares fit of labels -1 and 1 crosses zero."""
    share = moments.weights / moments.weights.sum()
    product = float(share[0] * share[1])
    mean = float(share @ moments.means[:, 0])
    covariance = 2 * product * moments.distance
    if covariance == 0:  # the output says nothing about the classes, which leaves their weights
        return float(share[1] - share[0]) - mean
    variance = float(moments.covariance[0, 0]) + product * moments.distance**2
    return float(share[1] - share[0]) * variance / covariance - mean


def alignment_threshold(moments: Moments) -> float:
    """Return b where centred outputs are zero: a sample is of the class with whose samples it agrees.

    Where the kernel of an output, ``f(x) f(x')`` with f centred, is aligned with that of the labels -1
    and 1, the sum of its values with the samples, times their labels, tells the label of a new one. It
    is the output times the distance of both means, but for a factor.
    """
    return -float(moments.weights @ moments.means[:, 0] / moments.weights.sum())


def gaussian_logit(moments: Moments) -> tuple[float, float]:
    """Return a and b of ``P(second class | f) = sigma(a f + b)`` for Gaussian classes.

    Both classes have the pooled variance, so the log of their odds is linear in the output.
    """
    coefficients, intercepts = gaussian_scores(moments)
    a = coefficients[0, 1] - coefficients[0, 0]
    return float(a), float(intercepts[1] - intercepts[0])


def gaussian_threshold(moments: Moments) -> float:
    """Return b where both classes are equally probable, by :func:`gaussian_logit`."""
    a, b = gaussian_logit(moments)
    return b / a if a != 0 else midpoint_threshold(moments)


def gaussian_scores(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients (q, c) and intercepts (c,) of the log density plus log prior of classes.

    Terms that all classes share are left out: this is linear discriminant analysis on the outputs.
    """
    means = moments.means
    mean = moments.weights @ means / moments.weights.sum()
    spread = float(((means - mean) ** 2).max(initial=0.0))
    floor = _SMALLEST_VARIANCE * spread + 1e-300
    variances, axes = np.linalg.eigh(moments.covariance)
    coefficients = axes / np.maximum(variances, floor) @ axes.T @ (means - mean).T
    log_priors = log_shares(moments.weights)
    middles = (means + mean) / 2
    return coefficients, log_priors - np.einsum("cq,qc->c", middles, coefficients)


_THRESHOLDS: dict[str, Callable[[Moments], float]] = {
    "auto": least_squares_threshold,
    "least_squares": least_squares_threshold,
    "midpoint": midpoint_threshold,
    "gaussian": gaussian_threshold,
    "alignment": alignment_threshold,
}


def log_shares(weights: np.ndarray) -> np.ndarray:
    """Return the log shares of classes; a class without weight is never predicted."""
    shares = weights / weights.sum()
    return np.log(shares, out=np.full(len(shares), NEVER), where=shares > 0)


def decision_heads(
    how: str, moments: Moments, samples: Outputs | None = None, nu: float | str = 0.5
) -> Heads:
    """Return heads ``s (f + b)`` of outputs, each for one class against the rest.

    One output separates the second of two classes from the first. The scale s makes the means of both
    sides differ by 2, as problem (9) of Mika et al. (2003) does, so that outputs can be compared and
    the largest one wins. The outputs of all samples are needed for "margin" alone.
    """
    slopes, constants = decision_lines(how, moments.sides(), samples, nu)
    # With the first j outputs, only the first j classes can win.
    intercepts = np.where(np.tri(len(slopes), dtype=bool), constants, NEVER)
    return Heads(intercepts, np.diag(slopes))


def decision_lines(
    how: str, sides: Sequence[Moments], samples: Outputs | None = None, nu: float | str = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Return s and ``s b`` of each output, given the moments of the two classes it separates."""
    slopes, constants = np.ones(len(sides)), np.full(len(sides), NEVER)
    first = 1 if len(sides) == 1 else 0  # a single output is for the second class
    for j, moments in enumerate(sides):
        if not moments.weights[1] > 0:
            continue  # a class without weight is never the one
        slopes[j] = 2 / moments.distance if moments.distance != 0 else 1.0
        if how != "margin":
            constants[j] = slopes[j] * _THRESHOLDS[how](moments)
        elif samples is None:
            raise ValueError("the margin needs the outputs of all samples; pass them")
        else:
            positive = samples.indicators[:, first + j] > 0
            b = margin_threshold(samples.values[:, j], positive, samples.weight, nu)
            constants[j] = slopes[j] * b
    return slopes, constants


def joint_heads(how: str, moments: Moments, ratios: np.ndarray) -> Heads:
    """Return heads of joint features, which all classes share.

    They are those of Gaussian classes, of regression to indicators, or of alignment, as ``how`` says.
    """
    if how == "alignment":
        return alignment_heads(moments)
    if how in ("margin", "midpoint"):
        warn(
            f"threshold={how!r} is for features of one class each; joint features of "
            f"{len(moments.weights)} classes are decided by a Gaussian model. Pass "
            "DecisionRule(multi_class='ovr'), or decision='auto'.",
            IgnoredParameterWarning,
        )
    # The mean of a class that weighs less than a sample would be taken for as certain as others.
    if how == "least_squares" or (how == "auto" and moments.weights.min() < 1):
        return indicator_heads(moments, ratios)
    # Features have unit variance with the ridge, and less without it; the ridge must be part of
    # the Gaussians too, or classes that the candidates separate completely leave none.
    return gaussian_heads(replace(moments, covariance=np.eye(len(moments.covariance))))


def alignment_heads(moments: Moments) -> Heads:
    """Return heads of joint features: mean kernel values of a sample with the samples of each class.

    The kernel is the inner product of centred features, for which it is theirs with the class means.
    """
    mean = moments.weights @ moments.means / moments.weights.sum()
    constants = np.where(moments.weights > 0, 0.0, NEVER)
    return _nested_heads((moments.means - mean).T, mean, constants)


def _nested_heads(coefficients: np.ndarray, mean: np.ndarray, constants: np.ndarray) -> Heads:
    """Return heads for centred features that do not matter to each other's coefficients."""
    intercepts = constants - np.cumsum(mean[:, None] * coefficients, axis=0)
    return Heads(intercepts, np.tri(len(mean))[:, :, None] * coefficients)


def gaussian_heads(moments: Moments) -> Heads:
    """Return heads of joint features: class scores from the first j features, for every j."""
    n_classes, k = moments.means.shape
    intercepts, coefficients = np.empty((k, n_classes)), np.zeros((k, k, n_classes))
    for j in range(1, k + 1):
        coefficients[j - 1, :j], intercepts[j - 1] = gaussian_scores(moments.first(j))
    return Heads(intercepts, coefficients)


def indicator_heads(moments: Moments, ratios: np.ndarray) -> Heads:
    """Return heads of joint features: ridge regression on class indicators.

    Joint features of unit length in the scatter within classes and the ridge have the length
    ``1 + ratio`` where the scatter between classes is added, so the regression on all candidates is
    one on each feature alone. Weights of classes act on it as on any least squares.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import Moments, indicator_heads
    >>> means = np.array([[-1.0], [0.0], [1.0]])
    >>> heads = indicator_heads(Moments(np.ones(3), means, np.eye(1)), np.array([2 / 3]))
    >>> heads.predict(np.array([[3.0]])).round(3)
    array([[-0.267,  0.333,  0.933]])
    """
    shares = moments.weights / moments.weights.sum()
    mean = shares @ moments.means
    coefficients = ((moments.means - mean) * shares[:, None]).T / (1 + ratios)[:, None]
    # A class without weight is never the one.
    constants = np.where(shares > 0, shares, NEVER)
    return _nested_heads(coefficients, mean, constants)


def prior_heads(moments: Moments) -> Heads:
    """Return heads that ignore the outputs: log odds of the class weights.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import Moments, prior_heads
    >>> constant = Moments(np.array([30.0, 10.0]), np.zeros((2, 1)), np.zeros((1, 1)))
    >>> prior_heads(constant).predict(np.zeros((1, 1))).round(4)  # log(10 / 30)
    array([[-1.0986]])
    """
    priors = log_shares(moments.weights)
    n_outputs = moments.means.shape[1]
    odds = priors[1:] - priors[0] if n_outputs == 1 else priors
    lines = np.where(np.tri(n_outputs, dtype=bool), odds - moments.means[0], NEVER)
    return Heads(lines, np.eye(n_outputs))


def probabilities(decisions: np.ndarray, slope: float) -> np.ndarray:
    """Return class probabilities; the class of the largest decision value has the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import probabilities
    >>> probabilities(np.array([[np.log(3.0)], [0.0]]), 1.0)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    return np.asarray(softmax(slope * _class_scores(decisions), axis=1))


def likeliest_slope(decisions: np.ndarray, indicators: np.ndarray, weight: np.ndarray) -> float:
    """Return the maximum likelihood slope of log odds per unit of decision value.

    Half an error is added to those of all samples, or the slope of decisions without any error would
    be infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import likeliest_slope
    >>> classes = np.eye(2)[[1, 1, 1, 0]]  # of four equal decisions, three are right
    >>> slope = likeliest_slope(np.full((4, 1), 2.0), classes, np.full(4, 1e6))
    >>> round(float(np.exp(2 * slope)), 3)
    3.0
    """
    scores = _class_scores(decisions)
    counts = (weight @ indicators > 0) | (scores > NEVER / 2).all(axis=0)
    scores = scores[:, counts]
    wrong = 0.5 / (weight.sum() + 1)
    n_others = max(scores.shape[1] - 1, 1)
    targets = indicators[:, counts] * (1 - wrong - wrong / n_others) + wrong / n_others
    scores = scores - scores.mean(axis=1, keepdims=True)
    size = float(np.sqrt(weight @ (scores**2).sum(axis=1) / weight.sum()))
    if not 0 < size < np.inf:
        return 1.0
    scores = scores / size
    wanted = float(weight @ (targets * scores).sum(axis=1))

    def excess(log_slope: float) -> float:
        expected = softmax(np.exp(log_slope) * scores, axis=1) * scores
        return float(weight @ expected.sum(axis=1)) - wanted

    smallest, largest = np.log(_SLOPES)
    if excess(smallest) >= 0:
        return float(np.exp(smallest) / size)
    if excess(largest) <= 0:
        return float(np.exp(largest) / size)
    return float(np.exp(brentq(excess, smallest, largest, xtol=1e-12)) / size)


def _class_scores(decisions: np.ndarray) -> np.ndarray:
    """Return one score for each class; a single decision value belongs to the second of two."""
    if decisions.shape[1] > 1:
        return decisions
    return np.hstack([np.zeros_like(decisions), decisions])


def add_decision(fit: Fit, heads: Heads, outputs: Outputs, n_candidates: int, *, joint: bool) -> Fit:
    """Add decision heads to a fit, and probabilities calibrated on the outputs of samples."""
    k = outputs.values.shape[1]
    slopes = np.empty(k)
    for j in range(1, k + 1) if joint else [k]:
        decisions = heads.predict(outputs.values[:, :j])
        of_all = slice(j - 1 if joint else 0, None)
        slopes[of_all] = likeliest_slope(decisions, outputs.indicators, outputs.weight)
    decision = Decision(slopes, joint, n_candidates)
    return replace(fit, heads=heads, decision=decision)
