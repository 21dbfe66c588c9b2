"""What is to be fitted: data, kernel, candidates and settings, read once from an estimator."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from ..config import get_config
from ..data import Batch, Pool, TargetEncoder, draw_sample
from ..deflation import BestSubset, Criterion
from ..exceptions import InvalidParameterError, ModelFileError
from ..kernels import CallableKernel, Inputs, Kernel, Precomputed
from ..model import Fit
from .candidates import Candidates
from .pools import draw_pool, screening_criterion

DEFAULT_COMPONENTS = 100
# Of values in float32, residuals below that share (squared), or so many times the last digit of what
# cancelled in them, are rounding.
_FLOAT32_FLOOR, _LAST_DIGITS = 1e-10, 10

AUTO_POOL = 1000
# Of up to so many samples candidates="auto" takes all, by what is done with candidates: single ones
# are "chosen" by a criterion that can screen them, or "followed" by deflation of the kernel matrix;
# all of them are "combined" by products with their columns, "solved" for by a system of equations, or
# "decomposed" as a whole, in cubes of their number.
_ALL_UP_TO = {
    "chosen": 1500,
    "followed": 10_000,
    "combined": 10_000,
    "solved": 2000,
    "decomposed": AUTO_POOL,
}
# Every step of "chosen" ones reads all kernel values: of so many components they take all of up to
# AUTO_POOL samples alone. Fewer components would lose more by a pool.
_MANY_COMPONENTS = 100
_IN_ANY_CASE = 3000  # of these, whatever a kernel value takes, and however small the memory
_KERNEL_WORK = 2e10  # numbers that all kernel values are made of, about two seconds
_VALUE_WORK = 100  # that the rest of a fit takes for each kernel value, in such numbers
# Of more samples, pools of so many times the components, and at least so many.
_POOLS = {"chosen": (1.5, 150), "followed": (3.0, 200)}
_WIDER_FROM, _WIDER_EACH, _WIDER = 10_000, 200, 150  # one more for each 200 samples, up to 150
_MOST_TO_COMBINE = {2: 600, 3: 100}  # candidates: some hundred thousand pairs or triples


@dataclass(frozen=True)
class Settings:
    """What concerns every way to fit: parameters of the estimator, and settings of the machine."""

    n_components: int = DEFAULT_COMPONENTS
    center: bool = False
    tol: float = 0.0
    scale: str | None = None  # of features, as finish says; None for the criterion's own
    precision: str = "auto"
    dtype: type = np.float64
    rounded: bool = False  # whether kernel values come with the digits of float32 alone
    max_memory: float = 2**30
    block_rows: int | None = None
    n_jobs: int | None = None

    @classmethod
    def of_this_fit(cls, n_components: int | None, **parameters: Any) -> Self:
        """Return the parameters of an estimator with the settings of the machine as they are now.

        Nothing looks at these settings again, in whatever thread or process the fit goes on.
        """
        if isinstance(n_components, bool):
            raise InvalidParameterError(
                f"n_components={n_components} is no number of features; pass a whole number, or None."
            )
        config = get_config()
        return cls(
            n_components=n_components or DEFAULT_COMPONENTS,
            precision=config["precision"],
            dtype=np.float32 if config["dtype"] == "float32" else np.float64,
            max_memory=config["max_memory"],
            block_rows=config["block_size"],
            **parameters,
        )

    @property
    def tolerances(self) -> tuple[float, float]:
        """The shares of a squared column, and of what cancelled in it, below which all is rounding."""
        if not self.rounded and self.dtype != np.float32:
            return self.tol, 0.0
        return max(self.tol, _FLOAT32_FLOOR), _LAST_DIGITS * float(np.finfo(np.float32).eps)


def use_of_candidates(criterion: Criterion) -> str:
    """Return what the loop does with candidates, as above."""
    if criterion.can_screen:
        return "chosen"
    if criterion.needs.columns or criterion.needs.digits:
        return "decomposed"
    return "followed" if criterion.deflation.symmetric else "combined"


def way_to_draw(rule: Candidates, criterion: Criterion | None) -> str:
    """Return how a pool is drawn, given the criterion by which it may be screened."""
    if rule.how != "auto":
        return rule.how
    if rule.is_number or screening_criterion(criterion) is None:
        return "random"
    # What varies most is combined from random candidates as well as from any.
    assert criterion is not None
    return "random" if criterion.needs.metric and not criterion.needs.targets else "screen"


@dataclass(frozen=True)
class Problem:
    """Everything that an estimator hands to its solver.

    Attributes
    ----------
    rows : Batch
        Samples of positive weight: ``rows.X``, ``rows.Y`` (the targets), ``rows.weight``.
    kernel : Kernel
        The kernel with all of its parameters.
    given : Pool or None
        Candidates that were given as points.
    candidates : Candidates
        How the parameters ask for candidates otherwise.
    encoder : TargetEncoder
        What ``y`` is; ``encoder.classes`` are the labels, or None.
    settings : Settings
        Parameters that concern every way to fit, such as ``n_components``, ``center`` and ``n_jobs``.
    random_state : RandomState
        For everything that is drawn.
    kept : ndarray of int or None
        Which samples these are, where some have no weight.
    n_features : int
        Number of features of X as it was given.
    everyone : Pool
        All samples as candidates.
    """

    rows: Batch
    kernel: Kernel
    given: Pool | None
    candidates: Candidates
    encoder: TargetEncoder
    settings: Settings
    random_state: np.random.RandomState
    kept: np.ndarray | None = None
    n_features: int = 0

    @property
    def everyone(self) -> Pool:
        """The pool of all samples."""
        numbers = np.arange(len(self.rows))
        return Pool(self.kernel.points(self.rows.X, numbers), numbers)

    def settings_for(self, n_candidates: int) -> Settings:
        """Return the settings with at most one component for each candidate.

        Parameters
        ----------
        n_candidates : int
            How many candidates there are.

        Returns
        -------
        Settings
        """
        return replace(self.settings, n_components=min(self.settings.n_components, n_candidates))

    def pool_size(
        self, n_samples: int, use: str, screening: Criterion | None, fresh: int = AUTO_POOL
    ) -> int:
        """Return how many of so many samples become candidates.

        Parameters
        ----------
        n_samples : int
            How many there are to draw from.
        use : {"chosen", "followed", "combined", "solved", "decomposed"}
            What is done with candidates.
        screening : Criterion or None
            By which they may be screened.
        fresh : int, default=1000
            Candidates that are drawn at every step, where this is asked for without a number.

        Returns
        -------
        int
        """
        rule = self.candidates
        if rule.is_number:
            return min(int(rule.size), n_samples)
        if not isinstance(rule.size, str) or rule.size == "all":
            return n_samples
        if rule.resample:
            return min(n_samples, fresh)
        if isinstance(screening, BestSubset):  # all pairs or triples of the candidates are tried
            return min(n_samples, _MOST_TO_COMBINE[screening.size])
        if use == "solved":
            return min(n_samples, _ALL_UP_TO[use] if rule.how in ("auto", "random") else AUTO_POOL)
        if use == "decomposed":
            return min(n_samples, _ALL_UP_TO[use])
        screened = way_to_draw(rule, screening) == "screen"
        use = use if screened else "combined"
        wanted, most = self.settings.n_components, _ALL_UP_TO[use]
        if use == "chosen" and wanted >= _MANY_COMPONENTS:
            most = min(most, AUTO_POOL)
        if n_samples <= most and n_samples <= self._most_columns():
            return n_samples
        if use == "combined":
            return min(n_samples, AUTO_POOL)
        each, fewest = _POOLS[use]
        wider = np.clip((n_samples - _WIDER_FROM) // _WIDER_EACH, 0, _WIDER) if use == "chosen" else 0
        size = max(each * wanted, fewest) + wider
        return min(n_samples, int(min(size, max(AUTO_POOL, wanted))))

    def has_pool(self, size: int) -> bool:
        """Return True for a pool: given as points, or of fewer candidates than samples, drawn once.

        Parameters
        ----------
        size : int
            How many samples become candidates otherwise.

        Returns
        -------
        bool
        """
        return not self.candidates.resample and (self.given is not None or size < len(self.rows))

    def _most_columns(self) -> int:
        """Return of how many samples a fit may take all kernel columns, by memory and time."""
        X = self.rows.X
        if isinstance(self.kernel, CallableKernel):
            return _IN_ANY_CASE
        values = 0 if isinstance(self.kernel, Precomputed) else X.size / X.shape[0]
        by_time = np.sqrt(_KERNEL_WORK / (values + _VALUE_WORK))
        by_memory = np.sqrt(self.settings.max_memory / np.dtype(self.settings.dtype).itemsize)
        return max(_IN_ANY_CASE, int(min(by_time, by_memory)))

    def scored_samples(self) -> Batch:
        """Return the samples over which candidates are scored: all, or a random part of them.

        Returns
        -------
        Batch
        """
        rows, size = self.rows, self.candidates.scored_on
        if self.given is not None or size is None or size >= len(rows):
            return rows
        drawn, weight = draw_sample(len(rows), size, self.random_state, rows.weight)
        return replace(rows[drawn], weight=weight)

    def draw(self, size: int, criterion: Criterion | None = None) -> Pool:
        """Draw a pool from the samples, as ``candidates`` says.

        Parameters
        ----------
        size : int
            How many candidates.
        criterion : Criterion, default=None
            By which candidates are screened.

        Returns
        -------
        Pool
            With the ``points``, their ``indices`` and their kernel matrix ``W``.
        """
        rows, kernel, how = self.rows, self.kernel, way_to_draw(self.candidates, criterion)
        numbers = draw_pool(rows, kernel, criterion, size, how, self.settings, self.random_state)
        points = kernel.points(rows.X, numbers)
        return Pool(points, numbers, kernel.block(rows.X[numbers], points))

    def plan(self, pool: Pool, sample: Batch | None = None) -> Plan:
        """Return what must be known before a pass; a sample tells near which means targets are."""
        some = self.rows[:64] if sample is None else sample
        settings = self.settings_for(len(pool))
        return Plan(self.kernel, pool, self.encoder, some.target_means, settings)

    def renumbered(self, fit: Fit) -> Fit:
        """Return a fit with the numbers that samples have among all that were given."""
        of_samples = self.given is None and not isinstance(self.kernel, Inputs)
        if self.kept is None or not of_samples:
            return fit
        return fit.renumbered(self.kept, self.n_features)


@dataclass(frozen=True)
class Plan:
    """What is settled before samples are passed over, in whatever batches they come."""

    kernel: Kernel
    pool: Pool
    encoder: TargetEncoder
    target_shift: np.ndarray
    settings: Settings

    def for_estimator(self, settings: Settings) -> Self:
        """Return the plan with the settings of an estimator, and as many components as it asks for.

        Settings of the machine stay those of the plan, wherever samples are summed up.
        """
        mine = self.settings
        settings = replace(
            settings,
            n_components=min(settings.n_components, len(self.pool)),
            precision=mine.precision,
            dtype=mine.dtype,
            max_memory=mine.max_memory,
            block_rows=mine.block_rows,
        )
        return replace(self, settings=settings)

    def renumbered(self, kept: np.ndarray, n_columns: int) -> Self:
        """Return the plan of the kept samples with the numbers that they have among all."""
        kernel, pool = self.kernel, replace(self.pool, indices=kept[self.pool.indices])
        if isinstance(kernel, Precomputed):
            kernel, pool = Precomputed(n_columns), replace(pool, points=kept[pool.points])
        return replace(self, kernel=kernel, pool=pool)

    def take_state(self, state: dict[str, Any]) -> None:
        """Become the plan that a file holds; older files name the pool apart from its matrix."""
        if (former := state.pop("candidates", None)) is not None:
            state["pool"] = replace(former.pool, W=former.W)
        names = {field.name for field in fields(self)}
        if set(state) != names:
            raise ModelFileError(f"its plan has the parts {sorted(state)} instead of {sorted(names)}.")
        vars(self).update(state)
