"""Kernel formulas: blocks of values, diagonals, names, callables and precomputed matrices."""

from .base import Filler, Kernel, Rows, TiledFiller
from .compiled import exp_inplace
from .custom import CallableKernel, Inputs, Precomputed
from .distance_cache import BlockCache, sharing
from .distances import RBF, Chi2, Laplacian
from .gradients import landmark_gradient
from .products import Cosine, Linear, Polynomial, Sigmoid
from .resolve import KERNEL_NAMES, resolve_gamma, resolve_kernel

__all__ = [
    "KERNEL_NAMES",
    "RBF",
    "BlockCache",
    "CallableKernel",
    "Chi2",
    "Cosine",
    "Filler",
    "Inputs",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Rows",
    "Sigmoid",
    "TiledFiller",
    "exp_inplace",
    "landmark_gradient",
    "resolve_gamma",
    "resolve_kernel",
    "sharing",
]
