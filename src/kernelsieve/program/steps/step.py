"""The interface of a program step: a pure function that runs in Python and exports to ONNX and C."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..c_file import CFile
    from ..onnx_graph import Graph


class ProgramStep(ABC):
    """A fitted pure function; a ``Program`` applies several in sequence."""

    @property
    @abstractmethod
    def n_inputs(self) -> int | None:
        """Number of inputs; None if any number is allowed."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of outputs."""

    @abstractmethod
    def run(self, X: Any) -> Any:
        """Apply the step to samples, (n_samples, n_inputs)."""

    def run_one(self, x: Any) -> Any:
        """Apply the step to one sample, (n_inputs,)."""
        return self.run(x[None, :])[0]

    @abstractmethod
    def to_onnx(self, graph: Graph, value: str) -> str:
        """Add the step's operators to a graph; return the name of the result."""

    @abstractmethod
    def to_c(self, file: CFile, source: str) -> str:
        """Add the step's statements to a C file; return the name of the result."""
