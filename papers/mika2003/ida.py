"""Fisher discriminants and a support vector machine on realisations of the IDA data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from kernelsieve import KernelFisherDiscriminant, SparseKernelFisherDiscriminant, datasets
from kernelsieve.rayleigh.linear_program import margin_threshold

COSTS = {
    "SVM": (0.3, 1.0, 3.0, 10.0, 100.0),
    "KFD": (1e-3, 1e-2, 0.1, 1.0, 10.0),
    "SKFD": (0.1, 0.3, 1.0, 3.0, 10.0),
    "LSKFD": (0.1, 0.3, 1.0, 3.0, 10.0),
}
#: Training and test rows of the sets that we have without splits, as IDA has them.
SIZES = {"diabetis": (468, 300), "flare-solar": (666, 400), "thyroid": (140, 75)}
#: Sets whose values are raw; IDA gives all of them with mean 0 and variance 1.
RAW = ("flare-solar",)

Rows = tuple[np.ndarray, np.ndarray]


class Choice(NamedTuple):
    """Parameters of one method on one data set."""

    width: float  # c of exp(-d^2 / c)
    cost: float  # C of the method
    nu: float  # of the linear programme (15), which finds the threshold


def load(name: str, realisation: int) -> tuple[Rows, Rows]:
    """Return training and test rows: IDA's where they are known, otherwise drawn in its proportions."""
    parts = datasets.load(f"ida_{name}")
    X, y = np.asarray(parts.X, dtype=np.float64), np.asarray(parts.y).astype(int)
    if name in RAW:
        X = scale(X)
    known = np.atleast_2d(parts.train_idx) if "train_idx" in parts else np.empty((0, 0))
    if realisation < len(known):
        train, test = known[realisation], np.atleast_2d(parts.test_idx)[realisation]
    else:
        n_train, n_test = SIZES[name]
        train, test = train_test_split(
            np.arange(len(X)), train_size=n_train, test_size=n_test, random_state=realisation
        )
    return (X[train], y[train]), (X[test], y[test])


def model_of(method: str, width: float, cost: float) -> Any:
    """Return one of the four contenders, not fitted."""
    gamma = 1 / width
    if method == "SVM":
        return SVC(gamma=gamma, C=cost)
    if method == "KFD":
        return KernelFisherDiscriminant(gamma=gamma, candidates="all", reg=cost, n_jobs=1)
    loss = "squared" if method == "SKFD" else "absolute"
    return SparseKernelFisherDiscriminant(
        gamma=gamma, candidates="all", loss=loss, C=cost, decision="least_squares", n_jobs=1
    )


def fitted(
    method: str, width: float, costs: Sequence[float], X: np.ndarray, y: np.ndarray
) -> list[Any]:
    """Return a model for every cost; sparse ones start from the solution for the next larger cost."""
    if method in ("SVM", "KFD"):
        return [model_of(method, width, cost).fit(X, y) for cost in costs]
    return list(model_of(method, width, 1.0).path(X, y, costs))


def wrong_by_nu(model: Any, train: Rows, test: Rows, nus: Sequence[float]) -> list[float]:
    """Return the per cent of errors with the threshold of programme (15), for every nu of it."""
    if isinstance(model, SVC):
        return [100 * float(np.mean(model.predict(test[0]) != test[1]))] * len(nus)
    outputs, new = model.transform(train[0])[:, 0], model.transform(test[0])[:, 0]
    thresholds = [margin_threshold(outputs, train[1] > 0, nu=nu) for nu in nus]
    return [100 * float(np.mean((new + b > 0) != (test[1] > 0))) for b in thresholds]


def zeros_of(model: Any, n_rows: int) -> float:
    """Return the per cent of the coefficients that are zero."""
    used = len(model.support_) if isinstance(model, SVC) else len(model.landmarks_)
    return 100 * (1 - used / n_rows)


def chosen(
    name: str, method: str, realisation: int, folds: int, widths: Sequence[float], nus: Sequence[float]
) -> Choice:
    """Return the parameters with the least error in cross-validation of one set of training rows."""
    (X, y), _ = load(name, realisation)
    errors = np.zeros((len(widths), len(COSTS[method]), len(nus)))
    for a, b in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
        for i, width in enumerate(widths):
            models = fitted(method, width * X.shape[1], COSTS[method], X[a], y[a])
            for j, model in enumerate(models):
                errors[i, j] += wrong_by_nu(model, (X[a], y[a]), (X[b], y[b]), nus)
    i, j, k = middle_of_the_best(errors)
    return Choice(widths[i] * X.shape[1], COSTS[method][j], nus[k])


def middle_of_the_best(errors: np.ndarray) -> tuple[int, ...]:
    """Return the place of the least error; of several, one in their middle, axis after axis.

    On a few hundred rows many parameters make the same number of errors, and the first of them lies at
    the end of the grid where models fit the most.
    """
    tied = errors <= errors.min() + 1e-9
    place: list[int] = []
    for _ in range(errors.ndim):
        some = np.flatnonzero(tied.reshape(len(tied), -1).any(axis=1))
        place.append(int(some[len(some) // 2]))
        tied = tied[place[-1]]
    return tuple(place)


def median(choices: Sequence[Choice]) -> Choice:
    """Return the median of every parameter."""
    return Choice(*(float(np.median(values)) for values in zip(*choices, strict=True)))


def table1(
    data: str,
    method: str,
    realisations: int,
    chosen_on: int,
    folds: int,
    widths: Sequence[float],
    nus: Sequence[float],
) -> dict[str, Any]:
    """Return the errors on all realisations, with the parameters that the first of them settle."""
    choice = median([chosen(data, method, i, folds, widths, nus) for i in range(chosen_on)])
    errors, plain, zeros = [], [], []
    for realisation in range(realisations):
        train, test = load(data, realisation)
        model = model_of(method, choice.width, choice.cost).fit(*train)
        errors += wrong_by_nu(model, train, test, [choice.nu])
        plain.append(100 * float(np.mean(model.predict(test[0]) != test[1])))
        zeros.append(zeros_of(model, len(train[0])))
    settled = {"c": [choice.width], "C": [choice.cost], "nu": [choice.nu]}
    return {"error": errors, "threshold by least squares": plain, "zeros": zeros, **settled}


def errors_by_parameters(
    data: str,
    method: str,
    costs: Sequence[float],
    widths: Sequence[float],
    nus: Sequence[float],
    realisations: int,
) -> dict[str, Any]:
    """Return the test errors with the best of all parameters, and with the best for every cost.

    Best is the least mean error on these very test rows, so that nothing in the grid does better.
    """
    errors = np.empty((realisations, len(widths), len(costs), len(nus)))
    for realisation in range(realisations):
        train, test = load(data, realisation)
        for i, width in enumerate(widths):
            for j, model in enumerate(fitted(method, width * train[0].shape[1], costs, *train)):
                errors[realisation, i, j] = wrong_by_nu(model, train, test, nus)
    mean = errors.mean(axis=0)
    i, j, k = middle_of_the_best(mean)
    by_cost = [errors[(slice(None), *best_for_cost(mean, cost))] for cost in range(len(costs))]
    dimension = load(data, 0)[0][0].shape[1]
    return {
        "least error": errors[:, i, j, k],
        "by C": np.column_stack(by_cost),
        "c": [widths[i] * dimension],
        "C": [costs[j]],
        "nu": [nus[k]],
    }


def best_for_cost(mean: np.ndarray, cost: int) -> tuple[int, int, int]:
    """Return the place of the least error with this cost."""
    i, k = middle_of_the_best(mean[:, cost])
    return i, cost, k
