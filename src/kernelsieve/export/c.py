"""Models as one file of C99, which needs nothing but the mathematical library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..kernels import (
    RBF,
    Cosine,
    Inputs,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    unit_rows,
)
from ..model import replacing
from ..serving import Affine
from .c_inputs import encoding_arrays, encoding_step, lookup, text
from .c_names import check_name
from .form import Exported, ServedForm, served_form
from .links import BentLink, Link

_PER_LINE = 4


def export_c(
    model: Any, path: str | os.PathLike[str], *, name: str = "model", output: str = "auto"
) -> Exported:
    """Write a fitted model as one self-contained file of C99, for serving anywhere.

    The file has the arrays, and ``void NAME(const double *x, double *out)`` for one sample: it
    allocates nothing, keeps no state, and needs ``-lm`` alone. ``NAME_N_INPUTS`` and
    ``NAME_N_OUTPUTS`` tell the sizes. A classifier has ``int NAME_class(const double *x)``, the
    number of a label in ``NAME_labels``, and where it has them ``NAME_probabilities(x, out)``.

    ``NAME_inputs`` names the inputs, in the order of ``x``. Missing values are ``NAN``. Categories that
    are text are given as numbers: ``double NAME_code(int input, const char *text)`` tells the number of
    a text, which is -1 where it is not known, and ``NAN`` for ``NULL``.

    Parameters
    ----------
    model : fitted estimator
        As :func:`kernelsieve.export_onnx` takes it.
    path : str or path-like
        The file; an old one stays until the new one is whole.
    name : str, default="model"
        Of the function, and the beginning of all other names.
    output : {"auto", "prediction", "features"}, default="auto"
        "auto" predicts where the model does; ``out`` then has numbers, or one score for each class
        (a single one for two classes, positive for the second).

    Returns
    -------
    Exported
        With ``kernel_evaluations`` for a sample, ``n_bytes`` of the file, and the names of its inputs.

    Raises
    ------
    InvalidParameterError
        If a step cannot be folded, or the kernel has no formula.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelPLS, export_c
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLS(5, candidates=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_c(model, f"{folder}/model.c").kernel_evaluations
    50
    """
    form = served_form(model, output)
    check_name(name, [*_code(form), *_decisions(form)])
    _check_texts(form)
    data = ("\n".join(_program(form, name)) + "\n").encode()
    with replacing(path) as file:
        file.write(data)
    return Exported(Path(path), form.kernel_evaluations, len(data), {"x": form.names})


def _program(form: ServedForm, name: str) -> Iterator[str]:
    """Yield the parts of the file; in those that are code NAME stands for the name."""
    arrays = dict(_arrays(form))
    n_bytes = sum(values.nbytes for values in arrays.values())
    yield f"/* Written by kernelsieve. {form.kernel!r} */"
    yield (
        f"/* For a sample: {form.kernel_evaluations} kernel evaluations, {n_bytes} bytes of arrays. */"
    )
    yield "#include <math.h>"
    yield "#include <string.h>\n" if form.texts else ""
    yield f"#define {name.upper()}_N_INPUTS {form.n_inputs}"
    yield f"#define {name.upper()}_N_OUTPUTS {form.coefficients.shape[1]}\n"
    missing = "missing values give no meaningful output" if form.encoding is None else "NAN is missing"
    yield f"/* The names of the inputs x; {missing}. */"
    yield _texts(f"{name}_inputs", form.names)
    if form.texts:
        yield _texts(f"{name}_categories", [str(v) for values in form.texts.values() for v in values])
    for key, values in arrays.items():
        yield _array(f"{name}_{key}", values)
    for part in _code(form):
        yield part.replace("NAME", name)
    classes = form.response.classes
    if classes is not None:
        yield _texts(f"{name}_labels", list(map(str, classes.tolist())))
    for part in _decisions(form):
        yield part.replace("NAME", name)


def _check_texts(form: ServedForm) -> None:
    """Refuse texts that C would take for others, since there a NUL character ends a text."""
    classes = form.response.classes
    labels = [] if classes is None else classes.tolist()
    for what, values in [
        *((f"input {form.names[i]!r}", values) for i, values in form.texts.items()),
        ("the labels", labels),
        ("the names of the inputs", form.names),
    ]:
        cut = next((text for text in map(str, values) if "\0" in text), None)
        if cut is not None:
            raise InvalidParameterError(
                f"The text {cut!r} of {what} has a NUL character, which ends a text in C; remove such "
                "characters before fit, or call export_onnx."
            )


def _texts(name: str, texts: list[str]) -> str:
    return f"const char *const {name}[{len(texts)}] = {{{', '.join(map(text, texts))}}};\n"


def _code(form: ServedForm) -> Iterator[str]:
    m, q = form.coefficients.shape
    inputs = isinstance(form.kernel, Inputs)
    d = form.n_columns if inputs else form.landmarks.shape[1]
    if form.texts:
        yield lookup(form.texts)
    if not inputs:
        yield _KERNEL.format(d=d, body=_kernel_body(form.kernel))
    encoded = "" if form.encoding is None else encoding_step(form.encoding)
    source = "x" if form.encoding is None else "e"
    yield _FUNCTION.format(
        m=m,
        q=q,
        before=encoded + _before(form.before, source, form.n_columns, d),
        value="u[j]" if inputs else "NAME_kernel(u, NAME_landmarks[j])",
        after=_mean(form),
    )


def _mean(form: ServedForm) -> str:
    mean = form.response.mean
    if mean is None:
        return ""
    size = float(mean.largest).hex()
    return f"    for (int c = 0; c < q; c++) out[c] = exp(fmin(fmax(out[c], -{size}), {size}));\n"


def _arrays(form: ServedForm) -> Iterator[tuple[str, np.ndarray]]:
    if form.encoding is not None:
        yield from encoding_arrays(form.encoding)
    if form.before is not None:
        before = form.before
        named = {"centre": before.centre, "matrix": before.matrix, "shift": before.shift}
        yield from ((key, np.asarray(v)) for key, v in named.items() if v is not None)
    if not isinstance(form.kernel, Inputs):
        is_cosine = isinstance(form.kernel, Cosine)
        yield "landmarks", unit_rows(form.landmarks) if is_cosine else form.landmarks
    yield "coefficients", form.coefficients
    yield "intercept", form.intercept


def _array(name: str, values: np.ndarray) -> str:
    """Return an array with all digits: C99 reads hexadecimal floats."""
    kind = {"f": "double", "i": "int"}[values.dtype.kind]
    sizes = "".join(f"[{size}]" for size in values.shape)
    rows = [_line(row) for row in (values if values.ndim == 2 else values[None])]
    body = ",\n".join(f"{{{row}}}" for row in rows) if values.ndim == 2 else rows[0]
    return f"static const {kind} {name}{sizes} = {{\n{body}}};\n"


def _line(values: np.ndarray) -> str:
    texts = list(map(_number, values.tolist()))
    return ",\n ".join(", ".join(texts[i : i + _PER_LINE]) for i in range(0, len(texts), _PER_LINE))


def _number(value: float | int) -> str:
    if isinstance(value, int):
        return str(value)
    return "NAN" if np.isnan(value) else value.hex()


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


def _kernel_body(kernel: Any) -> str:
    if isinstance(kernel, RBF):
        return _SQUARED + f"    return exp(-{kernel.gamma.hex()} * s);"
    if isinstance(kernel, Matern):
        return _SQUARED + (
            f"    double a = sqrt({(4 * kernel.nu * kernel.gamma).hex()} * s);\n"
            "    if (a > 1e4) a = 1e4; /* where exp(-a) is 0, and a * a does not overflow */\n"
            f"    return {_MATERN[kernel.nu]};"
        )
    if isinstance(kernel, RationalQuadratic):
        width, alpha = float(kernel.gamma / kernel.alpha), float(kernel.alpha)
        return _SQUARED + f"    return pow(1.0 + {width.hex()} * s, -{alpha.hex()});"
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


_FUNCTION = """/* For the sample x, write the numbers that the model gives. */
void NAME(const double *x, double *out) {{
    const int m = {m}, q = {q};
{before}
    for (int c = 0; c < q; c++) out[c] = NAME_intercept[c];
    for (int j = 0; j < m; j++) {{
        const double k = {value};
        for (int c = 0; c < q; c++) out[c] += k * NAME_coefficients[j][c];
    }}
{after}}}
"""


def _before(affine: Affine | None, source: str, n_columns: int, d: int) -> str:
    """Return what makes inputs ``u`` of the kernel from a sample."""
    if affine is None:
        return f"    const double *u = {source};"
    centred = f"{source}[i]" if affine.centre is None else f"({source}[i] - NAME_centre[i])"
    if affine.is_diagonal:
        shift = "" if affine.shift is None else " + NAME_shift[i]"
        step = f"u[i] = {centred} * NAME_matrix[i]{shift};"
        return f"    double u[{d}];\n    for (int i = 0; i < {d}; i++) {step}"
    start = "0.0" if affine.shift is None else "NAME_shift[l]"
    return (
        f"    double u[{d}];\n"
        f"    for (int l = 0; l < {d}; l++) u[l] = {start};\n"
        f"    for (int i = 0; i < {n_columns}; i++) {{\n"
        f"        const double v = {centred};\n"
        f"        for (int l = 0; l < {d}; l++) u[l] += v * NAME_matrix[i][l];\n"
        "    }"
    )


_CLASS = """/* The number of the label of the sample x in NAME_labels. */
int NAME_class(const double *x) {{
    double s[{q}];
    int best = 0;
    NAME(x, s);
{body}
    return best;
}}
"""


def _decisions(form: ServedForm) -> Iterator[str]:
    if form.response.classes is None:
        return
    q = form.coefficients.shape[1]
    largest = f"    for (int c = 1; c < {q}; c++) if (s[c] > s[best]) best = c;"
    yield _CLASS.format(q=q, body="    best = s[0] > 0.0;" if q == 1 else largest)
    if form.link is not None:
        yield _probabilities(form.link, q)


def _bent(link: Link, q: int) -> str:
    """Return what takes logarithms of scores that bend to a floor."""
    if not isinstance(link, BentLink):
        return ""
    return (
        f"    for (int c = 0; c < {q}; c++) {{\n"
        f"        const double z = s[c] / {link.bend.hex()};\n"
        "        const double above = fmax(z, 0.0) + log1p(exp(-fabs(z)));\n"
        f"        s[c] = log({float(link.floor).hex()} + {link.bend.hex()} * above);\n"
        "    }\n"
    )


def _probabilities(link: Link, q: int) -> str:
    head = (
        "/* Probabilities of the labels. */\nvoid NAME_probabilities(const double *x, double *out) {\n"
    )
    slope = (link.slope * (2 if link.name == "softmax" and q == 1 else 1)).hex()
    if q == 1:
        return (
            head
            + f"    double s[1];\n    NAME(x, s);\n    out[0] = 1.0 / (1.0 + exp({slope} * s[0]));\n"
            f"    out[1] = 1.0 / (1.0 + exp(-{slope} * s[0]));\n}}\n"
        )
    each = (
        f"exp({slope} * (s[c] - top))"
        if link.name == "softmax"
        else f"1.0 / (1.0 + exp(-{slope} * s[c]))"
    )
    return (
        head
        + f"    double s[{q}], top, total = 0.0;\n    NAME(x, s);\n{_bent(link, q)}    top = s[0];\n"
        f"    for (int c = 1; c < {q}; c++) if (s[c] > top) top = s[c];\n"
        f"    for (int c = 0; c < {q}; c++) total += out[c] = {each};\n"
        f"    for (int c = 0; c < {q}; c++) out[c] /= total;\n}}\n"
    )
