"""All of scikit-learn's checks of an estimator as one test: thousands of tests take long to collect."""

import re
from collections.abc import Callable, Iterable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator


def estimators_to_check(estimators: Iterable[BaseEstimator]) -> Callable:
    """Run a test for every estimator, named after it."""
    arguments = [pytest.param(each, id=re.sub(r"\s", "", str(each))) for each in estimators]
    return pytest.mark.parametrize("estimator", arguments)


def run_checks(estimator: BaseEstimator, excused: dict[str, str] | None = None) -> None:
    """Run all checks, and raise the errors of all that fail.

    An excused check must fail, or its excuse is dropped.
    """
    results = check_estimator(estimator, expected_failed_checks=excused, on_skip=None, on_fail=None)
    failed = [result for result in results if result["status"] == "failed"]
    for result in failed:
        result["exception"].add_note(f"This was {result['check_name']}.")
    if failed:
        raise ExceptionGroup(f"checks of {estimator}", [result["exception"] for result in failed])
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    assert not passed & set(excused or {}), "checks pass that are excused"
