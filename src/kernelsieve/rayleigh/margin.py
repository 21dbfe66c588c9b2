"""The threshold of the largest soft margin, the linear program (15) of Mika et al. (2003)."""

from __future__ import annotations

import numpy as np

_FOLDS = 5
_NUS = (0.5, 0.3, 0.7, 0.2, 1.0, 0.1, 0.05, 0.02, 0.01)  # by preference


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
    >>> from kernelsieve.rayleigh.margin import margin_threshold
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
    >>> from kernelsieve.rayleigh.margin import margin_nu
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
