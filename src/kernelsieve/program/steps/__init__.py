"""The kinds of program steps, one module each."""

from .affine import AffineMap
from .encode import EncodeColumns
from .kernel_sum import KernelSum, feature_steps
from .link import Calibration, Link, Logistic, Softmax
from .step import ProgramStep

__all__ = [
    "AffineMap",
    "Calibration",
    "EncodeColumns",
    "KernelSum",
    "Link",
    "Logistic",
    "ProgramStep",
    "Softmax",
    "feature_steps",
]
