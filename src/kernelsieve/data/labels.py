"""Many classes: labels as numbers, in place of one indicator column for each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Classes up to which indicators are written down as columns.
MANY_CLASSES = 100


@dataclass(frozen=True)
class Labels:
    """Class labels as numbers from 0: what n x q indicators say, in n numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.data import Labels
    >>> labels = Labels(np.array([2, 0]), 3)
    >>> labels.indicators
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """

    codes: np.ndarray  # (n,)
    n_classes: int

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | np.ndarray) -> Labels:
        return Labels(self.codes[rows], self.n_classes)

    @property
    def indicators(self) -> np.ndarray:
        """One row a sample and one column a class, all zero but one; for few samples or classes."""
        indicators = np.zeros((len(self), self.n_classes))
        indicators[np.arange(len(self)), self.codes] = 1.0
        return indicators
