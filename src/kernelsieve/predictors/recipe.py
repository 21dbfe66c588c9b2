"""Fit the chosen recipe: landmarks by sparse maximal alignment, and a linear head on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

from ..config import config_context, get_config
from ..exceptions import FewerFeaturesWarning, InputScaleWarning, InvalidDataError, NoFeaturesError
from ..greedy import SparseMaximalAlignment
from ..metric_learning.evidence import apply_metric
from ..model import KernelModel
from ..model_selection import ComponentPathCV
from ..program import AffineMap, KernelSum
from .calibration import HeldOut
from .kinds import KernelKind
from .losses import RegressionLoss
from .ridge import LinearHead

#: Multiples of the ridge that was best for a few thousand samples: more samples ask for less.
RIDGES = 10.0 ** np.arange(-3.0, 1.5, 0.5)
_LEAST_RIDGE = 1e-11  # whose root is seen beside the largest feature in sums of squares
_SCREEN_BYTES = 2**28  # for kernel values of candidates, beside a copy of the samples
Fold = tuple[np.ndarray, np.ndarray]  # numbers of the samples to fit, and of those held out


@dataclass(frozen=True)
class SieveRecipe:
    """The settings of the final fit: kernel, metric, ridge, number of landmarks."""

    kind: KernelKind
    gamma: float
    L: np.ndarray  # the metric, or its diagonal
    ridge: float
    n_landmarks: int
    seed: int
    n_jobs: int | None

    def extractor(self, n_samples: int) -> SparseMaximalAlignment:
        """Return the estimator that selects landmarks, for a number of samples."""
        return SparseMaximalAlignment(
            min(self.n_landmarks, n_samples),
            kernel=self.kind.name,
            gamma=self.gamma,
            kernel_params=self.kind.params or None,
            scale="rkhs",
            tol=1e-12,
            target="continuous",
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )

    def in_metric(self, L: np.ndarray, X: np.ndarray, width: float) -> SieveRecipe:
        """Return the recipe with another metric, and with a kernel of a width in it."""
        return replace(self, L=L, gamma=self.kind.gamma(apply_metric(X, L), width))

    @property
    def ridges(self) -> np.ndarray:
        """The ridge penalties to try, relative to a mean of squares."""
        return np.unique(np.maximum(self.ridge * RIDGES, _LEAST_RIDGE))

    def search(self, n_samples: int, total_weight: float, n_folds: int) -> ComponentPathCV:
        """Return the search for ridge and number of landmarks in one pass over many samples."""
        most = min(self.n_landmarks, n_samples)
        return ComponentPathCV(
            self.extractor(n_samples),
            Ridge(),
            # A fold may have fewer independent landmarks than asked for.
            n_components=np.unique(np.geomspace(1, most, 25).round().astype(int)),
            param_grid={"head__alpha": list(self.ridges * total_weight)},
            cv=n_folds,
            scoring="neg_mean_squared_error",
            rule="best",
        )


@dataclass(frozen=True)
class MappedSamples:
    """Preprocessed samples with their targets and weights."""

    U: np.ndarray
    Y: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.U)

    @property
    def are_equal(self) -> bool:
        """Whether all samples are the same."""
        return not np.ptp(self.U, axis=0).any()

    def __getitem__(self, rows: Any) -> MappedSamples:
        return MappedSamples(self.U[rows], self.Y[rows], self.weight[rows])

    def scored(self, model: KernelModel, n_jobs: int | None) -> HeldOut:
        """Return the scores of these held-out samples."""
        return HeldOut(model.features(self.U, n_jobs), self.Y, self.weight)


def fold_head(extractor: SparseMaximalAlignment | EqualSamples, head: LinearHead) -> KernelModel:
    """Fold a linear head into the feature model, so that its outputs are the scores."""
    after = AffineMap(head.coefficients, shift=head.intercept)
    return KernelSum(extractor._current_fit().model).folded(after).model


@contextmanager
def expected_warnings_ignored() -> Iterator[None]:
    """Ignore warnings of expected cases: too few independent landmarks, inputs of little weight."""
    with warnings.catch_warnings():
        for kind in (FewerFeaturesWarning, InputScaleWarning):
            warnings.simplefilter("ignore", kind)
        yield


def linear_head(head: Ridge) -> LinearHead:
    """Return the coefficients of a fitted ``Ridge``."""
    return LinearHead(np.atleast_2d(head.coef_).T, np.ravel(head.intercept_))


class EqualSamples:
    """Stands in for the extractor if all samples are equal: one feature, which is 0."""

    def __init__(self, recipe: SieveRecipe, data: MappedSamples) -> None:
        kernel = recipe.kind.kernel(data.U, 1.0)
        zeros = np.zeros(1, np.intp)
        self.model = KernelModel(kernel, data.U[:1], np.zeros((1, 1)), np.zeros(1), zeros)
        self.landmark_indices_ = zeros

    def transform(self, U: np.ndarray) -> np.ndarray:
        """Return the feature, which is 0."""
        return np.zeros((len(U), 1))

    def _current_fit(self) -> EqualSamples:
        return self


def with_little_memory() -> AbstractContextManager[None]:
    """Limit the memory of screening, which runs beside a copy of all samples."""
    return config_context(max_memory=min(get_config()["max_memory"], _SCREEN_BYTES))


def fit_extractor(recipe: SieveRecipe, data: MappedSamples) -> SparseMaximalAlignment | EqualSamples:
    """Select landmarks; if all samples are equal, return a stand-in."""
    if data.are_equal:
        return EqualSamples(recipe, data)
    try:
        with expected_warnings_ignored():
            extractor = recipe.extractor(len(data))
            with with_little_memory():
                return extractor.fit(data.U, data.Y, sample_weight=data.weight)
    except NoFeaturesError:
        return EqualSamples(recipe, data)


def fit_with(
    recipe: SieveRecipe, data: MappedSamples, loss: RegressionLoss, ridge: float
) -> tuple[KernelModel, np.ndarray]:
    """Fit landmarks and a head; return the model of the scores, and the rows of the landmarks."""
    extractor = fit_extractor(recipe, data)
    features = extractor.transform(data.U)
    (head,) = loss.heads(features, data.Y, data.weight, np.array([ridge]))
    return fold_head(extractor, head), np.asarray(extractor.landmark_indices_)


def held_out_scores(
    recipe: SieveRecipe, data: MappedSamples, folds: Sequence[Fold], loss: RegressionLoss
) -> list[HeldOut]:
    """Return cross-validated scores, one ``HeldOut`` for each ridge."""
    of_folds = []
    for train, test in folds:
        fitted, held_out = data[train], data[test]
        extractor = fit_extractor(recipe, fitted)
        features, of_test = (extractor.transform(samples.U) for samples in (fitted, held_out))
        heads = loss.heads(features, fitted.Y, fitted.weight, recipe.ridges)
        of_folds.append([HeldOut(head.scores(of_test), held_out.Y, held_out.weight) for head in heads])
    return [HeldOut.concatenate(parts) for parts in zip(*of_folds, strict=True)]


def restrict_folds(folds: Sequence[Fold], rows: np.ndarray, Y: np.ndarray) -> list[Fold]:
    """Restrict folds to some samples, renumbered; drop folds that nothing can be fitted to."""
    place = np.full(len(Y), -1)
    place[rows] = np.arange(len(rows))
    parts = ((place[train], place[test]) for train, test in folds)
    known = [(train[train >= 0], test[test >= 0]) for train, test in parts]
    usable = [(a, b) for a, b in known if len(b) and len(a) and np.ptp(Y[rows[a]], axis=0).any()]
    if not usable:
        raise InvalidDataError(
            "There is no fold whose training samples differ in y; pass more samples, or another cv."
        )
    return usable
