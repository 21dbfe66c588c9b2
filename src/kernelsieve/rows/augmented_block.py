"""How one block of rows becomes the lines of the matrix that statistics are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .blocks import Batch


class AugmentedBlock:
    """Fills ``[1 | Y | columns]'`` for a block of rows.

    Parameters
    ----------
    fill : callable
        ``fill(X, out)`` writes ``(n_columns, len(X))`` values.
    shift : ndarray of shape (n_columns,)
        Subtracted from the columns. With a shift near their means, the sums of squares keep the
        digits that centring afterwards would lose.
    target_shift : ndarray of shape (q,)
        The same for the targets.
    dtype : type
        The precision in which ``fill`` writes; the lines themselves are float64.
    """

    def __init__(
        self,
        fill: Callable,
        shift: np.ndarray,
        target_shift: np.ndarray,
        dtype: type = np.float64,
    ) -> None:
        self._fill = fill
        self.shift = shift
        self.target_shift = target_shift
        self._dtype = dtype

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.target_shift)

    @property
    def n_lines(self) -> int:
        """Number of lines: one, the targets, the columns."""
        return 1 + self.n_targets + len(self.shift)

    def lines(self, batch: Batch, out: np.ndarray) -> np.ndarray:
        """Write the lines of a batch into ``out``, of shape ``(n_lines, len(batch))``."""
        first = 1 + self.n_targets
        out[0] = 1.0
        np.subtract(batch.Y.T, self.target_shift[:, None], out=out[1:first])
        columns = out[first:]
        if self._dtype == np.float64:
            self._fill(batch.X, columns)
        else:
            narrow: np.ndarray = np.empty(columns.shape, self._dtype)
            self._fill(batch.X, narrow)
            columns[...] = narrow
        columns -= self.shift[:, None]
        return out
