"""
Images, and what should not matter
==================================

A shifted or rotated digit is the same digit. ``KernelFisherDiscriminant`` can be told so:
``invariances`` adds to the denominator of its Rayleigh coefficient how much features change under
small transformations. It costs some kernel columns in the fit, and nothing afterwards.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from kernelsieve import KernelFisherDiscriminant
from kernelsieve.rayleigh import ImageRotation, ImageTranslation

X, number = load_digits(return_X_y=True)
y = number.astype(str)
X, X_test, y, y_test = train_test_split(X / 16, y, train_size=300, stratify=y, random_state=0)

# %%
# The transformations are functions from images to images.

turn, shift = ImageRotation(15.0), ImageTranslation(right=0.7)
figure, panels = plt.subplots(2, 6, figsize=(9, 3.2), layout="constrained")
for column, image in zip(panels.T, X_test[:6], strict=True):
    column[0].imshow(image.reshape(8, 8), cmap="gray_r")
    column[1].imshow(shift(turn(image[None])).reshape(8, 8), cmap="gray_r")
for panel in panels.flat:
    panel.set(xticks=[], yticks=[])
figure.suptitle("digits, and the same turned and shifted")

# %%
# Few training samples, and test samples that are turned and shifted more and more.

plain = KernelFisherDiscriminant(gamma=0.05, reg=1e-3)
wise = KernelFisherDiscriminant(
    gamma=0.05,
    reg=1e-3,
    invariances=[
        (ImageRotation(5.0), 1.0),
        (ImageTranslation(right=0.5), 1.0),
        (ImageTranslation(down=0.5), 1.0),
    ],
)
degrees = np.arange(0, 31, 5)
figure, panel = plt.subplots(figsize=(7, 4.4), layout="constrained")
for name, model, look in (("as it is", plain, "s--"), ("with invariances", wise, "o-")):
    model.fit(X, y)
    errors = [np.mean(model.predict(shift(ImageRotation(a)(X_test))) != y_test) for a in degrees]
    panel.plot(degrees, errors, look, label=name)
    print(f"{name}: error {np.mean(model.predict(X_test) != y_test):.3f} on digits as they are")
panel.set(xlabel="rotation of the test digits, degrees, after a shift", ylabel="error rate")
panel.legend()
plt.show()
