"""Fit a sieve: encode the table, choose settings on few samples, fit all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data import row_slices
from ..metric_learning.evidence import apply_metric
from ..model import KernelModel
from ..model_selection import ComponentPathCV
from ..program import AffineMap, EncodeColumns, KernelSum
from ..program.tables import rows_of
from .calibration import HeldOut
from .clock import Clock
from .inputs import InputEncoder
from .kinds import AUTOMATIC
from .landmark_fit import best_ridge
from .losses import LOSSES, RegressionLoss
from .metrics import FEW_SAMPLES, LearnedMetric, Samples
from .race import Race, TrialResult
from .recipe import (
    Fold,
    MappedSamples,
    SieveRecipe,
    expected_warnings_ignored,
    fit_with,
    fold_head,
    held_out_scores,
    linear_head,
    with_little_memory,
)

#: Samples beyond which folds come from one pass, and scales from a sample.
MANY_SAMPLES = 20_000
CALIBRATION_SAMPLES = 2000  # held out of a fit to many samples
PROBED = 1000  # samples that tell how long a fit takes
_SAFE = 0.7  # of the seconds that are left
_MAPPED = 16_384  # samples that are mapped together
_SAMPLES_A_SECOND, _FEWEST_SAMPLES = 1000, 300  # that choose, where seconds are few
_MOST_CHOOSE = 3000  # of so many samples that one pass fits them
_OF_CHOICE = 0.4  # of the seconds that there are
_MORE_SECONDS = 20  # that must be left for fits to parts of few samples
_LEAST_PARTED = 20  # samples, of which parts are left out together


@dataclass(frozen=True)
class SieveSettings:
    """The parameters of a sieve estimator."""

    n_landmarks: int
    metric: bool
    kernel: str
    n_jobs: int | None
    clock: Clock
    random_state: np.random.RandomState
    by_folds: bool  # of the user choose the ridge and calibrate


@dataclass(frozen=True)
class Preparation:
    """The encoding, kernel, width and metric, chosen on some thousand samples."""

    encoder: InputEncoder
    recipe: SieveRecipe
    compared: Sequence[TrialResult]  # in the end, the best first
    trials: Sequence[TrialResult]
    n_samples: int  # that trials were made on

    def take_state(self, state: dict[str, Any]) -> None:
        """Restore the fields from a file; older files have trials of another form."""
        if "finalists" in state:
            state |= _of_older_file(state)
        vars(self).update({known.name: state[known.name] for known in fields(self)})

    @property
    def steps(self) -> tuple[EncodeColumns, AffineMap]:
        """Preprocessing that runs before the kernel: column encoding, then scaling and the metric."""
        encode, scale = self.encoder.steps
        return encode, scale.then(AffineMap(self.recipe.L))

    def mapped(self, X: Any, rows: np.ndarray | None = None) -> np.ndarray:
        """Return samples of a table, or some of its rows, preprocessed for the kernel."""
        numbers = np.arange(X.shape[0]) if rows is None else rows
        encode, affine = self.steps
        mapped = np.empty((len(numbers), affine.n_outputs))
        for part in row_slices(len(numbers), _MAPPED):
            mapped[part] = affine.run(encode.run(rows_of(X, numbers[part])))
        return mapped

    def samples(self, X: Any, Y: np.ndarray, weight: np.ndarray, rows: np.ndarray) -> MappedSamples:
        """Return preprocessed samples with their targets and weights."""
        return MappedSamples(self.mapped(X, rows), Y[rows], weight[rows])


@dataclass(frozen=True)
class Sieve:
    """A fitted model of tables."""

    preparation: Preparation
    model: KernelModel  # of the scores
    landmark_indices: np.ndarray
    held_out: HeldOut
    ridge: float
    n_fitted: int
    way: str

    @cached_property
    def steps(self) -> tuple[EncodeColumns, AffineMap, KernelSum]:
        """The model as program steps; the outputs of the last one are the scores."""
        return (*self.preparation.steps, KernelSum(self.model))

    def renumbered(self, rows: np.ndarray) -> Sieve:
        """Return the sieve with landmark indices translated to rows of a larger table."""
        return replace(self, landmark_indices=rows[self.landmark_indices])

    def to_state(self) -> dict[str, Any]:
        """Return the fields to be saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def take_state(self, state: dict[str, Any]) -> None:
        """Restore the fields from a file; older files have two of them as one."""
        if "function" in state:
            former = state.pop("function")
            state |= {"model": former.model, "landmark_indices": former.indices}
        vars(self).update({known.name: state[known.name] for known in fields(self)})


