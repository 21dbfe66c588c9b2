"""
A learned metric, and which inputs matter
=========================================

Kernels treat all inputs alike, and most targets do not. ``GradientMetric`` learns a linear map of the
inputs from the gradients of a function that it fits, and any method may follow it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    GradientMetric,
    MetricImportanceDisplay,
    MetricPathDisplay,
    SparseMaximalAlignment,
)

# %%
# Twelve inputs, of which three matter. Both models have the same kernel and as many landmarks.
# ``FrozenEstimator`` keeps the metric as it is: the pipeline would learn it once more.

rng = np.random.default_rng(0)
X = rng.standard_normal((1600, 12))
y = np.sin(2 * X[:, 0]) + X[:, 3] * X[:, 7] + 0.1 * rng.standard_normal(len(X))
X, X_test, y, y_test = train_test_split(X, y, random_state=0)

metric = GradientMetric(n_components=80, structure="diagonal", random_state=0).fit(X, y)


def model_after(scaling, gamma):
    sieve = SparseMaximalAlignment(60, kernel="matern", gamma=gamma, random_state=0)
    return make_pipeline(scaling, sieve, Ridge(1e-3))


models = {
    "inputs as they are": model_after(StandardScaler(), "scale"),
    "learned metric": model_after(FrozenEstimator(metric), metric.gamma_),
}
for name, model in models.items():
    print(f"{name}: R2 of new samples {model.fit(X, y).score(X_test, y_test):.3f} with 60 landmarks")

# %%
# The importances of the inputs, and the held-out error of the rounds in which the metric was learned.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
MetricImportanceDisplay.from_estimator(metric, ax=left)
MetricPathDisplay.from_estimator(metric, ax=right)
plt.show()
