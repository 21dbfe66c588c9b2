"""Probabilities from decisions: one slope, with which held-out decisions are likeliest."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from ..deflation import NEVER

_MOST_SAMPLES = 10_000  # whose outputs a slope is found by; more would change its third digit
_MOST_DECISIONS = 2**20  # of samples about classes, where these are many

_SLOPES = 1e-6, 1e6  # smallest and largest, for decisions of unit size


def sample_places(n_samples: int, n_classes: int) -> np.ndarray:
    """Return which of so many samples a slope is found by; fewer where classes are many."""
    return spread_places(n_samples, min(_MOST_SAMPLES, max(1, _MOST_DECISIONS // n_classes)))


def spread_places(n: int, most: int) -> np.ndarray:
    """Return places from all over a sequence.

    Examples
    --------
    >>> from kernelsieve.rayleigh.calibration import spread_places
    >>> spread_places(9, 3), spread_places(3, 9)
    (array([0, 4, 8]), array([0, 1, 2]))
    """
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def probabilities(decisions: np.ndarray, slope: float) -> np.ndarray:
    """Return the probability of each class; that of the largest decision is the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.calibration import probabilities
    >>> probabilities(np.array([[np.log(3.0)], [0.0]]), 1.0)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    return np.asarray(softmax(slope * _of_classes(decisions), axis=1))


def likeliest_slope(decisions: np.ndarray, indicators: np.ndarray, weight: np.ndarray) -> float:
    """Return the slope of log odds per unit of decision that makes the classes of samples likeliest.

    Half an error is added to those of all samples, or the slope of decisions without any error would
    be infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.calibration import likeliest_slope
    >>> classes = np.eye(2)[[1, 1, 1, 0]]  # of four equal decisions, three are right
    >>> slope = likeliest_slope(np.full((4, 1), 2.0), classes, np.full(4, 1e6))
    >>> round(float(np.exp(2 * slope)), 3)
    3.0
    """
    scores = _of_classes(decisions)
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


def _of_classes(decisions: np.ndarray) -> np.ndarray:
    """Return a score of each class; a single decision is that of the second of two."""
    if decisions.shape[1] > 1:
        return decisions
    return np.hstack([np.zeros_like(decisions), decisions])


def mean_ridge_leverage(
    columns: np.ndarray, weight: np.ndarray, ridge: float, lengths: np.ndarray | None = None
) -> float:
    """Return the mean leverage in ridge regression with a constant.

    The ridge is on the squares of the coefficients, or on the squared length of the combination, by
    the inner products ``lengths`` of the columns in feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.calibration import mean_ridge_leverage
    >>> columns = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> mean_ridge_leverage(columns, np.ones(4), 4.0)  # of the constant 1/4, and of the column half
    0.375
    """
    centred = columns - weight @ columns / weight.sum()
    gram = centred.T @ (weight[:, None] * centred)
    penalty = ridge * (np.eye(len(gram)) if lengths is None else lengths)
    try:
        used = np.trace(np.linalg.solve(gram + penalty, gram))
    except np.linalg.LinAlgError:  # columns that depend on each other
        used = np.trace(np.linalg.pinv(gram + penalty, hermitian=True) @ gram)
    return (1 + float(used)) / float(weight.sum())
