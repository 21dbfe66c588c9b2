"""The width of a kernel by cross-validation: ``gamma="cv"``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data import Batch, TargetEncoder, reported, row_hashes
from ..exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError
from ..kernels import BlockCache, kernel_class, resolve_kernel, sharing

#: From narrower than the median distance of two samples to so wide that a kernel is nearly linear.
WIDTHS = tuple(f"median{part}" for part in ("*4", "", "/4", "/16", "/64", "/256", "/1024", "/4096"))
_MOST_SAMPLES = 1000  # that choose
_FOLDS = 5
_FEW, _REPEATS = 300, 3  # samples that are dealt out to folds more than once: a choice by few is chance
_COMPARED_AGAIN = 3  # widths
_MOST_COMPONENTS = 60  # where their number is open
_FEWEST = 10  # different samples; fewer say nothing
_NEARLY = 0.5  # standard errors of the best mean score
_NEIGHBOURS = 0.1  # more or fewer components, as a part of their number


@dataclass(frozen=True)
class ChosenWidth:
    """What folds have chosen: a width, and how many components where that was left open."""

    gamma: str | float
    n_components: int | None


def choose_width(
    estimator: Any, batch: Batch, encoder: TargetEncoder, *, open_number: bool
) -> ChosenWidth:
    """Fit some samples with every width in every fold, and return what is best for those held out.

    The number of components is chosen by the same fits where it is open.
    """
    model = estimator._for_folds()
    asked = model._wanted_components
    batch, _ = batch.without_zero_weights()
    hashes = row_hashes(batch.X)
    if len(batch) > _MOST_SAMPLES:
        # The same whatever the seed and the order are, and nearly the same with a few samples more.
        some = np.sort(np.argsort(hashes, kind="stable")[:_MOST_SAMPLES])
        batch, hashes = batch[some], hashes[some]
    has_width = "gamma" in kernel_class(model.kernel).parameter_names()
    if not has_width or len(np.unique(hashes)) < _FEWEST:
        return ChosenWidth("scale", asked)
    labels = None if encoder.classes is None else _codes(batch, encoder)
    open_number = open_number and asked is None
    if open_number:
        model.set_params(n_components=min(_MOST_COMPONENTS, len(batch) // 2))
    folds = list(_folds(hashes, np.zeros(len(batch), np.intp) if labels is None else labels))
    scores = np.full((len(folds), len(WIDTHS), _MOST_COMPONENTS if open_number else 1), -np.inf)
    with sharing(BlockCache()), reported("width", verbose=False), warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        compared = list(range(len(WIDTHS)))
        for fold, (train, test) in enumerate(folds):
            if fold == _FOLDS:  # samples are dealt out again, for the best widths alone
                compared = _best_widths(scores[:fold])
            for number in compared:
                fitted = clone(model).set_params(gamma=WIDTHS[number])
                part = batch[train]
                try:
                    y = part.Y if labels is None else labels[train]
                    fitted.fit(part.X, y, sample_weight=part.weight)
                except (InvalidDataError, InvalidParameterError):  # of one class, or a constant target
                    continue
                found = list(_scores(fitted, batch[test], labels, test, every_number=open_number))
                scores[fold, number, : len(found)] = found
    chosen = _chosen(scores, asked, open_number=open_number)
    # As a number: the median of other samples is another.
    kernel = resolve_kernel(
        model.kernel,
        batch.X,
        gamma=chosen.gamma,
        degree=model.degree,
        coef0=model.coef0,
        kernel_params=model.kernel_params,
        sample_weight=batch.weight,
    )
    return replace(chosen, gamma=float(kernel.gamma))  # type: ignore[attr-defined]


def _chosen(scores: np.ndarray, asked: int | None, *, open_number: bool) -> ChosenWidth:
    """Return the width of the best mean score; the fewest components that are nearly as good."""
    scores = _of_worst_neighbours(scores)
    mean = scores.mean(axis=0)
    if not np.isfinite(mean.max()):
        return ChosenWidth("scale", asked)
    of_best = scores.reshape(len(scores), -1)[:, np.argmax(mean)]
    error = of_best.std(ddof=1) / np.sqrt(len(scores))
    k = int(np.flatnonzero((mean >= mean.max() - _NEARLY * error).any(axis=0))[0])
    return ChosenWidth(WIDTHS[int(np.argmax(mean[:, k]))], k + 1 if open_number else asked)


def _best_widths(scores: np.ndarray) -> list[int]:
    best = _of_worst_neighbours(scores).mean(axis=0).max(axis=1)
    return np.argsort(-best, kind="stable")[:_COMPARED_AGAIN].tolist()


def _of_worst_neighbours(scores: np.ndarray) -> np.ndarray:
    """Return for every number of components the worst score of numbers near it.

    A number that is good among bad ones is so by chance. Numbers that a fold has not reached do not
    count as neighbours.
    """
    known = np.where(np.isfinite(scores), scores, np.inf)
    worst = np.empty_like(scores)
    for k in range(scores.shape[2]):
        few = max(1, int(_NEIGHBOURS * (k + 1)))
        worst[:, :, k] = known[:, :, max(0, k - few) : k + few + 1].min(axis=2)
    return np.where(np.isfinite(scores), worst, -np.inf)


def _codes(batch: Batch, encoder: TargetEncoder) -> np.ndarray:
    """Return labels as numbers."""
    if batch.codes is not None:
        return batch.codes
    return (batch.Y[:, 0] > 0).astype(np.intp) if encoder.signed else batch.Y.argmax(axis=1)


def _folds(hashes: np.ndarray, labels: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the samples of every fold's fit and those held out, of all classes alike.

    Samples are dealt out by a hash of their inputs, class by class: neither their order nor whether a
    sample is repeated or has a weight makes a difference.
    """
    for repeat in range(_REPEATS if len(np.unique(hashes)) <= _FEW else 1):
        order = hashes * np.uint64(2 * repeat + 1)  # another one each time
        fold, n_dealt = np.empty(len(hashes), np.intp), 0
        for label in np.unique(labels):
            distinct, places = np.unique(order[labels == label], return_inverse=True)
            fold[labels == label] = (n_dealt + places) % _FOLDS
            n_dealt += len(distinct)
        for number in range(_FOLDS):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def _scores(
    model: Any, batch: Batch, labels: np.ndarray | None, rows: np.ndarray, *, every_number: bool
) -> Iterator[float]:
    """Yield R2 or the accuracy on held-out samples, for every number of components or for all."""
    features, heads = model.transform(batch.X), model._current_fit().heads
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    squares = weight @ (batch.Y - weight @ batch.Y / weight.sum()) ** 2
    for k in range(1 if every_number else model.n_components_, model.n_components_ + 1):
        if labels is None:
            errors = weight @ (batch.Y - heads.predict(features[:, :k])) ** 2
            yield float(np.mean(1 - errors / np.maximum(squares, np.finfo(float).tiny)))
        else:
            right = model.classes_[heads.classes(features[:, :k])] == labels[rows]
            yield float(np.average(right, weights=weight))
