"""Exported programs of C, compiled and called."""

import ctypes
import shutil
import subprocess

import numpy as np

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def compiled(path):
    library = path.with_suffix(".so")
    strict = ["-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    command = [COMPILER, *strict, "-shared", "-fPIC", str(path), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def applied(function, rows, n_outputs):
    out = np.empty((len(rows), n_outputs))
    for x, y in zip(np.ascontiguousarray(rows), out, strict=True):
        function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))
    return out
