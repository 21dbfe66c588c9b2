"""Tables as numbers, in C: gaps are filled, and categories become indicators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..serving import Encoding, Number

_NUMBER, _VALUE, _VALUE_OR_MISSING = 0, 1, 2

_ENCODE = """    double e[{d}];
    for (int i = 0; i < {d}; i++) {{
        const double v = x[NAME_input[i]], w = NAME_value[i];
        if (NAME_kind[i] == 0) e[i] = isnan(v) ? w : v; /* a number */
        else e[i] = v == w || (NAME_kind[i] == 2 && isnan(v)); /* an indicator */
    }}
"""

_LOOKUP = """static const int NAME_category_input[{n}] = {{{inputs}}};

/* The number that stands for a text in x[input]: -1 if it is not known, NAN if it is empty. */
double NAME_code(int input, const char *text) {{
    double code = 0.0;
    if (text == NULL) return NAN;
    for (int j = 0; j < {n}; j++) {{
        if (NAME_category_input[j] != input) continue;
        if (strcmp(NAME_categories[j], text) == 0) return code;
        code += 1.0;
    }}
    return *text ? -1.0 : NAN;
}}
"""


def encoding_arrays(encoding: Encoding) -> Iterator[tuple[str, np.ndarray]]:
    """Yield for all columns which input they come from, what they are, and fills or values."""
    columns = encoding.columns
    yield "input", np.array([column.input for column in columns], dtype=np.int32)
    kinds = [
        _NUMBER if isinstance(c, Number) else _VALUE_OR_MISSING if c.of_missing else _VALUE
        for c in columns
    ]
    yield "kind", np.array(kinds, dtype=np.int32)
    yield "value", np.array([_value(encoding, column) for column in columns], dtype=np.float64)


def _value(encoding: Encoding, column: Any) -> float:
    """Return what fills a number, or what an indicator looks for: the place of a text."""
    if isinstance(column, Number):
        return float(column.fill)
    if column.value is None:
        return float("nan")
    texts = encoding.texts.get(column.input)
    return float(column.value) if texts is None else float(texts.index(column.value))


def encoding_step(encoding: Encoding) -> str:
    """Return the lines that make columns ``e`` of a sample ``x``."""
    return _ENCODE.format(d=len(encoding.columns))


def lookup(texts: dict[int, list[Any]]) -> str:
    """Return the function that finds a text in the table of categories."""
    inputs = [str(i) for i, values in texts.items() for _ in values]
    return _LOOKUP.format(n=len(inputs), inputs=", ".join(inputs))


def text(value: str) -> str:
    """Return a string of C; bytes beyond ASCII as octal numbers, which end after three digits."""
    plain = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in value.encode()
    )
    return f'"{plain}"'
