"""How one block of rows becomes the lines of the matrix that statistics are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .blocks import Batch

#: Writes columns (features or kernel values) of a block of rows, one line for each column.
FillLines = Callable[[Batch, np.ndarray], None]


class Frame:
    """Fills ``[1 | Y | columns]'`` for a block of rows, each row scaled by the root of its weight.

    Parameters
    ----------
    fill : callable
        ``fill(X, out)`` writes ``(n_columns, len(X))`` values.
    shift : ndarray of shape (n_columns,)
        Subtracted from the columns. With a shift near their means, the sums of squares keep the
        digits that centring afterwards would lose.
    n_targets : int
        Number of columns of ``Y``.
    dtype : type
        The precision in which ``fill`` writes; the lines themselves are float64.
    """

    def __init__(
        self, fill: Callable, shift: np.ndarray, n_targets: int, dtype: type = np.float64
    ) -> None:
        self._fill = fill
        self.shift = shift
        self.n_targets = n_targets
        self._dtype = dtype

    @property
    def n_lines(self) -> int:
        """Number of lines: one, the targets, the columns."""
        return 1 + self.n_targets + len(self.shift)

    def lines(self, batch: Batch, out: np.ndarray) -> np.ndarray:
        """Write the lines of a batch into ``out``, of shape ``(n_lines, len(batch))``."""
        first = 1 + self.n_targets
        out[0] = 1.0
        out[1:first] = batch.Y.T
        columns = out[first:]
        if self._dtype == np.float64:
            self._fill(batch.X, columns)
        else:
            narrow: np.ndarray = np.empty(columns.shape, self._dtype)
            self._fill(batch.X, narrow)
            columns[...] = narrow
        columns -= self.shift[:, None]
        if batch.weight is not None:
            out *= np.sqrt(batch.weight)
        return out
