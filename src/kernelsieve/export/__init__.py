"""Models for programs without kernelsieve: ONNX, and C."""

from .c import export_c
from .form import Exported
from .onnx import export_onnx

__all__ = ["Exported", "export_c", "export_onnx"]
