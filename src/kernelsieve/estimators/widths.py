"""The width of a kernel by cross-validation: ``gamma="cv"``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data import Batch, TargetEncoder, reported, row_hashes
from ..exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError
from ..kernels import BlockCache, resolve_gamma, sharing

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


def best_width(self: Any, batch: Batch, encoder: TargetEncoder) -> tuple[str | float, int | None]:
    """Return the width, and the number of components, that predict held-out samples best.

    Some of the samples are fitted with every width in every fold. The same fits choose the number of
    components where it is open.
    """
    asked, kernel = self._wanted_components, self._kernel_class
    batch, _ = batch.without_zero_weights()
    hashes = row_hashes(batch.X)
    if len(batch) > _MOST_SAMPLES:
        # The same whatever the seed and the order are, and nearly the same with a few samples more.
        first = np.sort(np.argsort(hashes, kind="stable")[:_MOST_SAMPLES])
        batch, hashes = batch[first], hashes[first]
    if "gamma" not in kernel.parameter_names() or len(np.unique(hashes)) < _FEWEST:
        return "scale", asked
    labels = None if encoder.classes is None else _codes(batch, encoder)
    is_open = self._open_number and asked is None
    tried = {"n_components": min(_MOST_COMPONENTS, len(batch) // 2)} if is_open else {}
    folds = list(_folds(hashes, labels))
    scores = np.full((len(folds), len(WIDTHS), _MOST_COMPONENTS if is_open else 1), -np.inf)
    compared = list(range(len(WIDTHS)))
    with sharing(BlockCache()), reported("width", verbose=False), warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        for fold, (train, test) in enumerate(folds):
            if fold == _FOLDS:  # samples are dealt out again, for the best widths alone
                best = _of_worst_neighbours(scores[:fold]).mean(axis=0).max(axis=1)
                compared = np.argsort(-best, kind="stable")[:_COMPARED_AGAIN].tolist()
            for width in compared:
                model = clone(self).set_params(gamma=WIDTHS[width], **tried)
                found = _scores(model, batch, encoder, labels, train, test, every_number=is_open)
                scores[fold, width, : len(found)] = found
    gamma, k = _best_of(scores)
    # As a number: the median of other samples is another.
    return resolve_gamma(gamma, batch.X, kernel, batch.weight), k if is_open else asked


def _scores(
    self: Any,
    batch: Batch,
    encoder: TargetEncoder,
    labels: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    *,
    every_number: bool,
) -> list[float]:
    """Fit a fold, and return R2 or the accuracy on held-out samples, for every number of components.

    There are none where nothing can be fitted, as for one class or a constant target.
    """
    fitted, held_out = batch[train], batch[test]
    try:
        if labels is not None:  # of which a fold may lack some
            encoder = self._encoder(labels[train])
            fitted = self._batch(fitted.X, labels[train], fitted.weight, encoder)
        fit = self._solve(self._problem_of(fitted, encoder))
    except (InvalidDataError, InvalidParameterError):
        return []
    if not fit.model.n_components:
        return []
    features, heads = fit.model.features(held_out.X, self.n_jobs), fit.heads
    weight = np.ones(len(test)) if held_out.weight is None else held_out.weight
    total = weight @ (held_out.Y - weight @ held_out.Y / weight.sum()) ** 2
    most, found = features.shape[1], list[float]()
    for k in range(1 if every_number else most, most + 1):
        if labels is None:
            errors = weight @ (held_out.Y - heads.predict(features[:, :k])) ** 2
            found.append(float(np.mean(1 - errors / np.maximum(total, np.finfo(float).tiny))))
        else:
            right = np.asarray(encoder.classes)[heads.classes(features[:, :k])] == labels[test]
            found.append(float(np.average(right, weights=weight)))
    return found


def _best_of(scores: np.ndarray) -> tuple[str, int | None]:
    """Return the width of the best mean score, with the fewest components that are nearly as good."""
    scores = _of_worst_neighbours(scores)
    mean = scores.mean(axis=0)
    if not np.isfinite(mean.max()):
        return "scale", None
    of_best = scores.reshape(len(scores), -1)[:, np.argmax(mean)]
    error = of_best.std(ddof=1) / np.sqrt(len(scores))
    k = int(np.flatnonzero((mean >= mean.max() - _NEARLY * error).any(axis=0))[0])
    return WIDTHS[int(np.argmax(mean[:, k]))], k + 1


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


def _folds(hashes: np.ndarray, labels: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the samples of every fold's fit and those held out, of all classes alike.

    Samples are dealt out by a hash of their inputs, class by class: neither their order nor whether a
    sample is repeated or has a weight makes a difference.
    """
    labels = np.zeros(len(hashes), np.intp) if labels is None else labels
    for repeat in range(_REPEATS if len(np.unique(hashes)) <= _FEW else 1):
        order = hashes * np.uint64(2 * repeat + 1)  # another one each time
        fold, n_dealt = np.empty(len(hashes), np.intp), 0
        for label in np.unique(labels):
            distinct, places = np.unique(order[labels == label], return_inverse=True)
            fold[labels == label] = (n_dealt + places) % _FOLDS
            n_dealt += len(distinct)
        for number in range(_FOLDS):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
