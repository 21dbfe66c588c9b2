"""The loop: score, guard, commit, deflate. Algorithms 1 and 2 of Dhanjal et al. (2009).

Choose beta, let ``a = A beta``, remove from it what the features so far explain. With left deflation
the framework is an incremental QR factorisation ``A B = F R``, with symmetric deflation a Cholesky
factorisation of the kernel matrix of the chosen examples. The deflated matrix is never formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..data import Batch, distinct
from ..exceptions import CriterionError, NoFeaturesError
from ..kernels import Rows
from .candidates import DeflatedCandidates, FixedCandidates, Residual
from .columns import Columns, RidgeColumns
from .criteria.base import Criterion, Selector
from .metric import Metric
from .symmetric import FollowedCandidates
from .view import Direction, View

_TARGET_NOISE = 1e-20  # of the targets' squared norm: what a feature must explain at least


class Outcome:
    """Why the loop stopped; the text goes into a warning and names the remedy."""

    COMPLETE = "all features were found"
    REACHED = "the training error is at most target_error"
    EXHAUSTED = (
        "the remaining candidates are linearly dependent on the chosen ones. Lower n_components, take "
        "more candidates, make the kernel narrower, or lower tol where a ridge regression follows"
    )
    CUT = (
        "no point is left whose residual is at least the cutoff. Lower cutoff to get more features, or "
        "pass n_components=None to take as many as it gives"
    )
    SLOW = (
        "with more features the objective would fall too slowly. Lower stop_tol to get more, or pass "
        "n_components=None to take as many as it gives"
    )
    INDEFINITE = (
        "the other eigenvalues are negative, because the kernel is not positive definite, and were "
        "dropped. Lower n_components, or use another kernel"
    )
    EXPLAINED = (
        "no candidate is related to what the features leave of the target, if they leave anything. "
        "Lower n_components"
    )
    TARGETS = (
        "there is one for each independent target (one less than there are classes), and all of them "
        "were found. Lower n_components, or pass n_components=None"
    )
    CENTROIDS = (
        "there is one for each centroid that is no combination of the others, and all of them were "
        "found. Lower n_components, or pass n_components=None"
    )
    SETTLED = (
        "no direction lets the loss fall any further. Lower n_components, or pass n_components=None to "
        "take as many as there are"
    )
    IMPRECISE = (
        "the columns that are left are too small to be known from their inner products. "
        "Fit within config_context(precision='safe'), raise gamma, or lower n_components"
    )

    @classmethod
    def shortage(cls, outcome: str, found: int, asked: int | None) -> str | None:
        """Return a warning that says why components are missing.

        Parameters
        ----------
        outcome : str
            Why the loop stopped.
        found, asked : int
            Number of components that were found, and that were asked for (None for any number).

        Returns
        -------
        str or None
            None where nothing is missing.

        Raises
        ------
        NoFeaturesError
            If nothing was found at all.
        """
        if found == 0:
            raise NoFeaturesError(
                f"No feature could be found: {outcome}. "
                "Look for constant columns of X, equal samples, or a target that is constant."
            )
        if asked is None or outcome == cls.REACHED or (outcome == cls.COMPLETE and found >= asked):
            return None
        why = "there are no more candidates" if outcome == cls.COMPLETE else outcome
        return f"The data gave {found} of the {asked} components asked for: {why}."


@dataclass(frozen=True)
class Selection:
    """What the loop found: ``columns @ B = F R`` and the inner products of F with the targets.

    F is orthonormal, unless deflation is symmetric.
    """

    directions: tuple[Direction, ...]  # the columns of B
    names: np.ndarray  # of the candidates that they combine, in the order of first use
    first_use: np.ndarray  # the direction that combines each of these first
    dual: np.ndarray  # B, (m, k): the directions as combinations of these candidates
    means: np.ndarray  # of these candidates' columns, centred or not
    triangle: np.ndarray  # R, upper triangular with positive diagonal
    features: np.ndarray  # F, (N, k); with a cutoff, of the points that were left
    target_products: np.ndarray  # F'Y, (k, q)
    target_squared_norm: float
    total_weight: float
    outcome: str
    selector: Selector  # that chose the directions, with what it remembers
    column_products: np.ndarray  # of the candidates' columns, undeflated, with F: (C, k)
    ridge: float = 0.0  # that features are orthonormal with
    changes: np.ndarray | None = None  # inner products of the directions' changes, where these count

    def __len__(self) -> int:
        return len(self.directions)


def select(
    columns: Columns,
    metric: Metric,
    targets: np.ndarray,
    points: Rows,
    criterion: Criterion,
    n_components: int,
    **how: Any,
) -> Selection:
    """Select among the columns of some points, as the criterion's deflation and penalty say.

    ``how`` is passed on to :func:`extract`.
    """
    rule, ridge = criterion.deflation, criterion.penalty.ridge
    seen = RidgeColumns(columns, ridge) if ridge > 0 else columns
    targets = np.pad(targets, ((0, seen.shape[0] - len(targets)), (0, 0)))
    candidates: DeflatedCandidates
    if rule.symmetric:
        candidates = FollowedCandidates(seen, metric, n_components, cutoff=rule.cutoff)
    else:
        candidates = FixedCandidates(seen, metric, targets, n_components)
    if criterion.one_of_equals:
        candidates.retire(np.setdiff1d(candidates.names, distinct(points)))
    return extract(candidates, targets, criterion, n_components, **how)


def extract(
    candidates: DeflatedCandidates,
    targets: np.ndarray,
    criterion: Criterion,
    n_components: int,
    *,
    total_weight: float,
    floor: float,
    trust: float = 0.0,
    rounding: float = 0.0,
    rows: Batch | None = None,
) -> Selection:
    """Extract features one after another.

    Parameters
    ----------
    candidates : DeflatedCandidates
        Where directions come from.
    targets : ndarray of shape (N, q)
        Targets in the rows of the columns, centred and weighted as they are; q may be 0.
    criterion : Criterion
        What a good direction is.
    n_components : int
        How many features are wanted.
    total_weight : float
        Number of rows of data, or the sum of their weights.
    floor : float
        A column with a squared residual below this part of its squared norm (before centring: that
        is what kernel values are rounded to) is linearly dependent on the chosen ones.
    trust : float
        Below this part of the squared norm after centring its residual is not known well enough; the
        loop stops there and says so.
    rounding : float
        So is a column whose residual is below this part of what cancelled in it: of the column and of
        the chosen columns, each as often as it is in the combination that is nearest.
    rows : Batch
        The rows themselves, for criteria that need them.

    Returns
    -------
    Selection
    """
    if criterion.needs.rows and rows is None:
        raise CriterionError(
            f"{type(criterion).__name__} needs rows, and there are no rows in one pass "
            "over them; pass all rows at once."
        )
    selector = criterion.start()
    basis = candidates.basis
    has_targets = targets.shape[1] > 0
    residual_targets = targets.copy()
    target_squared_norm = float(np.einsum("nq,nq->", targets, targets))
    directions: list[Direction] = []
    combined: list[np.ndarray] = []  # by each of them: the names of candidates
    sizes: list[float] = []  # of the directions' columns
    products: list[np.ndarray] = []
    outcome = Outcome.COMPLETE
    none_left = Outcome.TARGETS if criterion.at_most_targets else Outcome.EXHAUSTED
    none_left = Outcome.CUT if criterion.deflation.cutoff > 0 else none_left
    raw_targets = root_weight = None
    if criterion.needs.rows and rows is not None:
        raw_targets, root_weight = rows.Y, rows.root_weight
    fruitless = 0
    while basis.size < n_components:
        if not candidates.advance(residual_targets):
            outcome = none_left
            break
        dependent = candidates.eligible & candidates.dependent(floor)
        if dependent.any():
            candidates.retire(np.flatnonzero(dependent))
        if selector.is_settled(residual_targets):
            outcome = Outcome.SLOW
            break
        view = View(
            criterion,
            candidates,
            features=basis.features,
            targets=targets,
            residual_targets=residual_targets,
            n_components=n_components,
            raw_targets=raw_targets,
            root_weight=root_weight,
        )
        direction = selector.propose(view) if candidates.eligible.any() else None
        if direction is None:
            fruitless += 1
            if fruitless < candidates.most_fruitless:
                continue
            outcome = none_left
            break
        fruitless = 0
        _check_direction(direction, candidates, criterion)
        residual = candidates.residual(direction)
        useless = not residual.norm**2 > floor * residual.size**2
        if useless or (
            rounding > 0 and residual.norm <= rounding * _cancelled(residual, basis.triangle, sizes)
        ):
            if len(direction.candidates) > 1:
                outcome = Outcome.EXHAUSTED
                break
            candidates.retire(direction.candidates)
            continue
        squared = float(residual.vector @ residual.vector)
        if squared < trust * float(residual.column @ residual.column):
            if _retire_dependent(candidates, combined, trust):
                continue
            outcome = Outcome.IMPRECISE
            break
        target_products = np.empty(0)
        if has_targets:
            target_products = residual_targets.T @ residual.vector / residual.norm
        explained = float(target_products @ target_products)
        if criterion.needs.targets and not explained > _TARGET_NOISE * target_squared_norm:
            outcome = Outcome.EXPLAINED
            break
        # Every guard has passed; nothing was changed before this line.
        feature = basis.append(residual)
        if has_targets:
            residual_targets -= np.multiply.outer(feature, target_products)
        candidates.deflate(direction, feature, target_products)
        if len(direction.candidates) == 1:
            candidates.retire(direction.candidates)
        chosen = candidates.names[direction.candidates]
        means = candidates.columns.means[direction.candidates]
        directions.append(Direction(chosen, direction.weights, direction.score, means=means))
        combined.append(chosen)
        sizes.append(residual.size)
        products.append(target_products)
    names, first_use = order_of_first_use(combined)
    position = np.zeros(names.max(initial=-1) + 1, dtype=np.intp)
    position[names] = np.arange(len(names))
    dual, means = np.zeros((len(names), len(directions))), np.zeros(len(names))
    for j, direction in enumerate(directions):
        places = position[combined[j]]
        dual[places, j], means[places] = direction.weights, direction.means
    return Selection(
        directions=tuple(directions),
        names=names,
        first_use=first_use,
        dual=dual,
        means=means,
        triangle=basis.triangle,
        features=basis.features,
        target_products=np.array(products).reshape(basis.size, targets.shape[1]),
        target_squared_norm=target_squared_norm,
        total_weight=total_weight,
        outcome=outcome,
        selector=selector,
        column_products=candidates.column_products,
        ridge=candidates.columns.ridge,
    )


def order_of_first_use(used: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return every candidate once, and the feature that needs it first, given what each feature uses.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.deflation import order_of_first_use
    >>> order_of_first_use([np.array([7]), np.array([3, 7])])
    (array([7, 3]), array([0, 1]))
    """
    names = np.concatenate([np.empty(0, np.intp), *used])
    feature = np.repeat(np.arange(len(used)), list(map(len, used)))
    unique, first = np.unique(names, return_index=True)
    order = np.argsort(first)
    return unique[order].astype(np.intp), feature[first[order]]


