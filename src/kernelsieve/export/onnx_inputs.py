"""Tables as numbers, by ONNX operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..serving import Affine, Encoding, Indicator
from .form import ServedForm
from .onnx_graph import Graph

NUMBERS, TEXTS = "X", "categories"  # names of the inputs
_UNKNOWN = -1


def input_names(form: ServedForm) -> dict[str, list[str]]:
    """Return the names of the columns of ``X``, and of ``categories`` where there are texts."""
    of_texts = [form.names[i] for i in form.texts]
    of_numbers = [name for i, name in enumerate(form.names) if i not in form.texts]
    named = {NUMBERS: of_numbers, TEXTS: of_texts}
    return {name: columns for name, columns in named.items() if columns}


def kernel_inputs(graph: Graph, form: ServedForm, outer: type) -> str:
    """Declare the inputs of a graph, and return what the kernel takes."""
    for name, columns in input_names(form).items():
        graph.input(name, outer if name == NUMBERS else np.str_, len(columns))
    encoding = form.encoding
    values = _inner(graph, NUMBERS, outer) if encoding is None else _encoded(graph, encoding, outer)
    return values if form.before is None else _affine(graph, values, form.before)


def _inner(graph: Graph, values: str, outer: type) -> str:
    return values if outer is graph.dtype else graph.cast(values, graph.dtype)


def _affine(graph: Graph, X: str, affine: Affine) -> str:
    if affine.centre is not None:
        X = graph.add("Sub", X, graph.constant(affine.centre))
    X = graph.add("Mul" if affine.is_diagonal else "MatMul", X, graph.constant(affine.matrix))
    return X if affine.shift is None else graph.add("Add", X, graph.constant(affine.shift))


def _encoded(graph: Graph, encoding: Encoding, outer: type) -> str:
    """Return numbers, indicators of numbers and indicators of texts, in the order of the encoding."""
    place_of = _places(encoding)
    of_texts = [(i, c) for i, c in encoding.indicators if c.input in encoding.texts]
    of_numbers = [(i, c) for i, c in encoding.indicators if c.input not in encoding.texts]
    places, inputs, fill = encoding.numbers
    parts, order = [], list(places)
    if len(places):
        parts.append(_numbers(graph, [place_of[i] for i in inputs], fill, outer))
    if of_numbers:
        columns = [column for _, column in of_numbers]
        parts.append(_number_indicators(graph, columns, place_of, outer))
        order += [i for i, _ in of_numbers]
    if of_texts:
        parts.append(_text_indicators(graph, [column for _, column in of_texts], place_of))
        order += [i for i, _ in of_texts]
    joined = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
    back = np.argsort(order)
    if np.array_equal(back, np.arange(len(back))):
        return joined
    return graph.add("Gather", joined, graph.integers(back.tolist()), axis=1)


def _places(encoding: Encoding) -> dict[int, int]:
    """Return where each input is: among those that are texts, or among the others."""
    texts = list(encoding.texts)
    others = [i for i in range(encoding.n_inputs) if i not in encoding.texts]
    return {i: place for part in (texts, others) for place, i in enumerate(part)}


def _numbers(graph: Graph, places: list[int], fill: np.ndarray, outer: type) -> str:
    values = _inner(graph, graph.add("Gather", NUMBERS, graph.integers(places), axis=1), outer)
    if np.isnan(fill).all():
        return values
    return graph.add("Where", graph.add("IsNaN", values), graph.constant(fill), values)


def _number_indicators(
    graph: Graph, columns: Sequence[Indicator], place_of: dict[int, int], outer: type
) -> str:
    places = graph.integers([place_of[column.input] for column in columns])
    values = graph.add("Gather", NUMBERS, places, axis=1)
    wanted = [np.nan if column.value is None else float(column.value) for column in columns]
    is_it = graph.add("Equal", values, graph.typed(wanted, outer))
    return _or_missing(graph, is_it, graph.add("IsNaN", values), columns)


def _text_indicators(graph: Graph, columns: Sequence[Indicator], place_of: dict[int, int]) -> str:
    """Compare numbers of texts; an empty text is a missing value, unless it is a value."""
    known = list(dict.fromkeys(str(column.value) for column in columns if column.value is not None))
    is_value = "" in known
    if not is_value:
        known.append("")
    numbers = graph.numbered(TEXTS, known, _UNKNOWN)
    places = graph.integers([place_of[column.input] for column in columns])
    values = graph.add("Gather", numbers, places, axis=1)
    number_of = {text: number for number, text in enumerate(known)}
    wanted = [_UNKNOWN - 1 if c.value is None else number_of[str(c.value)] for c in columns]
    is_it = graph.add("Equal", values, graph.integers(wanted))
    missing = _UNKNOWN - 1 if is_value else number_of[""]
    is_missing = graph.add("Equal", values, graph.integers([missing]))
    return _or_missing(graph, is_it, is_missing, columns)


def _or_missing(graph: Graph, is_it: str, is_missing: str, columns: Sequence[Indicator]) -> str:
    counted = graph.flags([column.of_missing for column in columns])
    either = graph.add("Or", is_it, graph.add("And", is_missing, counted))
    return graph.cast(either, graph.dtype)
