"""What every way to fit needs to know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..config import get_config

# Of values in float32, residuals below that share (squared), or so many times the last digit of what
# cancelled in them, are rounding.
_FLOAT32_FLOOR, _LAST_DIGITS = 1e-10, 10

DEFAULT_COMPONENTS = 100


@dataclass(frozen=True)
class Settings:
    """What concerns every way to fit: parameters of the estimator, and settings of the machine."""

    n_components: int = DEFAULT_COMPONENTS
    center: bool = False
    tol: float = 0.0
    scale: str | None = None  # of features, as finish says; None for the criterion's own
    precision: str = "auto"
    dtype: type = np.float64
    rounded: bool = False  # whether kernel values come with the digits of float32 alone
    max_memory: float = 2**30
    block_rows: int | None = None
    n_jobs: int | None = None

    @classmethod
    def of_this_fit(cls, **parameters: Any) -> Self:
        """Return the parameters of an estimator with the settings of the machine as they are now.

        Nothing looks at these settings again, in whatever thread or process the fit goes on.
        """
        config = get_config()
        return cls(
            precision=config["precision"],
            dtype=np.float32 if config["dtype"] == "float32" else np.float64,
            max_memory=config["max_memory"],
            block_rows=config["block_size"],
            **parameters,
        )

    def on_the_machine_of(self, other: Settings) -> Self:
        """Return these settings with the precision, types, memory and blocks of others."""
        return replace(
            self,
            precision=other.precision,
            dtype=other.dtype,
            max_memory=other.max_memory,
            block_rows=other.block_rows,
        )

    @property
    def floor(self) -> float:
        return max(self.tol, _FLOAT32_FLOOR) if self._has_few_digits else self.tol

    @property
    def rounding(self) -> float:
        return _LAST_DIGITS * float(np.finfo(np.float32).eps) if self._has_few_digits else 0.0

    @property
    def _has_few_digits(self) -> bool:
        return self.rounded or self.dtype == np.float32
