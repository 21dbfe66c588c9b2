"""``kernelsieve export``: models for programs without kernelsieve."""

from __future__ import annotations

from pathlib import Path

from ..export import export_c, export_onnx
from .columns import CATEGORY
from .errors import TableError
from .predict import load_table_model
from .terminal import Terminal


def export_model(path: Path, onnx: Path | None, c: Path | None, dtype: str, features: bool) -> None:
    """Write a model as ONNX, as C, or as both."""
    if onnx is None and c is None:
        raise TableError("Nothing was asked for; pass --onnx FILE, --c FILE, or both.")
    model, show = load_table_model(path), Terminal()
    if CATEGORY in model.kinds.values():
        names = [name for name, kind in model.kinds.items() if kind == CATEGORY]
        raise TableError(
            f"Column {names[0]!r} has categories, and exported models take numbers; fit with --drop, "
            "or encode such columns in the table."
        )
    output = "features" if features else "auto"
    written = []
    if onnx is not None:
        written.append(export_onnx(model.pipeline, onnx, dtype=dtype, output=output))
    if c is not None:
        written.append(export_c(model.pipeline, c, output=output))
    show.text(f"Inputs, in this order: {', '.join(model.kinds)}")
    for file in written:
        show.text(f"{file.path}: {file.kernel_evaluations} kernel evaluations, {file.n_bytes:,} bytes")
