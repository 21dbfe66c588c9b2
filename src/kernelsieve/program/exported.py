"""Options and results that the ONNX and C exports share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..exceptions import InvalidParameterError
from .compilation import Output

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
    gives_features = output == "features" or (output == "auto" and not hasattr(model, "predict"))
    return "features" if gives_features else "prediction"
