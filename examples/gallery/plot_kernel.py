"""
Writing a kernel
================

A kernel is a function of two arrays, or a class that prepares its landmarks once and has a name. A
class works with every estimator, in threads and out of core, and a registered name can be saved to a
file.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from kernelsieve import SparseMaximalAlignment
from kernelsieve.kernels import KERNELS, Kernel, register_kernel

# %%
# Daily habits: the hours of the day are on a circle, where 23:00 is near 1:00.


@dataclass(frozen=True)
class Periodic(Kernel):
    """``exp(-gamma * sum(sin(pi (x - z) / period) ** 2))``."""

    gamma: float = 1.0
    period: float = 24.0

    name = "periodic"
    accepts_sparse = False

    def against(self, Z, dtype=np.float64):
        points = np.asarray(Z, dtype=dtype)

        def fill(X, out):  # landmarks by samples
            steps = np.sin(np.pi * (points[:, None, :] - np.asarray(X)[None, :, :]) / self.period)
            np.exp(-self.gamma * (steps**2).sum(axis=2), out=out)

        return fill

    def diag(self, X):
        return np.ones(X.shape[0])


if "periodic" not in KERNELS:
    register_kernel(Periodic)

# %%
# Six weeks of an hourly measurement. By the periodic kernel, the same hours of all days are alike.

rng = np.random.default_rng(0)
hours = np.arange(6 * 7 * 24)[:, None].astype(float)
load = np.sin(2 * np.pi * hours[:, 0] / 24) + 0.5 * np.cos(4 * np.pi * hours[:, 0] / 24)
load += 0.2 * rng.standard_normal(len(hours))
train = hours[:, 0] < 4 * 7 * 24

figure, panel = plt.subplots(figsize=(9, 4), layout="constrained")
panel.plot(hours[500:], load[500:], ".", color="0.7", markersize=4, label="measured")
for name, kernel, look in (
    ("periodic", {"kernel": "periodic", "gamma": 4.0}, "-"),
    ("rbf", {"gamma": 0.02}, "--"),
):
    sieve = SparseMaximalAlignment(15, candidates="all", **kernel)
    model = make_pipeline(sieve, Ridge(1e-3)).fit(hours[train], load[train])
    panel.plot(hours[500:], model.predict(hours[500:]), look, label=name)
    print(f"{name}: R2 of the last two weeks {model.score(hours[~train], load[~train]):.2f}")
panel.axvline(4 * 7 * 24, color="0.3", linewidth=1)
panel.set(xlabel="hour; everything right of the line is new", ylabel="load")
panel.legend(loc="lower left")
plt.show()
