"""Rayleigh coefficients in kernel space: features with the largest ratio of two scatters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._sklearn import Interval, StrOptions
from ..deflation import Criterion, OrthonormalisedDirections, PrincipalDirections
from ..estimators import DEFAULT_COMPONENTS, KernelExtractor, documented
from ..exceptions import InvalidParameterError
from ..fitting import RowPass
from ..kernels import Kernel
from ..model import Fit
from ..rows import Batch, Pool
from .invariance_mixin import Moving
from .outputs import Moments
from .ratio_pass import RayleighPass, Recipe
from .scatter import Scatter, Tangent, TotalScatter


class RayleighExtractor(Moving):
    """Base of the estimators that maximise a ratio of scatters."""

    reg: float
    penalty: str

    resample = False  # all directions are found at once, from one pool
    max_memory = 0.0  # columns are never kept
    target = "classes"

    _parameter_constraints: ClassVar[dict] = {
        **KernelExtractor._parameter_constraints,
        **Moving._moving_constraints,
        "pool": [StrOptions({"random", "kmeans", "rpcholesky"})],
        "reg": [Interval(Real, 0, None, closed="left")],
        "penalty": [StrOptions({"alpha", "norm"})],
    }

    @abstractmethod
    def _scatters(self) -> tuple[list[Scatter], list[Scatter]]:
        """Return what numerator and denominator are sums of."""

    def _complete(
        self,
        fit: Fit,
        moments: Moments | None,
        n_candidates: int,
        batches: Iterable[Batch] | None,
    ) -> Fit:
        """Add to a fit what a subclass needs."""
        return fit

    def _needs_rows(self, n_classes: int) -> bool:
        """Tell if :meth:`_complete` goes through the rows."""
        return False

    def _recipe(self, n_candidates: int, n_classes: int) -> Recipe:
        numerator, denominator = self._scatters()
        wanted = self.n_components
        return Recipe(
            numerator,
            denominator,
            reg=self.reg,
            penalty=self.penalty,
            n_components=min(DEFAULT_COMPONENTS, n_candidates) if wanted is None else wanted,
            center=self.center,
            tol=self.tol,
        )

    def _given_tangents(self) -> list[Tangent]:
        # Of the denominator, wherever they come from.
        return [s for s in self._scatters()[1] if isinstance(s, Tangent)]

    # ------------------------------------------------------------------ what fitting asks for

    def _single_criterion(self) -> Criterion:
        # Says whether labels are needed, and how a pool is drawn; the loop itself is not run.
        supervised = any(s.supervised for scatters in self._scatters() for s in scatters)
        return OrthonormalisedDirections() if supervised else PrincipalDirections()

    def _fit_rows(
        self,
        batch: Batch,
        kernel: Kernel,
        criterion: Criterion,
        random_state: np.random.RandomState,
    ) -> Fit:
        size = self._pool_size(self._n_with_moved(batch))
        self._settings(criterion, size)  # refuses before a pool is drawn
        pool, W = self._drawn_pool(batch, kernel, size, criterion, random_state)
        if batch.weight is None or len(pool) < len(batch):
            return self._fit_pool(batch, kernel, pool, W, criterion)
        # All rows are candidates, and a row of weight 2 is two equal candidates that share alpha.
        copies = batch.weight[pool.indices]
        target_shift = batch.Y[:64].mean(axis=0)
        return self._pass(kernel, pool, W, target_shift, criterion, copies).fit([batch])

    def _one_pass(
        self,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray,
        target_shift: np.ndarray,
        criterion: Criterion,
    ) -> RowPass:
        return self._pass(kernel, pool, W, target_shift, criterion)

    def _pass(
        self,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray,
        target_shift: np.ndarray,
        criterion: Criterion,
        copies: np.ndarray | None = None,
    ) -> RayleighPass:
        settings = self._settings(criterion, len(pool))
        return RayleighPass(
            kernel,
            pool,
            W,
            target_shift,
            self._recipe(len(pool), len(target_shift)),
            copies=copies,
            precision=settings.precision,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
            complete=self._complete,
            needs_rows=self._needs_rows(len(target_shift)),
        )


@documented
class RayleighCoefficient(RayleighExtractor):
    """Features with the largest ratio of what is wanted to what is not.

    Numerator and denominator are sums of scatters, each with a weight, that are combined freely:
    :class:`~kernelsieve.rayleigh.TotalScatter`, :class:`~kernelsieve.rayleigh.BetweenClasses`,
    :class:`~kernelsieve.rayleigh.WithinClasses`, :class:`~kernelsieve.rayleigh.Tangent` (invariance
    under a transformation), :class:`~kernelsieve.rayleigh.NoiseSamples`,
    :class:`~kernelsieve.rayleigh.NoiseCovariance`, or a class of your own that is derived from
    :class:`~kernelsieve.rayleigh.Scatter`. ``KernelFisherDiscriminant`` and ``OrientedKernelPCA`` are
    special cases.

    Parameters
    ----------
    numerator : list of Scatter, default=None
        What is wanted; None is the total scatter.
    denominator : list of Scatter, default=None
        What is not; None is nothing but the penalty.
    pool : {"random", "kmeans", "rpcholesky"}, default="random"
        How candidates given as a number are drawn.
    tol : float, default=1e-10
        Ratios below this part of the largest are noise, and their features are dropped.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    In the coefficients alpha of the candidates the ratio is ``alpha' M alpha`` over
    ``alpha' (N + reg I) alpha``, or ``N + reg K`` for ``penalty="norm"``, with M and N sums over the
    rows. Directions are the generalised eigenvectors, scaled so that the denominator of a feature is
    the number of rows, and ``criterion_path_`` holds the ratios.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import RayleighCoefficient
    >>> from kernelsieve.rayleigh import BetweenClasses, ImageRotation, Tangent, WithinClasses
    >>> X, y = load_digits(return_X_y=True)
    >>> features = RayleighCoefficient(
    ...     numerator=[BetweenClasses()],
    ...     denominator=[WithinClasses(), Tangent(ImageRotation(10.0), weight=0.1)],
    ...     gamma=0.001,
    ...     candidates=200,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> features.transform(X).shape
    (1797, 9)
    """

    _parameter_constraints: ClassVar[dict] = {
        **RayleighExtractor._parameter_constraints,
        "numerator": [list, tuple, None],
        "denominator": [list, tuple, None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        numerator: Sequence[Scatter] | None = None,
        denominator: Sequence[Scatter] | None = None,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        pool: str = "random",
        center: bool = True,
        tol: float = 1e-10,
        reg: float = 1e-3,
        penalty: str = "alpha",
        virtual_candidates: bool = False,
        precision: str = "auto",
        block_size: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.numerator = numerator
        self.denominator = denominator
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.pool = pool
        self.center = center
        self.tol = tol
        self.reg = reg
        self.penalty = penalty
        self.virtual_candidates = virtual_candidates
        self.precision = precision
        self.block_size = block_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _scatters(self) -> tuple[list[Scatter], list[Scatter]]:
        numerator: list[Scatter] = [TotalScatter()]
        if self.numerator is not None:
            numerator = list(self.numerator)
        denominator = list(self.denominator or ())
        strange = [s for s in [*numerator, *denominator] if not isinstance(s, Scatter)]
        if strange or not any(s.weight > 0 for s in numerator):
            raise InvalidParameterError(
                f"numerator={self.numerator!r} and denominator={self.denominator!r} must be lists of "
                "scatters such as kernelsieve.rayleigh.TotalScatter(), with at least one of positive "
                "weight in the numerator."
            )
        if self.reg == 0 and not any(s.weight > 0 for s in denominator):
            raise InvalidParameterError(
                "The denominator is zero: reg=0 and no scatter has a positive weight; raise reg."
            )
        return numerator, denominator
