"""
Spectra as they are measured
============================

In spectra a few directions have nearly all of the variance, and light that travels further multiplies
all of it: the amount of a substance is a ratio, which no linear model can form. Spectra stay as they
were measured. All wavelengths have one unit, and a ``StandardScaler`` would blow up those that show
nothing but noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import ComponentPathCV, ComponentPathDisplay, KernelPLS

# %%
# Simulated spectra of three substances, of which one is looked for. How far the light travels differs
# from spectrum to spectrum, and most wavelengths show nothing.

rng = np.random.default_rng(0)
wavelengths = np.linspace(1100, 2500, 200)


def band(centre, width):
    return np.exp(-(((wavelengths - centre) / width) ** 2))


amounts = rng.uniform(0, 1, size=(240, 3))
pure = np.stack(
    [band(1450, 30), band(1430, 40) + 0.5 * band(1930, 40), band(1470, 40) + band(2100, 40)]
)
path_lengths = np.exp(0.3 * rng.standard_normal((240, 1)))
spectra = path_lengths * (amounts @ pure) + 0.02 * rng.standard_normal((240, 200))
y = 100 * amounts[:, 0]
X, X_test, y, y_test = train_test_split(spectra, y, test_size=80, random_state=0)

figure, panel = plt.subplots(figsize=(8, 3.6), layout="constrained")
panel.plot(wavelengths, X[:40].T, color="#0072B2", linewidth=0.6, alpha=0.6)
panel.set(xlabel="wavelength, nm", ylabel="absorbance", title="Forty of the spectra")

# %%
# The number of components of kernel PLS by the one-standard-error rule: the smallest one whose error
# is within one standard error of the best.

folds = KFold(5, shuffle=True, random_state=0)
search = ComponentPathCV(
    KernelPLS(15, gamma="median/64"), cv=folds, scoring="neg_root_mean_squared_error"
).fit(X, y)
print(search.reason_)
display = ComponentPathDisplay.from_estimator(search, negate_score=True)
display.ax_.set_ylabel("RMSECV")

# %%
# Linear PLS with as many components as it likes, with and without a scaler, beside kernel PLS.


def error(model):
    return float(np.sqrt(np.mean((model.predict(X_test).ravel() - y_test) ** 2)))


def cross_validated(model):
    return np.sqrt(np.mean((cross_val_predict(model, X, y, cv=folds).ravel() - y) ** 2))


linear = {k: PLSRegression(k, scale=False) for k in range(1, 16)}
scaled = {k: make_pipeline(StandardScaler(), PLSRegression(k)) for k in range(1, 16)}
print("method                  components  RMSEP")
for name, models in {"PLS": linear, "PLS after StandardScaler": scaled}.items():
    k = min(models, key=lambda k: cross_validated(models[k]))
    print(f"{name:<24}{k:>10}{error(models[k].fit(X, y)):>7.2f}")
print(f"{'kernel PLS':<24}{search.best_n_components_:>10}{error(search):>7.2f}")

# %%
# Predicted against measured.

figure, panel = plt.subplots(figsize=(4.6, 4.6), layout="constrained")
panel.plot([0, 100], [0, 100], color="0.6", linewidth=1)
panel.plot(y_test, search.predict(X_test).ravel(), "o", markersize=4)
panel.set(xlabel="measured", ylabel="predicted", title="80 new spectra")
plt.show()
