"""
Writing a criterion
===================

The loop scores candidates, takes the best, and removes its feature from all others. A criterion says
what is best, in a few lines, and works on all samples, on pools and out of core. Here is one between
two methods of the library: it wants landmarks that explain the target, and that describe the samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelsieve import KernelFeatureExtraction
from kernelsieve.datasets import make_interactions
from kernelsieve.deflation import ScoringCriterion

# %%
# ``view`` has the numbers of all candidates at once: the squared norms of what is left of their kernel
# columns, and the products of these with the target.


class Mixed(ScoringCriterion):
    """Alignment with the target for mix=0, variance of the kernel column for mix=1."""

    unit_variance = True  # features of unit mean square
    can_screen = True  # may also choose the pool from a sample

    def __init__(self, mix=0.5):
        self.mix = mix

    def score(self, view):
        norms = view.residual_squared_norms
        explained = (view.target_products**2).sum(axis=1) / norms.clip(min=1e-300)
        described = norms / view.metric.diagonal
        return (1 - self.mix) * explained / explained.max() + self.mix * described / described.max()


# %%
# It is used like any other, with every kernel.

X, y = make_interactions(1_500, 5, random_state=0)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for mix, look in ((0.0, "-"), (0.5, "--"), (1.0, ":")):
    sieve = KernelFeatureExtraction(
        Mixed(mix), n_components=40, gamma=0.1, candidates=300, random_state=0
    ).fit(X, y)
    for panel, ratio in zip(
        panels, (sieve.explained_target_ratio_, sieve.explained_variance_ratio_), strict=True
    ):
        panel.plot(np.arange(1, 41), np.cumsum(ratio), look, label=f"mix={mix:g}")
for panel, what in zip(panels, ("target", "variance of the kernel images"), strict=True):
    panel.set(xlabel="number of components", ylabel=f"share of the {what} explained")
panels[0].legend()
plt.show()

# %%
# The same out of core, batch by batch:

stream = KernelFeatureExtraction(Mixed(0.5), n_components=40, gamma=0.1, candidates=X[:300])
for start in range(0, len(X), 500):
    stream.partial_fit(X[start : start + 500], y[start : start + 500])
print(f"{stream.n_components_} components from {len(X)} samples in batches")
