"""What was tried and chosen, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .assembly import Preparation, Sieve
from .choice import Trial

_NAMED = 3  # features


def kernel_in_words(trial: Trial) -> str:
    """Return the name of a kernel with its parameters but the width."""
    params = ", ".join(f"{name}={value:g}" for name, value in trial.kind.params.items())
    return trial.kind.name + (f" ({params})" if params else "")


def in_words(trial: Trial) -> str:
    """Return a kernel, its width and its metric as part of a sentence."""
    params = "".join(f", {name}={value:g}" for name, value in trial.kind.params.items())
    gamma = trial.kernel.gamma  # type: ignore[attr-defined]
    metric = "no metric" if trial.metric == "identity" else f"a metric ({trial.metric})"
    return f"kernel {trial.kind.name!r} (gamma={gamma:.3g}{params}) with {metric}"


def sentences(
    sieve: Sieve, importances: np.ndarray, names: np.ndarray, seconds: float
) -> Iterator[str]:
    """Yield the report."""
    yield _of_inputs(sieve.preparation)
    yield from _of_choice(sieve.preparation)
    n_landmarks = len(sieve.function.indices)
    yield (
        f"Fitted {sieve.n_fitted} samples with {n_landmarks} landmarks; ridge {sieve.ridge:.3g} by "
        f"{sieve.way}."
    )
    most = [i for i in np.argsort(-importances, kind="stable")[:_NAMED] if importances[i] > 0]
    named = ", ".join(f"{names[i]} ({100 * importances[i]:.0f} %)" for i in most)
    yield f"The features that count most: {named or 'none'}."
    yield f"All of it took {seconds:.1f} s."


def _of_inputs(preparation: Preparation) -> str:
    encoder = preparation.encoder
    text = f"{encoder.n_features} features became {len(encoder.source)} columns"
    n_categories, n_missing = len(encoder.categories), len(encoder.with_missing)
    if n_categories:
        text += f", {n_categories} of them as indicators of categories"
    if n_missing:
        text += f"; missing values of {n_missing} became medians, with an indicator"
    return text + "."


def _of_choice(preparation: Preparation) -> Iterator[str]:
    best = preparation.best
    yield (
        f"{len(preparation.trials)} combinations of kernel and metric were tried on "
        f"{preparation.n_samples} samples, and the best of each kernel fitted to folds of these: "
        f"{in_words(best.trial)} had the smallest error, {best.error:.3g} of the variance of the "
        "target."
    )
    others = sorted((f for f in preparation.finalists if f is not best), key=lambda f: f.error)
    if others:
        yield f"Next was {in_words(others[0].trial)}, {others[0].error:.3g}."
