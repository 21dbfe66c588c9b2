"""The statistic as an interface: what is settled once, and parts that are made anywhere."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from ..data import QUIET, Batch, HashedFolds, Part, TargetEncoder, row_hashes, single_threaded_blas
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import Plan, RowPass, way_to_draw
from ..model import load_object, save_object
from ..statistics import ColumnSums, FoldSums, FoldWork
from .inputs import check_rows

_VERSION = 1  # of the files of plans and parts


class Saved:
    """Objects that are written to safe files: arrays and JSON, no code."""

    _kind: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file of arrays and JSON; an old file stays until the new one is whole.

        Parameters
        ----------
        path : str or path-like
            Where to.

        Raises
        ------
        ModelFileError
            If there is code of the user's in it, such as a callable kernel.
        """
        save_object(path, self._kind, _VERSION, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote; nothing that a file says is run.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        object
            Equal to what was saved.

        Raises
        ------
        ModelFileError
            If the file is damaged, or of another kind or version.
        """
        return load_object(path, cls._kind, _VERSION, cls)


@dataclass(frozen=True)
class StatisticPart(Saved):
    """What some samples contribute to a fit: sums of products instead of the samples.

    Parts of one plan can be made in any process, on any machine, and be put together in any order.
    No method changes a part; those that seem to return another one.

    Attributes
    ----------
    n_samples : int
        Number of samples that are summed up.

    See Also
    --------
    StatisticPlan : Makes parts.
    """

    _kind = "part"

    sums: ColumnSums | FoldSums

    @property
    def n_samples(self) -> int:
        """Number of samples that are summed up."""
        return self.sums.n_rows

    @property
    def total(self) -> ColumnSums:
        """The sums of all samples, whatever their folds are."""
        return self.sums.all_but(None) if isinstance(self.sums, FoldSums) else self.sums

    def merge(self, other: StatisticPart) -> StatisticPart:
        """Return the part of the samples of both.

        Parameters
        ----------
        other : StatisticPart
            Another part of the same plan.

        Returns
        -------
        StatisticPart
            In whatever order parts are merged, the same up to rounding.
        """
        return self._changed(lambda sums: sums.merge(_checked(other).sums))

    def subtract(self, other: StatisticPart) -> StatisticPart:
        """Return the part without the samples of another: to forget them, or to let a window slide.

        Inner products are subtracted, so what is left is known to half of the digits.

        Candidates stay in the plan: where forgotten samples are among them, they may become landmarks
        still. Prepare a plan with other candidates if they must not.

        Parameters
        ----------
        other : StatisticPart
            A part of the same plan whose samples are in this one.

        Returns
        -------
        StatisticPart

        Raises
        ------
        InvalidDataError
            If so little would be left that its digits are lost: 1e-8 of a sum of squares.
        """
        return self._changed(lambda sums: sums.subtract(_checked(other).sums))

    def decay(self, factor: float) -> StatisticPart:
        """Return the part with all sample weights multiplied, for streams that drift.

        Parameters
        ----------
        factor : float
            Above 0 and at most 1.

        Returns
        -------
        StatisticPart
        """
        if not isinstance(factor, Real) or not 0 < factor <= 1:
            raise InvalidParameterError(f"factor={factor!r} must be above 0 and at most 1.")
        return self._changed(lambda sums: sums.scale(float(factor)))

    def _changed(self, change: Callable[[Any], None]) -> StatisticPart:
        sums = copy.deepcopy(self.sums)
        with np.errstate(**QUIET):
            change(sums)
        return StatisticPart(sums)


@dataclass(frozen=True)
class SampleReader:
    """Checks samples; small enough to be sent to every worker."""

    estimator: Any
    encoder: TargetEncoder

    def __call__(self, part: Part) -> Batch:
        X = check_rows(self.estimator, part.X, reset=False, precomputed=self.estimator._is_precomputed)
        return self.estimator._batch(X, part.y, part.weight, self.encoder)


@dataclass(frozen=True)
class StatisticPlan(Saved):
    """What must be the same wherever samples are summed up: kernel, candidates, classes, precision.

    Made by ``prepare`` of an estimator. A plan, once saved, can be sent to where the samples are; the
    parts that come back are merged, and ``finish`` fits them.

    See Also
    --------
    StatisticPart : The sums.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SparseMaximalAlignment
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sma = SparseMaximalAlignment(5, candidates=50, random_state=0)
    >>> plan = sma.prepare(X[:200], y[:200])
    >>> here, there = plan.statistic(X[:200], y[:200]), plan.statistic(X[200:], y[200:])
    >>> sma.finish(plan, here.merge(there)).transform(X).shape
    (442, 5)
    """

    _kind = "plan"

    estimator: Any  # without a fit; it knows the features and reads samples
    settled: Plan
    folds: HashedFolds | None = None  # by which samples are summed up, for a cross-validation

    @single_threaded_blas()
    def statistic(self, X: Any, y: Any = None, sample_weight: Any = None) -> StatisticPart:
        """Sum up samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        StatisticPart
        """
        batch, row_pass = self.batch(X, y, sample_weight), self.row_pass(self.estimator)
        with np.errstate(**QUIET):
            if self.folds is None:
                sums = row_pass.new_statistic(repeatable=False)
                row_pass.absorb(sums, batch)
            else:
                empty = partial(row_pass.new_statistic, repeatable=False)
                work = FoldWork(empty, row_pass.absorb, self.folds)
                work.add(sums := work.empty(), batch)
        return StatisticPart(sums)

    @property
    def reader(self) -> SampleReader:
        """What checks samples, without all that a fit needs beside."""
        return SampleReader(self.estimator, self.settled.encoder)

    def batch(self, X: Any, y: Any = None, sample_weight: Any = None) -> Batch:
        """Check samples, as :meth:`statistic` does.

        Parameters
        ----------
        X, y, sample_weight : array-like
            Samples, their targets or labels, and their weights.
        """
        return self.reader(Part(X, y, sample_weight))

    def renumbered(self, rows: np.ndarray) -> StatisticPlan:
        """Return the plan with the numbers of samples among all."""
        return replace(self, settled=self.settled.renumbered(rows, self.estimator.n_features_in_))

    def describe(self, estimator: Any) -> None:
        """Tell an estimator the features and classes that this plan is of."""
        for name in ("n_features_in_", "feature_names_in_"):
            vars(estimator).pop(name, None)
            if name in vars(self.estimator):
                setattr(estimator, name, getattr(self.estimator, name))
        estimator._set_classes(self.settled.encoder)

    def row_pass(self, estimator: Any) -> RowPass:
        """Return what passes over samples for an estimator, with its own settings."""
        return estimator._row_pass(self.settled.for_estimator(estimator._settings()))


@dataclass(frozen=True)
class Stream:
    """The plan settled by the first batch, and the statistic of all batches so far."""

    plan: StatisticPlan
    part: StatisticPart


def prepared(
    estimator: Any, X: Any, y: Any, sample_weight: Any, classes: Any, folds: int | None = None
) -> StatisticPlan:
    """Settle by some samples what must be known before a pass; the estimator stays as it is."""
    reader = clone(estimator)
    X = check_rows(reader, X, reset=True, precomputed=reader._is_precomputed)
    plan = estimator._plan(X, y, classes, sample_weight)
    if folds is None:
        return StatisticPlan(reader, plan)
    seen = X if len(plan.pool) < X.shape[0] and screens(estimator, X) else X[:0]
    return StatisticPlan(reader, plan, _folds(folds, seen))


def screens(estimator: Any, X: Any) -> bool:
    """Tell if an estimator chooses its candidates by a look at targets."""
    rule = estimator._candidates()
    if rule.are_points or rule.are_all:
        return False
    criterion = estimator._screening()
    supervised = criterion is not None and criterion.needs.targets
    return supervised and way_to_draw(rule, criterion) == "screen"


def _folds(n_folds: int, screened: Any) -> HashedFolds:
    if isinstance(n_folds, bool) or not isinstance(n_folds, Integral) or n_folds < 2:
        raise InvalidParameterError(f"folds={n_folds!r} must be a whole number, at least 2.")
    return HashedFolds(int(n_folds), np.unique(row_hashes(screened)))


def _checked(other: Any) -> StatisticPart:
    if not isinstance(other, StatisticPart):
        raise InvalidDataError(
            f"{type(other).__name__} is no part of a statistic; pass what plan.statistic returned."
        )
    return other
