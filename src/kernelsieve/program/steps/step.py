"""What a step of a program is: a pure function of samples that can be run, and written elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..c_file import CFile
    from ..onnx_graph import Graph


class ProgramStep(ABC):
    """A fitted function of samples, one after the other in a ``Program``."""

    @property
    @abstractmethod
    def n_inputs(self) -> int | None:
        """Numbers that a sample has; None where any number will do."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Numbers that come out for a sample."""

    @abstractmethod
    def run(self, X: Any) -> Any:
        """Return what becomes of samples, (n_samples, n_inputs)."""

    def run_one(self, x: Any) -> Any:
        """Return what becomes of one sample, (n_inputs,)."""
        return self.run(x[None, :])[0]

    @abstractmethod
    def to_onnx(self, graph: Graph, value: str) -> str:
        """Add operators to a graph that apply the step to a value; return the name of the result."""

    @abstractmethod
    def to_c(self, file: CFile, source: str) -> str:
        """Add statements to a file that apply the step to an array; return the name of the result."""
