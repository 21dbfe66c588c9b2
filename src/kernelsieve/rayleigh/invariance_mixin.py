"""What the estimators with invariances share: reading them, and moved rows as candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..deflation import Criterion
from ..estimators import KernelExtractor
from ..exceptions import InvalidParameterError
from ..kernels import Kernel
from ..rows import Batch, Pool
from .scatter import Tangent, Transform, move


class Moving(KernelExtractor):
    """Base of the estimators with invariances, whose transformations may give further candidates."""

    invariances: list[tuple[Callable, float]] | None
    virtual_candidates: bool

    _moving_constraints: ClassVar[dict] = {
        "invariances": [list, tuple, None],
        "virtual_candidates": ["boolean"],
    }

    def _tangents(self) -> list[Tangent]:
        """Return what features are to be invariant under."""
        found = self._given_tangents()
        reason = self._why_immovable()
        if found and reason:
            raise InvalidParameterError(reason)
        return found

    def _given_tangents(self) -> list[Tangent]:
        return tangents(self.invariances)

    def _why_immovable(self) -> str:
        """Explain why these parameters allow no invariances; nothing where they do."""
        if not self._is_precomputed:
            return ""
        return (
            "invariances need inputs, which a precomputed kernel does not have; pass a kernel by "
            "its name or as a function, or invariances=None."
        )

    def _virtual_transforms(self) -> list[Transform]:
        return [tangent.transform for tangent in self._tangents()] if self.virtual_candidates else []

    def _n_with_moved(self, batch: Batch) -> int:
        """Return the number of rows and moved rows, which all may be candidates."""
        return len(batch) * (1 + len(self._virtual_transforms()))

    def _whole_pool(self, batch: Batch, kernel: Kernel) -> Pool:
        """Return all rows and moved rows; the index of a moved row is that of its row."""
        union = with_moved(batch, self._virtual_transforms())
        everyone = np.arange(len(union))
        return Pool(kernel.points(union.X, everyone), everyone % len(batch))

    def _drawn_pool(
        self,
        batch: Batch,
        kernel: Kernel,
        size: int,
        criterion: Criterion,
        random_state: np.random.RandomState,
    ) -> tuple[Pool, np.ndarray]:
        union = with_moved(batch, self._virtual_transforms())
        pool, W = super()._drawn_pool(union, kernel, size, criterion, random_state)
        return Pool(pool.points, pool.indices % len(batch)), W


def with_moved(batch: Batch, transforms: Sequence[Transform]) -> Batch:
    """Return the rows with their transformed copies below them."""
    if not transforms:
        return batch
    stack = partial(sparse.vstack, format="csr") if sparse.issparse(batch.X) else np.vstack
    times = 1 + len(transforms)
    return Batch(
        stack([batch.X, *(move(transform, batch.X) for transform in transforms)]).astype(batch.X.dtype),
        np.tile(batch.Y, (times, 1)),
        None if batch.weight is None else np.tile(batch.weight, times),
    )


def tangents(invariances: Any) -> list[Tangent]:
    """Turn ``[(transform, weight), ...]`` into scatters."""
    scatters: list[Tangent] = []
    for item in invariances or ():
        if not (isinstance(item, (tuple, list)) and len(item) == 2):
            raise InvalidParameterError(
                f"invariances has the item {item!r}; it must be a list of pairs (transform, weight)."
            )
        transform, weight = item
        if not isinstance(weight, Real):
            raise InvalidParameterError(
                f"invariances has the weight {weight!r}; weights must be numbers, not negative."
            )
        scatters.append(Tangent(transform, float(weight)))
    return scatters
