"""Figures 1 and 2: errors and support vectors of sparse kernel PLS on Boston Housing and Abalone.

The functions are pure: numbers in, numbers out. Tests use them too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVR

from kernelsieve import KernelPLS, SparseKernelPLS, datasets
from kernelsieve.exceptions import FewerFeaturesWarning

WIDTHS = {"boston": 4.24, "abalone": 5.66}  # the paper's sigma of exp(-d^2 / sigma^2)
TITLES = {"boston": "Boston Housing", "abalone": "Abalone"}
ABALONE_ROWS = 1000  # at random of 4,177, to be done in a minute
FOLDS, INNER_FOLDS = 10, 5

# Figure 1: selection, nu, number of features; "dense" is kernel PLS
SETTINGS = (
    ("exact", 0.5, 25),
    ("mi", 0.5, 50),
    ("mr", 0.5, 50),
    ("mi", 0.1, 50),
    ("mr", 0.1, 50),
    ("dense", 1.0, 50),
)

# Figure 2
NUS = (0.05, 0.1, 0.2, 0.5)
COSTS = (0.3, 1.0, 3.0, 10.0, 30.0)  # C of nu-SVM
MOST_FEATURES = {"boston": 50, "abalone": 30}
METHODS = ("mi", "mr", "svm")

Setting = tuple[str, float, int]
Rows = tuple[np.ndarray, np.ndarray]
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Data:
    """A data set and the width of its kernel."""

    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def gamma(self) -> float:
        return float(1 / WIDTHS[self.name] ** 2)

    def split(self, seed: int = 0) -> list[Split]:
        return splits(len(self.X), FOLDS, seed)


def load(name: str) -> Data:
    """Load one of the two data sets."""
    parts = datasets.load(name)
    X, y = np.asarray(parts["X"], dtype=np.float64), np.asarray(parts["y"], dtype=np.float64)
    if name == "abalone":
        some = np.random.default_rng(0).permutation(len(X))[:ABALONE_ROWS]
        X, y = X[some], y[some]
    return Data(name, X, y)


def splits(n_rows: int, n_folds: int, seed: int) -> list[Split]:
    """Return pairs of rows to train on and rows to test on, the same for all methods."""
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    return [(train, test) for train, test in folds.split(np.empty((n_rows, 1)))]


def standardised(data: Data, split: Split) -> tuple[Rows, Rows]:
    """Return the rows to train on with mean 0 and variance 1, and the others on the same scale."""
    train, test = split
    inputs = StandardScaler().fit(data.X[train])
    mean, deviation = data.y[train].mean(), data.y[train].std()
    return (
        (inputs.transform(data.X[train]), (data.y[train] - mean) / deviation),
        (inputs.transform(data.X[test]), (data.y[test] - mean) / deviation),
    )


def in_parallel(work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Run a function of a module on two cores."""
    return list(Parallel(n_jobs=2)(delayed(work)(*job) for job in jobs))


# ---------------------------------------------------------------------- figure 1


