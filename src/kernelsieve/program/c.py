"""Export of programs as one C99 file that needs only the math library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..exceptions import InvalidParameterError
from .c_file import CFile, array_text, check_name, texts_text
from .compilation import compiled
from .exported import Exported, check_output, write_export
from .program import Program


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
    program = compiled(model, check_output(model, output))
    file = CFile()
    value = "x"
    for step in program.steps:
        value = step.to_c(file, value)
    check_name(name, file.code)
    names = program.input_names
    _check_texts(program, names)
    data = ("\n".join(_parts(program, file, names, name)) + "\n").encode()
    return write_export(path, data, program, {"x": names})


def _parts(program: Program, file: CFile, names: list[str], name: str) -> Iterator[str]:
    """Yield the parts of the file; in code, NAME stands for the function's name."""
    kernel = program.kernel_sum
    yield f"/* Written by kernelsieve. {'Inputs()' if kernel is None else kernel.model.kernel!r} */"
    yield (
        f"/* For a sample: {program.kernel_evaluations} kernel evaluations, {file.n_bytes} bytes of "
        "arrays. */"
    )
    yield "#include <math.h>"
    yield "#include <string.h>\n" if file.texts else ""
    yield f"#define {name.upper()}_N_INPUTS {len(names)}"
    yield f"#define {name.upper()}_N_OUTPUTS {program.link.n_scores}\n"
    missing = "NAN is missing" if program.encoding else "missing values give no meaningful output"
    yield f"/* The names of the inputs x; {missing}. */"
    yield texts_text(f"{name}_inputs", names)
    for key, texts in file.texts.items():
        yield texts_text(f"{name}_{key}", texts)
    for key, values in file.arrays.items():
        yield array_text(f"{name}_{key}", values)
    for part in file.functions:
        yield part.replace("NAME", name)
    yield "/* For the sample x, write the numbers that the model gives. */"
    yield f"void {name}(const double *x, double *out) {{"
    yield from (statement.replace("NAME", name) for statement in file.statements)
    yield "}\n"
    if program.classes is not None:
        yield texts_text(f"{name}_labels", list(map(str, program.classes.tolist())))
    for part in file.decisions:
        yield part.replace("NAME", name)


def _check_texts(program: Program, names: list[str]) -> None:
    """Raise an error for texts with a NUL character, which would end a C string."""
    labels = [] if program.classes is None else program.classes.tolist()
    categories = {} if program.encoding is None else program.encoding.texts
    for what, values in [
        *((f"input {names[i]!r}", values) for i, values in categories.items()),
        ("the labels", labels),
        ("the names of the inputs", names),
    ]:
        cut = next((text for text in map(str, values) if "\0" in text), None)
        if cut is not None:
            raise InvalidParameterError(
                f"The text {cut!r} of {what} has a NUL character, which ends a text in C; remove such "
                "characters before fit, or call export_onnx."
            )
