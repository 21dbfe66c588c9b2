"""From a table to a fitted sieve: encode, choose on few samples, fit all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

from .calibration import HeldOut
from .choice import AUTOMATIC, MOST_SAMPLES, Samples, Trial, best_of, tried
from .clock import Clock
from .inputs import InputEncoder, rows_of
from .losses import RegressionLoss
from .recipe import Data, Fold, LandmarkModel, Recipe, fit_with, held_out_scores

#: Samples beyond which folds come from one pass, and scales from a sample.
MANY_SAMPLES = 20_000
CALIBRATION_SAMPLES = 2000  # held out of a fit to many samples
_PROBED = 1000  # samples that tell how long a fit takes
_OF_CHOICE = 0.4  # of the seconds that there are


@dataclass(frozen=True)
class Settings:
    """What the parameters of an estimator say."""

    n_landmarks: int
    metric: bool
    kernel: str
    n_jobs: int | None
    clock: Clock
    random_state: np.random.RandomState


@dataclass(frozen=True)
class Preparation:
    """What a few thousand samples settle."""

    encoder: InputEncoder
    recipe: Recipe
    trials: Sequence[Trial]
    best: Trial
    n_samples: int  # that trials were made on

    def mapped(self, X: Any) -> np.ndarray:
        """Return samples of a table as the kernel sees them."""
        return self.recipe.mapped(self.encoder(X))


@dataclass(frozen=True)
class Sieve:
    """A fitted function of tables."""

    preparation: Preparation
    function: LandmarkModel
    held_out: HeldOut
    ridge: float
    n_fitted: int
    way: str

    def renumbered(self, rows: np.ndarray) -> Sieve:
        """Return the sieve of samples that have these numbers among all."""
        return replace(self, function=self.function.renumbered(rows))

    def scores(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the outputs of the linear head."""
        return self.function.scores(self.preparation.mapped(X), n_jobs)


def prepare(
    X: Any, Y: np.ndarray, weight: np.ndarray, categorical: np.ndarray, settings: Settings
) -> Preparation:
    """Learn the encoding, and choose kernel, width and metric."""
    random_state = settings.random_state
    order = random_state.permutation(len(Y))
    encoder = InputEncoder.fit(rows_of(X, np.sort(order[:MANY_SAMPLES])), categorical)
    rows = order[:MOST_SAMPLES]
    samples = Samples.drawn(
        encoder(rows_of(X, rows)),
        _standardised(Y[rows], weight[rows]),
        weight[rows],
        encoder.groups,
        random_state,
    )
    names = AUTOMATIC if settings.kernel == "auto" else (settings.kernel,)
    clock = settings.clock.part(_OF_CHOICE)
    trials = list(tried(samples, names, settings.metric, clock))
    best = best_of(trials, sum(len(split.held_out) for split in samples.splits))
    recipe = Recipe(
        best.kind,
        best.kernel.gamma,  # type: ignore[attr-defined]
        best.found.L,
        best.ridge,
        settings.n_landmarks,
        int(random_state.randint(2**31 - 1)),
        settings.n_jobs,
    )
    return Preparation(encoder, recipe, trials, best, len(rows))


def _standardised(Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return targets with mean 0 and variances that add up to 1, in parts of which errors are."""
    centred = Y - np.average(Y, axis=0, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, axis=0, weights=weight).sum()))
    return centred / spread if spread > 0 else centred


def fit_folds(
    preparation: Preparation,
    data: Data,
    folds: Sequence[Fold],
    loss: RegressionLoss,
) -> Sieve:
    """Fit every fold with all ridges, and all samples with the best one."""
    recipe = preparation.recipe
    heads = loss.heads(recipe.ridges, data.weight.sum())
    scores = held_out_scores(recipe, data, folds, heads)
    best = int(np.argmin([loss.error(each) for each in scores]))
    function = fit_with(recipe, data, heads[best])
    way = f"{len(folds)} folds of {len(data)} samples"
    return Sieve(preparation, function, scores[best], float(recipe.ridges[best]), len(data), way)


def fit_many(preparation: Preparation, data: Data, n_folds: int) -> Sieve:
    """Pass once over all samples but some, which calibrate; folds and ridges are told by sums."""
    recipe = preparation.recipe
    order = np.random.RandomState(recipe.seed).permutation(len(data))
    held, rows = np.sort(order[:CALIBRATION_SAMPLES]), np.sort(order[CALIBRATION_SAMPLES:])
    fitted, held_out = data[rows], data[held]
    total = float(fitted.weight.sum())
    search = recipe.search(len(rows), total, n_folds)
    search.fit(fitted.U, fitted.Y, sample_weight=fitted.weight)
    best = search.best_estimator_
    function = LandmarkModel.of(best.extractor, best.head).renumbered(rows)
    scores = held_out.scored(function, recipe.n_jobs)
    ridge = float(search.best_params_["head__alpha"]) / total
    way = f"{n_folds} folds of {len(rows)} samples, by {search.way_}"
    return Sieve(preparation, function, scores, ridge, len(rows), way)


def affordable(preparation: Preparation, data: Data, n_fits: int, clock: Clock) -> int:
    """Return how many samples can be fitted in the seconds that are left, by timing a fit to few."""
    n = len(data)
    if clock.seconds is None or n <= _PROBED:
        return n
    start = time.perf_counter()
    few = data[np.arange(_PROBED)]
    fit_with(preparation.recipe, few, Ridge(preparation.recipe.ridge * few.weight.sum()))
    spent = time.perf_counter() - start
    return int(np.clip(_PROBED * clock.left / (n_fits * spent), _PROBED, n))
