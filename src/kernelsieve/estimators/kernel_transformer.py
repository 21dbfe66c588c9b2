"""What kernel estimators share: reading the parameters of the kernel and of the candidates."""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from ..deflation import Criterion
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import draw_pool, screening_criterion
from ..kernels import Kernel, Rows, resolve_kernel
from ..model.pruning import prune
from ..rows import Batch, Pool
from .inputs import check_kernel_input, check_weights
from .loop_transformer import DEFAULT_COMPONENTS, LoopTransformer

_ALL_UP_TO = 3000  # rows of which candidates="auto" takes every one
AUTO_POOL = 1000
_FEWEST_SCREENED = 200
_MOST_TO_COMBINE = {2: 600, 3: 100}  # candidates: some hundred thousand pairs or triples


class KernelTransformer(LoopTransformer):
    """Base of the estimators with a kernel and candidates."""

    kernel: str | Callable[..., Any] | Kernel
    gamma: str | float
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None
    candidates: Any
    pool: str
    resample: bool = False
    n_nonzero: int = 1
    random_state: Any
    #: Candidates that resample=True draws at every step where their number is not given.
    _auto_resample: ClassVar[int] = AUTO_POOL
    #: What the parameter with the candidates is called, for error messages.
    _candidates_parameter: ClassVar[str] = "candidates"

    @property
    def _is_precomputed(self) -> bool:  # type: ignore[override]
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _resolve_kernel(
        self, batch: Batch, given: Rows | None, random_state: np.random.RandomState
    ) -> Kernel:
        """Settle the kernel; ``gamma`` from the pool where it was given, whatever the batches are."""
        kernel = resolve_kernel(
            self.kernel,
            batch.X if given is None or self._is_precomputed else given,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            sample_weight=batch.weight if given is None else None,
            random_state=random_state,
        )
        check_kernel_input(kernel, batch.X)
        return kernel

    def _pool_size(self, n_rows: int) -> int:
        if isinstance(self.candidates, Integral):
            return min(int(self.candidates), n_rows)
        if self.candidates == "all":
            return n_rows
        if self.resample:
            return min(n_rows, self._auto_resample)
        if self.n_nonzero > 1:  # all pairs or triples of the candidates are tried
            return min(n_rows, _MOST_TO_COMBINE[self.n_nonzero])
        if n_rows <= _ALL_UP_TO:
            return n_rows
        if self._pool_for(self._make_criterion()) == "screen":  # a few for each feature are enough
            wanted = DEFAULT_COMPONENTS if self.n_components is None else self.n_components
            return min(n_rows, int(np.clip(3 * wanted, _FEWEST_SCREENED, max(AUTO_POOL, wanted))))
        return AUTO_POOL

    def _pool_for(self, criterion: Criterion) -> str:
        """Return how a pool is drawn."""
        if self.pool != "auto":
            return self.pool
        is_number = isinstance(self.candidates, Integral)
        return "random" if is_number or screening_criterion(criterion) is None else "screen"

    def _given_pool(self, X: Rows, kernel: Kernel, given: Rows) -> tuple[Pool, np.ndarray]:
        """Return a pool that was given, and its own kernel matrix."""
        if not self._is_precomputed:
            return Pool(given, np.arange(given.shape[0])), kernel.block(given, given)
        is_square = X.shape[0] == X.shape[1]
        columns = given if is_square else np.arange(len(given))
        return Pool(columns, given), X[np.ix_(given, columns)].astype(np.float64)

    def _drawn_pool(
        self,
        batch: Batch,
        kernel: Kernel,
        size: int,
        criterion: Criterion,
        random_state: np.random.RandomState,
    ) -> tuple[Pool, np.ndarray]:
        """Draw a pool from the rows; return it with its own kernel matrix."""
        rows = draw_pool(
            batch,
            kernel,
            criterion,
            size,
            self._pool_for(criterion),
            center=self.center,
            random_state=random_state,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )
        points = kernel.points(batch.X, rows)
        return Pool(points, rows), kernel.block(batch.X[rows], points)

    def prune(
        self,
        X: Any,
        n_landmarks: int | None = None,
        *,
        tol: float = 0.01,
        sample_weight: Any = None,
    ) -> Self:
        """Return a copy that computes nearly the same features from fewer landmarks.

        The landmarks to keep are chosen as sparse maximal alignment chooses them, with the features of
        this model as the targets, and the features become least squares on their kernel columns.
        Predictions keep their coefficients.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows on which the features are compared; the training rows, or a sample of them. It should
            have more rows than the model has landmarks.
        n_landmarks : int, default=None
            How many landmarks to keep; None for as few as ``tol`` allows.
        tol : float, default=0.01
            Largest share of the features' variance that may be lost on ``X``, the mean of all
            features.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows.

        Returns
        -------
        estimator
            A fitted copy. It can be truncated as before, but every feature needs all of its landmarks.

        Warns
        -----
        FewerFeaturesWarning
            If fewer landmarks were kept than asked for, or ``X`` has too few rows to choose them by.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kernelsieve import KernelPLS
        >>> X, y = load_digits(return_X_y=True)
        >>> model = KernelPLS(10, candidates=500, gamma=0.001, random_state=0).fit(X, y)
        >>> pruned = model.prune(X, 100)
        >>> len(model.landmarks_), len(pruned.landmarks_)
        (500, 100)
        >>> bool(pruned.score(X, y) > model.score(X, y) - 0.02)
        True
        """
        fit = self._current_fit()
        m = len(fit.model.projection)
        if n_landmarks is not None and not (
            isinstance(n_landmarks, Integral) and 1 <= n_landmarks <= m
        ):
            raise InvalidParameterError(
                f"n_landmarks={n_landmarks!r} is not between 1 and the {m} landmarks of this model."
            )
        if not 0 <= tol < 1:
            raise InvalidParameterError(
                f"tol={tol!r} is no share of variance that may be lost; pass 0 or more, below 1."
            )
        rows = self._check_new_rows(X, m)
        batch = Batch(rows, np.empty((rows.shape[0], 0)), check_weights(sample_weight, rows))
        batch = batch.without_zero_weights()[0]
        if len(batch) < 2:
            raise InvalidDataError(
                f"X has {len(batch)} rows that count; pass at least 2, and better more than the model "
                f"has landmarks ({m})."
            )
        pruned = copy.copy(self)
        pruned._fit = prune(fit, batch, n_landmarks, tol, self.n_jobs)
        pruned.__dict__.pop("_stream", None)  # rows that come later belong to the whole model
        return pruned

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        histograms = isinstance(self.kernel, str) and self.kernel == "chi2"
        tags.input_tags.sparse = not (self._is_precomputed or histograms)
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.positive_only = histograms
        return tags
