"""Kernel PLS against linear PLS, on spectra and on tables: errors of held-out thirds, by width."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import ComponentPathCV, KernelPLS
from kernelsieve.datasets import load

from .common import heading, table, verdict
from .ready_made_scale import NUMBERS

SPLITS = ShuffleSplit(8, test_size=1 / 3, random_state=0)
FEW_SPLITS = ShuffleSplit(3, test_size=1 / 3, random_state=0)
MOST_SAMPLES = 900
FOLDS = KFold(5, shuffle=True, random_state=0)
SCORING = "neg_mean_squared_error"
MOST = 30  # components that a search looks at
METHODS: dict[str, Callable] = {
    "PLSRegression": lambda: GridSearchCV(
        PLSRegression(scale=False), {"n_components": range(1, MOST + 1)}, cv=FOLDS, scoring=SCORING
    ),
    'KernelPLS(gamma="scale"), k of folds': lambda: ComponentPathCV(
        KernelPLS(MOST, gamma="scale"), cv=FOLDS, scoring=SCORING, rule="best"
    ),
    "KernelPLS()": KernelPLS,
    "the same, standardised": lambda: make_pipeline(StandardScaler(), KernelPLS()),
}


def spectra() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    meats, gasoline = load("spectra_meats"), load("spectra_gasoline")
    for name, target in (("fat", "y"), ("water", "water"), ("protein", "protein")):
        yield name, np.asarray(meats["X"], float), meats[target]
    yield "octane", np.asarray(gasoline["X"], float), gasoline["y"]


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name in NUMBERS:
        data = load(name)
        some = np.random.default_rng(0).permutation(len(data["X"]))[:MOST_SAMPLES]
        X, y = np.asarray(data["X"], float)[some], np.asarray(data["y"], float)[some]
        yield name, StandardScaler().fit_transform(X), (y - y.mean()) / y.std()


def error(make: Callable, X: np.ndarray, y: np.ndarray, splits: ShuffleSplit = SPLITS) -> float:
    """Return the mean over splits of the root mean squared error."""
    errors = []
    for train, test in splits.split(X):
        predicted = np.ravel(make().fit(X[train], y[train]).predict(X[test]))
        errors.append(np.sqrt(np.mean((predicted - y[test]) ** 2)))
    return float(np.mean(errors))


def main() -> None:
    warnings.simplefilter("ignore")
    heading("spectra: root mean squared errors of held-out thirds, eight splits")
    lines, ratios = [], {}
    for name, X, y in spectra():
        errors = [error(make, X, y) for make in METHODS.values()]
        ratios[name] = errors[2] / errors[0]
        lines.append([name, *errors])
    table(["", *METHODS], lines)
    verdict("KernelPLS() over PLSRegression, at worst", max(ratios.values()), 1.05, at_least=False)
    verdict("the same for fat", ratios["fat"], 0.8, at_least=False)
    heading(f"tables of at most {MOST_SAMPLES} samples, standardised, three splits")
    names = list(METHODS)[:3]
    lines = [
        [name, *(error(METHODS[method], X, y, FEW_SPLITS) for method in names)]
        for name, X, y in tables()
    ]
    table(["", *names], lines)
    _, _, scale, chosen = zip(*lines, strict=True)
    change = np.divide(chosen, scale)
    print(
        f"chosen width over default width: median {np.median(change):.3f}, "
        f"lower in {np.mean(change < 1):.2f} of the tables, at worst {change.max():.3f}"
    )


if __name__ == "__main__":
    main()
