"""Kernels: blocks of values, diagonals, names, callables and precomputed matrices."""

from .._compiled import exp_inplace, warm_up
from .base import Filler, Kernel, Rows, TiledFiller, has_width
from .custom import CallableKernel, Inputs, Precomputed
from .distance_cache import BlockCache, sharing
from .distances import Chi2, Laplacian
from .gamma import resolve_gamma
from .products import Cosine, Linear, Polynomial, Sigmoid, unit_rows
from .radial import RBF, Matern, RationalQuadratic
from .registry import KERNELS, PRESETS, register_kernel
from .resolve import KernelLike, kernel_class, resolve_kernel
from .squared_distances import SquaredDistances

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
    "TiledFiller",
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
