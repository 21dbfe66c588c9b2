"""Sums of absolute differences, one register of samples at a time."""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from .jit_cache import COMPILES, array, compiled, const

_SAMPLES = 128  # at a time, whose sums stay in the processor's own memory


@compiled(lambda number: (const(number, 2), const(number, 2), array(number, 2)))
def sums_of_differences(Z, features, out):
    """Write the sums for landmarks Z and samples, whose features are lines."""
    n_features = Z.shape[1]
    for start in range(0, out.shape[1], _SAMPLES):
        stop = min(start + _SAMPLES, out.shape[1])
        for j in range(out.shape[0]):
            line = out[j, start:stop]
            line[:] = 0.0
            # Two features at a time, so that sums are loaded half as often.
            for f in range(0, n_features - 1, 2):
                z, next_z = Z[j, f], Z[j, f + 1]
                x, next_x = features[f, start:stop], features[f + 1, start:stop]
                for i in range(stop - start):
                    line[i] += abs(z - x[i]) + abs(next_z - next_x[i])
            if n_features % 2:
                z, x = Z[j, n_features - 1], features[n_features - 1, start:stop]
                for i in range(stop - start):
                    line[i] += abs(z - x[i])


def absolute_differences(Z: np.ndarray, X: np.ndarray, out: np.ndarray) -> None:
    """Write ``sum_f |z_f - x_f|`` for landmarks and samples to an array of (landmarks, samples).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve._compiled import absolute_differences
    >>> out = np.empty((1, 2))
    >>> absolute_differences(np.zeros((1, 2)), np.array([[1.0, -2.0], [0.0, 4.0]]), out)
    >>> out
    array([[3., 4.]])
    """
    if not COMPILES:
        out[...] = cdist(Z, X, "cityblock")
        return
    fits = out.dtype == np.float64 and out.flags.c_contiguous
    found = out if fits else np.empty(out.shape)
    sums_of_differences(np.ascontiguousarray(Z), np.ascontiguousarray(X.T), found)
    if not fits:
        out[...] = found
