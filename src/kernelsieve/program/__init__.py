"""Fitted pipelines as short lists of pure steps, which run in Python and export to ONNX and C."""

from .c import export_c
from .compilation import Compilable, Output, compiled, predictor
from .explanation import Explanation
from .exported import Exported
from .onnx import export_onnx
from .program import Program
from .steps import AffineMap, Calibration, EncodeColumns, KernelSum, Link, ProgramStep, feature_steps

__all__ = [
    "AffineMap",
    "Calibration",
    "Compilable",
    "EncodeColumns",
    "Explanation",
    "Exported",
    "KernelSum",
    "Link",
    "Output",
    "Program",
    "ProgramStep",
    "compiled",
    "export_c",
    "export_onnx",
    "feature_steps",
    "predictor",
]
