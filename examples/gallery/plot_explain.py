"""
A prediction as a sum over landmarks
====================================

A prediction is computed from few training samples, the landmarks. The score of a
sample is a weighted sum of the scores of the landmarks. ``explain`` returns what each landmark
contributes: its weight times the difference between its own score and the mean score of all
landmarks. The contributions and a baseline, which is near that mean, add up to the score.

Of two classes, a positive contribution speaks for the second one, ``classes_[1]``. Weights may be
negative: where the kernel is wide, similar landmarks have large weights of opposite signs. Then look at
``similarities``, or take a narrower kernel or fewer landmarks.

Contributions are the arithmetic of one fit. They cancel, and another ``random_state`` chooses other
landmarks for nearly the same predictions. ``neighbors`` tells which training samples a sample is like,
whatever the fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from kernelsieve import ContributionDisplay, SieveClassifier

X, y = load_digits(return_X_y=True)
X, y = X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]
names = np.array(["three", "eight"])[(y == 8).astype(int)]
X, X_test, names, names_test = train_test_split(X / 16, names, random_state=0)
sieve = SieveClassifier(40, metric=False, kernel="rbf", random_state=0).fit(X, names)
print(f"accuracy on new digits: {sieve.score(X_test, names_test):.3f}")

# %%
# The new digit that the model is least sure of, and the landmarks that contribute most to its score:
# positive contributions speak for a three, negative ones for an eight.

unsure = int(np.abs(sieve.predict_proba(X_test)[:, 0] - 0.5).argmin())
explanation = sieve.explain(X_test[[unsure]])
strongest = explanation.strongest(0, 5)

figure, panels = plt.subplots(1, 6, figsize=(11, 2.6), layout="constrained")
panels[0].imshow(X_test[unsure].reshape(8, 8), cmap="gray_r")
panels[0].set_title(f"new: {names_test[unsure]}", fontsize=9)
for panel, place in zip(panels[1:], strongest, strict=True):
    row = explanation.landmark_indices[place]
    share = explanation.contributions[0, place]
    panel.imshow(X[row].reshape(8, 8), cmap="gray_r")
    panel.set_title(f"sample {row}: {names[row]}\n{share:+.2f}", fontsize=9)
for panel in panels:
    panel.set(xticks=[], yticks=[])

# %%
# All contributions as bars.

ContributionDisplay.from_estimator(sieve, X_test[[unsure]])
plt.show()

# %%
# They add up to what the model says.

total = explanation.baseline[0] + explanation.contributions.sum()
decision = sieve.decision_function(X_test[[unsure]])[0]
print(f"baseline and contributions {total:+.4f}, decision {decision:+.4f}")