def fit(setting: Setting, gamma: float, rows: Rows) -> Any:
    """Fit one setting of the paper."""
    selection, nu, n_features = setting
    if selection == "dense":
        model: Any = KernelPLS(n_features, gamma=gamma, candidates="all", tol=1e-20)
    else:
        model = SparseKernelPLS(n_features, nu=nu, selection=selection, gamma=gamma, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return model.fit(*rows)


def errors_of(model: Any, rows: Rows, n_features: int) -> np.ndarray:
    """Return mean squared errors with 1, 2, ... features; the last stays where there are no more."""
    X, y = rows
    found = [np.mean((model.predict(X, n_components=j) - y) ** 2) for j in counts(model)]
    return stretched(np.array(found), n_features)


def support_of(model: Any, n_features: int) -> np.ndarray:
    """Return the share of the rows that are support vectors of the first features."""
    if isinstance(model, KernelPLS):
        return np.ones(n_features)
    return stretched(model.support_fraction_, n_features)


def counts(model: Any) -> range:
    return range(1, model.n_components_ + 1)


def stretched(values: np.ndarray, length: int) -> np.ndarray:
    return np.pad(values, (0, length - len(values)), mode="edge")


@dataclass(frozen=True)
class Curve:
    """Against the number of features, the mean of the folds."""

    error: np.ndarray  # Q^2
    support: np.ndarray  # share of the training rows

    @property
    def best(self) -> int:
        """The number of features with the smallest error."""
        return int(self.error.argmin()) + 1


def fold_curve(data: Data, setting: Setting, split: Split) -> Curve:
    """Return what one fold gives; its targets have variance 1, so errors are Q^2."""
    train, test = standardised(data, split)
    model = fit(setting, data.gamma, train)
    return Curve(errors_of(model, test, setting[2]), support_of(model, setting[2]))


def figure1(
    data: Data, settings: Sequence[Setting] = SETTINGS, folds: int = FOLDS
) -> dict[tuple[str, float], Curve]:
    """Return the mean curve of every setting over the folds."""
    jobs = [(data, setting, split) for setting in settings for split in data.split()[:folds]]
    found = in_parallel(fold_curve, jobs)
    curves = {}
    for place, (selection, nu, _) in enumerate(settings):
        of_setting = found[place * folds : (place + 1) * folds]
        curves[selection, nu] = Curve(
            np.mean([curve.error for curve in of_setting], axis=0),
            np.mean([curve.support for curve in of_setting], axis=0),
        )
    return curves


# ---------------------------------------------------------------------- figure 2


@dataclass(frozen=True)
class Point:
    """What a model that was chosen inside the training rows does on others."""

    error: float  # Q^2
    support: float  # share of the training rows
    parameter: float  # number of features, or C


def outer_point(data: Data, method: str, nu: float, split: Split) -> Point:
    """Choose the number of features, or C, inside the training rows, and test the choice."""
    train, _ = split
    inside = Data(data.name, data.X[train], data.y[train])
    pairs = [standardised(inside, inner) for inner in splits(len(train), INNER_FOLDS, 1)]
    rows, others = standardised(data, split)
    if method == "svm":
        return _machine_point(pairs, rows, others, nu, data.gamma)
    setting = (method, nu, MOST_FEATURES[data.name])
    inner_errors = [errors_of(fit(setting, data.gamma, a), b, setting[2]) for a, b in pairs]
    model = fit(setting, data.gamma, rows)
    k = min(int(np.mean(inner_errors, axis=0).argmin()) + 1, model.n_components_)
    error = np.mean((model.predict(others[0], n_components=k) - others[1]) ** 2)
    return Point(float(error), float(support_of(model, setting[2])[k - 1]), k)


def _machine_point(
    pairs: Sequence[tuple[Rows, Rows]], rows: Rows, others: Rows, nu: float, gamma: float
) -> Point:
    def machine_error(cost: float, train: Rows, test: Rows) -> tuple[float, Any]:
        machine = NuSVR(nu=nu, C=cost, gamma=gamma).fit(*train)
        return float(np.mean((machine.predict(test[0]) - test[1]) ** 2)), machine

    inner = [np.mean([machine_error(cost, a, b)[0] for a, b in pairs]) for cost in COSTS]
    cost = COSTS[int(np.argmin(inner))]
    error, machine = machine_error(cost, rows, others)
    return Point(error, len(machine.support_) / len(rows[0]), cost)


def figure2(
    data: Data, methods: Sequence[str] = METHODS, nus: Sequence[float] = NUS
) -> dict[str, dict[float, Point]]:
    """Return the mean of the outer folds for every method and nu; parameters are medians."""
    folds = data.split()
    keys = [(method, nu) for method in methods for nu in nus]
    found = in_parallel(outer_point, [(data, *key, split) for key in keys for split in folds])
    points: dict[str, dict[float, Point]] = {method: {} for method in methods}
    for place, (method, nu) in enumerate(keys):
        of_key = found[place * len(folds) : (place + 1) * len(folds)]
        points[method][nu] = Point(
            float(np.mean([point.error for point in of_key])),
            float(np.mean([point.support for point in of_key])),
            float(np.median([point.parameter for point in of_key])),
        )
    return points
