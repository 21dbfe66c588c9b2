"""
Predictions with intervals
==========================

``predict_interval`` takes its width from the residuals of held-out samples (conformal prediction).
On average over new samples like the training samples, an interval contains the target with about the
probability that was asked for. That is no promise for a single sample: all intervals have the same
width, also where the noise is stronger than elsewhere.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelsieve import SieveRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(900, 1))
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 0] + 0.25 * rng.standard_normal(len(X))
X, X_test, y, y_test = X[:600], X[600:], y[:600], y[600:]

sieve = SieveRegressor(30, metric=False, kernel="rbf", random_state=0).fit(X, y)
for coverage in (0.5, 0.8, 0.95):
    low, high = sieve.predict_interval(X_test, coverage=coverage).T
    inside = ((low <= y_test) & (y_test <= high)).mean()
    print(f"asked for {coverage:.0%}: {inside:.0%} of {len(X_test)} new samples are inside")

# %%

grid = np.linspace(-3, 3, 300)[:, None]
figure, panel = plt.subplots(figsize=(8, 4.5), layout="constrained")
for coverage, shade in ((0.95, 0.15), (0.5, 0.3)):
    low, high = sieve.predict_interval(grid, coverage=coverage).T
    panel.fill_between(grid[:, 0], low, high, alpha=shade, color="#0072B2", label=f"{coverage:.0%}")
panel.plot(X_test, y_test, ".", color="0.4", markersize=4, label="new samples")
panel.plot(grid, sieve.predict(grid), color="#0072B2", label="prediction")
panel.legend()
plt.show()
