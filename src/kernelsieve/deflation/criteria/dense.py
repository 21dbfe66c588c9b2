"""Criteria whose direction combines all candidates: principal components, PLS, loss gradients."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..heads import Heads
from ..losses import Loss, refit, resolve_loss
from ..needs import Needs
from ..view import Direction, Step, View
from .base import Criterion, Selector


class SimultaneousCriterion(Criterion):
    """Finds all directions at once: removing one of them leaves the others as they are."""

    needs = Needs(metric=True)

    @abstractmethod
    def directions(self, view: View) -> list[Direction]:
        """Return all directions, the best first.

        Parameters
        ----------
        view : View
            What is known of the candidates, as far as it was declared.

        Returns
        -------
        list of Direction
            At most ``view.n_components`` of them are used.
        """

    def start(self) -> Selector:
        return _Simultaneous(self)

    def propose(self, view: View) -> Direction | None:
        return self.start().propose(view)


class _Simultaneous(Selector):
    """Hands out directions that were found at the first step."""

    def __init__(self, criterion: SimultaneousCriterion) -> None:
        self._criterion = criterion
        self._found: list[Direction] | None = None

    def propose(self, view: View) -> Direction | None:
        if self._found is None:
            self._found = self._criterion.directions(view)
        done = view.features.shape[1]
        return self._found[done] if done < len(self._found) else None


class PrincipalDirections(SimultaneousCriterion):
    """(Kernel) PCA: directions of largest variance, sections 3.1.1 and 3.2.1 of Dhanjal et al."""

    needs = Needs(targets=False, metric=True, columns=True)

    def directions(self, view: View) -> list[Direction]:
        found = view.metric.principal(view.columns, view.n_components)
        return [Direction(np.arange(len(found)), weights, 0.0) for weights in found.T]

    def value(self, step: Step) -> float:
        return step.residual_norm**2 / step.total_weight


class PartialLeastSquares(Criterion):
    """(Kernel) PLS: the direction of largest covariance, sections 3.1.2 and 3.2.2.

    Parameters
    ----------
    balanced : bool, default=False
        Divide columns of class labels by the roots of the classes' sizes, so that Y becomes
        ``Y (Y'Y)^-1/2`` and small classes count as much as large ones.
    nearest_centre : bool, default=False
        Predict the class whose mean features are nearest, instead of that with the largest indicator
        by least squares.
    by_alignment : bool, default=False
        Predict the class with whose samples the inner product of features, the kernel that is aligned
        with the labels, is largest on average.
    """

    needs = Needs(metric=True)
    keeps_loadings = True

    def __init__(
        self, balanced: bool = False, nearest_centre: bool = False, by_alignment: bool = False
    ) -> None:
        self.balanced = balanced
        self.nearest_centre = nearest_centre
        self.by_alignment = by_alignment

    def target_scale(self, target_sums: np.ndarray) -> np.ndarray:
        if not self.balanced:
            return super().target_scale(target_sums)
        return 1.0 / np.sqrt(np.where(target_sums > 0, target_sums, 1.0))

    def propose(self, view: View) -> Direction | None:
        return steepest_direction(view, view.target_products, view.residual_targets)

    def value(self, step: Step) -> float:
        along = step.target_products * step.residual_norm / step.total_weight
        return float(along @ along)


class LossGradient(Criterion):
    """(Kernel) boosted latent features: the direction of the negative gradient of a loss.

    After every feature the loss is minimised over the coefficients of all features so far; the
    gradient at that point is the next vector that features should follow (sections 3.1.3, 3.2.3).

    Parameters
    ----------
    loss : {"squared", "absolute", "logistic", "exponential"} or Loss, default="squared"
        The loss, by its name or as an object.
    """

    needs = Needs(metric=True, rows=True)

    def __init__(self, loss: str | Loss = "squared") -> None:
        self.loss = loss

    def start(self) -> Selector:
        return _GradientSteps(resolve_loss(self.loss))

    def propose(self, view: View) -> Direction | None:
        return self.start().propose(view)


class _GradientSteps(Selector):
    """Follows a loss, which is minimised once for every number of features."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss
        self._heads: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def propose(self, view: View) -> Direction | None:
        root = view.root_weight[:, None]
        Y = self._loss.prepare(view.raw_targets)
        features = view.features / root
        intercepts, coefficients = self._head(Y, features, view.root_weight**2)
        gradient = self._loss.negative_gradient(Y, features @ coefficients + intercepts) * root
        if view.columns.centred:  # the kernel matrix is centred on both sides
            gradient -= root * (root.T @ gradient) / (root.T @ root)
        residual = gradient - view.features @ (view.features.T @ gradient)
        return steepest_direction(view, view.columns.inner(residual), residual)

    def heads(self, features: np.ndarray, raw_targets: np.ndarray, weight: np.ndarray) -> Heads | None:
        Y = self._loss.prepare(raw_targets)
        k = features.shape[1]
        path = [self._head(Y, features[:, :j], weight) for j in range(1, k + 1)]
        coefficients = np.zeros((k, k, Y.shape[1]))
        for j, (_, found) in enumerate(path):
            coefficients[j, : j + 1] = found
        return Heads(np.array([intercepts for intercepts, _ in path]), coefficients)

    def _head(
        self, Y: np.ndarray, features: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Minimise the loss over the first j features, once."""
        j = features.shape[1]
        if j not in self._heads:
            self._heads[j] = refit(self._loss, Y, features, weight)
        return self._heads[j]


def steepest_direction(view: View, products: np.ndarray, vectors: np.ndarray) -> Direction | None:
    """Return the unit direction whose feature has the largest inner products with ``vectors``."""
    dual = view.metric.solve(products, vectors)
    strength = products.T @ dual  # B'W B, symmetric
    if len(strength) == 1:
        values, mixes = strength[0], np.ones((1, 1))
    else:
        values, mixes = np.linalg.eigh((strength + strength.T) / 2)
    if not values[-1] > 0:
        return None
    mix = mixes[:, -1] / np.sqrt(values[-1])
    weights = dual @ mix
    column = view.metric.combined_column(products @ mix)
    return Direction(np.arange(len(weights)), weights, float(values[-1]), column=column)
