"""Random estimators on random data: finite output, an error of ours or a documented warning.

A fixed seed, 400 configurations of extractors and a tenth as many of sieves, which must also give the
same for rows in another order, for weights times a constant, and without rows of weight zero.
``KERNELSIEVE_CONFIGURATIONS=20000`` runs more of them, and ``KERNELSIEVE_SEED`` others.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
import pytest
from contract_cases import EXTRACTORS
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from kernelsieve import Candidates, SieveClassifier, SieveRegressor, config_context, exceptions
from kernelsieve._sklearn import Interval, StrOptions
from kernelsieve.kernels import KERNELS
from kernelsieve.rayleigh import DecisionRule

NUMBER = int(os.environ.get("KERNELSIEVE_CONFIGURATIONS", "400"))
SEED = int(os.environ.get("KERNELSIEVE_SEED", "0"))
PARTS = 8  # tests that share the configurations, so that they run side by side

OURS = tuple(
    each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)
)
ERRORS = tuple(each for each in OURS if not issubclass(each, Warning))
WARNINGS = (*(each for each in OURS if issubclass(each, Warning)), ConvergenceWarning)
# What scikit-learn's own checks of parameters and arrays say.
OTHERS = (
    "parameter of",
    "Found array with",
    "Found input variables",
    "Unknown label type",
    "contains NaN",
    "contains infinity",
)

CONFIG = {
    "precision": ["auto", "fast", "safe"],
    "dtype": ["float64", "float32"],
    "max_memory": [0, 1e4, 2**30],
    "block_size": [None, 1, 7],
}


def _drawn(rng: np.random.Generator) -> list[Candidates]:
    """Return candidates that say how they are drawn."""
    how = str(rng.choice(["auto", "random", "screen", "kmeans", "rpcholesky"]))
    return [Candidates(5, how=how), Candidates(resample=bool(rng.integers(2)), scored_on=10)]


def config_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return random settings of the machine."""
    return {name: values[rng.integers(len(values))] for name, values in CONFIG.items()}


SPECIAL = {
    "kernel": lambda rng: str(rng.choice(sorted(KERNELS))),
    "gamma": lambda rng: [1e-6, 0.01, 1.0, 1e4, "scale", "median", "scale/4"][rng.integers(7)],
    "degree": lambda rng: float(rng.choice([1, 2, 3, 1.5])),
    "n_components": lambda rng: [1, 2, 5, 12, None][rng.integers(5)],
    "candidates": lambda rng: ["auto", "all", 5, 12, *_drawn(rng)][rng.integers(6)],
    "decision": lambda rng: DecisionRule(
        ["auto", "least_squares", "margin", "midpoint", "gaussian"][rng.integers(5)],
        nu=[0.1, 0.5, "cv"][rng.integers(3)],
        probability=["loo", "in_sample", 2][rng.integers(3)],
    ),
    "n_landmarks": lambda rng: ["auto", 5, 12][rng.integers(3)],
    "criterion": lambda rng: str(
        rng.choice(["alignment", "covariance", "variance", "pca", "pls", "opls"])
    ),
    "max_iter": lambda rng: [1, 5, 50][rng.integers(3)],
    "n_jobs": lambda rng: [None, 1, 2][rng.integers(3)],
    "random_state": lambda rng: int(rng.integers(100)),
    "invariances": lambda rng: [None, [(np.tanh, 0.1)]][rng.integers(2)],
    "class_weight": lambda rng: [None, "balanced"][rng.integers(2)],
}
LEFT_ALONE = {"kernel_params", "verbose", "noise", "numerator", "denominator"}


def value_of(name: str, rules: list, default: Any, rng: np.random.Generator) -> Any:
    """Return a random value that a parameter may have."""
    if name in SPECIAL:
        return SPECIAL[name](rng)
    values = [word for rule in rules if isinstance(rule, StrOptions) for word in sorted(rule.options)]
    if "boolean" in rules:
        values += [True, False]
    for rule in rules:
        if isinstance(rule, Interval) and rule.type is Real:
            values += [x for x in (1e-8, 0.1, 0.5, 1.0, 10.0) if x in rule]
        elif isinstance(rule, Interval) and rule.type is Integral:
            values += [x for x in (1, 2, 3, 10) if x in rule]
    return values[rng.integers(len(values))] if values else default


