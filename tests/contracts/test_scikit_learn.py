"""All of scikit-learn's checks, for every public estimator."""

from inspect import signature

import pytest
from contract_cases import CHECKS, all_cases
from sklearn.utils.estimator_checks import parametrize_with_checks

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning"),
]


CHANGING = ("loss", "resample")  # parameters with which everything about a fit is another


def instances():
    """Yield each estimator as it is, with a drawn pool, with a kernel matrix, and with each loss."""
    for case in all_cases():
        if not case.option:
            yield case.entry(**quick(case))
            for others in ({case.pool: 10}, {"kernel": "precomputed"}):
                if case.parameters.issuperset(others):
                    yield case.entry(**quick(case), **others)
        elif case.option.keys() <= set(CHANGING):
            yield case.entry(**quick(case), **case.option)


def quick(case):
    """Return parameters that keep rounding from growing: ten rows do not bear a hundred steps."""
    defaults = {name: p.default for name, p in signature(case.entry).parameters.items()}
    found = {"max_iter": 20} if "max_iter" in defaults else {}
    many = isinstance(defaults.get("n_components"), int)
    return found | ({"n_components": min(8, defaults["n_components"])} if many else {})


def excused(estimator):
    """Return the checks that cannot be passed, and why."""
    found = {}
    for condition, checks, reason in CHECKS:
        if condition(estimator):
            found |= dict.fromkeys(checks, reason)
    return found


@parametrize_with_checks(list(instances()), expected_failed_checks=excused)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
