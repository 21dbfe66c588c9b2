"""What every way to fit needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

# Of values in float32, residuals below that share (squared), or so many times the last digit of what
# cancelled in them, are rounding.
_FLOAT32_FLOOR, _LAST_DIGITS = 1e-10, 10

DEFAULT_COMPONENTS = 100


@dataclass(frozen=True)
class Settings:
    """Parameters of an estimator that concern every way to fit."""

    n_components: int = DEFAULT_COMPONENTS
    center: bool = False
    tol: float = 0.0
    scale: str | None = (
        None  # "rkhs" or "auto" for coordinates in feature space, or the criterion's own
    )
    precision: str = "auto"
    dtype: type = np.float64
    rounded: bool = False  # whether kernel values come with the digits of float32 alone
    max_memory: float = 2**30
    block_rows: int | None = None
    n_jobs: int | None = None

    @classmethod
    def of_parameters(cls, parameters: dict[str, Any]) -> Self:
        """Read those of an estimator's parameters that concern fitting; it need not have all."""
        names = ("center", "tol", "scale", "precision", "max_memory", "n_jobs")
        found = {name: parameters[name] for name in names if name in parameters}
        return cls(
            n_components=parameters.get("n_components") or DEFAULT_COMPONENTS,
            dtype=np.float32 if parameters.get("dtype") == "float32" else np.float64,
            block_rows=parameters.get("block_size"),
            **found,
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
