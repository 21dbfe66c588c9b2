"""``kernelsieve export``: models for programs without kernelsieve."""

from __future__ import annotations

from pathlib import Path

from ..program import Exported, export_c, export_onnx
from .dates import DATES
from .errors import TableError
from .outputs import check_files
from .predict import load_table_model
from .terminal import Terminal


def export_model(model: Path, onnx: Path | None, c: Path | None, dtype: str, features: bool) -> None:
    """Write a model as ONNX, as C, or as both."""
    if onnx is None and c is None:
        raise TableError("There is nothing to write; pass --onnx FILE, --c FILE, or both.")
    check_files([model], [onnx, c])
    loaded, show = load_table_model(model), Terminal()
    output = "features" if features else "auto"
    written: list[Exported] = []
    if onnx is not None:
        written.append(export_onnx(loaded.pipeline, onnx, dtype=dtype, output=output))
    if c is not None:
        written.append(export_c(loaded.pipeline, c, output=output))
    for file in written:
        show.text(f"{file.path}: {file.kernel_evaluations} kernel evaluations, {file.n_bytes:,} bytes")
        for name, columns in file.inputs.items():
            show.text(f"  {name}: {', '.join(columns)}")
    dates = [name for name, kind in loaded.kinds.items() if kind in DATES]
    if dates:
        show.text(f"Pass dates as days since 1970-01-01: {', '.join(dates)}.")
