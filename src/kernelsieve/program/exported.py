"""What the exports to ONNX and C share: the option ``output``, and the file that is written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._sklearn import has_method
from ..exceptions import InvalidParameterError
from ..model import replacing
from .compilation import Output
from .program import Program

_OUTPUTS = ("auto", "prediction", "features")


@dataclass(frozen=True)
class Exported:
    """The result of ``export_onnx`` and ``export_c``: the file, and the cost of a prediction.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    kernel_evaluations : int
        Kernel evaluations for a sample.
    n_bytes : int
        Size of the file.
    inputs : dict of list of str
        The inputs of the exported model, each with the names of its columns.
    """

    path: Path
    kernel_evaluations: int  # for a sample
    n_bytes: int  # of the file
    inputs: dict[str, list[str]]  # names of the columns of each input


def check_output(model: Any, output: str) -> Output:
    """Return the output to export; "auto" means predictions where the model predicts."""
    if output not in _OUTPUTS:
        raise InvalidParameterError(
            f"output={output!r} must be one of {', '.join(map(repr, _OUTPUTS))}."
        )
    gives_features = output == "features" or (output == "auto" and not has_method(model, "predict"))
    return "features" if gives_features else "prediction"


def write_export(
    path: str | os.PathLike[str], data: bytes, program: Program, inputs: dict[str, list[str]]
) -> Exported:
    """Write the file of a program; an old one stays until the new one is whole."""
    with replacing(path) as file:
        file.write(data)
    return Exported(Path(path), program.kernel_evaluations, len(data), inputs)
