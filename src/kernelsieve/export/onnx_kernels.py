"""Kernel values as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import RBF, Cosine, Laplacian, Matern, Polynomial, RationalQuadratic, Sigmoid, unit_rows
from .form import ServedForm
from .onnx_graph import Graph

#: Squared distances of landmarks from their mean, in the unit of a kernel, that keep 11 or 5 digits.
_VANISHED = 1e6  # squared distances of which the exponential of the root is zero
_LARGEST: dict[type, float] = {np.float64: 5e4, np.float32: 50.0}


def kernel_values(graph: Graph, X: str, form: ServedForm) -> str:
    """Return kernel values of samples with the landmarks, (n_samples, n_landmarks)."""
    kernel: Any = form.kernel
    Z = form.landmarks
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
    """Return squared distances by a product, or by differences where that would lose digits."""
    width = kernel._width
    origin = Z.mean(axis=0)
    Z = Z - origin
    norms = (Z**2).sum(axis=1)
    X = graph.add("Sub", X, graph.constant(origin))
    if kernel._exact_near or width * norms.max() > _LARGEST[graph.dtype]:
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
    """Return samples at unit length; those of zeros stay as they are.

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
