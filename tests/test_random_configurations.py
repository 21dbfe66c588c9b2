"""Random estimators on random data: finite output, an error of ours or a documented warning.

A fixed seed and 400 configurations; ``KERNELSIEVE_CONFIGURATIONS=20000`` runs more of them, and
``KERNELSIEVE_SEED`` others.
"""

import os
import warnings
from collections.abc import Iterator
from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np
import pytest
from contract_cases import EXTRACTORS
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kernelsieve import exceptions
from kernelsieve._sklearn import Interval, StrOptions
from kernelsieve.kernels import KERNELS

NUMBER = int(os.environ.get("KERNELSIEVE_CONFIGURATIONS", "400"))
SEED = int(os.environ.get("KERNELSIEVE_SEED", "0"))
PARTS = 8  # tests that share the configurations, so that they run side by side

OURS = tuple(
    each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)
)
ERRORS = tuple(each for each in OURS if not issubclass(each, Warning))
WARNINGS = (*(each for each in OURS if issubclass(each, Warning)), ConvergenceWarning)
# What scikit-learn's own checks of parameters and arrays say.
OTHERS = ("parameter of", "Found array with", "Found input variables", "Unknown label type")

SPECIAL = {
    "kernel": lambda rng: str(rng.choice(sorted(KERNELS))),
    "gamma": lambda rng: [1e-6, 0.01, 1.0, 1e4, "scale", "median", "scale/4"][rng.integers(7)],
    "degree": lambda rng: float(rng.choice([1, 2, 3, 1.5])),
    "n_components": lambda rng: [1, 2, 5, 12, None][rng.integers(5)],
    "candidates": lambda rng: ["auto", "all", 5, 12][rng.integers(4)],
    "n_landmarks": lambda rng: ["auto", 5, 12][rng.integers(3)],
    "criterion": lambda rng: str(
        rng.choice(["alignment", "covariance", "variance", "pca", "pls", "opls"])
    ),
    "max_memory": lambda rng: [0, 1e4, 2**30][rng.integers(3)],
    "max_iter": lambda rng: [1, 5, 50][rng.integers(3)],
    "block_size": lambda rng: [None, 1, 7][rng.integers(3)],
    "n_jobs": lambda rng: [None, 1, 2][rng.integers(3)],
    "random_state": lambda rng: int(rng.integers(100)),
    "invariances": lambda rng: [None, [(np.tanh, 0.1)]][rng.integers(2)],
    "class_weight": lambda rng: [None, "balanced"][rng.integers(2)],
}
LEFT_ALONE = {"kernel_params", "verbose", "noise", "noise_type", "numerator", "denominator", "power"}


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
    kind = rng.integers(8)
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
    if precomputed:
        X = np.asarray(X, dtype=float) @ np.asarray(X, dtype=float).T
    elif kind == 6:
        X = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    signal = (
        rng.standard_normal(n)
        + np.asarray(X[:, [0]].todense() if sparse.issparse(X) else X[:, :1]).ravel()
    )
    y = [
        signal,
        np.ones(n),
        (signal > np.median(signal)).astype(int),
        rng.integers(0, 4, n),
        np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
        np.column_stack([signal, signal**2]),
    ][rng.integers(6)]
    weight = [None, rng.integers(0, 3, n).astype(float), rng.uniform(0.1, 2, n)][rng.integers(3)]
    return X, y, weight


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


def try_out(seed: int) -> str:
    """Return what is wrong with one configuration, or nothing."""
    rng = np.random.default_rng([SEED, seed])
    model = estimator_of(rng)
    precomputed = getattr(model, "kernel", None) == "precomputed"
    X, y, weight = data_of(rng, precomputed=precomputed)
    name = " ".join(repr(model).split())
    told = f"configuration {seed}: {name} on {type(X).__name__} {X.shape}, y {y.dtype} {y.shape}"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            for numbers in use(model, X, y, weight, rng):
                if not np.isfinite(numbers).all():
                    return f"{told}: output that is not finite"
        except ERRORS:
            pass
        except Exception as error:
            if not any(text in str(error) for text in OTHERS):
                return f"{told}: {type(error).__name__}: {error}"
    strange = [str(each.message) for each in seen if not issubclass(each.category, WARNINGS)]
    return f"{told}: warned {strange[0]}" if strange else ""


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_but_numbers_and_our_own_words(part):
    wrong = [text for seed in range(part, NUMBER, PARTS) if (text := try_out(seed))]
    assert not wrong, "\n".join([f"{len(wrong)} are wrong:", *wrong])
