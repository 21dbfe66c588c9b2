"""Models as ONNX graphs, which run without Python."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..kernels import Inputs
from ..model import replacing
from .form import Exported, ServedForm, served_form
from .links import BentLink, Link
from .onnx_graph import Graph
from .onnx_inputs import input_names, kernel_inputs
from .onnx_kernels import kernel_values

_OPSET, _IR_VERSION = 17, 8  # of 2022, so that runtimes in use read them
_DTYPES = ("float64", "float32")


def export_onnx(
    model: Any, path: str | os.PathLike[str], *, dtype: str = "float64", output: str = "auto"
) -> Exported:
    """Write a fitted model as an ONNX graph, for serving without kernelsieve.

    Scalers, a metric and a linear head are folded in, so a sample costs its kernel values and one
    product. Needs the package onnx: ``pip install "kernelsieve[onnx]"``.

    The graph takes ``X``, numbers with NaN for missing ones. Where the model was fitted to a table with
    categories that are text, these are columns of an input of their own, ``categories``: strings, empty
    where they are missing. The metadata ``columns_of_X`` and ``columns_of_categories`` name them.

    Parameters
    ----------
    model : fitted estimator
        As :func:`kernelsieve.predictor` takes it, or one that gives features. The kernel is linear,
        rbf, matern, rational_quadratic, laplacian, poly, sigmoid or cosine.
    path : str or path-like
        The file; an old one stays until the new one is whole.
    dtype : {"float64", "float32"}, default="float64"
        Of the input ``X`` and of the outputs. Inside, float32 is used where it keeps five digits.
    output : {"auto", "prediction", "features"}, default="auto"
        "auto" predicts where the model does. The outputs are ``features``; or ``prediction``; or
        ``label``, ``scores`` (the decision function) and, where the model has them, ``probabilities``.

    Returns
    -------
    Exported
        With ``kernel_evaluations`` for a sample, ``n_bytes`` of the file, and the names of the columns
        of its inputs.

    Raises
    ------
    InvalidParameterError
        If a step cannot be folded, or the kernel has no formula.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelPLS, export_onnx
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLS(5, candidates=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, f"{folder}/model.onnx").kernel_evaluations
    50
    """
    if dtype not in _DTYPES:
        raise InvalidParameterError(f"dtype={dtype!r} must be one of {', '.join(map(repr, _DTYPES))}.")
    form = served_form(model, output)
    outer = np.dtype(dtype).type
    inner = np.float32 if outer is np.float32 and form.float32_suffices() else np.float64
    graph = Graph(_onnx(), inner)
    _add_outputs(graph, form, _scores(graph, form, outer), outer)
    names = input_names(form)
    about = {f"columns_of_{name}": json.dumps(columns) for name, columns in names.items()}
    about["kernel_evaluations"] = str(form.kernel_evaluations)
    data = graph.serialised(_OPSET, _IR_VERSION, about)
    with replacing(path) as file:
        file.write(data)
    return Exported(Path(path), form.kernel_evaluations, len(data), names)


def _onnx() -> Any:
    try:
        return import_module("onnx")
    except ImportError as error:
        raise ImportError(
            'export_onnx needs the package onnx; run: pip install "kernelsieve[onnx]"'
        ) from error


def _scores(graph: Graph, form: ServedForm, outer: type) -> str:
    inputs = kernel_inputs(graph, form, outer)
    if isinstance(form.kernel, Inputs):
        matrix = np.zeros((form.n_columns, form.coefficients.shape[1]))
        matrix[form.model.landmarks] = form.coefficients
        values, coefficients = inputs, matrix
    else:
        values, coefficients = kernel_values(graph, inputs, form), form.coefficients
    product = graph.add("MatMul", values, graph.constant(coefficients))
    return graph.add("Add", product, graph.constant(form.intercept))


def _add_outputs(graph: Graph, form: ServedForm, scores: str, outer: type) -> None:
    q, response = form.coefficients.shape[1], form.response
    if response.classes is None:
        flat = response.one_dimensional
        if response.mean is not None:
            largest = response.mean.largest
            ends = _number(graph, -largest), _number(graph, largest)
            clipped = graph.add("Clip", scores, *ends)
            scores = graph.add("Exp", clipped)
        values = graph.add("Squeeze", scores, graph.integers([1])) if flat else scores
        graph.output(
            "features" if form.gives_features else "prediction", values, outer, None if flat else q
        )
        return
    graph.label_output("label", _class_numbers(graph, scores, q), response.classes)
    graph.output("scores", _decisions(graph, scores, q), outer, q if q > 2 else None)
    if form.link is not None:
        scaled = graph.add("Mul", _bent(graph, scores, form.link), _number(graph, form.link.slope))
        p = _probabilities(graph, scaled, form.link.name, q)
        graph.output("probabilities", p, outer, max(q, 2))


def _class_numbers(graph: Graph, scores: str, n_scores: int) -> str:
    if n_scores > 1:
        return graph.add("ArgMax", scores, axis=1, keepdims=0)
    positive = graph.add("Greater", scores, graph.constant(np.zeros(1)))
    return graph.add("Squeeze", graph.cast(positive, np.int64), graph.integers([1]))


def _decisions(graph: Graph, scores: str, n_scores: int) -> str:
    if n_scores == 1:
        return graph.add("Squeeze", scores, graph.integers([1]))
    if n_scores > 2:
        return scores
    difference = graph.add("MatMul", scores, graph.constant(np.array([[-1.0], [1.0]])))
    return graph.add("Squeeze", difference, graph.integers([1]))


def _number(graph: Graph, value: float) -> str:
    return graph.constant(np.array(value))


def _bent(graph: Graph, scores: str, link: Link) -> str:
    """Return logarithms of scores that bend to a floor, without large powers."""
    if not isinstance(link, BentLink):
        return scores
    z = graph.add("Div", scores, _number(graph, link.bend))
    decay = graph.add("Exp", graph.add("Neg", graph.add("Abs", z)))
    small = graph.add("Log", graph.add("Add", decay, _number(graph, 1.0)))
    above = graph.add("Max", z, _number(graph, 0.0))
    bent = graph.add("Mul", graph.add("Add", above, small), _number(graph, link.bend))
    return graph.add("Log", graph.add("Add", bent, _number(graph, link.floor)))


def _probabilities(graph: Graph, scores: str, link: str, n_scores: int) -> str:
    if n_scores == 1:  # of the two classes, from both sides, so that neither is a difference
        doubled = scores if link == "logistic" else graph.add("Add", scores, scores)
        both = graph.add("MatMul", doubled, graph.constant(np.array([[-1.0, 1.0]])))
        return graph.add("Sigmoid", both)
    if link == "softmax":
        return graph.add("Softmax", scores, axis=1)
    p = graph.add("Sigmoid", scores)
    return graph.add("Div", p, graph.add("ReduceSum", p, graph.integers([1]), keepdims=1))
