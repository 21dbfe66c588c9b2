"""
Dask
====

``fit`` takes Dask arrays and data frames. Workers sum up their chunks where they are, and a few
megabytes of sums arrive: the rows stay. ``transform`` returns a lazy Dask array.
"""

import dask
import dask.array
import matplotlib.pyplot as plt
import numpy as np

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import make_interactions

dask.config.set(scheduler="threads", num_workers=2)  # or a dask.distributed.Client
X, y = make_interactions(12_000, 6, random_state=0)
rows = dask.array.from_array(X, chunks=(2_000, 6))
target = dask.array.from_array(y, chunks=2_000)
print(f"{rows.npartitions} chunks")

# %%
# The same candidates give the same landmarks and the same features, here and there.

candidates = X[:150]
there = SparseMaximalAlignment(40, candidates=candidates).fit(rows, target)
here = SparseMaximalAlignment(40, candidates=candidates).fit(X, y)
print("same landmarks:", np.array_equal(there.landmark_indices_, here.landmark_indices_))

lazy = there.transform(rows)
print(type(lazy), lazy.shape)
difference = np.abs(lazy.compute() - here.transform(X)).max()
print(f"largest difference of features below 1e-8: {difference < 1e-8}")

# %%
# What each component explains of the target.

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
panel.plot(np.arange(1, 41), np.cumsum(here.explained_target_ratio_), "-", label="in memory")
panel.plot(np.arange(1, 41), np.cumsum(there.explained_target_ratio_), "o", markersize=4, label="Dask")
panel.set(xlabel="number of components", ylabel="share of the target explained", ylim=(0, 1))
panel.legend()
plt.show()
