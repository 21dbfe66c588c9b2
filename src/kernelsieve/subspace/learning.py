"""Learn a subspace, from images or as the span of learned points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from ..data import Batch, weighted_sum
from ..deflation import Outcome
from ..exceptions import InvalidDataError, InvalidParameterError
from ..kernels import Kernel, Rows
from ..model import Fit, KernelModel, Search
from .centroids import by_contribution, make_fit
from .images import Images, Labelled, independent, labelled
from .initialisation import initial_directions
from .margins import LargeMargin
from .objectives import Objective, TargetAlignment
from .optimise import Directions, Optimum, maximise
from .points import Points, first_points
from .target_kernels import checked_target_kernel, coded_labels, factor

_FEW_ROWS = 1500  # whose inner products are formed where there are many more features
_MOST_MACHINES = 1000
_LOST = 1e-6  # of directions of unit length


@dataclass(frozen=True)
class LearnedSubspace:
    """The subspace that maximises alignment, or the objective or bound of a support vector machine."""

    n_components: int | None
    init: Any
    solver: str
    max_iter: int | None
    tol: float
    C: float  # price of squared slack, for the margin
    target_kernel: Any  # a coding of the classes, or K_y itself
    margin: type[LargeMargin] | None = None  # of a support vector machine, instead of the alignment

    def objective(self, known: Labelled) -> Objective:
        """Return the objective to maximise."""
        labels = known.labels
        if self.margin is None:
            return TargetAlignment(self.target_factor(known))
        if labels.shape[1] > _MOST_MACHINES:
            raise InvalidParameterError(
                f"y has {labels.shape[1]} classes, and a margin needs a machine for each of them at "
                f"every step; that is for {_MOST_MACHINES} at most. Pass objective='alignment'."
            )
        labels = labels.toarray() if sparse.issparse(labels) else labels
        return self.margin(labels, known.trace / known.total_weight, self.C)

    def target_factor(self, known: Labelled) -> Rows:
        """Return F with ``F F'`` the target kernel, scaled by root weights."""
        if isinstance(self.target_kernel, str):
            return coded_labels(known.labels, self.target_kernel)
        root = np.asarray(known.labels.sum(axis=1)).reshape(-1, 1)
        return root * factor(checked_target_kernel(self.target_kernel, len(root)))

    def solve(self, images: Images) -> Fit:
        """Learn directions V in the span of the images, formulas (17) to (27)."""
        wanted = self._n_requested(images)
        V = initial_directions(images, self.init, wanted)
        if V.shape[1] == 0:
            raise InvalidDataError(
                "No feature could be found: all images are zero. Look for samples of zeros, or use "
                "another kernel."
            )
        outcome = Outcome.COMPLETE if V.shape[1] == wanted else Outcome.EXHAUSTED
        rows, down, up = fewer_coordinates(images.rows, V)
        alignment = Directions(rows, self.objective(images))
        found = self._maximise(alignment, down(V), alignment.put_in_order)
        features = np.asarray(rows @ found.point)
        rotation = by_contribution(features, self.target_factor(images))
        model, indices = images.model(up(found.point @ rotation))
        return self._make_fit(model, indices, features @ rotation, images, outcome, found)

    def solve_points(self, batch: Batch, kernel: Kernel, random_state: np.random.RandomState) -> Fit:
        """Learn points whose images span the subspace."""
        known = Labelled(*labelled(batch, weighted_sum(kernel.diag(batch.X), batch)))
        first = first_points(batch, self.init, self.n_components, random_state)
        function = Points(batch.X, batch.root_weight, kernel, self.objective(known))
        Z = function.independent_points(first)
        if not function.features(Z)[0].any():
            raise InvalidDataError(
                "No feature could be found: k(x, z) is 0 for all samples x and all first points z, so "
                "there is no direction to improve them in. Lower gamma, scale X, or pass points near "
                "the samples as init."
            )
        found = self._maximise(function, Z, lambda Z: Z)
        Z = function.independent_points(found.point)  # points may meet on their way
        features, basis = function.features(Z)
        rotation = by_contribution(features, self.target_factor(known))
        k = len(Z)
        first_use = np.zeros(k, dtype=np.intp)
        model = KernelModel(kernel, Z, basis @ rotation, np.zeros(k), first_use)
        wanted = self.n_components or len(first)
        outcome = Outcome.COMPLETE if k == wanted else Outcome.EXHAUSTED
        return self._make_fit(model, np.full(k, -1), features @ rotation, known, outcome, found)

    def _n_requested(self, known: Labelled) -> int:
        if self.n_components is not None:
            return self.n_components
        return known.labels.shape[1] if isinstance(self.init, str) else np.shape(self.init)[-1]

    def _maximise(
        self, function: Any, first: np.ndarray, put_in_order: Callable[[np.ndarray], np.ndarray]
    ) -> Optimum:
        return maximise(
            function, first, put_in_order, solver=self.solver, max_iter=self.max_iter, tol=self.tol
        )

    def _make_fit(
        self,
        model: KernelModel,
        indices: np.ndarray,
        features: np.ndarray,
        known: Labelled,
        outcome: str,
        found: Optimum,
    ) -> Fit:
        alignments = TargetAlignment(self.target_factor(known)).prefixes(features)
        fit = make_fit(model, indices, features, features, known, alignments, outcome)
        return replace(fit, search=Search(found.path, found.ending))


#: From directions to directions.
Map = Callable[[np.ndarray], np.ndarray]


def fewer_coordinates(rows: Rows, first: np.ndarray) -> tuple[Rows, Map, Map]:
    """Return samples in coordinates of their own span if it is much smaller, and the maps to and fro.

    Directions worth looking at are combinations of the samples, so n coordinates do for n samples.
    Inner products know samples to half the digits; where they lose a part of the ``first`` directions,
    as with a large mean, the samples stay as they are.
    """
    n, r = rows.shape
    as_they_are = rows, lambda V: V, lambda V: V
    if n > min(_FEW_ROWS, r // 2):
        return as_they_are
    gram = rows @ rows.T
    factor, chosen = independent(gram.toarray() if sparse.issparse(gram) else gram)
    triangle, some = factor[:, chosen], rows[chosen]

    def down(V: np.ndarray) -> np.ndarray:
        return solve_triangular(triangle, np.asarray(some @ V), trans="T")

    def up(V: np.ndarray) -> np.ndarray:
        return np.asarray(some.T @ solve_triangular(triangle, V))

    lost = np.linalg.norm(first - up(down(first)))
    return as_they_are if lost > _LOST else (factor.T, down, up)
