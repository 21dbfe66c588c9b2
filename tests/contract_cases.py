"""The public estimators, each with its options, and where one is exempt from a contract.

Everything is derived from ``kernelsieve.__all__`` and from the parameters of the classes: a new
estimator, or a new option of one, is in every contract without a list to be changed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils._param_validation import StrOptions

import kernelsieve
from kernelsieve import Candidates
from kernelsieve.deflation import ContinuumRegression
from kernelsieve.estimators import KernelEstimator
from kernelsieve.rayleigh import DecisionRule

PUBLIC = [
    entry
    for entry in (getattr(kernelsieve, name) for name in kernelsieve.__all__)
    if isinstance(entry, type) and issubclass(entry, BaseEstimator)
]
EXTRACTORS = [entry for entry in PUBLIC if issubclass(entry, KernelEstimator)]

# Small and quick, where a class has the parameter.
COMMON = {"n_components": 3, "gamma": 0.3, "random_state": 0, "max_iter": 10}
# Parameters that say how a fit is done; contracts of their own change them.
HOW = {"candidates", "n_landmarks", "target"}
# Further values of parameters whose options are not words.
VALUES = {
    "kernel": ["linear"],
    "criterion": [
        *("alignment", "covariance", "variance", "pca", "pls", "opls", "blf"),
        ContinuumRegression(alpha=0.75),
    ],
    "n_nonzero": [2],
    "n_clusters": [2],
    "cutoff": [0.05],
    "invariances": [[(np.tanh, 0.1)]],
    "objective": [("alignment", "signs"), ("alignment", "balanced")],
}
# Objects in place of a word, and the classes that understand them.
OBJECTS = {
    "decision": {
        "KernelFisherDiscriminant": DecisionRule(multi_class="ovr"),
        "SparseKernelFisherDiscriminant": DecisionRule(multi_class="joint"),
    }
}
CANDIDATES = {"resample": Candidates(resample=True), "scored_on": Candidates(scored_on=40)}
SHOWN = (Candidates, DecisionRule, tuple)  # options whose text says all
POOLS = ("candidates", "n_landmarks")  # parameters that take candidates as points
TWO_CLASSES = ("exponential", "logistic", "margin", "midpoint")  # losses and thresholds of two classes
WITHOUT_POOL = [{"span": "points"}, {"approximate": True}]  # look at no candidates


@dataclass(frozen=True)
class Case:
    """A class with one option away from its defaults."""

    entry: type
    option: dict = field(default_factory=dict, hash=False)
    target: str = "labels"

    def __str__(self) -> str:
        given = ",".join(
            f"{name}={value}" if np.isscalar(value) or isinstance(value, SHOWN) else name
            for name, value in self.option.items()
        )
        return self.entry.__name__ + (f"[{given}]" if given else "")

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def parameters(self) -> set[str]:
        return parameters_of(self.entry)

    @property
    def draws(self) -> bool:
        """Whether something is drawn at random even where the candidates are given."""
        return "candidates" in self.option

    @property
    def pool(self) -> str | None:
        """The parameter that takes candidates as points, where candidates may be given."""
        if self.draws or self.option in WITHOUT_POOL:
            return None
        return next((name for name in POOLS if name in self.parameters), None)

    def make(self, **others: Any) -> Any:
        common = {name: value for name, value in COMMON.items() if name in self.parameters}
        return self.entry(**{**common, **self.option, **others})

    def pooled(self, points: Any, **others: Any) -> Any:
        return self.make(**{self.pool: points}, **others)

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        return ROWS, TARGETS[self.target]


def _rows() -> np.ndarray:
    X = np.random.default_rng(7).standard_normal((72, 4)).round(3)
    return np.where(np.abs(X) < 0.4, 0.0, X)


ROWS = _rows()
SIGNAL = np.sin(2 * ROWS[:, 0]) + ROWS[:, 1] * ROWS[:, 2] + 0.2 * ROWS[:, 3]
TARGETS = {
    "numbers": SIGNAL,
    "labels": np.digitize(SIGNAL, np.quantile(SIGNAL, [0.2, 0.4, 0.6, 0.8])),
    "two": (np.median(SIGNAL) < SIGNAL).astype(int),
}


def parameters_of(entry: type) -> set[str]:
    return set(signature(entry).parameters)


def options(entry: type) -> Iterator[dict]:
    """Yield every word and every truth value that a parameter may have, one at a time."""
    defaults = {name: p.default for name, p in signature(entry).parameters.items()}
    for name, rules in entry._parameter_constraints.items():
        if name not in defaults or name in HOW:
            continue
        values = [
            word for rule in rules if isinstance(rule, StrOptions) for word in sorted(rule.options)
        ]
        values += [not defaults[name]] if "boolean" in rules else []
        if DecisionRule in rules:
            values += [DecisionRule(probability="in_sample")]
            values += [v for known, v in OBJECTS[name].items() if known == entry.__name__]
        for value in values + VALUES.get(name, []):
            of_labels = name == "loss" and value in TWO_CLASSES
            if value != defaults[name] and not (of_labels and is_regressor(entry())):
                yield {name: value}
    for name in sorted(entry._candidate_options):
        yield {"candidates": CANDIDATES[name]}


def target_of(entry: type, option: dict) -> str:
    estimator = entry(**option)
    if is_regressor(estimator):
        return "numbers"
    if set(map(str, option.values())) & set(TWO_CLASSES):
        return "two"
    several = not is_classifier(estimator) or get_tags(estimator).classifier_tags.multi_class
    return "labels" if several else "two"


@cache
def all_cases() -> tuple[Case, ...]:
    found = []
    for entry in EXTRACTORS:
        for option in [{}, *options(entry)]:
            found.append(Case(entry, option, target_of(entry, option)))
    return tuple(found)


def plain_cases() -> list[Case]:
    """Return the classes with their defaults."""
    return [case for case in all_cases() if not case.option]


IN_PIECES = (
    "test_precision_in_pieces_is_no_other_result",
    "test_rows_in_pieces_are_all_rows",
    "test_partial_fit_goes_on_after_use",
    "test_batches_are_all_rows",
    "test_weights_in_pieces_are_weights",
)
_COUNTED = "class_weight='balanced' counts the classes, and refuses rows in pieces"
_MARGIN = "the margin is that of all rows at once"
_ALL_ROWS = {
    "GreedyKernelFisherDiscriminant[decision=margin]": _MARGIN,
    "KernelFisherDiscriminant[decision=margin]": _MARGIN,
    "GreedyKernelFisherDiscriminant[class_weight=balanced]": _COUNTED,
    "KernelFisherDiscriminant[class_weight=balanced]": _COUNTED,
}
_TWO_CENTRES = "with all rows as candidates images are centred on both sides, on a pool features are"
_DENSE = "inverse transforms give dense rows, and sparse ones are refused"
_SCATTER = "features are uncorrelated in the scatter that their ratio is divided by"

# {contract: {estimator, or estimator[option]: reason}}
EXEMPT: dict[str, dict[str, str]] = {
    **{name: dict(_ALL_ROWS) for name in IN_PIECES},
    "test_a_pool_of_all_rows_is_the_exact_fit": {
        "AcceleratedKernelFeatureAnalysis[center=True]": _TWO_CENTRES,
        "SparseKernelFeatureAnalysis[center=True]": _TWO_CENTRES,
        "AcceleratedKernelFeatureAnalysis[cutoff=0.05]": (
            "points below the cutoff leave the sums where all rows are candidates, not on a pool"
        ),
        "KernelFisherDiscriminant[class_weight=balanced]": (
            "the penalty is a part of a mean over candidates: rows count by weight, points alike"
        ),
    },
    "test_sparse_rows_are_dense_rows": {
        "AcceleratedKernelFeatureAnalysis[fit_inverse_transform=True]": _DENSE,
        "SparseKernelFeatureAnalysis[fit_inverse_transform=True]": _DENSE,
        "KernelPCA[fit_inverse_transform=True]": _DENSE,
    },
    "test_whole_weights_are_repeated_rows": {
        "KernelOrthogonalCentroid[n_clusters=2]": "k-means starts from rows drawn at random",
    },
    "test_fewer_components_are_the_first_of_more": {
        "SubspaceKernelFeatures": "all directions of the subspace are learned together",
        "KernelFisherDiscriminant[decision=DecisionRule(multi_class='ovr')]": (
            "there is one feature for each class in any case"
        ),
    },
    "test_numbers_of_components": {
        "KernelBoosting": "a candidate may be taken again, so there may be more steps than candidates"
    },
    "test_rows_that_have_no_features": {
        "SparseKernelFisherDiscriminant": "the constant alone is a solution, and features are zero"
    },
    "test_features_or_directions_are_orthogonal": {
        "KernelFisherDiscriminant": _SCATTER,
        "GreedyKernelFisherDiscriminant": _SCATTER,
        "SparseKernelFisherDiscriminant": "each class has a feature of its own",
        "KernelDiscriminantQR": "discriminants are uncorrelated within classes",
        "KernelBoosting": "features are those of a sum of kernels",
        "SparseKernelFeatureAnalysis[scaling=l1]": "directions are orthogonal, of other lengths than 1",
        "OrientedKernelPCA[center=False]": _SCATTER,
        "RayleighCoefficient[center=False]": _SCATTER,
    },
}

# Solved by iterations that stop at a tolerance of their own.
TOLERANCES = {
    "SparseKernelPLS[selection=exact]": 1e-2,
    "SparseKernelBoostedLatentFeatures[selection=exact]": 1e-2,
    "SparseKernelBoostedLatentFeaturesClassifier[selection=exact]": 1e-2,
    "SubspaceKernelFeatures[kernel=linear]": 1e-6,
}


#: The contract that every option meets in every run: the form of all models.
MODEL_FORM = "test_features_are_kernel_times_projection_minus_offset"


def in_every_run(contract_name: str, case: Case) -> bool:
    """Tell if ``make test`` checks a contract for a case, or only ``make test-slow``.

    Every class meets every contract in every run. An option meets an eighth of the contracts there,
    each option another eighth, and the first one always.
    """
    if not case.option or contract_name == MODEL_FORM:
        return True
    return (all_cases().index(case) + crc32(contract_name.encode())) % 8 == 0


def contract(
    cases: Callable[[], Iterable[Case]], when: Callable[[Case], Any] = lambda _: True
) -> Callable:
    """Run a test for every case to which the contract applies, some only with the slow tests.

    An exempt case must fail, or its excuse is dropped; its reason is printed.
    """
    applicable = [case for case in cases() if when(case)]

    def mark(test: Callable) -> Callable:
        excuses = EXEMPT.get(test.__name__, {})
        names = {case.entry.__name__ for case in applicable} | set(map(str, applicable))
        if not names.issuperset(excuses):
            raise ValueError(f"{test.__name__} excuses {set(excuses) - names}, which it is not run for")
        arguments = []
        for case in applicable:
            reason = excuses.get(str(case), excuses.get(case.entry.__name__))
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            marks += [] if in_every_run(test.__name__, case) else [pytest.mark.slow]
            arguments.append(pytest.param(case, id=str(case), marks=marks))
        return pytest.mark.parametrize("case", arguments)(test)

    return mark
