"""Orthonormalised PLS: the features that predict the targets best by least squares."""

from __future__ import annotations

import numpy as np

from ..needs import Needs
from ..view import Direction, Step, View
from .dense import SimultaneousCriterion

# Singular values of the columns below this part of the largest are rounding. Without a ridge nothing
# else keeps dependent columns out.
_RANK_TOLERANCE = 1e-12
_TARGET_TOLERANCE = 1e-10  # the root of what the loop takes for noise in the targets


class OrthonormalisedDirections(SimultaneousCriterion):
    """(Kernel) OPLS: the most predictable combinations of the targets (section 2 of Dhanjal et al.).

    For columns A and targets Y it maximises ``beta' A'Y Y'A beta`` under
    ``beta' (A'A + delta I) beta = 1``, where delta is ``regularization`` times the mean of the
    squared norms of the columns. Removing ``(A'A + delta I) beta beta'`` from ``A'Y`` leaves the other
    eigenvectors as they are, so all are found at once; there are as many as Y has rank.

    Parameters
    ----------
    regularization : float, default=1e-8
        Not negative; see above.
    """

    needs = Needs(metric=True, columns=True, digits=True)
    at_most_targets = True
    unit_variance = True

    def __init__(self, regularization: float = 1e-8) -> None:
        self.regularization = regularization

    @property
    def one_of_equals(self) -> bool:
        return True  # without a ridge, coefficients are those of least norm

    def directions(self, view: View) -> list[Direction]:
        usable = np.flatnonzero(view.eligible)
        found, eigenvalues = opls_directions(
            view.columns.take(usable), view.targets, self.regularization
        )
        return [
            Direction(usable, weights, float(eigenvalue))
            for weights, eigenvalue in zip(found.T, eigenvalues, strict=True)
        ]

    def value(self, step: Step) -> float:
        return float(step.target_products @ step.target_products) / step.target_squared_norm


def opls_directions(
    columns: np.ndarray, targets: np.ndarray, regularization: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvectors of ``A'Y Y'A beta = lambda (A'A + delta I) beta``, and the eigenvalues.

    From the singular values of A, because A'A would square their range.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.deflation.criteria.orthonormalised import opls_directions
    >>> directions, eigenvalues = opls_directions(np.diag([1.0, 2.0]), np.array([[3.0], [4.0]]), 0.0)
    >>> (directions[:, 0] / directions[0, 0]).round(6), eigenvalues.round(6)
    (array([1.      , 0.666667]), array([25.]))
    """
    left, singular, right = np.linalg.svd(columns, full_matrices=False)
    kept = singular > _RANK_TOLERANCE * singular[0]
    left, singular, right = left[:, kept], singular[kept], right[kept]
    delta = regularization * float(singular @ singular) / columns.shape[1]
    lengths = np.sqrt(singular**2 + delta)
    predictable = (singular / lengths)[:, None] * (left.T @ targets)
    mixes, strengths, _ = np.linalg.svd(predictable, full_matrices=False)
    found = strengths > _TARGET_TOLERANCE * np.linalg.norm(targets)
    return right.T @ (mixes[:, found] / lengths[:, None]), strengths[found] ** 2
