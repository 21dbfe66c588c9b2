"""The loop: score, guard, commit, deflate. Algorithms 1 and 2 of Dhanjal et al. (2009).

Choose beta, let ``a = A beta``, orthogonalise it against the features so far: with left deflation the
framework is an incremental QR factorisation ``A B = Q R``. The deflated matrix is never formed.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ..columns import Batch
from .candidates import Candidates
from .criteria import Criterion, Direction, Step, View

_NO_ROWS = Batch(np.empty((0, 0)), np.empty((0, 0)))
_TARGET_NOISE = 1e-20  # of the targets' squared norm: what a feature must explain at least


class Outcome(Enum):
    """Why the loop stopped; the text goes into a warning and names the remedy."""

    COMPLETE = "all features were found"
    EXHAUSTED = (
        "the candidates are used up: every column that is left is a combination of the chosen ones. "
        "Lower n_components, or raise candidates or gamma"
    )
    EXPLAINED = (
        "the features explain the target completely, and no candidate is related to what is left. "
        "Lower n_components"
    )
    IMPRECISE = (
        "the columns that are left are too small to be known from their inner products. "
        "Pass precision='safe', raise gamma, or lower n_components"
    )


@dataclass(frozen=True)
class Extraction:
    """What the loop found: ``columns @ B = Q R`` and the inner products of Q with the targets."""

    directions: tuple[Direction, ...]  # the columns of B
    triangle: np.ndarray  # R, upper triangular with positive diagonal
    features: np.ndarray  # Q, (N, k)
    target_products: np.ndarray  # Q'Y, (k, q)
    target_squared_norm: float
    total_weight: float
    outcome: Outcome

    def __len__(self) -> int:
        return len(self.directions)

    def steps(self) -> list[Step]:
        """Return every committed direction in numbers."""
        return [
            Step(
                score=direction.score,
                residual_norm=float(self.triangle[j, j]),
                target_products=self.target_products[j],
                target_squared_norm=self.target_squared_norm,
                total_weight=self.total_weight,
            )
            for j, direction in enumerate(self.directions)
        ]

    def with_factor(self, triangle: np.ndarray, target_products: np.ndarray) -> Extraction:
        """Return the same directions with a more accurate factor."""
        return replace(self, triangle=triangle, target_products=target_products)


class _Basis:
    """Orthonormal features with room for n_components of them."""

    def __init__(self, n_rows: int, n_components: int) -> None:
        self._storage = np.empty((n_rows, n_components), order="F")
        self.triangle = np.zeros((n_components, n_components))
        self.size = 0

    @property
    def features(self) -> np.ndarray:
        return self._storage[:, : self.size]

    def residual(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a column's residual and its coefficients; orthogonalised twice, which is enough."""
        Q = self.features
        first = Q.T @ column
        residual = column - Q @ first
        second = Q.T @ residual
        residual -= Q @ second
        return residual, first + second

    def append(self, residual: np.ndarray, norm: float, coefficients: np.ndarray) -> np.ndarray:
        self._storage[:, self.size] = residual / norm
        self.triangle[: self.size, self.size] = coefficients
        self.triangle[self.size, self.size] = norm
        self.size += 1
        return self._storage[:, self.size - 1]


