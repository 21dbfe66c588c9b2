"""A report on the trials and the fitted model, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..kernels import PRESETS
from .assembly import Preparation, Sieve
from .calibration import HeldOut
from .kinds import KINDS, KernelKind
from .losses import RegressionLoss
from .race import TrialResult

_NAMED = 3  # features


def cv_results(trials: Sequence[TrialResult]) -> dict[str, Any]:
    """Return all trials as scikit-learn's searches by halving do: arrays with one entry for each."""
    params = [
        {"kernel": _full_name(t.kind), "gamma": t.gamma, "metric": t.metric, "ridge": t.ridge}
        for t in trials
    ]
    of_splits = -np.array([trial.errors for trial in trials])
    means = -np.array([trial.error for trial in trials])
    return {
        "n_resources": np.array([trial.n_samples for trial in trials]),
        "n_landmarks": np.array([trial.n_landmarks for trial in trials]),
        "mean_fit_time": np.array([trial.seconds for trial in trials]),
        **{f"param_{name}": np.array([each[name] for each in params]) for name in params[0]},
        "params": params,
        **{f"split{i}_test_score": scores for i, scores in enumerate(of_splits.T)},
        "mean_test_score": means,
        "std_test_score": of_splits.std(axis=1),
        "rank_test_score": rankdata(-means, method="min").astype(np.int32),
    }


def _full_name(kind: KernelKind) -> str:
    """Return the kernel name that a sieve's ``kernel`` parameter accepts."""
    return next((name for name in PRESETS if KINDS[name] == kind), kind.name)


def kernel_in_words(trial: TrialResult) -> str:
    """Return the kernel's name and parameters, without the width."""
    params = ", ".join(f"{name}={value:g}" for name, value in trial.kind.params.items())
    return trial.kind.name + (f" ({params})" if params else "")


def in_words(trial: TrialResult) -> str:
    """Describe a trial: its kernel, width and metric."""
    params = "".join(f", {name}={value:g}" for name, value in trial.kind.params.items())
    metric = "no metric" if trial.metric == "identity" else f"a metric ({trial.metric})"
    return f"kernel {trial.kind.name!r} (gamma={trial.gamma:.3g}{params}) with {metric}"


def sentences(
    sieve: Sieve,
    importances: np.ndarray,
    names: np.ndarray,
    seconds: float,
    loss: RegressionLoss,
    *,
    classifies: bool,
) -> Iterator[str]:
    """Yield the sentences of the report."""
    yield _encoding_sentence(sieve.preparation)
    yield from _choice_sentences(sieve.preparation, classifies)
    n_landmarks = len(sieve.landmark_indices)
    yield (
        f"Fitted to {sieve.n_fitted} samples with {n_landmarks} landmarks; ridge penalty "
        f"{sieve.ridge:.3g}, chosen by {sieve.way}."
    )
    yield f"On held-out samples: {_score(sieve.held_out, loss, classifies)}."
    most = [i for i in np.argsort(-importances, kind="stable")[:_NAMED] if importances[i] > 0]
    named = ", ".join(f"{names[i]} ({100 * importances[i]:.0f} %)" for i in most)
    yield f"Most important features: {named or 'none'}."
    yield f"Fitting took {seconds:.1f} s."


def _score(held_out: HeldOut, loss: RegressionLoss, classifies: bool) -> str:
    """Return the held-out accuracy, or R2."""
    y, scores, weight = held_out.targets, held_out.scores, held_out.weight
    if classifies:
        right = y.argmax(axis=1) == scores.argmax(axis=1)
        return f"accuracy {np.average(right, weights=weight):.3f}"
    errors = weight @ (y - loss.predictions(scores)) ** 2
    variances = weight @ (y - np.average(y, axis=0, weights=weight)) ** 2
    return f"R2 {1 - errors.sum() / (variances.sum() or 1.0):.3f}"


def _encoding_sentence(preparation: Preparation) -> str:
    encoder = preparation.encoder
    left_out = sum(not column.values for column in encoder.categories)
    n_categories, n_missing = len(encoder.categories) - left_out, len(encoder.with_missing)
    done = []
    if left_out:
        were = "was" if left_out == 1 else "were"
        done.append(f"{left_out} with a value of its own for each sample {were} left out")
    if n_categories:
        were = "was" if n_categories == 1 else "were"
        done.append(f"{_counted(n_categories, 'categorical feature')} {were} one-hot encoded")
    if n_missing:
        done.append(
            f"missing values of {_counted(n_missing, 'numeric feature')} were filled with medians "
            "and flagged by indicators"
        )
    features = _counted(encoder.n_features, "feature")
    if not done:
        return f"{features}, all numeric."
    return f"{features}: {', '.join(done)}, giving {_counted(len(encoder.source), 'column')}."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _choice_sentences(preparation: Preparation, classifies: bool) -> Iterator[str]:
    best, *others = preparation.compared
    n_combinations = len({(trial.kind.label, trial.metric) for trial in preparation.trials})
    of_what = " of the class indicators" if classifies else ""
    yield (
        f"{n_combinations} combinations of kernel and metric were compared on up to "
        f"{preparation.n_samples} samples, leaving each out: {in_words(best)} was best, with held-out "
        f"R2 {1 - best.error:.3f}{of_what}."
    )
    if others:
        yield f"Next was {in_words(others[0])}, with {1 - others[0].error:.3f}."
