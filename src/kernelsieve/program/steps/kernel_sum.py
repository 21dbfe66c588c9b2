"""Weighted sums of kernel values with the landmarks: the model of every estimator in this package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...exceptions import InvalidParameterError
from ...kernels import (
    RBF,
    Cosine,
    Inputs,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Rows,
    Sigmoid,
    unit_rows,
)
from ...model import KernelModel
from .affine import AffineMap, plus
from .step import ProgramStep

if TYPE_CHECKING:
    from ..c_file import CFile
    from ..onnx_graph import Graph

_FORMULAS = (Cosine, Laplacian, Linear, Matern, Polynomial, RBF, RationalQuadratic, Sigmoid)
_COMPARED, _MOST_ROUNDING = 200, 1e-11  # landmarks, and what folding may change, as a part of outputs
_MOST_WEIGHTS_OF_ONE = 50_000  # of more, a block of one row takes less time
_VANISHED = 1e6  # squared distances of which the exponential of the root is zero
#: Squared distances of landmarks from their mean, in the unit of a kernel, that keep 11 or 5 digits.
_LARGEST: dict[type, float] = {np.float64: 5e4, np.float32: 50.0}


@dataclass(frozen=True)
class KernelSum(ProgramStep):
    """``kernel(x, landmarks) @ projection - offset``."""

    model: KernelModel

    def __reduce__(self) -> tuple:
        return KernelSum, (self.model,)  # what is prepared may not be copied, and is quickly made

    @property
    def n_inputs(self) -> int | None:
        is_precomputed = isinstance(self.model.kernel, Precomputed)
        return None if is_precomputed else int(self.model.landmarks.shape[1])

    @property
    def n_outputs(self) -> int:
        return self.model.n_components

    @cached_property
    def _write(self) -> Callable[[Rows, np.ndarray], float]:
        return self.model.writer()[0]

    @cached_property
    def _of_one(self) -> Callable[[np.ndarray], np.ndarray] | None:
        return self.model.of_one() if self.model.projection.size <= _MOST_WEIGHTS_OF_ONE else None

    def run(self, X: Rows) -> np.ndarray:
        out = np.empty((X.shape[0], self.n_outputs), self.model.dtype)
        self._write(X, out)
        return out

    def run_one(self, x: np.ndarray) -> np.ndarray:
        return self.run(x[None, :])[0] if self._of_one is None else self._of_one(x)

    def then(self, after: AffineMap) -> KernelSum | None:
        """Fold an affine map into this step; return None if digits would be lost."""
        folded = self.folded(after)
        return folded if self._agrees(folded, after) else None

    def folded(self, after: AffineMap) -> KernelSum:
        """Fold an affine map of the outputs into this step."""
        model, after = self.model, after.dense
        offset = plus(model.offset, after.centre) @ after.matrix
        model = replace(
            model,
            projection=np.ascontiguousarray(model.projection @ after.matrix),
            offset=offset if after.shift is None else offset - after.shift,
            first_use=np.zeros(len(model.projection), dtype=np.intp),  # outputs need all landmarks
            refinement=None,
        )
        return KernelSum(model)

    def _agrees(self, folded: KernelSum, after: AffineMap) -> bool:
        """Return True if folding keeps all digits that two separate steps keep, at the landmarks."""
        if self.model.refinement is None:
            return True
        if isinstance(self.model.kernel, Precomputed):
            return False
        rows = self.model.landmarks[:_COMPARED]
        expected = after.run(self.run(rows).astype(np.float64))
        difference = np.abs(folded.run(rows) - expected).max()
        return bool(difference <= _MOST_ROUNDING * max(1.0, np.abs(expected).max()))

    def kernel_values_only(self) -> KernelSum:
        """Return the step whose outputs are the kernel values."""
        m = len(self.model.projection)
        model = replace(self.model, projection=np.eye(m), offset=np.zeros(m), refinement=None)
        return KernelSum(replace(model, first_use=np.arange(m)))

    # ------------------------------------------------------------------ written elsewhere

    @property
    def _landmarks(self) -> np.ndarray:
        Z = self.model.landmarks
        return np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=np.float64)

    def _formula(self) -> Any:
        """Return the kernel; raise an error if it has no formula to export."""
        kernel = self.model.kernel
        if type(kernel) not in _FORMULAS:  # one that is derived may compute what it likes
            raise InvalidParameterError(
                f"The kernel {kernel!r} has no formula that can be exported; these have: "
                f"{', '.join(sorted(kind.name for kind in _FORMULAS))}. Fit with one of them, or serve "
                "the model by predictor()."
            )
        return kernel

    def to_onnx(self, graph: Graph, value: str) -> str:
        values = _kernel_values(graph, value, self._formula(), self._landmarks)
        product = graph.add("MatMul", values, graph.constant(self.model.projection))
        return graph.add("Add", product, graph.constant(-self.model.offset))

    def to_c(self, file: CFile, source: str) -> str:
        kernel, Z = self._formula(), self._landmarks
        file.functions.append(_KERNEL.format(d=Z.shape[1], body=_c_body(kernel)))
        landmarks = file.array("landmarks", unit_rows(Z) if isinstance(kernel, Cosine) else Z)
        coefficients = file.array("coefficients", self.model.projection)
        intercept = file.array("intercept", -self.model.offset)
        (m, q), out = self.model.projection.shape, file.variable(self.n_outputs)
        file.add(
            f"for (int c = 0; c < {q}; c++) {out}[c] = {intercept}[c];",
            f"for (int j = 0; j < {m}; j++) {{",
            f"    const double k = NAME_kernel({source}, {landmarks}[j]);",
            f"    for (int c = 0; c < {q}; c++) {out}[c] += k * {coefficients}[j][c];",
            "}",
        )
        return out


def feature_steps(model: KernelModel, n_inputs: int) -> list[ProgramStep]:
    """Return a model as steps: a kernel sum, or an affine map in a primal method."""
    if not isinstance(model.kernel, Inputs):
        return [KernelSum(model)]
    matrix = np.zeros((n_inputs, model.n_components))
    matrix[model.landmarks] = model.projection
    return [AffineMap(matrix, shift=-model.offset)]


def _width(kernel: Any) -> float:
    """Return the factor of the squared distances in the formula of a radial kernel."""
    if isinstance(kernel, Matern):
        return float(4 * kernel.nu * kernel.gamma)
    return float(kernel.gamma / kernel.alpha if isinstance(kernel, RationalQuadratic) else kernel.gamma)


# ---------------------------------------------------------------------- kernels in C


_KERNEL = """static double NAME_kernel(const double *x, const double *z) {{
    const int d = {d};
    double s = 0.0;
{body}
}}
"""

_SQUARED = "    for (int i = 0; i < d; i++) s += (x[i] - z[i]) * (x[i] - z[i]);\n"
_ABSOLUTE = "    for (int i = 0; i < d; i++) s += fabs(x[i] - z[i]);\n"
_PRODUCT = "    for (int i = 0; i < d; i++) s += x[i] * z[i];\n"
# Landmarks have unit length. Where squares would overflow or vanish, inputs are divided by the largest.
_COSINE = """    double xx = 0.0, most = 0.0;
    for (int i = 0; i < d; i++) {
        s += x[i] * z[i];
        xx += x[i] * x[i];
    }
    if (xx > 1e-290 && xx < HUGE_VAL) return s / sqrt(xx);
    for (int i = 0; i < d; i++) most = fmax(most, fabs(x[i]));
    if (most == 0.0) return xx;
    s = xx = 0.0;
    for (int i = 0; i < d; i++) {
        s += x[i] / most * z[i];
        xx += x[i] / most * (x[i] / most);
    }
    return s / sqrt(xx);"""
_MATERN = {0.5: "exp(-a)", 1.5: "(1.0 + a) * exp(-a)", 2.5: "(1.0 + a + a * a / 3.0) * exp(-a)"}


def _c_body(kernel: Any) -> str:
    """Return C statements that compute one kernel value."""
    if isinstance(kernel, RBF):
        return _SQUARED + f"    return exp(-{_width(kernel).hex()} * s);"
    if isinstance(kernel, Matern):
        return _SQUARED + (
            f"    double a = sqrt({_width(kernel).hex()} * s);\n"
            "    if (a > 1e4) a = 1e4; /* where exp(-a) is 0, and a * a does not overflow */\n"
            f"    return {_MATERN[kernel.nu]};"
        )
    if isinstance(kernel, RationalQuadratic):
        return _SQUARED + (
            f"    return pow(1.0 + {_width(kernel).hex()} * s, -{float(kernel.alpha).hex()});"
        )
    if isinstance(kernel, Laplacian):
        return _ABSOLUTE + f"    return exp(-{kernel.gamma.hex()} * s);"
    if isinstance(kernel, Cosine):
        return _COSINE
    if isinstance(kernel, Linear):
        return _PRODUCT + "    return s;"
    inner = f"{float(kernel.gamma).hex()} * s + {float(kernel.coef0).hex()}"
    if isinstance(kernel, Polynomial):
        return _PRODUCT + f"    return pow({inner}, {float(kernel.degree).hex()});"
    return _PRODUCT + f"    return tanh({inner});"


# ---------------------------------------------------------------------- kernels in ONNX


def _kernel_values(graph: Graph, X: str, kernel: Any, Z: np.ndarray) -> str:
    """Return kernel values of samples with the landmarks, (n_samples, n_landmarks)."""
    if isinstance(kernel, RBF | Matern | RationalQuadratic):
        return _profile(graph, kernel, _scaled_distances(graph, X, Z, kernel))
    if isinstance(kernel, Laplacian):
        sums = _summed(graph, graph.add("Abs", _differences(graph, X, Z)))
        return graph.add("Exp", _times(graph, sums, -kernel.gamma))
    if isinstance(kernel, Cosine):
        return graph.add("MatMul", _unit_rows(graph, X), graph.constant(unit_rows(Z).T))
    products = graph.add("MatMul", X, graph.constant((getattr(kernel, "gamma", 1.0) * Z).T))
    if isinstance(kernel, Polynomial):
        base = graph.add("Add", products, graph.constant(np.array(kernel.coef0)))
        return graph.add("Pow", base, graph.constant(np.array(kernel.degree)))
    if isinstance(kernel, Sigmoid):
        return graph.add("Tanh", graph.add("Add", products, graph.constant(np.array(kernel.coef0))))
    return products


def _profile(graph: Graph, kernel: Any, t: str) -> str:
    """Return values of a radial kernel; ``t`` is the squared distance in its own unit."""
    if isinstance(kernel, RBF):
        return graph.add("Exp", graph.add("Neg", t))
    if isinstance(kernel, Matern) and kernel.nu == 0.5:
        return graph.add("Exp", graph.add("Neg", graph.add("Sqrt", t)))
    one = graph.constant(np.array(1.0))
    if isinstance(kernel, RationalQuadratic):
        return graph.add("Pow", graph.add("Add", one, t), graph.constant(np.array(-kernel.alpha)))
    most = graph.constant(np.array(_VANISHED))  # beyond, infinity times zero would be no number
    is_far = graph.add("Greater", t, most)
    t = graph.add("Where", is_far, most, t)
    a = graph.add("Sqrt", t)
    decay = graph.add("Exp", graph.add("Neg", a))
    polynomial = graph.add("Add", one, a)
    if kernel.nu == 2.5:
        polynomial = graph.add("Add", polynomial, _times(graph, t, 1 / 3))
    return graph.add("Mul", polynomial, decay)


def _scaled_distances(graph: Graph, X: str, Z: np.ndarray, kernel: Any) -> str:
    """Add squared distances to a graph: by a product, or by differences where digits would be lost."""
    width = _width(kernel)
    origin = Z.mean(axis=0)
    Z = Z - origin
    norms = (Z**2).sum(axis=1)
    X = graph.add("Sub", X, graph.constant(origin))
    has_kink = isinstance(kernel, Matern) and kernel.nu == 0.5  # where rounded distances would show
    if has_kink or width * norms.max() > _LARGEST[graph.dtype]:
        differences = _differences(graph, X, Z)
        return _times(graph, _summed(graph, graph.add("Mul", differences, differences)), width)
    squares = graph.add("ReduceSum", graph.add("Mul", X, X), graph.integers([1]), keepdims=1)
    both = graph.add("Add", _times(graph, squares, width), graph.constant(width * norms))
    distances = graph.add("Sub", both, graph.add("MatMul", X, graph.constant(2 * width * Z.T)))
    return graph.add("Max", distances, graph.constant(np.array(0.0)))


def _differences(graph: Graph, X: str, Z: np.ndarray) -> str:
    """Return differences of all samples and landmarks, (n_samples, n_landmarks, n_inputs)."""
    return graph.add("Sub", graph.add("Unsqueeze", X, graph.integers([1])), graph.constant(Z[None]))


def _summed(graph: Graph, values: str) -> str:
    return graph.add("ReduceSum", values, graph.integers([2]), keepdims=0)


def _times(graph: Graph, values: str, factor: float) -> str:
    return graph.add("Mul", values, graph.constant(np.array(factor)))


def _unit_rows(graph: Graph, X: str) -> str:
    """Scale samples to unit length; zero rows stay zero.

    They are divided by their largest entries first, so that squares neither overflow nor vanish.
    """
    largest = graph.add("ReduceMax", graph.add("Abs", X), axes=[1], keepdims=1)
    X = graph.add("Div", X, _or_one(graph, largest))
    squares = graph.add("ReduceSum", graph.add("Mul", X, X), graph.integers([1]), keepdims=1)
    norms = graph.add("Sqrt", squares)
    return graph.add("Div", X, _or_one(graph, norms))


def _or_one(graph: Graph, values: str) -> str:
    """Return values as they are, and 1 where they are 0."""
    is_zero = graph.cast(graph.add("Not", graph.cast(values, np.bool_)), graph.dtype)
    return graph.add("Add", values, is_zero)
