"""Thresholds and Gaussian class models: from outputs to decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..deflation import NEVER, Heads
from ..exceptions import IgnoredParameterWarning, warn
from .outputs import Moments, Outputs

_FOLDS = 5
_NUS = (0.5, 0.3, 0.7, 0.2, 1.0, 0.1, 0.05, 0.02, 0.01)  # by preference
_SMALLEST_VARIANCE = 1e-10  # of the squared distance of the means: outputs of a perfect fit have none


def margin_threshold(
    outputs: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None = None,
    nu: float | str = 0.5,
) -> float:
    """Return the threshold b of the largest soft margin between two classes.

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
    >>> from kernelsieve.rayleigh.thresholds import margin_threshold
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
    """Return the nu whose threshold has the smallest cross-validated error.

    Each class is dealt out to five folds in turn. Outputs are those of one fit to all samples, and only
    the threshold is found again. Of equally good values the one nearest to 1/2 is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.thresholds import margin_nu
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

    The classes are taken for Gaussian, or their indicators regressed to, as ``how`` says.
    """
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
    >>> from kernelsieve.rayleigh.outputs import Moments
    >>> from kernelsieve.rayleigh.thresholds import indicator_heads
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
    intercepts = constants - np.cumsum(mean[:, None] * coefficients, axis=0)
    first = np.tri(len(ratios))[:, :, None]  # features do not matter to each other's coefficients
    return Heads(intercepts, first * coefficients)


def prior_heads(moments: Moments) -> Heads:
    """Return heads that ignore the outputs: log odds of the class weights.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.outputs import Moments
    >>> from kernelsieve.rayleigh.thresholds import prior_heads
    >>> constant = Moments(np.array([30.0, 10.0]), np.zeros((2, 1)), np.zeros((1, 1)))
    >>> prior_heads(constant).predict(np.zeros((1, 1))).round(4)  # log(10 / 30)
    array([[-1.0986]])
    """
    priors = log_shares(moments.weights)
    n_outputs = moments.means.shape[1]
    odds = priors[1:] - priors[0] if n_outputs == 1 else priors
    lines = np.where(np.tri(n_outputs, dtype=bool), odds - moments.means[0], NEVER)
    return Heads(lines, np.eye(n_outputs))


def regression_targets(moments: Moments, ratios: np.ndarray, *, joint: bool) -> np.ndarray:
    """Return the regression targets of each class (rows) that the features solve for.

    A feature with the largest ratio of scatters is ridge regression to the means that it has of the
    classes, with the distances multiplied by ``1 + 1 / ratio``; of one class against the rest, to the
    means of these two.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.outputs import Moments
    >>> from kernelsieve.rayleigh.thresholds import regression_targets
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
