"""Models for programs without kernelsieve: ONNX, and C."""

from .c import export_c
from .form import Exported, ServedForm, served_form
from .onnx import export_onnx

__all__ = ["Exported", "ServedForm", "export_c", "export_onnx", "served_form"]
