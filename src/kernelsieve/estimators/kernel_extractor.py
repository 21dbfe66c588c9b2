"""The estimator behind SMA, SMC and the kernel framework: kernel, candidates, ways to fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from itertools import chain
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from .._sklearn import Interval, StrOptions, fit_context
from ..deflation import Alignment, BestSubset, Covariance, Criterion, PoolMetric
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import (
    RepeatableBatches,
    RowPass,
    Stream,
    analyse_fresh,
    analyse_rows,
    analyse_sample,
    check_first_batch,
    fit_columns,
    fit_fresh,
    pool_pass,
    split_item,
)
from ..kernels import Kernel, Rows
from ..model import Fit
from ..rows import Batch, Pool
from .inputs import check_rows, given_candidates
from .kernel_transformer import AUTO_POOL, KernelTransformer
from .loop_transformer import all_or_nothing

_RESAMPLE_ALONE = (
    "resample=True draws fresh single candidates from the rows at every step; pass candidates as a "
    "number, n_nonzero=1, and a criterion that scores candidates."
)


def _takes_pieces(estimator: Any) -> bool:
    """Tell if rows may come in pieces; the error names what is in the way."""
    if not estimator._in_pieces or estimator.resample or estimator._make_criterion().needs_rows:
        raise AttributeError(
            "Rows that come in pieces need a pool and a criterion of inner products: pass "
            "resample=False and another criterion."
        )
    return True


class KernelExtractor(KernelTransformer):
    """Base of the estimators that choose directions by a criterion in kernel space."""

    #: Whether rows may come in pieces at all.
    _in_pieces: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [str, callable, Kernel],
        "gamma": [str, Real],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "candidates": [
            StrOptions({"auto", "all"}),
            Interval(Integral, 1, None, closed="left"),
            "array-like",
            "sparse matrix",
        ],
        "pool": [StrOptions({"auto", "random", "screen", "kmeans", "rpcholesky"})],
        "resample": ["boolean"],
        "n_nonzero": [Interval(Integral, 1, 3, closed="both")],
        "center": ["boolean"],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "precision": [StrOptions({"auto", "fast", "safe"})],
        "target": [StrOptions({"auto", "continuous", "classes"})],
        "dtype": [StrOptions({"float64", "float32"})],
        "block_size": [Interval(Integral, 1, None, closed="left"), None],
        "max_memory": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        pool: str = "auto",
        resample: bool = False,
        n_nonzero: int = 1,
        center: bool = True,
        tol: float = 1e-20,
        precision: str = "auto",
        target: str = "auto",
        dtype: str = "float64",
        block_size: int | None = None,
        max_memory: float = 2**30,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.pool = pool
        self.resample = resample
        self.n_nonzero = n_nonzero
        self.center = center
        self.tol = tol
        self.precision = precision
        self.target = target
        self.dtype = dtype
        self.block_size = block_size
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _single_criterion(self) -> Criterion:
        """Return the criterion without regard to ``n_nonzero``."""

    def _make_criterion(self) -> Criterion:
        criterion = self._single_criterion()
        if self.n_nonzero == 1:
            return criterion
        if not isinstance(criterion, (Alignment, Covariance)):
            raise InvalidParameterError(
                f"n_nonzero={self.n_nonzero} combines candidates for 'alignment' and 'covariance' "
                "only; pass n_nonzero=1 with another criterion."
            )
        return BestSubset(criterion, self.n_nonzero)

    # ------------------------------------------------------------------ fitting

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose landmarks and directions.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Training rows; kernel values for a precomputed kernel. A memory map is read in blocks.
        y : array-like of shape (n,) or (n, q)
            Continuous targets or class labels. Strings, booleans and integers are labels and floats
            are continuous, unless ``target`` says otherwise.
        sample_weight : array-like of shape (n,), default=None
            Weights; a whole number counts as that many equal rows.

        Returns
        -------
        self
        """
        criterion = self._make_criterion()
        batch, encoder = self._read(X, y, sample_weight, criterion)
        self._check_rebuilding(batch.X)
        criterion = self._criterion_for(encoder)
        random_state = check_random_state(self.random_state)
        given = given_candidates(
            self.candidates,
            batch.X,
            precomputed=self._is_precomputed,
            name=self._candidates_parameter,
        )
        if given is not None:
            kernel = self._resolve_kernel(batch, given, random_state)
            pool, W = self._given_pool(batch.X, kernel, given)
            batch = batch.without_zero_weights()[0]
            fit = self._fit_pool(batch, kernel, pool, W, criterion)
        else:
            batch, kept = self._rows_that_count(batch)
            kernel = self._resolve_kernel(batch, None, random_state)
            fit = self._fit_rows(batch, kernel, criterion, random_state)
            if kept is not None:
                fit = fit.renumbered(kept, self.n_features_in_)
        self._set_fit(fit, encoder)
        self._remember_rows(batch.X)
        self.__dict__.pop("_stream", None)
        return self

    def _rows_that_count(self, batch: Batch) -> tuple[Batch, np.ndarray | None]:
        """Return the rows without those of weight 0, and which they are where some are left out.

        Of a precomputed kernel, columns are left out as well.
        """
        batch, kept = batch.without_zero_weights()
        if self._is_precomputed and kept is not None:
            batch = Batch(batch.X[:, kept], batch.Y, batch.weight)
        return batch, kept

    def _check_rebuilding(self, X: Rows) -> None:
        """Refuse, before any work, rows that features could not be led back to: none here."""

    def _remember_rows(self, rows: Rows) -> None:
        """Keep what a fitted estimator needs of its training rows, or of the pool: nothing."""

    @available_if(_takes_pieces)
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add rows; the features are found when they are next used.

        The first call, and the first after ``fit``, begins anew: it settles the kernel, the classes and
        the pool of candidates. A pool that is not given as points is drawn from the rows of that call,
        so these should be many, and like those to come; a number asks for at least as many.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            More training rows.
        y : array-like of shape (n,) or (n, q)
            Their targets.
        classes : array-like, default=None
            All labels that will ever come, where the rows of the first call lack some.
        sample_weight : array-like of shape (n,), default=None
            Their weights.

        Returns
        -------
        self
        """
        criterion = self._make_criterion()
        stream = vars(self).get("_stream")
        X = check_rows(self, X, reset=stream is None, precomputed=self._is_precomputed)
        if stream is None:
            stream = self._start_stream(X, y, classes, sample_weight, criterion)
        criterion = self._criterion_for(stream.encoder)
        batch = self._batch(X, y, sample_weight, stream.encoder)
        one_pass = self._stream_pass(stream, criterion)
        if stream.statistic is None:
            stream.statistic = one_pass.new_statistic(repeatable=False)
        one_pass.absorb(stream.statistic, batch)
        self._stream = stream
        self._set_classes(stream.encoder)
        self.__dict__.pop("_fit", None)
        return self

    @available_if(_takes_pieces)
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit_batches(self, batches: Iterable[Any], classes: Any = None) -> Self:
        """Fit on rows that come in batches, none of which has to be in memory with another.

        Parameters
        ----------
        batches : iterable
            Each item is ``(X, y)`` or ``(X, y, sample_weight)``. An iterable that can be gone through
            again (a list, an object whose ``__iter__`` starts anew) is passed over as ``fit`` would;
            an iterator is passed over once, with the safe statistic.
        classes : array-like, default=None
            All labels, where the first batch lacks some.

        Returns
        -------
        self
        """
        criterion = self._make_criterion()
        iterator = iter(batches)
        first = next(iterator, None)
        if first is None:
            raise InvalidDataError("fit_batches got no batch; pass at least one (X, y).")
        X, y, weight = split_item(first)
        X = check_rows(self, X, reset=True, precomputed=self._is_precomputed)
        stream = self._start_stream(X, y, classes, weight, criterion)
        criterion = self._criterion_for(stream.encoder)
        one_pass = self._stream_pass(stream, criterion)

        def check(item: Any) -> Batch:
            X, y, weight = split_item(item)
            X = check_rows(self, X, reset=False, precomputed=self._is_precomputed)
            return self._batch(X, y, weight, stream.encoder)

        if iterator is batches:
            statistic = one_pass.new_statistic(repeatable=False)
            for item in chain([first], iterator):
                one_pass.absorb(statistic, check(item))
            fit = one_pass.solve(statistic)
        else:
            fit = one_pass.fit(RepeatableBatches(batches, check))
        self._set_fit(fit, stream.encoder)
        self._remember_rows(stream.pool.points)
        self.__dict__.pop("_stream", None)
        return self

    def _fit_rows(
        self,
        batch: Batch,
        kernel: Kernel,
        criterion: Criterion,
        random_state: np.random.RandomState,
    ) -> Fit:
        """Fit with candidates that are rows of the data."""
        n_rows = len(batch)
        size = self._pool_size(n_rows)
        scored = self._scored_rows(batch, random_state)
        if self.resample:
            if criterion.needs_metric:
                raise InvalidParameterError(_RESAMPLE_ALONE)
            settings = self._settings(criterion, n_rows)
            if criterion.deflation.symmetric:
                return analyse_fresh(scored, batch, kernel, size, criterion, settings, random_state)
            return fit_fresh(batch, kernel, size, criterion, settings, random_state)
        if size < n_rows:
            self._settings(criterion, size)  # refuses before a pool is drawn
            pool, W = self._drawn_pool(batch, kernel, size, criterion, random_state)
            return self._fit_pool(scored, kernel, pool, W, criterion)
        everyone = np.arange(n_rows)
        pool = Pool(kernel.points(batch.X, everyone), everyone)
        settings = self._settings(criterion, size)
        if not criterion.deflation.symmetric:
            return fit_columns(batch, kernel, pool, criterion, settings)
        if scored is not batch:
            return analyse_sample(scored, batch, kernel, pool, criterion, settings)
        return analyse_rows(batch, kernel, pool, criterion, settings)

    def _scored_rows(self, batch: Batch, random_state: np.random.RandomState) -> Batch:
        """Return the rows over which candidates are scored; a subclass may take a sample."""
        return batch

    def _fit_pool(
        self, batch: Batch, kernel: Kernel, pool: Pool, W: np.ndarray, criterion: Criterion
    ) -> Fit:
        if self.resample:
            raise InvalidParameterError(_RESAMPLE_ALONE)
        self._say(f"{len(pool)} candidates, {len(batch)} rows")
        if criterion.needs_rows:
            settings = self._settings(criterion, len(pool))
            return fit_columns(batch, kernel, pool, criterion, settings, PoolMetric(W))
        target_shift = batch.Y[:64].mean(axis=0)  # near the means, which is all that it has to be
        return self._one_pass(kernel, pool, W, target_shift, criterion).fit([batch])

    def _one_pass(
        self,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray,
        target_shift: np.ndarray,
        criterion: Criterion,
    ) -> RowPass:
        """Return what passes over the rows for a pool; ``W`` is its own kernel matrix."""
        return pool_pass(kernel, pool, W, target_shift, criterion, self._settings(criterion, len(pool)))

    def _stream_pass(self, stream: Stream, criterion: Criterion) -> RowPass:
        return self._one_pass(stream.kernel, stream.pool, stream.W, stream.target_shift, criterion)

    def _start_stream(
        self, X: Rows, y: Any, classes: Any, sample_weight: Any, criterion: Criterion
    ) -> Stream:
        if isinstance(self.candidates, str) and self.candidates == "all":
            raise InvalidParameterError(
                "Rows that come in pieces need a pool of candidates: pass candidates as a number or "
                "an array instead of 'all'."
            )
        self._check_rebuilding(X)
        encoder = self._encoder(criterion, y, classes)
        batch = self._batch(X, y, sample_weight, encoder)
        random_state = check_random_state(self.random_state)
        given = given_candidates(
            self.candidates,
            X,
            precomputed=self._is_precomputed,
            name=self._candidates_parameter,
        )
        if given is not None:
            kernel = self._resolve_kernel(batch, given, random_state)
            pool, W = self._given_pool(X, kernel, given)
            return Stream(kernel, pool, W, encoder, batch.Y.mean(axis=0))
        batch, kept = self._rows_that_count(batch)
        asked = int(self.candidates) if isinstance(self.candidates, Integral) else 0
        check_first_batch(len(batch), asked, self.n_components, self._candidates_parameter)
        size = asked or min(self._pool_size(len(batch)), AUTO_POOL)
        kernel = self._resolve_kernel(batch, None, random_state)
        pool, W = self._drawn_pool(batch, kernel, size, criterion, random_state)
        stream = Stream(kernel, pool, W, encoder, batch.Y.mean(axis=0))
        return stream if kept is None else stream.renumbered(kept, X.shape[1])

    def _current_fit(self) -> Fit:
        if "_fit" not in vars(self) and "_stream" in vars(self):
            self._solve_stream()
        return super()._current_fit()

    @all_or_nothing
    def _solve_stream(self) -> None:
        stream = self._stream
        criterion = self._criterion_for(stream.encoder)
        fit = self._stream_pass(stream, criterion).solve(stream.statistic)
        self._set_fit(fit, stream.encoder)
        self._remember_rows(stream.pool.points)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fit" in vars(self) or "_stream" in vars(self)
