"""The symmetric product of BLAS, which adds to what is there."""

from __future__ import annotations

import ctypes

import numpy as np
from numba.extending import get_cython_function_address

# BLAS as scipy offers it to compiled code: other than scipy.linalg.blas it adds to what is there while
# the interpreter's lock is released, and other than numpy's product it leaves one half alone.
_dsyrk = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(
    get_cython_function_address("scipy.linalg.cython_blas", "dsyrk")
)


def add_squares(lines: np.ndarray, half: np.ndarray) -> None:
    """Add ``lines @ lines.T`` to the half of a matrix below its diagonal."""
    n_lines, n_rows = lines.shape
    if lines.size == 0:
        return
    # BLAS counts columns first, so that it sees transposed lines, and the other half.
    sizes = [ctypes.c_int(size) for size in (n_lines, n_rows, n_rows, n_lines)]
    order, terms, lines_stride, half_stride = map(ctypes.byref, sizes)
    one, upper, transposed = (
        ctypes.byref(value)
        for value in (ctypes.c_double(1.0), ctypes.c_char(b"U"), ctypes.c_char(b"T"))
    )
    _dsyrk(
        upper,
        transposed,
        order,
        terms,
        one,
        lines.ctypes.data,
        lines_stride,
        one,
        half.ctypes.data,
        half_stride,
    )
