"""The general framework with any criterion, in the primal and in kernel space (Algorithms 1, 2)."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from .._sklearn import Interval, StrOptions, fit_context
from ..deflation import Criterion, IdentityMetric, resolve_criterion
from ..estimators import KernelExtractor, LoopTransformer, all_or_nothing, documented
from ..exceptions import InvalidParameterError
from ..fitting import OnePass, Settings, fit_columns
from ..kernels import Inputs, Kernel
from ..rows import Pool


@documented
class KernelFeatureExtraction(KernelExtractor):
    """Features in kernel space by any criterion.

    The general framework of Dhanjal, Gunn and Shawe-Taylor (2009), Algorithm 2: choose a direction,
    remove its feature from every column, repeat. The criterion decides what is extracted.

    Parameters
    ----------
    criterion : str or Criterion, default="alignment"
        ``"alignment"``, ``"covariance"`` and ``"variance"`` choose one example at a time;
        ``"kpca"`` (or ``"pca"``), ``"kpls"`` (``"pls"``), ``"kopls"`` (``"opls"``) and ``"kblf"``
        (``"blf"``) combine all candidates: kernel PCA, kernel PLS, orthonormalised kernel PLS and
        kernel boosted latent features. ``"akfa"`` and ``"skfa"`` are the two feature analyses, which
        choose one example at a time and deflate symmetrically. An object of a class
        derived from :class:`kernelsieve.deflation.Criterion` is used as it is.
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelsieve import KernelFeatureExtraction
    >>> X, y = load_iris(return_X_y=True)
    >>> pca = KernelFeatureExtraction("kpca", n_components=2, gamma=0.1).fit(X)
    >>> pca.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        **KernelExtractor._parameter_constraints,
        "criterion": [str, Criterion],
    }

    def __init__(
        self,
        criterion: str | Criterion = "alignment",
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
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            candidates=candidates,
            pool=pool,
            resample=resample,
            n_nonzero=n_nonzero,
            center=center,
            tol=tol,
            precision=precision,
            target=target,
            dtype=dtype,
            block_size=block_size,
            max_memory=max_memory,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.criterion = criterion

    def _single_criterion(self) -> Criterion:
        return resolve_criterion(self.criterion)


class PrimalExtractor(LoopTransformer):
    """Base of the estimators whose candidates are the inputs themselves."""

    _candidates_are = "inputs; lower n_components"

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose directions.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Training rows.
        y : array-like of shape (n,) or (n, q), default=None
            Targets, for a criterion that uses them.
        sample_weight : array-like of shape (n,), default=None
            Weights; a whole number counts as that many equal rows.

        Returns
        -------
        self
        """
        criterion = self._make_criterion()
        batch, encoder = self._read(X, y, sample_weight, criterion)
        batch, _ = batch.without_zero_weights()
        n_inputs = batch.X.shape[1]
        inputs = np.arange(n_inputs)
        settings: Settings = self._settings(criterion, n_inputs)
        kernel, pool, metric = Inputs(), Pool(inputs, inputs), IdentityMetric(n_inputs)
        if criterion.needs_rows or len(batch) <= n_inputs:
            fit = fit_columns(batch, kernel, pool, criterion, settings, metric)
        else:
            # Any shift near the means will do; those of the first rows are free.
            shift = np.asarray(batch.X[:64].mean(axis=0), dtype=np.float64).ravel()
            target_shift = batch.Y[:64].mean(axis=0)
            one_pass = OnePass(kernel, pool, metric, shift, target_shift, criterion, settings)
            fit = one_pass.fit([batch])
        self._set_fit(fit, encoder)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@documented
class FeatureExtraction(PrimalExtractor):
    """Features in the space of the inputs by any criterion.

    Algorithm 1 of Dhanjal, Gunn and Shawe-Taylor (2009). The candidates are the inputs themselves, so
    ``"alignment"`` chooses inputs one at a time, as forward orthogonal least squares does, and the
    dense criteria give PCA, PLS and boosted latent features.

    Parameters
    ----------
    criterion : str or Criterion, default="pls"
        ``"pca"``, ``"pls"``, ``"opls"`` and ``"blf"`` combine all inputs; ``"alignment"``,
        ``"covariance"`` and ``"variance"`` choose one input at a time; or an object of a class
        derived from :class:`kernelsieve.deflation.Criterion`.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    ``landmarks_`` are numbers of inputs here, and so are ``landmark_indices_``. Sparse rows are made
    dense a block at a time.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import FeatureExtraction
    >>> X, y = load_diabetes(return_X_y=True)
    >>> FeatureExtraction("alignment", n_components=3).fit(X, y).landmarks_
    array([2, 8, 3])
    """

    _parameter_constraints: ClassVar[dict] = {
        "criterion": [str, Criterion],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "center": ["boolean"],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "precision": [StrOptions({"auto", "fast", "safe"})],
        "target": [StrOptions({"auto", "continuous", "classes"})],
        "block_size": [Interval(Integral, 1, None, closed="left"), None],
        "max_memory": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        criterion: str | Criterion = "pls",
        n_components: int | None = None,
        *,
        center: bool = True,
        tol: float = 1e-20,
        precision: str = "auto",
        target: str = "auto",
        block_size: int | None = None,
        max_memory: float = 2**30,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.criterion = criterion
        self.n_components = n_components
        self.center = center
        self.tol = tol
        self.precision = precision
        self.target = target
        self.block_size = block_size
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_criterion(self) -> Criterion:
        criterion = resolve_criterion(self.criterion)
        if criterion.deflation.symmetric:
            raise InvalidParameterError(
                f"criterion={self.criterion!r} deflates images of examples, and the candidates are "
                "inputs; use KernelFeatureExtraction with kernel='linear'."
            )
        return criterion