def _of_older_file(state: dict[str, Any]) -> dict[str, Any]:
    """Return recipe and trials of a preparation that has finalists, and trials of several widths."""

    def result(trial: Any, tried: Any, error: float) -> TrialResult:
        gamma, n_samples = tried.kernel.gamma, state["n_samples"]
        return TrialResult(
            trial.kind, trial.metric, np.nan, gamma, tried.ridge, [error], np.nan, n_samples, 0
        )

    def best(trial: Any) -> Any:
        return min(trial.found.tried, key=lambda tried: tried.error)

    finalists = sorted(state["finalists"], key=lambda each: each.error)
    ordered = [(each.trial, best(each.trial), each.error) for each in finalists]
    trials = [(trial, tried, tried.error) for trial in state["trials"] for tried in trial.found.tried]
    return {
        "recipe": finalists[0].recipe,
        "compared": [result(*each) for each in ordered],
        "trials": [result(*each) for each in trials],
    }


def prepare(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray,
    order: np.ndarray,
    categorical: np.ndarray,
    settings: SieveSettings,
) -> tuple[Preparation, HeldOut]:
    """Learn the encoding, and choose kernel, width and metric on the first samples of an order.

    Return also what is predicted for these samples by fits without them.
    """
    encoder = InputEncoder.fit(rows_of(X, order[:MANY_SAMPLES]), categorical)
    clock = settings.clock.part(_OF_CHOICE)
    most = MANY_SAMPLES if len(order) <= MANY_SAMPLES else _MOST_CHOOSE
    rows = order[: int(np.clip(_SAMPLES_A_SECOND * clock.left, _FEWEST_SAMPLES, most))]
    inputs, targets = encoder(rows_of(X, rows)), Y[rows]
    standardised, spread = _standardised(targets, weight[rows])
    samples = Samples.divided(inputs, standardised, weight[rows], encoder.groups, settings.metric)
    race = Race(samples, settings.n_landmarks, clock)
    names = AUTOMATIC if settings.kernel == "auto" else (settings.kernel,)
    compared = race.run(names, settings.metric)
    best = race.left_out(compared[0])
    recipe = SieveRecipe(
        best.result.kind,
        best.result.gamma,
        best.metric.L,
        best.result.ridge,
        settings.n_landmarks,
        int(settings.random_state.randint(2**31 - 1)),
        settings.n_jobs,
    )
    results = [entry.result for entry in compared]
    scored = len(rows) - len(best.scored) + np.flatnonzero(best.scored)
    scores = targets[scored] - spread * best.residuals[best.scored]
    held_out = HeldOut(scores, targets[scored], weight[rows][scored])
    few = _LEAST_PARTED <= len(rows) == len(order) <= FEW_SAMPLES
    if few and clock.left > _MORE_SECONDS and not settings.by_folds:
        metric = best.metric.of_every_part(samples)
        recipe, held_out = _left_out_parts(recipe, samples, metric, best.result.width, targets)
        results[0] = replace(results[0], gamma=recipe.gamma)
    return Preparation(encoder, recipe, results, race.trials, len(rows)), held_out


