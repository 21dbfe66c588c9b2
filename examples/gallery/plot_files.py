"""
Files, ONNX and C
=================

A fitted model is a handful of arrays. It can be saved to a file that runs no code when it is read,
folded into one function for serving, written as an ONNX graph, or as a single file of C. The graph is
run by ``onnxruntime`` here, which is no part of this package: ``pip install onnxruntime``.
"""

import ctypes
import shutil
import subprocess
import tempfile
import timeit
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelsieve
from kernelsieve import SparseMaximalAlignment

X, y = load_diabetes(return_X_y=True)
model = make_pipeline(StandardScaler(), SparseMaximalAlignment(30), Ridge()).fit(X, y)
folder = Path(tempfile.mkdtemp())

# %%
# A file. What is loaded predicts the same to the last bit.

kernelsieve.save(model, folder / "model.ksv")
loaded = kernelsieve.load(folder / "model.ksv")
print("same predictions:", np.array_equal(loaded.predict(X), model.predict(X)))

# %%
# A plain function of samples for serving: scaler, kernel and head in one.

serve = kernelsieve.predictor(model)
print(f"one sample: {serve(X[0]):.2f}, with {serve.kernel_evaluations} kernel evaluations")

# %%
# ONNX, for programs with onnxruntime and without this package.

written = kernelsieve.export_onnx(model, folder / "model.onnx")
session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
(from_onnx,) = session.run(None, {session.get_inputs()[0].name: X})
difference = np.abs(from_onnx.ravel() - model.predict(X)).max()
print(f"{written.n_bytes:,} bytes, largest difference below 1e-9: {difference < 1e-9}")

# %%
# C, for programs with nothing at all: ``void model(const double *x, double *out)``.

kernelsieve.export_c(model, folder / "model.c")
compiler = shutil.which("cc")
if compiler:
    options = ["-O2", "-shared", "-fPIC", "-o", folder / "model.so", folder / "model.c", "-lm"]
    subprocess.run([compiler, *options], check=True)
    library = ctypes.CDLL(str(folder / "model.so"))
    row, out = np.ascontiguousarray(X[0]), np.zeros(1)
    pointer = ctypes.POINTER(ctypes.c_double)
    library.model(row.ctypes.data_as(pointer), out.ctypes.data_as(pointer))
    print(f"the same sample in C: {out[0]:.2f}")

# %%
# How long a single sample takes.

ways = {"pipeline.predict": lambda: model.predict(X[:1]), "predictor": lambda: serve(X[0])}
times = {name: min(timeit.repeat(way, number=50, repeat=3)) / 50 * 1e6 for name, way in ways.items()}
figure, panel = plt.subplots(figsize=(7, 2.4), layout="constrained")
panel.barh(list(times), list(times.values()))
panel.set(xlabel="microseconds for one sample, logarithmic", xscale="log")
plt.show()
shutil.rmtree(folder)
