"""One picture of each kind, for small data sets.

Run it with ``python examples/pictures.py``; it writes the pictures into ``output/pictures`` and says
what each of them shows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    ComponentPathDisplay,
    CriterionPathDisplay,
    FeatureMapDisplay,
    KernelPCA,
    LandmarkDisplay,
    RocComparisonDisplay,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    StabilityBoundDisplay,
)
from kernelsieve.datasets import make_interactions, make_noisy_circle
from kernelsieve.model_selection import ComponentPathCV

OUTPUT = Path(__file__).resolve().parents[1] / "output" / "pictures"


def component_path() -> Any:
    """Accuracy on the digits against features and kernel evaluations, and the chosen number."""
    X, y = load_digits(return_X_y=True)
    grid = {"gamma": [0.01, 0.05, 0.2]}
    search = ComponentPathCV(SparseMaximalAlignment(60), RidgeClassifier(), param_grid=grid)
    return ComponentPathDisplay.from_estimator(search.fit(X / 16, y), against="both").figure_


def bound() -> Any:
    """The stability bound of SMC on synthetic rows, beside the mean on others, term by term."""
    X, y = make_interactions(6000, 10, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)
    sieve = SparseMaximalCovariance(30, center=False, random_state=0)
    return StabilityBoundDisplay.from_estimator(
        sieve, X, y, X_test=X_test, y_test=y_test, kind="terms"
    ).figure_


def criterion() -> Any:
    """What alignment and covariance explain on the breast cancer data, feature by feature."""
    X, y = load_breast_cancer(return_X_y=True)
    figure, panel = plt.subplots(layout="constrained")
    for name, sieve in (("SMA", SparseMaximalAlignment(30)), ("SMC", SparseMaximalCovariance(30))):
        sieve.fit(scale(X), y)
        CriterionPathDisplay.from_estimator(sieve, quantity="explained", name=name, ax=panel)
    return figure


def landmarks() -> Any:
    """The 20 points of two moons that are chosen first."""
    X, y = make_moons(300, noise=0.15, random_state=0)
    sieve = SparseMaximalAlignment(20, gamma=2.0).fit(X, y)
    return LandmarkDisplay.from_estimator(sieve, X, y).figure_


def digits() -> Any:
    """The 40 handwritten digits that are chosen first."""
    X, y = load_digits(return_X_y=True)
    sieve = SparseMaximalAlignment(40).fit(X / 16, y)
    return LandmarkDisplay.from_estimator(sieve, X / 16, y, image_shape=(8, 8), cmap="gray_r").figure_


def digits_in_a_plane() -> Any:
    """Chosen digits in the plane of the first two features."""
    X, y = load_digits(return_X_y=True)
    sieve = SparseMaximalAlignment(40).fit(X / 16, y)
    return LandmarkDisplay.from_estimator(
        sieve, X / 16, plane="features", image_shape=(8, 8), cmap="gray_r"
    ).figure_


def feature_maps() -> Any:
    """The first features of kernel PCA, and of its sparse relative, on a noisy circle."""
    X = make_noisy_circle(200, random_state=0)
    figure, panels = plt.subplots(2, 2, figsize=(10, 8.5), layout="compressed")
    figure.get_layout_engine().set(wspace=0.06)
    for line, model in zip(
        panels, (KernelPCA(2, gamma=0.05), AcceleratedKernelFeatureAnalysis(2, gamma=0.05)), strict=True
    ):
        model.fit(X)
        for feature, panel in enumerate(line):
            FeatureMapDisplay.from_estimator(model, X, feature=feature, ax=panel)
            panel.set(title=type(model).__name__, aspect="equal")
    return figure


def roc() -> Any:
    """Logistic regression on ten features of several kinds, beside a support vector machine."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    heads = {
        "SMA, 10 evaluations": (SparseMaximalAlignment(10), LogisticRegression()),
        "SMC, 10 evaluations": (SparseMaximalCovariance(10), LogisticRegression()),
        f"kernel PCA, {len(X)} evaluations": (KernelPCA(10), LogisticRegression()),
    }
    models = {name: make_pipeline(StandardScaler(), *steps).fit(X, y) for name, steps in heads.items()}
    machine = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    models[f"SVM, {int(np.sum(machine[-1].n_support_))} evaluations"] = machine
    return RocComparisonDisplay.from_estimator(models, X_test, y_test, max_fpr=0.3).figure_


PICTURES: tuple[Callable[[], Any], ...] = (
    component_path,
    bound,
    criterion,
    landmarks,
    digits,
    digits_in_a_plane,
    feature_maps,
    roc,
)


def main(output: Path = OUTPUT) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for draw in PICTURES:
        path = output / f"{draw.__name__}.png"
        figure = draw()
        figure.savefig(path, dpi=130)
        plt.close(figure)
        print(f"{path}: {draw.__doc__}")


if __name__ == "__main__":
    main()