def _left_out_parts(
    recipe: SieveRecipe, samples: Samples, metric: LearnedMetric, width: float, targets: np.ndarray
) -> tuple[SieveRecipe, HeldOut]:
    """Fit without each part of few samples, in the metric that has not seen it.

    Return the recipe of all samples with the best ridge, and the scores of the parts.
    """
    loss, numbers, of_parts = LOSSES["squared_error"], np.arange(len(samples)), []
    for part, L in enumerate(metric.of_parts):
        held_out = numbers % len(metric.of_parts) == part
        if np.ptp(targets[~held_out], axis=0).any():
            fold = (np.flatnonzero(~held_out), np.flatnonzero(held_out))
            data = MappedSamples(apply_metric(samples.X, L), targets, samples.weight)
            of_parts.append(held_out_scores(recipe.in_metric(L, samples.X, width), data, [fold], loss))
    scores = [HeldOut.concatenate(parts) for parts in zip(*of_parts, strict=True)]
    best = best_ridge([loss.error(each) for each in scores])
    chosen = replace(recipe, ridge=float(recipe.ridges[best]))
    return chosen.in_metric(metric.L, samples.X, width), scores[best]


def _standardised(Y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Return targets with mean 0 and total variance 1, and what they were divided by.

    So errors are shares of the variance.
    """
    centred = Y - np.average(Y, axis=0, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, axis=0, weights=weight).sum())) or 1.0
    return centred / spread, spread


def fit_chosen(preparation: Preparation, data: MappedSamples, held_out: HeldOut) -> Sieve:
    """Fit all samples with the ridge that was best when each sample was left out."""
    recipe = preparation.recipe
    model, indices = fit_with(recipe, data, LOSSES["squared_error"], recipe.ridge)
    way = f"leaving out each of {len(held_out.scores)} samples"
    return Sieve(preparation, model, indices, held_out, recipe.ridge, len(data), way)


def fit_folds(
    preparation: Preparation,
    data: MappedSamples,
    folds: Sequence[Fold],
    loss: RegressionLoss,
) -> Sieve:
    """Cross-validate all ridges, and fit all samples with the best one."""
    recipe = preparation.recipe
    scores = held_out_scores(recipe, data, folds, loss)
    errors = [loss.error(each) for each in scores]
    best = best_ridge(errors)
    ridge = float(recipe.ridges[best])
    model, indices = fit_with(recipe, data, loss, ridge)
    way = f"{len(folds)} folds of {len(data)} samples"
    return Sieve(preparation, model, indices, scores[best], ridge, len(data), way)


def fit_many(preparation: Preparation, data: MappedSamples, n_folds: int) -> Sieve:
    """Fit in one pass; choose the ridge from sums by fold, and calibrate on held-out samples."""
    recipe = preparation.recipe
    fitted, held_out = data[:-CALIBRATION_SAMPLES], data[-CALIBRATION_SAMPLES:]
    total = float(fitted.weight.sum())
    search = recipe.search(len(fitted), total, n_folds)
    with expected_warnings_ignored(), with_little_memory():
        search.fit(fitted.U, fitted.Y, sample_weight=fitted.weight)
    way = f"{n_folds} folds of {len(fitted)} samples, by {search.way_}"
    return sieve_from_search(preparation, search, total, held_out, len(fitted), way)


def sieve_from_search(
    preparation: Preparation,
    search: ComponentPathCV,
    total_weight: float,
    held_out: HeldOut | MappedSamples,
    n_fitted: int,
    way: str,
) -> Sieve:
    """Build a sieve from a search in one pass, calibrated on held-out samples."""
    best = search.best_estimator_
    model = fold_head(best.extractor, linear_head(best.head))
    if isinstance(held_out, MappedSamples):
        held_out = held_out.scored(model, preparation.recipe.n_jobs)
    ridge = float(search.best_params_["head__alpha"]) / total_weight
    indices = np.asarray(best.extractor.landmark_indices_)
    return Sieve(preparation, model, indices, held_out, ridge, n_fitted, way)


def affordable(preparation: Preparation, few: MappedSamples, n_fits: int, clock: Clock) -> float:
    """Estimate how many samples can be fitted in the time left, by timing a fit on a few."""
    if clock.seconds is None or len(few) < PROBED:
        return np.inf
    start = time.perf_counter()
    fit_with(preparation.recipe, few, LOSSES["squared_error"], preparation.recipe.ridge)
    spent = time.perf_counter() - start
    return max(PROBED, _SAFE * PROBED * clock.left / (n_fits * spent))
