"""
Few samples, thousands of genes
===============================

With far more inputs than samples, a nearest-neighbour classifier may fail on the inputs and do well on
a few supervised features. With the linear kernel a feature is one direction of the inputs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    KernelPCA,
    SubspaceKernelFeatures,
)

# %%
# Four kinds of tissue, 90 samples, 4,000 genes. Sixty genes differ between the kinds. All genes also
# vary together, for reasons that have nothing to do with the kinds.

rng = np.random.default_rng(0)
kinds = np.array(["blood", "bone", "liver", "skin"])
y = kinds[np.arange(90) % 4]
X = rng.standard_normal((90, 4000))
X += rng.standard_normal((90, 5)) @ rng.standard_normal((5, 4000))
for number, kind in enumerate(kinds):
    X[y == kind, 15 * number : 15 * (number + 1)] += 2.5

# %%
# The accuracy of the same classifier after each method, by a cross-validation of the whole pipeline.
# Centred samples of four classes have three independent centroids, so there are three features. The
# centroids contain much of the variation that the genes share, so a projection on them helps little.
# ``SubspaceKernelFeatures`` learns a subspace without it.

extractors = {
    "no features": None,
    "KernelPCA": KernelPCA(3, kernel="linear"),
    "KernelOrthogonalCentroid": KernelOrthogonalCentroid(3, kernel="linear"),
    "KernelDiscriminantQR": KernelDiscriminantQR(3, kernel="linear"),
    "SubspaceKernelFeatures": SubspaceKernelFeatures(3, kernel="linear"),
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
accuracies = {}
for name, extractor in extractors.items():
    steps = [StandardScaler(), extractor, KNeighborsClassifier(5)]
    model = make_pipeline(*[step for step in steps if step is not None])
    accuracies[name] = cross_val_score(model, X, y, cv=folds).mean()
    print(f"{name:<26}{accuracies[name]:.2f}")

# %%
# The samples in the plane of the first two features, without and with supervision. Scaler and features
# are fitted to the first 60 samples. The other 30 are new to them, and drawn as open marks.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
seen = np.arange(90) < 60
scaled = StandardScaler().fit(X[seen]).transform(X)
for panel, name in zip(panels, ("KernelPCA", "SubspaceKernelFeatures"), strict=True):
    features = extractors[name].fit(scaled[seen], y[seen]).transform(scaled)
    for kind, marker in zip(kinds, "os^D", strict=True):
        of_kind = y == kind
        (line,) = panel.plot(*features[of_kind & seen, :2].T, marker, label=kind)
        new = features[of_kind & ~seen, :2].T
        panel.plot(*new, marker, color=line.get_color(), markerfacecolor="white", markersize=8)
    panel.set(title=f"{name}: open marks are new samples", xticks=[], yticks=[])
panels[0].legend()
plt.show()
