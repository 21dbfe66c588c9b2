"""What a criterion sees at one step, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import CriterionError
from .columns import Columns
from .metric import DiagonalOnly, Metric

if TYPE_CHECKING:
    from .criteria.base import Criterion

_OF_TARGETS = {"target_products", "targets", "residual_targets"}
_OF_ROWS = {"raw_targets", "root_weight"}
_OF_IMAGES = {"residual_lengths", "expansion_norms"}
_SCREENED = {"residual_squared_norms", "raw_squared_norms", "target_products", "eligible", "metric"}


@dataclass(frozen=True)
class Direction:
    """A combination beta of candidates, of unit length in the metric.

    Parameters
    ----------
    candidates : ndarray of int
        Their places among all candidates.
    weights : ndarray of float
        The weight of each.
    score : float
        What the criterion thinks of the direction.
    means : ndarray, default=None
        Means of the candidates' columns; the loop fills them in.
    column : ndarray of shape (N,), default=None
        The combined column, where it is known without combining.
    """

    candidates: np.ndarray
    weights: np.ndarray
    score: float
    means: np.ndarray | None = None
    column: np.ndarray | None = None


@dataclass(frozen=True)
class Step:
    """One committed direction, in numbers: what a criterion's value is made of.

    Attributes
    ----------
    score : float
        That of the direction.
    residual_norm : float
        Norm of the deflated column along the direction, sqrt(tau' tau).
    target_products : ndarray of shape (q,)
        Inner products of the unit feature with the targets.
    target_squared_norm : float
        Squared norm of all targets together, before any deflation.
    total_weight : float
        Number of samples, or the sum of their weights.
    """

    score: float
    residual_norm: float  # of the deflated column along the direction, sqrt(tau' tau)
    target_products: np.ndarray  # of the unit feature with every target
    target_squared_norm: float  # of all targets together, before any deflation
    total_weight: float  # number of rows, or the sum of their weights


class View:
    """What a criterion sees at one step: what it has declared, and nothing else.

    Looking at something else raises a :class:`~kernelsieve.exceptions.CriterionError` that names the
    declaration to add. Arrays are read only by convention.

    Attributes
    ----------
    residual_squared_norms : ndarray of shape (C,)
        Squared norm of every candidate's column after deflation.
    raw_squared_norms : ndarray of shape (C,)
        The same before deflation and before centring: rounding errors are relative to it.
    eligible : ndarray of bool of shape (C,)
        Candidates that may still be chosen.
    metric : Metric
        Lengths in feature space; ``metric.diagonal`` is k(z, z), undeflated. Everything else of it is
        for ``Needs(metric=True)``: ``metric.among(chosen)`` is the kernel matrix W of some candidates,
        ``metric.solve(products, vectors)`` the combinations B nearest to ``vectors``, given
        their products with the columns, and ``metric.principal(columns, n)`` those of largest variance.
    target_products : ndarray of shape (C, q)
        Inner products of the deflated columns with the targets; with ``Needs(targets=True)``.
    columns : Columns
        The undeflated columns A; without ``can_screen``, as all that follows. ``columns.take(chosen)``
        are some of them, (N, len(chosen)), and ``columns.inner(vectors)`` is A' vectors.
    column_products : ndarray of shape (C, j)
        Coefficients of the undeflated columns on the features so far.
    features : ndarray of shape (N, j)
        The features so far; orthonormal, unless deflation is symmetric.
    n_components : int
        How many features are wanted in all.
    targets : ndarray of shape (N, q)
        Targets, centred and weighted as the columns are, before deflation; with
        ``Needs(targets=True)``.
    residual_targets : ndarray of shape (N, q)
        What the features leave of them; with ``Needs(targets=True)``.
    residual_lengths : ndarray of shape (C,)
        k(z, z) after deflation; with symmetric ``deflation``.
    expansion_norms : ndarray of shape (C,)
        l1 norm of each deflated image as a combination of examples; with symmetric ``deflation``.
    raw_targets : ndarray of shape (n, q)
        Targets as they are; with ``Needs(rows=True)``.
    root_weight : ndarray of shape (n,)
        Square roots of the sample weights; with ``Needs(rows=True)``.
    """

    residual_squared_norms: np.ndarray
    raw_squared_norms: np.ndarray
    eligible: np.ndarray
    metric: Metric
    target_products: np.ndarray
    columns: Columns
    column_products: np.ndarray
    features: np.ndarray
    n_components: int
    targets: np.ndarray
    residual_targets: np.ndarray
    residual_lengths: np.ndarray
    expansion_norms: np.ndarray
    raw_targets: np.ndarray
    root_weight: np.ndarray

    def __init__(self, criterion: Criterion, source: Any = None, **values: Any) -> None:
        """Show what was declared: values, and else attributes of ``source``."""
        self._criterion = criterion
        symmetric, needs = criterion.deflation.symmetric, criterion.needs
        self._declarations = needs.targets, needs.rows, symmetric, criterion.can_screen
        for name in _declared(*self._declarations):
            setattr(self, name, values[name] if name in values else getattr(source, name))
        if not criterion.needs.metric:
            self.metric = DiagonalOnly(self.metric.diagonal)

    def __getattr__(self, name: str) -> Any:
        known = name in View.__annotations__
        declaration = _missing_declaration(name, *self._declarations) if known else None
        if declaration is None:
            raise AttributeError(f"a view has no attribute {name!r}")
        raise CriterionError(
            f"{type(self._criterion).__name__} looks at view.{name} and has not declared it; write "
            f"`{declaration}` into its class."
        )


@cache
def _declared(*declarations: bool) -> tuple[str, ...]:
    """Return what a criterion with these declarations sees."""
    return tuple(n for n in View.__annotations__ if _missing_declaration(n, *declarations) is None)


def _missing_declaration(
    name: str, targets: bool, rows: bool, symmetric: bool, can_screen: bool
) -> str | None:
    """Return what a criterion must declare to see something, unless it has."""
    if name in _OF_TARGETS and not targets:
        return "needs = Needs(targets=True)"
    if name in _OF_ROWS and not rows:
        return "needs = Needs(rows=True)"
    if name in _OF_IMAGES and not symmetric:
        return "deflation = SymmetricDeflation()"
    if can_screen and name not in _SCREENED:
        return "can_screen = False"
    return None
