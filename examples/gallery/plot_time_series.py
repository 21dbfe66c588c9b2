"""
Time series, through a precomputed kernel
=========================================

``kernel="precomputed"`` takes any similarity that you can compute. Here it is dynamic time warping,
which lets one series wait for another. The model needs the kernel values of a new series with its few
landmarks only.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score

from kernelsieve import SparseMaximalAlignment

# %%
# Three shapes, stretched at random, with noise.

rng = np.random.default_rng(0)
time = np.linspace(0, 1, 40)
SHAPES = {
    "bump": lambda t: np.exp(-(((t - 0.5) / 0.12) ** 2)),
    "step": lambda t: 1 / (1 + np.exp(-30 * (t - 0.5))),
    "wave": lambda t: np.sin(2 * np.pi * t),
}


def make_series(n):
    names = np.array(sorted(SHAPES))[rng.integers(3, size=n)]
    warped = time ** rng.uniform(0.5, 2.0, size=(n, 1))
    values = np.stack([SHAPES[name](t) for name, t in zip(names, warped, strict=True)])
    return values + 0.15 * rng.standard_normal(values.shape), names


def warping_distances(A, B, reach=10):
    """Return the dynamic time warping distances of all pairs, all at once."""
    n = A.shape[1]
    totals = np.full((len(A), len(B), n + 1, n + 1), np.inf)
    totals[:, :, 0, 0] = 0
    for i in range(1, n + 1):
        for j in range(max(1, i - reach), min(n, i + reach) + 1):
            before = np.minimum(totals[:, :, i - 1, j - 1], totals[:, :, i - 1, j])
            before = np.minimum(before, totals[:, :, i, j - 1])
            totals[:, :, i, j] = before + (A[:, None, i - 1] - B[None, :, j - 1]) ** 2
    return totals[:, :, n, n]


series, names = make_series(90)
new_series, new_names = make_series(60)
distances = warping_distances(series, series)
kernel = np.exp(-distances / np.median(distances))

# %%
# Fit on the kernel matrix. Time warping gives no positive semi-definite kernel, which this method does
# not need. A new series is compared with the landmarks alone, in their order.

sieve = SparseMaximalAlignment(6, kernel="precomputed").fit(kernel, names)
head = RidgeClassifier().fit(sieve.transform(kernel), names)
chosen = sieve.landmark_indices_
values = np.exp(-warping_distances(new_series, series[chosen]) / np.median(distances))
predicted = head.predict(sieve.transform(values))
print(
    f"accuracy on new series: {accuracy_score(new_names, predicted):.2f} with {len(chosen)} landmarks"
)

# %%
# The landmarks are series: the first ones that were chosen.

figure, panels = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for place, panel in enumerate(panels):
    row = chosen[place]
    panel.plot(time, series[names == names[row]].T, color="0.8", linewidth=0.7)
    panel.plot(time, series[row], color="#0072B2", linewidth=2)
    panel.set(title=f"landmark {place + 1}: a {names[row]}", xlabel="time")
plt.show()
