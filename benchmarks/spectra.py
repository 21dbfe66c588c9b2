"""Kernel PLS on spectra against linear PLS: errors of held-out thirds, by width of the kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import ComponentPathCV, KernelPLS
from kernelsieve.datasets import load_local

from .common import heading, table, verdict

SPLITS = ShuffleSplit(8, test_size=1 / 3, random_state=0)
FOLDS = KFold(5, shuffle=True, random_state=0)
SCORING = "neg_mean_squared_error"
MOST = 30  # components that a search looks at
METHODS: dict[str, Callable] = {
    "PLSRegression": lambda: GridSearchCV(
        PLSRegression(scale=False), {"n_components": range(1, MOST + 1)}, cv=FOLDS, scoring=SCORING
    ),
    "KernelPLS, k of folds": lambda: ComponentPathCV(
        KernelPLS(MOST), cv=FOLDS, scoring=SCORING, rule="best"
    ),
    'KernelPLS(gamma="cv")': lambda: KernelPLS(gamma="cv"),
    "the same, standardised": lambda: make_pipeline(StandardScaler(), KernelPLS(gamma="cv")),
}


def spectra() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    meats, gasoline = load_local("spectra_meats"), load_local("spectra_gasoline")
    for name, target in (("fat", "y"), ("water", "water"), ("protein", "protein")):
        yield name, np.asarray(meats["X"], float), meats[target]
    yield "octane", np.asarray(gasoline["X"], float), gasoline["y"]


def error(make: Callable, X: np.ndarray, y: np.ndarray) -> float:
    """Return the mean over splits of the root mean squared error."""
    errors = []
    for train, test in SPLITS.split(X):
        predicted = np.ravel(make().fit(X[train], y[train]).predict(X[test]))
        errors.append(np.sqrt(np.mean((predicted - y[test]) ** 2)))
    return float(np.mean(errors))


def main() -> None:
    heading("spectra: root mean squared errors of held-out thirds, eight splits")
    warnings.simplefilter("ignore")
    lines, ratios = [], {}
    for name, X, y in spectra():
        errors = [error(make, X, y) for make in METHODS.values()]
        ratios[name] = errors[2] / errors[0]
        lines.append([name, *errors])
    table(["", *METHODS], lines)
    verdict(
        'KernelPLS(gamma="cv") over PLSRegression, at worst', max(ratios.values()), 1.05, at_least=False
    )
    verdict("the same for fat", ratios["fat"], 0.8, at_least=False)


if __name__ == "__main__":
    main()
