"""Mixin for invariances: reads the parameter, and adds transformed samples to the candidates."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..data import Batch, Pool
from ..exceptions import InvalidParameterError
from ..fitting import Problem
from .scatter import Tangent, move


class InvarianceMixin:
    """Mixin for features that change little under given transformations."""

    _moved: ClassVar[dict[str, str]] = {
        "virtual_candidates": "pass Tangent(transform, weight, virtual_candidates=True), of "
        "kernelsieve.rayleigh, in place of the pair (transform, weight)."
    }

    def _given_tangents(self: Any) -> list[Tangent]:
        """Convert pairs (transform, weight) to scatters; keep scatters unchanged."""
        scatters: list[Tangent] = []
        for item in self.invariances or ():
            if isinstance(item, Tangent):
                scatters.append(item)
                continue
            if not (isinstance(item, (tuple, list)) and len(item) == 2):
                raise InvalidParameterError(
                    f"invariances has the item {item!r}; it must be a list of pairs (transform, "
                    "weight), or of kernelsieve.rayleigh.Tangent."
                )
            transform, weight = item
            if not isinstance(weight, Real):
                raise InvalidParameterError(
                    f"invariances has the weight {weight!r}; weights must be numbers, not negative."
                )
            scatters.append(Tangent(transform, float(weight)))
        return scatters

    def _tangents(self: Any) -> list[Tangent]:
        """Return the scatters of the invariances."""
        found: list[Tangent] = self._given_tangents()
        if found and self._is_precomputed:
            raise InvalidParameterError(
                "invariances transform X, which a precomputed kernel does not have; pass a kernel by "
                "its name or as a function, or invariances=None."
            )
        return found

    def _with_moved(self: Any, batch: Batch) -> Batch:
        """Append transformed copies of the samples if these may be candidates."""
        moves = [tangent.transform for tangent in self._tangents() if tangent.virtual_candidates]
        if not moves:
            return batch
        X = [batch.X, *(move(transform, batch.X) for transform in moves)]
        stacked = sparse.vstack(X, format="csr") if sparse.issparse(batch.X) else np.vstack(X)
        again = np.tile(np.arange(len(batch)), len(X))
        weight = None if batch.weight is None else batch.weight[again]
        return Batch(stacked.astype(batch.X.dtype), batch.targets[again], weight)

    def _draw(self: Any, problem: Problem, size: int) -> Pool:
        union = replace(problem, rows=self._with_moved(problem.rows))
        drawn = super()._draw(union, size)  # type: ignore[misc]
        # The index of a transformed sample is that of the sample.
        return replace(drawn, indices=drawn.indices % len(problem.rows))
