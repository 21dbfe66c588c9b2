"""The criteria that have a name: what ``criterion="..."`` may say."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from ...exceptions import InvalidParameterError
from .analysis import DirectionVariance, ExpansionVariance
from .base import Criterion
from .continuum import ContinuumRegression
from .dense import LossGradient, PartialLeastSquares, PrincipalDirections
from .orthonormalised import OrthonormalisedDirections
from .sparse import Alignment, Covariance, Variance

#: Names that ``FeatureExtraction`` and ``KernelFeatureExtraction`` accept.
CRITERIA: dict[str, Callable[[], Criterion]] = {
    "alignment": Alignment,
    "covariance": Covariance,
    "variance": Variance,
    "pca": PrincipalDirections,
    "kpca": PrincipalDirections,
    "pls": PartialLeastSquares,
    "kpls": PartialLeastSquares,
    "continuum": ContinuumRegression,
    "opls": OrthonormalisedDirections,
    "kopls": OrthonormalisedDirections,
    "gradient": LossGradient,
    "blf": LossGradient,
    "kblf": LossGradient,
    "akfa": DirectionVariance,
    "skfa": ExpansionVariance,
}


def resolve_criterion(criterion: str | Criterion) -> Criterion:
    """Return a criterion for a name, or the user's own.

    Parameters
    ----------
    criterion : str or Criterion
        A name in ``CRITERIA``, or an object, which is returned as it is.

    Returns
    -------
    Criterion

    Examples
    --------
    >>> from kernelsieve.deflation import resolve_criterion
    >>> type(resolve_criterion("alignment")).__name__
    'Alignment'
    """
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str) and criterion in CRITERIA:
        return CRITERIA[criterion]()
    near = difflib.get_close_matches(str(criterion).lower(), CRITERIA, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InvalidParameterError(
        f"criterion={criterion!r} is not known.{hint} Pass one of "
        f"{', '.join(map(repr, CRITERIA))}, or an object of a class derived from "
        "kernelsieve.deflation.Criterion."
    )
