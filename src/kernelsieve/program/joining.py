"""Join neighbouring steps into one where that loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .steps.affine import AffineMap
from .steps.encode import EncodeColumns
from .steps.kernel_sum import KernelSum
from .steps.step import ProgramStep


def joined(steps: Sequence[ProgramStep], step: ProgramStep) -> list[ProgramStep] | None:
    """Append a step, joined with those before where both are one; None if it cannot stand there."""
    if isinstance(step, EncodeColumns) and steps:
        return _encoded(steps, step)
    if isinstance(step, KernelSum) and any(isinstance(each, KernelSum) for each in steps):
        return None
    last = steps[-1] if steps else None
    if isinstance(step, AffineMap) and isinstance(last, AffineMap):
        return [*steps[:-1], last.then(step)]
    return [*steps, step]


def _encoded(steps: Sequence[ProgramStep], step: EncodeColumns) -> list[ProgramStep] | None:
    """Append an encoding; after an affine map, one that only imputes values and marks missing ones.

    The imputed values then move before the affine map, which the marks pass unchanged.
    """
    *before, last = steps
    if isinstance(last, EncodeColumns):
        whole = last.then(step)
        return None if whole is None else [*before, whole]
    if not isinstance(last, AffineMap) or not step.only_imputes:
        return None
    n_marks = step.n_outputs - step.n_inputs
    if not last.is_diagonal:  # which refuses missing values itself
        return None if n_marks else list(steps)
    fill = _inverse_of_diagonal(last, step.numbers[2])
    first = joined(before, step.filled_with(fill))
    return None if first is None else [*first, _with_identity_columns(last, n_marks)]


def _inverse_of_diagonal(affine: AffineMap, values: np.ndarray) -> np.ndarray:
    """Apply the inverse of a diagonal affine map; columns of weight 0 map to its centre."""
    shifted = values if affine.shift is None else values - affine.shift
    weighted = affine.matrix != 0
    inside = np.divide(shifted, affine.matrix, out=np.zeros(len(values)), where=weighted)
    return inside if affine.centre is None else inside + affine.centre


def _with_identity_columns(affine: AffineMap, number: int) -> AffineMap:
    """Extend a diagonal affine map by columns that it leaves unchanged."""
    ones, zeros = np.ones(number), np.zeros(number)
    centre, shift = (
        None if v is None else np.concatenate([v, zeros]) for v in (affine.centre, affine.shift)
    )
    return AffineMap(np.concatenate([affine.matrix, ones]), centre, shift)


def simplified(steps: Sequence[ProgramStep]) -> list[ProgramStep]:
    """Leave out an encoding that changes nothing, and fold an affine map into the kernel sum."""
    found = [step for step in steps if not isinstance(step, EncodeColumns) or step.changes]
    for place, (step, after) in enumerate(pairwise(found)):
        if isinstance(step, KernelSum) and isinstance(after, AffineMap):
            whole = step.then(after)
            return found if whole is None else [*found[:place], whole, *found[place + 2 :]]
    return found
