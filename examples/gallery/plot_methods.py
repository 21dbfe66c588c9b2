"""
The methods in pictures
=======================

What do the features of each family look like? Two interleaved moons are easy to see, and hard for a
linear method. Every picture shows the contours of a feature over the plane, and the landmarks that a
new sample is compared with.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    FeatureMapDisplay,
    GreedyKernelFisherDiscriminant,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLSClassifier,
    SparseMaximalAlignment,
    SubspaceKernelFeatures,
)

X, number = make_moons(200, noise=0.12, random_state=0)
y = np.array(["upper", "lower"])[number]
GAMMA = 2.0


def draw(models, title):
    """Draw the first feature of each model over the plane, with its landmarks."""
    figure, panels = plt.subplots(
        1, len(models), figsize=(4.6 * len(models), 4.2), layout="constrained"
    )
    for panel, (name, model) in zip(np.atleast_1d(panels), models.items(), strict=True):
        model.fit(X, y)
        FeatureMapDisplay.from_estimator(model, X, y, ax=panel, colorbar=False)
        landmarks = model.landmarks_
        if len(landmarks) <= 20:  # more would cover the picture
            panel.plot(*landmarks.T, "kx", markersize=9, markeredgewidth=2.5)
        panel.set(title=f"{name}\n{len(landmarks)} kernel evaluations")
        panel.set(xlabel="", ylabel="", xticks=[], yticks=[])
        if panel.get_legend():
            panel.get_legend().remove()
    figure.suptitle(title)


# %%
# Greedy: one landmark a feature
# ------------------------------
# ``SparseMaximalAlignment`` looks at the labels, ``AcceleratedKernelFeatureAnalysis`` does not: the
# one puts its landmarks where the classes differ, the other where the samples are.

draw(
    {
        "SparseMaximalAlignment": SparseMaximalAlignment(6, gamma=GAMMA),
        "AcceleratedKernelFeatureAnalysis": AcceleratedKernelFeatureAnalysis(6, gamma=GAMMA),
    },
    "greedy: the first feature, and the landmarks of six",
)

# %%
# Latent: directions that combine all candidates
# ----------------------------------------------
# ``KernelPCA`` finds the largest variance, ``KernelPLSClassifier`` the largest covariance with the
# labels. With ``candidates=20`` the same is found among combinations of 20 samples.

draw(
    {
        "KernelPCA": KernelPCA(2, gamma=GAMMA),
        "KernelPLSClassifier": KernelPLSClassifier(2, gamma=GAMMA),
        "KernelPLSClassifier, a pool": KernelPLSClassifier(
            2, gamma=GAMMA, candidates=20, random_state=0
        ),
    },
    "latent: the first feature",
)

# %%
# Rayleigh: far means, narrow classes
# -----------------------------------
# ``KernelFisherDiscriminant`` separates two classes with a single feature. The greedy one needs few
# landmarks, one a feature, and has a discriminant for the first one, two, three, ... of them.

draw(
    {
        "KernelFisherDiscriminant": KernelFisherDiscriminant(gamma=GAMMA),
        "GreedyKernelFisherDiscriminant": GreedyKernelFisherDiscriminant(8, gamma=GAMMA),
    },
    "Rayleigh coefficients: the first feature",
)

# %%
# Subspace: the span of class centroids
# -------------------------------------
# ``KernelOrthogonalCentroid`` has a feature for each class. ``SubspaceKernelFeatures`` begins there
# and moves the subspace to where its kernel agrees with the labels; with ``span="points"`` it learns
# the points themselves, so that two kernel evaluations are enough.

draw(
    {
        "KernelOrthogonalCentroid": KernelOrthogonalCentroid(gamma=GAMMA),
        "SubspaceKernelFeatures": SubspaceKernelFeatures(gamma=GAMMA),
        "SubspaceKernelFeatures, points": SubspaceKernelFeatures(
            gamma=GAMMA, span="points", random_state=0
        ),
    },
    "subspace: the first feature",
)