def _cancelled(residual: Residual, triangle: np.ndarray, sizes: list[float]) -> float:
    """Return the size of all columns whose combination a residual is."""
    if not sizes:
        return residual.size
    nearest = solve_triangular(triangle, residual.coefficients)
    return residual.size + float(np.abs(nearest) @ sizes)


def _check_direction(
    direction: Direction, candidates: DeflatedCandidates, criterion: Criterion
) -> None:
    """Refuse what a criterion must not propose: a guard would pass over it at every step again."""
    chosen, name = direction.candidates, type(criterion).__name__
    if not np.isfinite(direction.weights).all():
        raise CriterionError(
            f"{name}.propose returned weights {direction.weights}; they must be finite."
        )
    if not (len(chosen) and chosen.min() >= 0 and chosen.max() < len(candidates.eligible)):
        raise CriterionError(
            f"{name}.propose returned candidates {chosen}; they must be numbers from 0 to "
            f"{len(candidates.eligible) - 1}."
        )
    if len(chosen) == 1 and not candidates.eligible[chosen[0]]:
        raise CriterionError(
            f"{name}.propose returned candidate {chosen[0]}, which may no longer be chosen; choose "
            "among view.eligible, or return None where none is good."
        )


def _retire_dependent(candidates: DeflatedCandidates, combined: list[np.ndarray], trust: float) -> bool:
    """Retire doubtful candidates whose images depend on the chosen ones; tell if there were any.

    If a candidate's image lies in the span of the chosen images, so does its column, whatever the
    rounding of the columns says. The others are only imprecise.
    """
    small = candidates.residual_squared_norms < trust * candidates.initial_squared_norms
    doubtful = np.flatnonzero(candidates.eligible & small)
    if not combined or not len(doubtful):
        return False
    chosen = np.unique(np.concatenate(combined))
    W = candidates.metric.among(np.concatenate([chosen, doubtful]))
    split = len(chosen)
    cross = W[:split, split:]
    own = np.diagonal(W)[split:]
    solution = np.linalg.lstsq(W[:split, :split], cross, rcond=1e-14)[0]
    dependent = own - np.einsum("cd,cd->d", cross, solution) <= 1e-12 * np.abs(own)
    candidates.retire(doubtful[dependent])
    return bool(dependent.any())
