"""Errors and support vectors of sparse kernel PLS on Boston Housing and Abalone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVR

from kernelsieve import KernelPLS, SparseKernelPLS, datasets
from kernelsieve.exceptions import FewerFeaturesWarning

WIDTHS = {"boston": 4.24, "abalone": 5.66}  # the paper's sigma of exp(-d^2 / sigma^2)
FOLDS = 10
COSTS = (0.3, 1.0, 3.0, 10.0, 30.0)  # C of nu-SVM

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


def load(name: str, rows: int) -> Data:
    """Load one of the two data sets, or so many rows at random if it has more."""
    parts = datasets.load(name)
    some = np.random.default_rng(0).permutation(len(parts.y))[:rows]
    some = np.arange(len(parts.y)) if len(some) == len(parts.y) else some
    return Data(name, np.asarray(parts.X, dtype=float)[some], np.asarray(parts.y, dtype=float)[some])


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


def curves(
    data: str, rows: int, selection: str, nu: float, n_features: int, folds: int
) -> dict[str, np.ndarray]:
    """Return errors and support vectors against the number of features, a line a fold.

    Targets of the training rows have variance 1, so errors are Q^2.
    """
    loaded, setting = load(data, rows), (selection, nu, n_features)
    errors, support = [], []
    for split in loaded.split()[:folds]:
        train, test = standardised(loaded, split)
        model = fit(setting, loaded.gamma, train)
        errors.append(errors_of(model, test, n_features))
        support.append(support_of(model, n_features))
    best = int(np.mean(errors, axis=0).argmin())
    return {
        "error": np.array(errors),
        "support": np.array(support),
        "per cent of support vectors at the best": 100 * np.array(support)[:, best],
    }


# ---------------------------------------------------------------------- figure 2


@dataclass(frozen=True)
class Point:
    """What a model that was chosen inside the training rows does on others."""

    error: float  # Q^2
    support: float  # share of the training rows
    parameter: float  # number of features, or C


def outer_point(
    data: Data, method: str, nu: float, most_features: int, inner_folds: int, split: Split
) -> Point:
    """Choose the number of features, or C, inside the training rows, and test the choice."""
    train, _ = split
    inside = Data(data.name, data.X[train], data.y[train])
    pairs = [standardised(inside, inner) for inner in splits(len(train), inner_folds, 1)]
    rows, others = standardised(data, split)
    if method == "svm":
        return _machine_point(pairs, rows, others, nu, data.gamma)
    setting = (method, nu, most_features)
    inner_errors = [errors_of(fit(setting, data.gamma, a), b, most_features) for a, b in pairs]
    model = fit(setting, data.gamma, rows)
    k = min(int(np.mean(inner_errors, axis=0).argmin()) + 1, model.n_components_)
    error = np.mean((model.predict(others[0], n_components=k) - others[1]) ** 2)
    return Point(float(error), float(support_of(model, most_features)[k - 1]), k)


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


def points(
    data: str, rows: int, method: str, nu: float, most_features: int, folds: int, inner_folds: int
) -> dict[str, list[float]]:
    """Return error, share of support vectors and chosen parameter of every outer fold."""
    loaded = load(data, rows)
    found = [
        outer_point(loaded, method, nu, most_features, inner_folds, split)
        for split in loaded.split()[:folds]
    ]
    return {key: [getattr(point, key) for point in found] for key in ("error", "support", "parameter")}
