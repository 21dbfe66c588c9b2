"""All of scikit-learn's checks, for every public estimator."""

import pytest
from contract_cases import all_cases, plain_cases
from scikit_checks import estimators_to_check, run_checks
from sklearn.base import is_classifier, is_regressor

from kernelsieve import KernelPLS

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning"),
]

# In a hundred steps on the ten rows of a check, rounding grows to the size of features. A width that a
# cross-validation chooses takes dozens of fits.
FEW_STEPS = {
    "KernelBoosting": {"n_components": 8},
    "SubspaceKernelFeatures": {"max_iter": 20},
    "KernelPLS": {"gamma": "scale"},
    "GreedyKernelFisherDiscriminant": {"n_components": 8},
    "KernelBoostedLatentFeatures": {"n_components": 4},
    "KernelBoostedLatentFeaturesClassifier": {"n_components": 4},
    "SparseKernelBoostedLatentFeatures": {"n_components": 4},
    "SparseKernelBoostedLatentFeaturesClassifier": {"n_components": 4},
    "SparseKernelPLS": {"n_components": 4},
}

WEIGHTS = tuple(f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))
ONE_LABEL = "check_classifiers_one_label_sample_weights"
NO_KERNEL = "the matrix of the check is no kernel"

# (estimator, its kernel or loss where that matters): {check: reason}
EXEMPT = {
    ("SparseKernelPLS", ()): dict.fromkeys(
        WEIGHTS, "of equal residuals the first rows are chosen, and these are others when shuffled"
    ),
    ("SparseKernelBoostedLatentFeaturesClassifier", ("absolute",)): dict.fromkeys(
        WEIGHTS, "least absolute deviations from -1 and +1 have several solutions"
    ),
    ("KernelBoosting", ("precomputed",)): {
        "check_fit2d_1feature": "one positive input cannot tell the labels apart"
    },
    ("KernelFisherDiscriminant", ("precomputed",)): {
        "check_class_weight_classifiers": (
            "the new rows of the check are unlike all training rows, and the same for every class"
        ),
    },
}


def defaults():
    """Yield each estimator as it is, but for what takes many steps."""
    for case in plain_cases():
        yield case.entry(**FEW_STEPS.get(case.entry.__name__, {}))


def options():
    """Yield each estimator with a drawn pool, with a kernel matrix, and with each loss.

    And one with a width that it chooses.
    """
    yield KernelPLS()
    for case in all_cases():
        few = FEW_STEPS.get(case.entry.__name__, {})
        if not case.option:
            for others in ({case.pool: 10}, {"kernel": "precomputed"}):
                if case.parameters.issuperset(others):
                    yield case.entry(**few, **others)
        elif "loss" in case.option:
            slow = case.option["loss"] == "absolute" and case.parameters >= {"kernel", "n_components"}
            yield case.entry(**{"n_components": 4} if slow else few, **case.option)


def excused(estimator):
    """Return the checks that an estimator cannot pass, and why."""
    parameters = estimator.get_params(deep=False)
    options = parameters.get("kernel"), parameters.get("loss")
    given = tuple(option for option in options if option in ("precomputed", "absolute"))
    found = dict(EXEMPT.get((type(estimator).__name__, given), {}))
    if "precomputed" in given and is_classifier(estimator):
        found[ONE_LABEL] = NO_KERNEL
        if hasattr(estimator, "predict_proba"):
            found["check_decision_proba_consistency"] = NO_KERNEL
    if 10 in (parameters.get("candidates"), parameters.get("n_landmarks")):
        found |= dict.fromkeys(WEIGHTS, "a random pool is another one when rows are repeated")
        if is_regressor(estimator):
            found["check_regressors_train"] = "ten candidates explain less than half of the target"
    return found


@estimators_to_check(defaults())
def test_scikit_learn_checks(estimator):
    run_checks(estimator, excused(estimator))


@pytest.mark.slow
@estimators_to_check(options())
def test_scikit_learn_checks_of_options(estimator):
    run_checks(estimator, excused(estimator))
