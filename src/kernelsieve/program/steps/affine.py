"""Affine maps: scalers, rotations, metrics and linear heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...kernels import Rows
from .step import ProgramStep

if TYPE_CHECKING:
    from ..c_file import CFile
    from ..onnx_graph import Graph


@dataclass(frozen=True)
class AffineMap(ProgramStep):
    """``(x - centre) @ matrix + shift``; a diagonal matrix is given by its diagonal.

    The centre is taken off first, as scikit-learn does: far from zero that keeps digits.
    """

    matrix: np.ndarray  # (d,) or (d, k)
    centre: np.ndarray | None = None  # (d,)
    shift: np.ndarray | None = None  # (k,)

    @property
    def n_inputs(self) -> int:
        return len(self.matrix)

    @property
    def n_outputs(self) -> int:
        return int(self.matrix.shape[-1])

    def run(self, X: Rows) -> Rows:
        if sparse.issparse(X) and self.centre is None and self.shift is None:
            return X.multiply(self.matrix).tocsr() if self.matrix.ndim == 1 else X @ self.matrix
        return plus(times(X if self.centre is None else X - self.centre, self.matrix), self.shift)

    def run_one(self, x: np.ndarray) -> np.ndarray:
        return self.run(x)

    def then(self, other: AffineMap) -> AffineMap:
        """Return this map and the next as one."""
        between = plus(self.shift, None if other.centre is None else -other.centre)
        shift = plus(None if between is None else times(between, other.matrix), other.shift)
        left = np.diag(self.matrix) if other.matrix.ndim == 2 > self.matrix.ndim else self.matrix
        return AffineMap(times(left, other.matrix), self.centre, shift)

    @property
    def is_diagonal(self) -> bool:
        return self.matrix.ndim == 1

    @property
    def dense(self) -> AffineMap:
        """The same map with a full matrix."""
        matrix = np.diag(self.matrix) if self.is_diagonal else self.matrix
        return AffineMap(matrix, self.centre, self.shift)

    def to_onnx(self, graph: Graph, value: str) -> str:
        if self.centre is not None:
            value = graph.add("Sub", value, graph.constant(self.centre))
        operator = "Mul" if self.is_diagonal else "MatMul"
        value = graph.add(operator, value, graph.constant(self.matrix))
        return value if self.shift is None else graph.add("Add", value, graph.constant(self.shift))

    def to_c(self, file: CFile, source: str) -> str:
        d, k = self.n_inputs, self.n_outputs
        matrix, out = file.array("matrix", self.matrix), file.variable(k)
        centred = f"{source}[i]"
        if self.centre is not None:
            centred = f"({centred} - {file.array('centre', self.centre)}[i])"
        shift = None if self.shift is None else file.array("shift", self.shift)
        if self.is_diagonal:
            shifted = "" if shift is None else f" + {shift}[i]"
            file.add(f"for (int i = 0; i < {d}; i++) {out}[i] = {centred} * {matrix}[i]{shifted};")
            return out
        start = "0.0" if shift is None else f"{shift}[l]"
        file.add(
            f"for (int l = 0; l < {k}; l++) {out}[l] = {start};",
            f"for (int i = 0; i < {d}; i++) {{",
            f"    const double v = {centred};",
            f"    for (int l = 0; l < {k}; l++) {out}[l] += v * {matrix}[i][l];",
            "}",
        )
        return out


def times(left: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Multiply by a matrix that may be given by its diagonal."""
    return left * matrix if matrix.ndim == 1 else left @ matrix


def plus(left: Any, right: Any) -> Any:
    """Add two arrays; None stands for zeros."""
    if left is None or right is None:
        return right if left is None else left
    return left + right
