"""What a statistic gives back: columns and targets in a few coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Coordinates:
    """The columns and targets in a few coordinates instead of n rows.

    An orthogonal transformation of the (weighted) rows keeps every inner product. ``columns`` and
    ``targets`` are what is left of them after one that turns all but the first ``1 + q + c`` rows to
    zero; a method that sees only inner products cannot tell the difference.
    """

    columns: np.ndarray  # (N, c)
    targets: np.ndarray  # (N, q)
    means: np.ndarray  # weighted means of the columns as they are, before any shift
    target_means: np.ndarray
    total_weight: float
    trace: float  # weighted sum of k(x, x)
