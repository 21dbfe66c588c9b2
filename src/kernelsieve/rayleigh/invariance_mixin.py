"""What estimators with invariances share: reading them, and transformed samples as candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import InvalidParameterError
from ..fitting import CandidatePool, Problem
from ..rows import Batch, Pool
from .scatter import Tangent, Transform, move


class InvarianceMixin:
    """Features that change little under transformations, which may give further candidates."""

    _moved: ClassVar[dict[str, str]] = {
        "virtual_candidates": "pass Tangent(transform, weight, virtual_candidates=True), of "
        "kernelsieve.rayleigh, in place of the pair (transform, weight)."
    }

    def _given_tangents(self: Any) -> list[Tangent]:
        return tangents(self.invariances)

    def _tangents(self: Any) -> list[Tangent]:
        """Return what features are to be invariant under."""
        found = self._given_tangents()
        if found and self._is_precomputed:
            raise InvalidParameterError(
                "invariances transform X, which a precomputed kernel does not have; pass a kernel by "
                "its name or as a function, or invariances=None."
            )
        return list(found)

    def _with_moved(self: Any, rows: Batch) -> Batch:
        """Return samples with their transformed copies below them, where these may be candidates."""
        moves = [tangent.transform for tangent in self._tangents() if tangent.virtual_candidates]
        return with_moved(rows, moves)

    def _draw(self: Any, problem: Problem, size: int) -> CandidatePool:
        union = replace(problem, rows=self._with_moved(problem.rows))
        drawn = super()._draw(union, size)  # type: ignore[misc]
        # The index of a transformed sample is that of the sample.
        pool = Pool(drawn.pool.points, drawn.pool.indices % len(problem.rows))
        return CandidatePool(pool, drawn.W)


def with_moved(batch: Batch, transforms: Sequence[Transform]) -> Batch:
    """Return the samples with their transformed copies below them."""
    if not transforms:
        return batch
    stack = partial(sparse.vstack, format="csr") if sparse.issparse(batch.X) else np.vstack
    again = np.tile(np.arange(len(batch)), 1 + len(transforms))
    return Batch(
        stack([batch.X, *(move(transform, batch.X) for transform in transforms)]).astype(batch.X.dtype),
        batch.targets[again],
        None if batch.weight is None else batch.weight[again],
    )


def tangents(invariances: Any) -> list[Tangent]:
    """Turn ``[(transform, weight), ...]`` into scatters, and keep those that are scatters already."""
    scatters: list[Tangent] = []
    for item in invariances or ():
        if isinstance(item, Tangent):
            scatters.append(item)
            continue
        if not (isinstance(item, (tuple, list)) and len(item) == 2):
            raise InvalidParameterError(
                f"invariances has the item {item!r}; it must be a list of pairs (transform, weight), "
                "or of kernelsieve.rayleigh.Tangent."
            )
        transform, weight = item
        if not isinstance(weight, Real):
            raise InvalidParameterError(
                f"invariances has the weight {weight!r}; weights must be numbers, not negative."
            )
        scatters.append(Tangent(transform, float(weight)))
    return scatters
