"""Export of programs as ONNX graphs, which run without Python."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from .compilation import compiled
from .exported import Exported, check_output, write_export
from .onnx_graph import Graph
from .program import Program
from .steps.encode import NUMBERS, TEXTS, EncodeColumns
from .steps.kernel_sum import KernelSum

_OPSET, _IR_VERSION = 17, 8  # of 2022, so that runtimes in use read them
_DTYPES = ("float64", "float32")
_COMPARED, _MOST_ROUNDING = 200, 2e-6  # landmarks, and what float32 may change, as a part of outputs


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
    program = compiled(model, check_output(model, output))
    outer = np.dtype(dtype).type
    inner = np.float32 if outer is np.float32 and _float32_suffices(program) else np.float64
    graph = Graph(_onnx(), inner, outer)
    names = _columns(program)
    for name, columns in names.items():
        graph.input(name, outer if name == NUMBERS else np.str_, len(columns))
    value = NUMBERS if isinstance(program.steps[0], EncodeColumns) else graph.inner(NUMBERS)
    for step in program.steps:
        value = step.to_onnx(graph, value)
    about = {f"columns_of_{name}": json.dumps(columns) for name, columns in names.items()}
    about["kernel_evaluations"] = str(program.kernel_evaluations)
    data = graph.serialised(_OPSET, _IR_VERSION, about)
    return write_export(path, data, program, names)


def _onnx() -> Any:
    try:
        return import_module("onnx")
    except ImportError as error:
        raise ImportError(
            'export_onnx needs the package onnx; run: pip install "kernelsieve[onnx]"'
        ) from error


def _columns(program: Program) -> dict[str, list[str]]:
    """Return the names of the columns of ``X``, and of ``categories`` if there are text columns."""
    texts = {} if program.encoding is None else program.encoding.texts
    of_texts = [program.input_names[i] for i in texts]
    of_numbers = [name for i, name in enumerate(program.input_names) if i not in texts]
    named = {NUMBERS: of_numbers, TEXTS: of_texts}
    return {name: columns for name, columns in named.items() if columns}


def _float32_suffices(program: Program) -> bool:
    """Return True if float32 sums keep five digits of the outputs at the landmarks."""
    if program.kernel_sum is None:
        return True
    model = program.kernel_sum.model
    exact, rounded = (
        KernelSum(replace(model, dtype=kind, refinement=None)).run(model.landmarks[:_COMPARED])
        for kind in (np.float64, np.float32)
    )
    if np.abs(rounded - exact).max() > _MOST_ROUNDING * np.abs(exact).max():
        return False
    link = program.link.exported_probabilities
    if link is None or program.steps[-2] is not program.kernel_sum:
        return True
    return bool(np.abs(link(rounded.astype(np.float64)) - link(exact)).max() <= _MOST_ROUNDING)
