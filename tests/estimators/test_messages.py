"""No message advises a parameter that neither the class nor one of its methods has."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from contract_cases import POOLS, ROWS, TARGETS, Case, contract, plain_cases

ONES = np.ones(len(ROWS))
METHODS = ("partial_fit", "fit_batches", "predict", "predict_proba", "decision_function")
PARAMETERS = {name for case in plain_cases() for name in case.parameters}
GIVEN = re.compile(r"\b([A-Za-z_]\w*)=(?!=)")
ADVISED = re.compile(r"\b(?:raise|lower|change|pass|use|another|or) (?=(\w+))", re.IGNORECASE)


def named(message: str) -> set[str]:
    """Return what a message names as ``name=value``, and parameters that it says to change."""
    return set(GIVEN.findall(message)) | PARAMETERS.intersection(ADVISED.findall(message))


def known(estimator: object) -> set[str]:
    """Return the parameters of the estimator and of its public methods."""
    names = set(estimator.get_params())
    for name, method in inspect.getmembers(type(estimator), callable):
        if not name.startswith("_"):
            names |= set(inspect.signature(method).parameters)
    return names


def bad_data(case: Case) -> Iterator[tuple]:
    """Yield samples, targets and weights, not all of which are usable."""
    X, y = case.data()
    for target in (
        ONES,
        ONES.astype(int),
        np.full(len(X), "a"),
        np.where(TARGETS["two"], "yes", "no"),
        TARGETS["numbers"],
        np.column_stack([TARGETS["numbers"], X[:, 0]]),
        y[:-1],
        None,
    ):
        yield X, target, None
    for weight in (0 * ONES, -ONES, ONES[:-1], 1.0 * (y == y[0])):
        yield X, y, weight
    for rows in (0 * X, 1e-200 * X, 1e200 * X, np.where(X > 1, np.nan, X)):
        yield rows, y, None


def bad_parameters(case: Case) -> Iterator[dict]:
    X, _ = case.data()
    for parameters in (
        {"n_components": 1000},
        {"kernel": "rfb"},
        {"kernel": "precomputed"},
        {"gamma": -1.0},
        *({name: X[:5, :2]} for name in POOLS),
        *({name: 5, "n_components": 9} for name in POOLS),
    ):
        if case.parameters.issuperset(parameters):
            yield parameters


def mistakes(case: Case) -> Iterator[tuple[object, Callable[[], object]]]:
    """Yield estimators, and calls of them that go wrong."""
    X, y = case.data()
    for rows, target, weight in bad_data(case):
        estimator = case.make()
        yield estimator, partial(estimator.fit, rows, target, sample_weight=weight)
    for parameters in bad_parameters(case):
        estimator = case.make(**parameters)
        yield estimator, partial(estimator.fit, X, y)
    model, unfitted = case.make(), case.make()
    yield model, partial(model.fit, X, y)
    for estimator in (unfitted, model):
        for name in METHODS:
            yield estimator, partial(getattr, estimator, name)
    yield unfitted, partial(unfitted.transform, X)
    yield model, partial(model.transform, X[:, :2])
    yield model, partial(model.transform, X, n_components=1000)
    yield model, partial(model.prune, X, 0)
    if hasattr(unfitted, "partial_fit"):
        for target in (y, ONES, ONES.astype(int)):
            for n_samples in (1, len(X)):
                yield unfitted, partial(case.make().partial_fit, X[:n_samples], target[:n_samples])


@contract(plain_cases)
def test_messages_advise_what_there_is(case: Case):
    heard = []
    for estimator, mistake in mistakes(case):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                mistake()
            except (ValueError, AttributeError) as error:
                heard.append((estimator, str(error)))
        heard += [(estimator, str(warning.message)) for warning in caught]
    assert len(heard) > 10
    for estimator, message in heard:
        assert named(message) <= known(estimator), message


def test_names_are_found():
    message = "n_components=50 is larger; pass candidates=..., or lower gamma where a == b"
    assert named(message) == {"n_components", "candidates", "gamma"}
