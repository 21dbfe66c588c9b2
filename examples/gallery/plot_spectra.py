"""
Spectra: calibration with kernel PLS
====================================

A spectrometer measures the absorbance of samples at many wavelengths, and a calibration turns
spectra into the content of a constituent. Partial least squares is the usual way; a kernel helps
where the absorbance is not linear in the content. This example chooses the number of components by
cross-validation, compares both, and looks for samples that the calibration should not be trusted
with.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    ComponentPathCV,
    ComponentPathDisplay,
    KernelPLS,
    LandmarkDisplay,
    PredictedMeasuredDisplay,
    ScoreDistanceDisplay,
    SparseMaximalAlignment,
)

# %%
# Spectra
# -------
# Samples are mixtures of three constituents, each with bands of its own. The path of the light
# differs from sample to sample, which scales a spectrum, and scatter adds a sloping baseline. Stray
# light makes strong bands look weaker than they are: that is what a linear method does not know.

WAVELENGTHS = pd.Index(np.linspace(780, 1120, 120), name="wavelength / nm")
CENTRES = [[930, 1020], [880, 970], [910, 995]]  # of the bands of fat, water and protein, in nm
WIDTHS = [[12, 22], [25, 20], [15, 18]]
HEIGHTS = [[1.0, 0.5], [0.4, 1.1], [0.6, 0.5]]


def bands(centres, widths, heights):
    """Return a sum of Gaussian bands over the wavelengths."""
    places = (np.asarray(WAVELENGTHS)[:, None] - centres) / widths
    return np.exp(-(places**2) / 2) @ heights


def make_spectra(n_samples, random_state, stray_light=0.08, noise=0.002):
    """Return spectra, and the content of the first constituent in per cent."""
    rng = np.random.default_rng(random_state)
    pure = np.array([bands(*parts) for parts in zip(CENTRES, WIDTHS, HEIGHTS, strict=True)])
    content = rng.dirichlet([2.0, 4.0, 2.0], n_samples)
    path = rng.normal(1.6, 0.15, (n_samples, 1))
    transmitted = 10 ** -(path * (content @ pure))
    absorbance = -np.log10((transmitted + stray_light) / (1 + stray_light))
    slope = np.linspace(-1, 1, len(WAVELENGTHS))
    baseline = rng.normal(0.05, 0.01, (n_samples, 1)) + rng.normal(0, 0.005, (n_samples, 1)) * slope
    return absorbance + baseline + rng.normal(0, noise, absorbance.shape), 100 * content[:, 0]


X, y = make_spectra(160, random_state=0)
X_test, y_test = make_spectra(100, random_state=1)
plt.figure(figsize=(6.4, 3.6), layout="constrained")
plt.plot(WAVELENGTHS, X[:60].T, color="0.4", linewidth=0.5)
plt.xlabel("wavelength / nm")
plt.ylabel("absorbance")

# %%
# How many components?
# --------------------
# One fit a fold gives the error of held-out samples, RMSECV, for every number of components. The
# smallest number within one standard error of the best is taken. For the kernel, eight widths are
# compared as well.

RMSE = "neg_root_mean_squared_error"
linear = ComponentPathCV(KernelPLS(16, kernel="linear"), scoring=RMSE).fit(X, y)
kernel = ComponentPathCV(KernelPLS(16), scoring=RMSE).fit(X, y)
print(linear.reason_)
print(kernel.reason_)
pd.DataFrame(linear.error_path_).round(3)

# %%
display = ComponentPathDisplay.from_estimator(linear, name="PLS", score_type="test")
display = ComponentPathDisplay.from_estimator(
    kernel, name="kernel PLS", score_type="test", ax=display.ax_
)
display.ax_.set(ylabel="RMSECV / %", yscale="log")

# %%
# Predicted against measured
# --------------------------
# The test samples were not seen before. PLS is off where the content is high: stray light hides
# some of it.

figure, panels = plt.subplots(1, 2, figsize=(10, 5.6), layout="constrained")
for panel, (title, search) in zip(panels, [("PLS", linear), ("kernel PLS", kernel)], strict=True):
    PredictedMeasuredDisplay.from_predictions(y, search.predict(X), name="calibration", ax=panel)
    test = PredictedMeasuredDisplay.from_predictions(
        y_test, search.predict(X_test), name="test", ax=panel
    )
    panel.set_title(f"{title}, {search.best_n_components_} components")
    print(f"{title}: RMSEP {test.rmse:.2f} %")

# %%
# Standardise wavelengths?
# ------------------------
# All wavelengths have the same unit, and kernel PLS centres its features by itself. A
# ``StandardScaler`` gives a wavelength without any band as much weight as the top of one. These
# spectra have many such wavelengths, at which there is little but noise, so scaling makes the
# calibration worse. On measured spectra it may go either way: ``python -m benchmarks spectra`` prints
# both. Compare them by cross-validation.

scaled = make_pipeline(StandardScaler(), KernelPLS(16))
scaled = ComponentPathCV(scaled, scoring=RMSE).fit(X, y)
for name, search in {"as they are": kernel, "standardised": scaled}.items():
    error = np.sqrt(np.mean((search.predict(X_test) - y_test) ** 2))
    print(f"spectra {name}: RMSECV {-search.best_score_:.2f} %, RMSEP {error:.2f} %")

# %%
# Samples that are not like the others
# ------------------------------------
# Hotelling's T2 is large for samples whose components are extreme. The Q residual is large for samples
# of which the components describe too little. Two samples are added: one that absorbs twice as much
# at all wavelengths, and one with a constituent that no calibration sample has. The limits come from
# further good samples: of Q, because calibration samples have smaller residuals than new ones, and of
# T2, because the components of a nonlinear kernel are not normally distributed.

model = kernel.best_estimator_.extractor
strange = X_test[:2].copy()
strange[0] *= 2
strange[1] += bands([945], [6], [0.15])
X_new = np.vstack([X_test, strange])
X_good, _ = make_spectra(100, random_state=2)
outliers = ScoreDistanceDisplay.from_estimator(model, X_new, reference=X_good, confidence=0.99)
for row in (100, 101):
    print(f"sample {row}: T2 {outliers.t2[row]:.1f} (limit {outliers.t2_limit:.1f}), ", end="")
    print(f"Q {outliers.q[row]:.2g} (limit {outliers.q_limit:.2g})")

# %%
# Which wavelengths?
# ------------------
# The importance of a wavelength for the projection (VIP) is known for a linear kernel.

vip = linear.best_estimator_.extractor.vip_scores()
plt.figure(figsize=(6.4, 3.2), layout="constrained")
plt.plot(WAVELENGTHS, vip, color="black")
plt.axhline(1, color="0.5", linewidth=0.8, linestyle="--")
plt.xlabel("wavelength / nm")
plt.ylabel("VIP")

# %%
# Landmarks are spectra
# ---------------------
# Sparse maximal alignment describes the content by a few of the calibration samples, and a new
# sample costs as many kernel evaluations. These are the first six that it chose.

sieve = SparseMaximalAlignment(12, gamma=model.gamma_).fit(X, y)
LandmarkDisplay.from_estimator(sieve, X, feature_axis=WAVELENGTHS, n_landmarks=6)
plt.show()