def estimator_of(rng: np.random.Generator) -> Any:
    entry = EXTRACTORS[rng.integers(len(EXTRACTORS))]
    chosen = {}
    for name, parameter in signature(entry).parameters.items():
        if name not in LEFT_ALONE and (rng.random() < 0.35 or name in ("random_state", "n_components")):
            rules = entry._parameter_constraints.get(name, [])
            chosen[name] = value_of(name, rules, parameter.default, rng)
    return entry(**chosen)


def data_of(rng: np.random.Generator, *, precomputed: bool) -> tuple[Any, np.ndarray, Any]:
    n, d = int(rng.choice([2, 3, 10, 40])), int(rng.choice([1, 2, 6]))
    X: Any = rng.standard_normal((n, d))
    signal = rng.standard_normal(n) + X[:, 0]
    kind = rng.integers(8 if precomputed else 11)
    if kind == 0:
        X[n // 2 :] = X[: n - n // 2]  # equal samples
    elif kind == 1:
        X = X * 10.0 ** rng.integers(-8, 9, d)
    elif kind == 2:
        X[:, 0] = 1.0
    elif kind == 3:
        X = X + 1e6
    elif kind == 4:
        X = np.rint(X)
    elif kind == 5:
        X = np.abs(X).astype(np.float32)
    elif kind == 8:
        X = X * 10.0 ** rng.integers(-300, 301, d)
    elif kind == 9:
        X = X * 10.0 ** rng.integers(-300, 301)
    elif kind == 10:
        X[rng.random((n, d)) < 0.1] = np.nan
    if precomputed:
        X = np.asarray(X, dtype=float) @ np.asarray(X, dtype=float).T
    elif kind == 6:
        X = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    y = [
        signal,
        np.ones(n),
        (signal > np.median(signal)).astype(int),
        rng.integers(0, 4, n),
        np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
        np.column_stack([signal, signal**2]),
        np.arange(n) == 0,  # a rare class
        signal * 10.0 ** rng.integers(-300, 301),
    ][rng.integers(8)]
    return X, y, weights_of(rng, n)


def weights_of(rng: np.random.Generator, n: int) -> Any:
    few = rng.integers(0, 3, n).astype(float)
    return [None, few, rng.uniform(0.1, 2, n), few * 10.0 ** rng.integers(-20, 21)][rng.integers(4)]


def use(model: Any, X: Any, y: Any, weight: Any, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Fit in a random way, and yield all numbers that the model gives."""
    if hasattr(model, "partial_fit") and rng.random() < 0.3:
        half = max(1, X.shape[0] // 2)
        model.partial_fit(X[:half], y[:half], sample_weight=None if weight is None else weight[:half])
        model.partial_fit(X[half:], y[half:], sample_weight=None if weight is None else weight[half:])
    else:
        model.fit(X, y, sample_weight=weight)
    yield model.transform(X)
    yield model.explained_variance_ratio_
    yield model.explained_target_ratio_
    yield model.kernel_evaluations_
    for name in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, name):
            found = getattr(model, name)(X)
            yield found if found.dtype.kind == "f" else np.zeros(1)


COLUMNS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "whole": lambda rng, n: rng.integers(0, 9, n),
    "constant": lambda rng, n: np.full(n, 7.0),
    "empty": lambda rng, n: np.full(n, np.nan),
    "holes": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n)),
    "scaled": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(-300, 301),
    "shifted": lambda rng, n: rng.standard_normal(n) + 1e8,
    "skewed": lambda rng, n: np.exp(10 * rng.standard_normal(n)),
    "text": lambda rng, n: np.array(["a", "b", "", "nan"])[rng.integers(0, 4, n)],
    "none": lambda rng, n: np.array(["a", None, np.nan, 1.5], dtype=object)[rng.integers(0, 4, n)],
    "unique": lambda rng, n: np.array([f"id {i}" for i in range(n)]),
    "truth": lambda rng, n: rng.random(n) < 0.5,
    "category": lambda rng, n: pd.Categorical(rng.integers(0, 3, n)),
    "date": lambda rng, n: pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D"),
}


def table_of(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, Any]:
    n, kinds = int(rng.choice([2, 3, 5, 12, 40])), rng.choice(list(COLUMNS), rng.integers(1, 5))
    X = pd.DataFrame({f"{kind} {i}": COLUMNS[kind](rng, n) for i, kind in enumerate(kinds)})
    signal = rng.standard_normal(n) + np.arange(n) % 3
    y = [
        signal,
        np.column_stack([signal, signal**2]),
        signal * 10.0 ** rng.integers(-300, 301),
        rng.poisson(np.exp(signal)),
        np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
        np.arange(n) == 0,
        np.ones(n),
    ][rng.integers(7)]
    return X, y, weights_of(rng, n)


def sieve_of(rng: np.random.Generator, y: np.ndarray) -> Any:
    chosen = {
        "n_landmarks": int(rng.choice([1, 4, 30])),
        "metric": bool(rng.integers(2)),
        "kernel": str(rng.choice(["rbf", "laplacian", "matern12", "rational_quadratic"])),
        "cv": [None, 2, 3, KFold(2)][rng.integers(4)],
        "random_state": int(rng.integers(100)),
    }
    if y.dtype.kind in "Ub":
        return SieveClassifier(**chosen, class_weight=[None, "balanced"][rng.integers(2)])
    is_count = y.ndim == 1 and y.min() >= 0 and rng.random() < 0.5
    return SieveRegressor(**chosen, loss="poisson" if is_count else "squared_error")


def use_sieve(model: Any, X: Any, y: Any, weight: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Fit, yield all numbers that the model gives, and differences that should be none."""
    model.fit(X, y, sample_weight=weight)
    yield model.predict(X) if isinstance(model, SieveRegressor) else model.predict_proba(X)
    yield model.importances_
    yield model.transform(X)
    yield model.neighbors(X, X, 2)[0]
    found, scores = model.explain(X), model._scores(X)
    yield found.baseline
    order = rng.permutation(len(X))
    others = {}
    if not isinstance(model.cv, KFold):  # which cuts rows as they stand
        given = None if weight is None else weight[order]
        others["another order"] = clone(model).fit(X.iloc[order], y[order], sample_weight=given)
    if weight is not None:
        rows = np.flatnonzero(weight)
        if len(set(np.ravel(y[rows]).tolist())) == len(set(np.ravel(y).tolist())):
            others["dropped"] = clone(model).fit(X.iloc[rows], y[rows], sample_weight=weight[rows])
        others["weights times 4"] = clone(model).fit(X, y, sample_weight=4 * weight)
    for name, other in others.items():
        again = other._scores(X)
        assert np.abs(again - scores).max() <= 1e-7 * np.abs(scores).max(), f"{name} gives others"


def try_out(seed: int, *, sieve: bool = False) -> str:
    """Return what is wrong with one configuration, or nothing."""
    rng = np.random.default_rng([SEED, seed])
    if sieve:
        X, y, weight = table_of(rng)
        model: Any = sieve_of(rng, y)
        config = {}
    else:
        model, config = estimator_of(rng), config_of(rng)
        precomputed = getattr(model, "kernel", None) == "precomputed"
        X, y, weight = data_of(rng, precomputed=precomputed)
    name = " ".join(repr(model).split())
    kinds = list(X) if sieve else type(X).__name__
    told = f"configuration {seed}: {name} with {config} on {kinds} {X.shape}, y {y.dtype} {y.shape}"
    with warnings.catch_warnings(record=True) as seen, ExitStack() as stack:
        warnings.simplefilter("always")
        try:
            if not sieve:
                stack.enter_context(config_context(**config))
            for numbers in (use_sieve if sieve else use)(model, X, y, weight, rng):
                if not np.isfinite(numbers).all():
                    return f"{told}: output that is not finite"
        except ERRORS:
            pass
        except Exception as error:
            if not any(text in str(error) for text in OTHERS):
                return f"{told}: {type(error).__name__}: {error}"
    strange = [str(each.message) for each in seen if not issubclass(each.category, WARNINGS)]
    strange = [text for text in strange if "could represent a regression problem" not in text]
    return f"{told}: warned {strange[0]}" if strange else ""


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_but_numbers_and_our_own_words(part):
    wrong = [text for seed in range(part, NUMBER, PARTS) if (text := try_out(seed))]
    assert not wrong, "\n".join([f"{len(wrong)} are wrong:", *wrong])


@pytest.mark.parametrize(
    "part", [part if part < 3 else pytest.param(part, marks=pytest.mark.slow) for part in range(PARTS)]
)
def test_sieves_depend_on_nothing_but_samples_and_their_weights(part):
    wrong = [text for seed in range(part, NUMBER // 10, PARTS) if (text := try_out(seed, sieve=True))]
    assert not wrong, "\n".join([f"{len(wrong)} are wrong:", *wrong])