def extract(
    candidates: Candidates,
    targets: np.ndarray,
    criterion: Criterion,
    n_components: int,
    *,
    total_weight: float,
    floor: float,
    trust: float = 0.0,
    rows: Batch = _NO_ROWS,
) -> Extraction:
    """Extract features one after another.

    Parameters
    ----------
    candidates : Candidates
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
        is what kernel values are rounded to) is used up.
    trust : float
        Below this part of the squared norm after centring its residual is not known well enough; the
        loop stops there and says so.
    rows : Batch
        The rows themselves, for criteria that need them.

    Returns
    -------
    Extraction
    """
    criterion = copy.copy(criterion)
    basis = _Basis(len(targets), n_components)
    residual_targets = targets.copy()
    target_squared_norm = float(np.einsum("nq,nq->", targets, targets))
    directions: list[Direction] = []
    products: list[np.ndarray] = []
    outcome = Outcome.COMPLETE
    fruitless = 0
    while basis.size < n_components:
        if not candidates.advance(basis.features, residual_targets):
            outcome = Outcome.EXHAUSTED
            break
        _retire_used_up(candidates, floor)
        view = View(
            residual_squared_norms=candidates.residual_squared_norms,
            target_products=candidates.target_products,
            eligible=candidates.eligible,
            metric=candidates.metric,
            columns=candidates.columns,
            column_products=candidates.column_products,
            features=basis.features,
            targets=targets,
            residual_targets=residual_targets,
            n_components=n_components,
            raw_targets=rows.Y,
            root_weight=rows.root_weight,
        )
        direction = criterion.propose(view) if candidates.eligible.any() else None
        if direction is None:
            fruitless += 1
            if fruitless < candidates.most_fruitless:
                continue
            outcome = Outcome.EXHAUSTED
            break
        fruitless = 0
        column = candidates.columns.take(direction.candidates) @ direction.weights
        residual, coefficients = basis.residual(column)
        squared = float(residual @ residual)
        if not squared > floor * _size_of_terms(candidates, direction) ** 2:
            if len(direction.candidates) > 1:
                outcome = Outcome.EXHAUSTED
                break
            candidates.retire(direction.candidates)
            continue
        if squared < trust * float(column @ column):
            if _retire_dependent(candidates, directions, trust):
                continue
            outcome = Outcome.IMPRECISE
            break
        norm = np.sqrt(squared)
        target_products = residual_targets.T @ residual / norm
        explained = float(target_products @ target_products)
        if criterion.supervised and not explained > _TARGET_NOISE * target_squared_norm:
            outcome = Outcome.EXPLAINED
            break
        # Every guard has passed; nothing was changed before this line.
        feature = basis.append(residual, norm, coefficients)
        residual_targets -= np.outer(feature, target_products)
        candidates.deflate(feature, target_products)
        if len(direction.candidates) == 1:
            candidates.retire(direction.candidates)
        directions.append(
            replace(
                direction,
                candidates=candidates.names[direction.candidates],
                means=candidates.columns.means[direction.candidates],
            )
        )
        products.append(target_products)
    return Extraction(
        directions=tuple(directions),
        triangle=basis.triangle[: basis.size, : basis.size],
        features=basis.features,
        target_products=np.array(products).reshape(basis.size, targets.shape[1]),
        target_squared_norm=target_squared_norm,
        total_weight=total_weight,
        outcome=outcome,
    )


def _size_of_terms(candidates: Candidates, direction: Direction) -> float:
    """Return what a direction adds up, before anything cancels: rounding errors are relative to it."""
    raw_norms = np.sqrt(candidates.columns.raw_squared_norms[direction.candidates])
    return float(np.abs(direction.weights) @ raw_norms)


def _retire_used_up(candidates: Candidates, floor: float) -> None:
    raw_squared_norms = candidates.columns.raw_squared_norms
    used_up = candidates.residual_squared_norms <= floor * raw_squared_norms
    candidates.retire(np.flatnonzero(candidates.eligible & used_up))


def _retire_dependent(candidates: Candidates, directions: list[Direction], trust: float) -> bool:
    """Retire doubtful candidates that kernel values alone show to be used up; tell if there were any.

    If a candidate's image lies in the span of the chosen images, so does its column, whatever the
    rounding of the columns says. The others are only imprecise.
    """
    small = candidates.residual_squared_norms < trust * candidates.initial_squared_norms
    doubtful = np.flatnonzero(candidates.eligible & small)
    if not directions or not len(doubtful):
        return False
    chosen = np.unique(np.concatenate([d.candidates for d in directions]))
    W = candidates.metric.among(np.concatenate([chosen, doubtful]))
    split = len(chosen)
    cross = W[:split, split:]
    own = np.diagonal(W)[split:]
    solution = np.linalg.lstsq(W[:split, :split], cross, rcond=1e-14)[0]
    dependent = own - np.einsum("cd,cd->d", cross, solution) <= 1e-12 * np.abs(own)
    candidates.retire(doubtful[dependent])
    return bool(dependent.any())
