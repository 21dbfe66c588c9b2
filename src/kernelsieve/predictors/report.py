"""What was tried and chosen, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..kernels import PRESETS
from .assembly import Preparation, Sieve
from .choice import KINDS, KernelKind, Trial

_NAMED = 3  # features


def cv_results(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return what was tried as scikit-learn's searches do: arrays with one entry for each width."""
    tried = [(trial, fitted) for trial in trials for fitted in trial.found.tried]
    params = [
        {
            "kernel": _full_name(trial.kind),
            "gamma": fitted.kernel.gamma,  # type: ignore[attr-defined]
            "metric": trial.metric,
            "ridge": fitted.ridge,
        }
        for trial, fitted in tried
    ]
    of_splits = -np.array([fitted.errors for _, fitted in tried])
    means = -np.array([fitted.error for _, fitted in tried])
    return {
        "mean_fit_time": np.array([fitted.seconds for _, fitted in tried]),
        **{f"param_{name}": np.array([each[name] for each in params]) for name in params[0]},
        "params": params,
        **{f"split{i}_test_score": scores for i, scores in enumerate(of_splits.T)},
        "mean_test_score": means,
        "std_test_score": of_splits.std(axis=1) if of_splits.size else np.full(len(means), np.nan),
        "rank_test_score": rankdata(-means, method="min").astype(np.int32),
    }


def _full_name(kind: KernelKind) -> str:
    """Return the name by which a sieve takes the kernel."""
    return next((name for name in PRESETS if KINDS[name] == kind), kind.name)


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
        f"{preparation.n_samples} samples, and the best of each kernel again with chosen landmarks: "
        f"{in_words(best.trial)} had the smallest error, {best.error:.3g} of the variance of the "
        "target."
    )
    others = sorted((f for f in preparation.finalists if f is not best), key=lambda f: f.error)
    if others:
        yield f"Next was {in_words(others[0].trial)}, {others[0].error:.3g}."
