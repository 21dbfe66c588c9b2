"""Kernels: blocks of values, diagonals, names, callables and precomputed matrices."""

from .._compiled import exp_inplace, warm_up
from .base import Filler, Kernel, Rows, has_width
from .custom import CallableKernel, Inputs, Precomputed
from .distance_cache import BlockCache, sharing
from .distances import Chi2, Laplacian
from .products import Cosine, Linear, Polynomial, Sigmoid, unit_rows
from .radial import RBF, Matern, RationalQuadratic, SquaredDistances
from .registry import KERNELS, PRESETS, register_kernel
from .resolve import KernelLike, kernel_class, resolve_gamma, resolve_kernel

__all__ = [
    "KERNELS",
    "PRESETS",
    "RBF",
    "BlockCache",
    "CallableKernel",
    "Chi2",
    "Cosine",
    "Filler",
    "Inputs",
    "Kernel",
    "KernelLike",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
    "RationalQuadratic",
    "Rows",
    "Sigmoid",
    "SquaredDistances",
    "exp_inplace",
    "has_width",
    "kernel_class",
    "register_kernel",
    "resolve_gamma",
    "resolve_kernel",
    "sharing",
    "unit_rows",
    "warm_up",
]
