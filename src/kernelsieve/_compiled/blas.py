"""In-place updates by BLAS and LAPACK: symmetric products, and triangular factors."""

from __future__ import annotations

import ctypes

import numpy as np
from numba.extending import get_cython_function_address

# BLAS as scipy offers it to compiled code: other than scipy.linalg.blas it adds to what is there while
# the interpreter's lock is released, and other than numpy's product it leaves one half alone.
_dsyrk = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(
    get_cython_function_address("scipy.linalg.cython_blas", "dsyrk")
)


# BLAS counts columns first, so that it sees transposed lines, and the other half.
_UPPER, _TRANSPOSED = ctypes.byref(ctypes.c_char(b"U")), ctypes.byref(ctypes.c_char(b"T"))
_ONE = ctypes.byref(ctypes.c_double(1.0))


def add_squares(lines: np.ndarray, half: np.ndarray) -> None:
    """Add ``lines @ lines.T`` to the half of a matrix below its diagonal."""
    if lines.size == 0:
        return
    n_lines, n_rows = ctypes.byref(ctypes.c_int(len(lines))), ctypes.byref(ctypes.c_int(lines.shape[1]))
    of_lines, of_half = (lines.ctypes.data, n_rows), (half.ctypes.data, n_lines)  # and the strides
    _dsyrk(_UPPER, _TRANSPOSED, n_lines, n_rows, _ONE, *of_lines, _ONE, *of_half)


_dtpqrt = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 12)(
    get_cython_function_address("scipy.linalg.cython_lapack", "dtpqrt")
)
_PANEL = 32  # columns that are transformed together


def add_rows(triangle: np.ndarray, rows: np.ndarray, *, triangular: bool = False) -> None:
    """Update an upper triangle R to that of ``[R; rows]``: a QR factorisation without Q.

    Both arrays are in column-major order, and the rows are overwritten. Rows that are an upper triangle
    themselves take a third of the time.
    """
    n_rows, n_columns = rows.shape
    if n_rows == 0 or n_columns == 0:
        return
    panel = min(_PANEL, n_columns)
    reflectors, work = np.empty(panel * n_columns), np.empty(panel * n_columns)
    m, n = ctypes.byref(ctypes.c_int(n_rows)), ctypes.byref(ctypes.c_int(n_columns))
    trapezoid = ctypes.byref(ctypes.c_int(n_rows if triangular else 0))
    nb, info = ctypes.byref(ctypes.c_int(panel)), ctypes.byref(ctypes.c_int())
    of_triangle, of_rows = (triangle.ctypes.data, n), (rows.ctypes.data, m)  # and the strides
    of_reflectors = (reflectors.ctypes.data, nb)
    sizes = m, n, trapezoid, nb
    _dtpqrt(*sizes, *of_triangle, *of_rows, *of_reflectors, work.ctypes.data, info)
