"""
Choosing the number of components in one pass
=============================================

The first k components of a large model are the model with k components. Sums over the samples of each
fold are enough to fit all models of a cross-validation with a ridge regression, and to compute their
squared errors. So ``ComponentPathCV`` reads the samples once, whatever the number of folds, widths,
penalties and ks.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

from kernelsieve import ComponentPathCV, ComponentPathDisplay, SparseMaximalAlignment
from kernelsieve.datasets import make_interactions

X, y = make_interactions(6000, 6, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)

# %%
# Candidates that are given as points are shared by all folds. Two widths, three penalties, five
# folds, every number of components up to 50:

search = ComponentPathCV(
    SparseMaximalAlignment(50, candidates=X[:200]),
    Ridge(),
    param_grid={"gamma": [0.05, 0.2], "head__alpha": [1e-3, 1e-1, 10.0]},
).fit(X, y)
print(search.reason_)
print(f"passes over the samples: {search.n_passes_}, by {search.way_}")
print(f"chosen: {search.best_params_}")

# %%
# The curve, with the spread of the folds and the chosen number. ``rule="best"`` takes the peak
# instead, and ``max_kernel_evaluations`` or ``max_latency_us`` leave out what is too expensive.

ComponentPathDisplay.from_estimator(search)
plt.show()

# %%
# The fitted search predicts with the chosen model. The cross-validated score is the one by which the
# model was chosen, so it is optimistic; that on new samples is not.

print(f"cross-validated R2 {search.best_score_:.3f}, on new samples {search.score(X_test, y_test):.3f}")
