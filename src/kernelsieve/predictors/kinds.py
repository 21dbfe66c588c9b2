"""The kernels that a sieve tries, with widths relative to the spread of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels import PRESETS, Kernel, Rows, resolve_kernel
from ..metric_learning.rounds import column_spreads, total_variance


@dataclass(frozen=True)
class KernelKind:
    """A kernel name with parameters, and the metrics learned for it."""

    name: str
    params: dict[str, Any]
    structures: Sequence[str]  # a rotation of the inputs means nothing to absolute differences

    @property
    def label(self) -> str:
        """The kernel's name and parameters."""
        return " ".join([self.name, *(f"{name}={value:g}" for name, value in self.params.items())])

    def kernel(self, U: Rows, width: float) -> Kernel:
        """Return the kernel with a width relative to the spread of the inputs."""
        return resolve_kernel(self.name, U, gamma=self.gamma(U, width), kernel_params=self.params)

    def gamma(self, U: Rows, width: float) -> float:
        if self.name == "laplacian":
            return float(np.sqrt(width) / (column_spreads(U).sum() or 1.0))
        return float(width) / total_variance(U)


KINDS = {
    "rbf": KernelKind("rbf", {}, ("diagonal", "full")),
    "laplacian": KernelKind("laplacian", {}, ("diagonal",)),
    "matern": KernelKind("matern", {"nu": 1.5}, ("diagonal", "full")),
    **{name: KernelKind(*PRESETS[name], ("diagonal", "full")) for name in PRESETS},
    "rational_quadratic": KernelKind("rational_quadratic", {}, ("diagonal", "full")),
}
AUTOMATIC = ("laplacian", "matern32", "rbf", "matern12")
