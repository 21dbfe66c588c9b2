"""Linear programs of Mika et al. (2003): sparse KFD (14) by column generation, the margin (15)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..exceptions import InvalidDataError, warn
from .column_generation import Lines, ProgramColumns, SparseSolution, most_violated

_MISSING = (
    "loss='absolute' and loss='epsilon_insensitive' are linear programs and need HiGHS; install it by "
    "`pip install kernelsieve[solvers]`, or choose loss='squared' or loss='huber'."
)
_FEASIBILITY = 1e-9
_ROUNDING = 1e-12  # of the largest multiplier: what a basic variable has left instead of zero
_MOST_ROUNDS = 1000
_FOLDS = 5
_NUS = (0.5, 0.3, 0.7, 0.2, 1.0, 0.1, 0.05, 0.02, 0.01)  # by preference
_GAP = 1e-7  # between the objective and its lower bound, as a part of it


def import_highspy() -> Any:
    """Import the optional HiGHS solver; the error names the extra to install."""
    try:
        import highspy
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return highspy


class ColumnGeneration:
    """``min sum_i w_i max(0, |xi_i| - epsilon) + C ||alpha||_1`` with ``K alpha + b = y - xi``.

    The master program knows a few kernel columns. Its dual variables d price all others: a column
    with ``|k_j' d| > C`` would lower the objective and joins the master. HiGHS holds the master in its
    dual form, ``max y'd - epsilon ||d||_1`` with ``|d_i| <= w_i``, ``1'd = 0`` and ``|k_j' d| <= C``,
    where a new column is a new row: the last basis stays feasible for the dual simplex method, and
    has as many entries as there are columns in the master instead of samples. The same holds
    when C changes, so a path is followed from basis to basis. Changes under transformations pay by
    their absolute value: their d are bounded by their weights and are not part of ``1'd = 0``.

    HiGHS allows violations of a fixed size, so that a column enters divided by C: what it may be
    violated by is then a part of C, and the unit in which a kernel is measured does not matter.
    """

    def __init__(self, columns: ProgramColumns, lines: Lines, epsilon: float, tol: float) -> None:
        self._columns = columns
        self._lines = lines
        self._epsilon = epsilon * lines.constant
        self._tol = tol
        self._known = np.empty(0, np.intp)
        self._units = np.empty(0)  # C when a column entered
        self._highs = import_highspy()
        self._master = self._empty_master()

    def solve(self, C: float) -> list[SparseSolution]:
        """Solve for a penalty, starting from the last solution."""
        self._set_penalty(C)
        for n_rounds in range(1, _MOST_ROUNDS + 1):
            d = self._solved()
            prices = self._columns.prices(d)
            new = most_violated(prices, C, self._known, self._tol)
            if len(new) == 0:
                return [self._solution(C, prices, n_rounds)]
            self._enter(new, C)
        raise InvalidDataError(
            f"The linear program is not solved after {_MOST_ROUNDS} rounds of column generation; raise "
            "tol or C, or scale X."
        )

    @property
    def _is_split(self) -> bool:
        """Whether d is a difference of two variables, because its absolute value costs something."""
        return bool(self._epsilon.any())

    def _empty_master(self) -> Any:
        highs = self._highs.Highs()
        highs.silent()
        for option, value in (
            ("solver", "simplex"),
            ("presolve", "off"),  # a basis of the presolved program would not be one of the next
            ("threads", 1),
            ("primal_feasibility_tolerance", _FEASIBILITY),
            ("dual_feasibility_tolerance", _FEASIBILITY),
        ):
            highs.setOptionValue(option, value)
        y, weight = self._lines.y, self._lines.weight
        nothing = np.empty(0, np.int32), np.empty(0)
        if self._is_split:
            cost = np.concatenate([self._epsilon - y, self._epsilon + y])
            lower, upper = np.zeros(2 * len(y)), np.tile(weight, 2)
        else:
            cost, lower, upper = -y, -weight, weight
        highs.addCols(len(cost), cost, lower, upper, 0, np.zeros(len(cost), np.int32), *nothing)
        self._add_rows(highs, self._lines.constant[None, :], 0.0)  # its dual variable is the intercept
        return highs

    def _add_rows(self, highs: Any, lines: np.ndarray, limit: float) -> None:
        if self._is_split:
            lines = np.hstack([lines, -lines])
        count, width = lines.shape
        limits = np.full(count, limit)
        starts = np.arange(count, dtype=np.int32) * width
        entries = np.tile(np.arange(width, dtype=np.int32), count)
        status = highs.addRows(count, -limits, limits, count * width, starts, entries, lines.ravel())
        if status == self._highs.HighsStatus.kError:
            raise InvalidDataError(
                f"Kernel values over C of up to {np.abs(lines).max():.2g} are too large for the linear "
                "program; scale X, or change gamma."
            )

    def _enter(self, new: np.ndarray, C: float) -> None:
        self._add_rows(self._master, np.ascontiguousarray(self._columns.select(new).T) / C, 1.0)
        self._known = np.concatenate([self._known, new])
        self._units = np.append(self._units, np.full(len(new), C))

    def _set_penalty(self, C: float) -> None:
        for row, limit in enumerate(C / self._units, start=1):
            self._master.changeRowBounds(row, -limit, limit)

    def _solved(self) -> np.ndarray:
        """Solve the master from its last basis and return d."""
        self._master.run()
        status = self._master.getModelStatus()
        if status != self._highs.HighsModelStatus.kOptimal:
            raise InvalidDataError(
                f"HiGHS gave up on the linear program ({self._master.modelStatusToString(status)}); "
                "kernel values may be too large or too small: scale X, or change gamma."
            )
        values = np.array(self._master.getSolution().col_value)
        n = len(self._lines.y)
        return values[:n] - values[n:] if self._is_split else values

    def _solution(self, C: float, prices: np.ndarray, n_rounds: int) -> SparseSolution:
        multipliers = -np.array(self._master.getSolution().row_dual)
        alpha, intercept = multipliers[1:] / self._units, float(multipliers[0])
        objective = self._objective(alpha, intercept, C)
        check_gap(objective, -float(self._master.getInfo().objective_function_value))
        order = np.argsort(self._known)
        order = order[np.abs(multipliers[1:][order]) > _ROUNDING * np.abs(multipliers).max()]
        return SparseSolution(
            candidates=self._known[order],
            alpha=alpha[order],
            intercept=intercept,
            objective=objective,
            largest_price=float(np.abs(prices).max()) / C,
            n_iter=n_rounds,
        )

    def _objective(self, alpha: np.ndarray, intercept: float, C: float) -> float:
        used = np.flatnonzero(alpha)
        values = self._columns.select(self._known[used]) @ alpha[used]
        xi = self._lines.y - values - intercept * self._lines.constant
        loss = np.maximum(np.abs(xi) - self._epsilon, 0.0)
        return float(self._lines.weight @ loss) + C * float(np.abs(alpha).sum())


def check_gap(objective: float, bound: float) -> None:
    """Warn if the duality gap is larger than rounding explains."""
    gap = (objective - bound) / max(abs(objective), abs(bound), 1e-300)
    if gap > _GAP:
        warn(
            f"The linear program is solved to {gap:.2g} of its objective only, because kernel columns "
            "are nearly dependent. Raise C, or scale X.",
            ConvergenceWarning,
        )


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
    >>> from kernelsieve.rayleigh.linear_program import margin_threshold
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
    >>> from kernelsieve.rayleigh.linear_program import margin_nu
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
