"""How one block of rows becomes the lines of the matrix that statistics are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.blocks import Batch
from ..kernels import Filler


@dataclass(frozen=True)
class AugmentedBlock:
    """Fills ``[1 | Y | columns]'`` for a block of rows, less a shift of columns and targets.

    Labels of many classes have no lines, and no shift.

    With a shift near their means, the sums of squares keep the digits that centring afterwards would
    lose.
    """

    fill: Filler  # writes the columns as lines
    shift: np.ndarray  # of the columns
    target_shift: np.ndarray
    dtype: type = np.float64  # in which columns are filled in; the lines themselves are float64

    @property
    def n_lines(self) -> int:
        """Number of lines: one, the targets, the columns."""
        return 1 + len(self.target_shift) + len(self.shift)

    def lines(self, batch: Batch, out: np.ndarray) -> np.ndarray:
        """Write the lines of a batch into ``out``, of shape ``(n_lines, len(batch))``."""
        first = 1 + len(self.target_shift)
        out[0] = 1.0
        if first > 1:
            np.subtract(batch.Y.T, self.target_shift[:, None], out=out[1:first])
        columns = out[first:]
        if self.dtype == np.float64:
            self.fill(batch.X, columns)
        else:
            narrow: np.ndarray = np.empty(columns.shape, self.dtype)
            self.fill(batch.X, narrow)
            columns[...] = narrow
        columns -= self.shift[:, None]
        return out
