"""From outputs to decisions: thresholds, and Gaussian models of the classes.

Outputs are the values of discriminating features; everything here is a function of plain arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..deflation import Heads

_FOLDS = 5
_NUS = (0.5, 0.3, 0.7, 0.2, 1.0, 0.1, 0.05, 0.02, 0.01)  # by preference
_SMALLEST_VARIANCE = 1e-10  # of the squared distance of the means: outputs of a perfect fit have none


@dataclass(frozen=True)
class Moments:
    """Weights, means and pooled covariance of classes: all that Gaussian models need of outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.outputs import Moments
    >>> moments = Moments.of(np.array([[0.0], [2.0], [5.0]]), np.eye(2)[[0, 0, 1]])
    >>> moments.weights, moments.means.ravel(), moments.covariance.round(3)
    (array([2., 1.]), array([1., 5.]), array([[0.667]]))
    """

    weights: np.ndarray  # of each class in all, (c,)
    means: np.ndarray  # (c, q)
    covariance: np.ndarray  # about the means of the classes, (q, q)

    @classmethod
    def of(cls, outputs: np.ndarray, indicators: np.ndarray, weight: np.ndarray | None = None) -> Self:
        """Measure outputs (n, q), with indicators (n, c) of their classes."""
        shares = indicators if weight is None else indicators * weight[:, None]
        weights = shares.sum(axis=0)
        means = shares.T @ outputs / np.where(weights > 0, weights, 1.0)[:, None]
        rest = outputs - indicators @ means
        scatter = rest.T @ (rest * shares.sum(axis=1)[:, None])
        return cls(weights, means, scatter / weights.sum())

    def one_against_rest(self, which: int, output: int) -> Moments:
        """Return the moments of one output for two classes: the rest, and the one."""
        rest = np.delete(np.arange(len(self.weights)), which)
        weights = np.array([self.weights[rest].sum(), self.weights[which]])
        of_rest = self.means[rest, output]
        mean = float(self.weights[rest] @ of_rest) / weights[0]
        spread = float(self.weights[rest] @ (of_rest - mean) ** 2) / weights.sum()
        variance = self.covariance[output, output] + spread
        means = np.array([[mean], [self.means[which, output]]])
        return Moments(weights, means, np.array([[variance]]))

    @property
    def distance(self) -> float:
        """Of the means of two classes, along one output."""
        return float(self.means[1, 0] - self.means[0, 0])


def margin_threshold(
    outputs: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None = None,
    nu: float | str = 0.5,
) -> float:
    """Return the threshold b with the largest margin between two classes, some errors allowed.

    This is the linear programme (15) of Mika et al. (2003): maximise ``rho - C sum(xi)`` subject to
    ``y_i (f_i + b) >= rho - xi_i`` and ``rho, xi >= 0``. It is bounded as long as C is at least one
    over twice the size of the smaller class; here ``C = 1 / (2 nu m)``, with m that size and nu, at
    most 1, the fraction of it that may lie within the margin; "cv" chooses it by ``margin_nu``.

    With ``u = rho - b`` and ``v = rho + b`` the classes part: u is a quantile of the outputs of the
    positive class and -v one of the others. Only where these cross (``u + v < 0``) the margin is zero,
    and the threshold is where as much weight of the one class lies below as of the other above.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.outputs import margin_threshold
    >>> margin_threshold(np.array([-3.0, -1.0, 2.0, 4.0]), np.array([False, False, True, True]), nu=0.1)
    -0.5
    """
    if weight is None:
        weight = np.ones(len(outputs))
    elif not weight.all():
        outputs, positive, weight = (values[weight > 0] for values in (outputs, positive, weight))
    if isinstance(nu, str):
        nu = margin_nu(outputs, positive, weight)
    above, of_above = outputs[positive], weight[positive]
    below, of_below = outputs[~positive], weight[~positive]
    budget = nu * min(of_above.sum(), of_below.sum())
    u = _quantile(above, of_above, budget)
    v = _quantile(-below, of_below, budget)
    if u + v >= 0:
        return (v - u) / 2
    return -_crossing(above, of_above, below, of_below)


def margin_nu(outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> float:
    """Return the nu whose threshold errs least on samples that it was not found from.

    Each class is dealt out to five folds in turn. Outputs are those of one fit to all samples, and only
    the threshold is found again. Of equally good values the one nearest to 1/2 is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.outputs import margin_nu
    >>> outputs = np.concatenate([np.linspace(-2, -1, 20), np.linspace(1, 2, 17), [-1.9, -1.5, -1.1]])
    >>> margin_nu(outputs, np.arange(40) >= 20, np.ones(40))
    0.5
    """
    n_folds = min(_FOLDS, int(positive.sum()), int((~positive).sum()))
    if n_folds < 2:
        return 0.5
    fold = np.empty(len(outputs), np.intp)
    for members in (positive, ~positive):
        fold[members] = np.arange(np.count_nonzero(members)) % n_folds
    errors = np.zeros(len(_NUS))
    for held_out in (fold == j for j in range(n_folds)):
        rest = ~held_out
        for i, nu in enumerate(_NUS):
            b = margin_threshold(outputs[rest], positive[rest], weight[rest], nu)
            wrong = (outputs[held_out] + b > 0) != positive[held_out]
            errors[i] += weight[held_out] @ wrong
    return _NUS[int(np.argmin(errors))]


def _quantile(values: np.ndarray, weight: np.ndarray, budget: float) -> float:
    """Maximise ``budget u - sum(weight max(0, u - values))``: the middle of the best u."""
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weight[order])
    tolerance = 1e-12 * sums[-1]
    first = int(np.searchsorted(sums, budget - tolerance))
    last = int(np.searchsorted(sums, budget + tolerance))
    ends = values[order[np.minimum([first, last], len(values) - 1)]]
    return float(ends.mean())


def _crossing(
    above: np.ndarray, of_above: np.ndarray, below: np.ndarray, of_below: np.ndarray
) -> float:
    """Minimise ``sum(of_above max(0, u - above)) + sum(of_below max(0, below - u))`` over u."""
    values = np.concatenate([above, below])
    # The slope starts at minus the weight of the lower class; every value passed adds its weight.
    return _quantile(values, np.concatenate([of_above, of_below]), float(of_below.sum()))


def midpoint_threshold(moments: Moments) -> float:
    """Return b that puts zero in the middle between the means of two classes."""
    return -float(moments.means[:, 0].mean())


def least_squares_threshold(moments: Moments) -> float:
    """Return b where least squares of labels -1 and 1 on the output crosses zero."""
    share = moments.weights / moments.weights.sum()
    product = float(share[0] * share[1])
    mean = float(share @ moments.means[:, 0])
    covariance = 2 * product * moments.distance
    if covariance == 0:  # the output says nothing about the classes
        return -mean
    variance = float(moments.covariance[0, 0]) + product * moments.distance**2
    return float(share[1] - share[0]) * variance / covariance - mean


def gaussian_logit(moments: Moments) -> tuple[float, float]:
    """Return a and b of ``P(second class | f) = sigma(a f + b)`` for Gaussian classes.

    Both classes have the pooled variance, so the log of their odds is linear in the output.
    """
    coefficients, intercepts = gaussian_scores(moments)
    a = coefficients[0, 1] - coefficients[0, 0]
    return float(a), float(intercepts[1] - intercepts[0])


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
    with np.errstate(divide="ignore"):  # a class without weight is never the one
        log_priors = np.log(moments.weights / moments.weights.sum())
    middles = (means + mean) / 2
    return coefficients, log_priors - np.einsum("cq,qc->c", middles, coefficients)


def two_class_threshold(
    how: str,
    moments: Moments,
    outputs: np.ndarray | None,
    positive: np.ndarray | None,
    weight: np.ndarray | None,
    nu: float | str,
) -> float:
    """Return b by the name of a rule; ``outputs`` are needed for "margin" alone."""
    if how == "margin":
        if outputs is None or positive is None:
            raise ValueError("the margin needs the outputs of all samples; pass them")
        return margin_threshold(outputs, positive, weight, nu)
    if how == "midpoint":
        return midpoint_threshold(moments)
    if how == "least_squares":
        return least_squares_threshold(moments)
    a, b = gaussian_logit(moments)
    return b / a if a != 0 else midpoint_threshold(moments)


def decision_heads(
    how: str,
    moments: Moments,
    outputs: np.ndarray | None = None,
    indicators: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    nu: float | str = 0.5,
) -> Heads:
    """Return heads ``s (f + b)`` of outputs that each separate one class from the rest.

    One output separates the second of two classes from the first. The scale s makes the means of both
    sides differ by 2, as problem (9) of Mika et al. (2003) does, so that outputs can be compared and
    the largest one wins.
    """

    def line(moments: Moments, which: int, output: int) -> tuple[float, float]:
        if not moments.weights[1] > 0:
            return 1.0, -np.inf  # a class without weight is never the one
        of_rows = None if outputs is None else outputs[:, output]
        positive = None if indicators is None else indicators[:, which] > 0
        b = two_class_threshold(how, moments, of_rows, positive, weight, nu)
        scale = 2 / moments.distance if moments.distance != 0 else 1.0
        return scale, scale * b

    return _one_against_rest_heads(moments, line)


def logit_heads(moments: Moments) -> Heads:
    """Return heads ``a f + b`` of outputs that each separate one class from the rest."""
    return _one_against_rest_heads(moments, lambda one, which, output: gaussian_logit(one))


def logits_of_outputs(heads: Heads, moments: Moments, *, joint: bool) -> Heads:
    """Return heads of log odds, given the moments of outputs that ``heads`` made of held-out features.

    Joint outputs are scores of classes less that of the last class; only all features together are
    known by held-out scores, so fewer ones keep the odds that they had.
    """
    if not joint:
        scales, shifts = np.diagonal(heads.coefficients), heads.intercepts[-1]

        def line(one: Moments, which: int, output: int) -> tuple[float, float]:
            a, b = gaussian_logit(one)
            return a * float(scales[output]), a * float(shifts[output]) + b

        return _one_against_rest_heads(moments, line)
    coefficients, intercepts = gaussian_scores(moments)
    inner = heads.coefficients[-1, :, :-1] - heads.coefficients[-1, :, -1:]
    shift = heads.intercepts[-1, :-1] - heads.intercepts[-1, -1]
    all_coefficients, all_intercepts = heads.coefficients.copy(), heads.intercepts.copy()
    all_coefficients[-1] = inner @ coefficients
    all_intercepts[-1] = shift @ coefficients + intercepts
    return Heads(all_intercepts, all_coefficients)


def _one_against_rest_heads(
    moments: Moments, line: Callable[[Moments, int, int], tuple[float, float]]
) -> Heads:
    n_outputs = moments.means.shape[1]
    classes = [1] if n_outputs == 1 else range(n_outputs)
    lines = [
        line(moments.one_against_rest(which, output), which, output)
        for output, which in enumerate(classes)
    ]
    slopes, constants = np.array(lines).T
    # With the first j outputs, only the first j classes can win.
    intercepts = np.where(np.tri(n_outputs, dtype=bool), constants, -np.inf)
    return Heads(intercepts, np.diag(slopes))


def gaussian_heads(moments: Moments) -> Heads:
    """Return heads of joint features: a score of each class, from the first j features for every j."""
    n_classes, k = moments.means.shape
    intercepts, coefficients = np.empty((k, n_classes)), np.zeros((k, k, n_classes))
    for j in range(1, k + 1):
        first = Moments(moments.weights, moments.means[:, :j], moments.covariance[:j, :j])
        coefficients[j - 1, :j], intercepts[j - 1] = gaussian_scores(first)
    return Heads(intercepts, coefficients)


def indicator_heads(moments: Moments, ratios: np.ndarray) -> Heads:
    """Return heads of joint features: ridge regression to the indicators of the classes.

    Joint features of unit length in the scatter within classes and the ridge have the length
    ``1 + ratio`` where the scatter between classes is added, so the regression on all candidates is
    one on each feature alone. Weights of classes act on it as on any least squares.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.outputs import Moments, indicator_heads
    >>> means = np.array([[-1.0], [0.0], [1.0]])
    >>> heads = indicator_heads(Moments(np.ones(3), means, np.eye(1)), np.array([2 / 3]))
    >>> heads.predict(np.array([[3.0]])).round(3)
    array([[-0.267,  0.333,  0.933]])
    """
    shares = moments.weights / moments.weights.sum()
    mean = shares @ moments.means
    coefficients = ((moments.means - mean) * shares[:, None]).T / (1 + ratios)[:, None]
    intercepts = shares - np.cumsum(mean[:, None] * coefficients, axis=0)
    first = np.tri(len(ratios))[:, :, None]  # features do not matter to each other's coefficients
    return Heads(intercepts, first * coefficients)


def winning_logits(decisions: Heads, logits: Heads) -> Heads:
    """Return log odds of several outputs, by which the class of the largest decision is the likeliest.

    All outputs get the same slope per unit of decision, the mean of those that their own Gaussian
    models have. A single output keeps its log odds.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.deflation import Heads
    >>> from kernelsieve.rayleigh.outputs import winning_logits
    >>> zeros = np.zeros((2, 2))
    >>> decisions, logits = Heads(zeros, np.eye(2)), Heads(zeros, np.diag([2.0, 4.0]))
    >>> winning_logits(decisions, logits).coefficients
    array([[3., 0.],
           [0., 3.]])
    """
    of_decisions = np.diagonal(decisions.coefficients)
    slopes = np.diagonal(logits.coefficients) / of_decisions
    slope = float(np.mean(slopes[np.isfinite(decisions.intercepts[-1])]))  # of classes with weight
    if len(of_decisions) == 1 or not slope > 0:  # outputs may be constant
        return logits
    return Heads(slope * decisions.intercepts, slope * decisions.coefficients)
