"""Rules that choose a number of features, and give the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..exceptions import InvalidDataError, InvalidParameterError

RULES = ("one_standard_error", "best", "budget")


@dataclass(frozen=True)
class Scores:
    """Test scores of all models, a row for each fold and a column for each model."""

    test: np.ndarray
    sizes: np.ndarray  # k of each model
    evaluations: np.ndarray
    latency: np.ndarray | None = None  # microseconds, where they were asked for
    settings: Sequence[str] = ()  # of each model, in words, where there are several
    are_negative_errors: bool = False

    @property
    def measure(self) -> str:
        """Name of the score in sentences."""
        return "mean test error" if self.are_negative_errors else "mean test score"

    def shown(self, model: int) -> str:
        """Return the mean score of a model for a sentence; negative errors become positive."""
        return f"{-self.mean[model] if self.are_negative_errors else self.mean[model]:.4g}"

    def name(self, model: int) -> str:
        """Return the name of a model for a sentence."""
        k = f"k = {self.sizes[model]}"
        return f"{k} ({self.settings[model]})" if self.settings else k

    @property
    def mean(self) -> np.ndarray:
        return self.test.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean over the folds; zero for a single fold."""
        n_folds = len(self.test)
        if n_folds == 1:
            return np.zeros(self.test.shape[1])
        return self.test.std(axis=0, ddof=1) / np.sqrt(n_folds)


def is_negative_error(scoring: object) -> bool:
    """Return True if ``scoring`` names one of scikit-learn's negated errors."""
    return isinstance(scoring, str) and scoring.startswith("neg_")


@dataclass(frozen=True)
class Budget:
    """Limits on the cost of a prediction."""

    max_kernel_evaluations: float | None = None
    max_latency_us: float | None = None

    @property
    def given(self) -> bool:
        return self.max_kernel_evaluations is not None or self.max_latency_us is not None

    def allows(self, scores: Scores) -> np.ndarray:
        """Return a mask of the models within the budget in every fold."""
        allowed = np.ones(len(scores.sizes), dtype=bool)
        if self.max_kernel_evaluations is not None:
            allowed &= scores.evaluations <= self.max_kernel_evaluations
        if self.max_latency_us is not None:
            allowed &= np.asarray(scores.latency) <= self.max_latency_us
        return allowed

    def __str__(self) -> str:
        parts = []
        if self.max_kernel_evaluations is not None:
            parts.append(f"{self.max_kernel_evaluations:g} kernel evaluations")
        if self.max_latency_us is not None:
            parts.append(f"{self.max_latency_us:g} microseconds")
        return "at most " + " and ".join(parts) + " a sample"


def choose(scores: Scores, rule: str, budget: Budget) -> tuple[int, str]:
    """Choose a model by a rule, within the budget; return its index and the reason as a sentence."""
    eligible = _eligible(scores, budget)
    mean, k = scores.mean, scores.sizes
    best = _first(eligible, -mean, k)
    within = f" of the models with {budget}" if budget.given else ""
    if len(k) == 1:
        return best, f"{scores.name(best)} was given; its {scores.measure} is {scores.shown(best)}."
    if rule != "one_standard_error":
        told = f"{scores.name(best)} has the best {scores.measure}{within}, {scores.shown(best)}."
        return best, told + _about_the_end(scores, best, budget)
    error = scores.standard_error[best]
    near = eligible[mean[eligible] >= mean[best] - error]
    chosen = _first(near, k, -mean)
    n_folds = len(scores.test)
    folds = f"over {n_folds} folds" if n_folds > 1 else "unknown from one fold"
    if k[chosen] == k[best]:
        told = (
            f"{scores.name(chosen)} has the best {scores.measure}{within}, {scores.shown(chosen)}, and "
            f"no smaller k is within one standard error ({error:.2g}, {folds}) of it."
        )
        return chosen, told + _about_the_end(scores, chosen, budget)
    return chosen, (
        f"{scores.name(chosen)} is the smallest number of features whose {scores.measure}, "
        f"{scores.shown(chosen)}, is within one standard error ({error:.2g}, {folds}) of the best"
        f"{within}, {scores.shown(best)} with {scores.name(best)}."
    )


def _about_the_end(scores: Scores, chosen: int, budget: Budget) -> str:
    """Return advice for a best k that is the largest one tried."""
    if budget.given or scores.sizes[chosen] < scores.sizes.max():
        return ""
    return " No larger k was tried: a larger n_components may be better."


def _eligible(scores: Scores, budget: Budget) -> np.ndarray:
    """Return the models within the budget that have a score in every fold."""
    scored = np.flatnonzero(np.isfinite(scores.mean))
    if not len(scored):
        raise InvalidDataError(
            "No number of features has a finite test score in every fold; look at path_ of a fit with "
            "fewer features, at the scorer, and for folds that lack a class."
        )
    eligible = scored[budget.allows(scores)[scored]]
    if not len(eligible):
        cheapest = f"{scores.evaluations[scored].min():g} kernel evaluations"
        if scores.latency is not None:
            cheapest += f" and {scores.latency[scored].min():.1f} microseconds"
        raise InvalidParameterError(
            f"No model has {budget}: the cheapest needs {cheapest}; raise the budget, lower "
            "n_components, or choose a sparser extractor."
        )
    return eligible


def _first(models: np.ndarray, *keys: np.ndarray) -> int:
    """Return the first model in lexicographic order of the keys."""
    return int(models[np.lexsort([key[models] for key in reversed(keys)])[0]])
