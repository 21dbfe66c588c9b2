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
from ..metric_learning.rounds import first_minimum
from ..model import KernelModel
from ..model_selection import ComponentPathCV
from ..program import AffineMap, EncodeColumns, KernelSum
from ..program.tables import rows_of
from .calibration import HeldOut
from .choice import AUTOMATIC, MOST_SAMPLES, Samples, Trial, finalists, run_trials
from .clock import Clock
from .inputs import InputEncoder
from .losses import LOSSES, RegressionLoss
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
_SAMPLES_A_SECOND, _FEWEST_SAMPLES = 300, 300  # that choose, where seconds are few
_OF_CHOICE = 0.4  # of the seconds that there are


@dataclass(frozen=True)
class SieveSettings:
    """The parameters of a sieve estimator."""

    n_landmarks: int
    metric: bool
    kernel: str
    n_jobs: int | None
    clock: Clock
    random_state: np.random.RandomState


@dataclass(frozen=True)
class Finalist:
    """The best trial of a kernel, with its error on selected landmarks."""

    trial: Trial
    recipe: SieveRecipe
    error: float


@dataclass(frozen=True)
class Preparation:
    """The encoding, kernel, width and metric, chosen on a few thousand samples."""

    encoder: InputEncoder
    finalists: Sequence[Finalist]
    trials: Sequence[Trial]
    n_samples: int  # that trials were made on

    @property
    def best(self) -> Finalist:
        return self.finalists[first_minimum([finalist.error for finalist in self.finalists])]

    @property
    def recipe(self) -> SieveRecipe:
        return self.best.recipe

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


def prepare(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray,
    order: np.ndarray,
    categorical: np.ndarray,
    settings: SieveSettings,
) -> Preparation:
    """Learn the encoding, and choose kernel, width and metric on the first samples of an order."""
    random_state = settings.random_state
    encoder = InputEncoder.fit(rows_of(X, order[:MANY_SAMPLES]), categorical)
    clock = settings.clock.part(_OF_CHOICE)
    rows = order[: int(np.clip(_SAMPLES_A_SECOND * clock.left, _FEWEST_SAMPLES, MOST_SAMPLES))]
    samples = Samples.drawn(
        encoder(rows_of(X, rows)),
        _standardised(Y[rows], weight[rows]),
        weight[rows],
        encoder.groups,
        random_state,
    )
    names = AUTOMATIC if settings.kernel == "auto" else (settings.kernel,)
    trials = list(run_trials(samples, names, settings.metric, clock))
    seed = int(random_state.randint(2**31 - 1))
    # In order of their errors so far, so that those for which there is no time are the worse ones.
    compared: list[Finalist] = []
    for trial in finalists(trials, sum(len(split.held_out) for split in samples.splits)):
        if compared and clock.is_over:
            break
        recipe = _recipe(trial, settings, seed)
        compared.append(Finalist(trial, recipe, _error_of_splits(trial, recipe, samples)))
    slim = {id(trial): trial.without_functions() for trial in trials}
    compared = [replace(finalist, trial=slim[id(finalist.trial)]) for finalist in compared]
    return Preparation(encoder, compared, list(slim.values()), len(rows))


def _recipe(trial: Trial, settings: SieveSettings, seed: int) -> SieveRecipe:
    return SieveRecipe(
        trial.kind,
        trial.kernel.gamma,  # type: ignore[attr-defined]
        trial.found.L,
        trial.ridge,
        settings.n_landmarks,
        seed,
        settings.n_jobs,
    )


def _error_of_splits(trial: Trial, recipe: SieveRecipe, samples: Samples) -> float:
    """Return the held-out error with selected landmarks, and the best ridge.

    Splits are those of the trials, each with the metric that its fitted samples have taught.
    """
    loss, of_splits = LOSSES["squared_error"], []
    for split, L in zip(samples.splits, trial.found.of_splits, strict=True):
        U = apply_metric(samples.X, L)
        gamma = trial.kind.kernel(U, trial.found.best.width).gamma  # type: ignore[attr-defined]
        data = MappedSamples(U, samples.Y, samples.weight)
        fold = (split.fitted, split.held_out)
        if np.ptp(data.Y[split.fitted], axis=0).any():
            of_splits.append(held_out_scores(replace(recipe, gamma=gamma), data, [fold], loss))
    if not of_splits:
        return trial.error
    return min(loss.error(HeldOut.concatenate(parts)) for parts in zip(*of_splits, strict=True))


def _standardised(Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return targets with mean 0 and total variance 1, so that errors are shares of the variance."""
    centred = Y - np.average(Y, axis=0, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, axis=0, weights=weight).sum()))
    return centred / spread if spread > 0 else centred


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
    best = len(errors) - 1 - first_minimum(errors[::-1])  # of equals, the largest ridge rounds least
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
