"""Losses that boosted latent features follow, and their minimisation over linear coefficients."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit

from ..exceptions import InvalidDataError, InvalidParameterError

_NO_LABELS = "{} separates classes; y has other values. Pass labels."
_MOST_NEWTON_STEPS = 100
_PENALTY = 1e-8  # on squared coefficients, as a part of the loss's curvature where nothing is predicted
_SOLVABLE = 1e-14  # relative; keeps Newton's system solvable where the loss has become flat
_LAST_STEP = 1e-10  # of the loss, by which it can still fall
_LEAST_LOSS = 1e-4  # of that where nothing is predicted, under which losses are alike


class Loss(ABC):
    """A loss of one prediction for each example, convex in the prediction f."""

    @abstractmethod
    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the loss of every example.

        Parameters
        ----------
        y : ndarray
            Targets, as :meth:`prepare` returns them, or one column of these.
        f : ndarray of the shape of y
            Predictions.

        Returns
        -------
        ndarray of the shape of y
        """

    @abstractmethod
    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return minus the derivative with respect to f.

        Parameters
        ----------
        y : ndarray
            Targets, as :meth:`prepare` returns them, or one column of these.
        f : ndarray of the shape of y
            Predictions.

        Returns
        -------
        ndarray of the shape of y
        """

    @abstractmethod
    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the second derivative with respect to f.

        Parameters
        ----------
        y : ndarray
            Targets, as :meth:`prepare` returns them, or one column of these.
        f : ndarray of the shape of y
            Predictions.

        Returns
        -------
        ndarray of the shape of y
        """

    def prepare(self, targets: np.ndarray) -> np.ndarray:
        """Turn encoded targets into the columns that the loss compares with.

        Parameters
        ----------
        targets : ndarray of shape (n_samples, n_targets)
            Targets; labels as one column for each class, of 0 and 1, or one column of -1 and +1.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The targets as they are, unless overridden.
        """
        return targets

    def probabilities(self, f: np.ndarray) -> np.ndarray | None:
        """Return the probability of +1 for predictions, where the loss has such a meaning.

        Parameters
        ----------
        f : ndarray
            Predictions.

        Returns
        -------
        ndarray of the shape of f, or None
            None unless overridden.
        """
        return None

    def minimise(
        self, y: np.ndarray, features: np.ndarray, weight: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return the intercept and the coefficients with the least weighted loss.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            One column of what :meth:`prepare` returns.
        features : ndarray of shape (n_samples, n_components)
            Features.
        weight : ndarray of shape (n_samples,)
            Sample weights.

        Returns
        -------
        intercept : float
            The intercept.
        coefficients : ndarray of shape (n_components,)
            The coefficients of the features.
        """
        coefficients = self._minimum(y, np.column_stack([features, np.ones(len(y))]), weight)
        return float(coefficients[-1]), coefficients[:-1]

    def _minimum(self, y: np.ndarray, design: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the coefficients of the design with the least weighted loss.

        Damped Newton. On separable data a loss may have no minimum; a slight penalty keeps
        coefficients finite there.
        """
        return damped_newton(self, y, design, weight)[0]


class SquaredLoss(Loss):
    """``(y - f)^2 / 2``: boosted latent features are then PLS."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return 0.5 * (y - f) ** 2

    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y - f

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.ones_like(f)

    def _minimum(self, y: np.ndarray, design: np.ndarray, weight: np.ndarray) -> np.ndarray:
        root = np.sqrt(weight)
        return np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]


class AbsoluteLoss(Loss):
    """``|y - f|``: the median instead of the mean, for targets with outliers."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.abs(y - f)

    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        # A minimum goes through as many examples as it has coefficients, up to rounding.
        gap = y - f
        return np.where(np.abs(gap) > 1e-9 * np.abs(y).max(initial=0.0), np.sign(gap), 0.0)

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.zeros_like(f)

    def _minimum(self, y: np.ndarray, design: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Solve the linear programme in its dual form: as many constraints as coefficients.

        Maximise ``y'd`` subject to ``[T, 1]'d = 0`` and ``|d| <= weight``; the multipliers of the
        constraints are the coefficients.
        """
        scale = np.linalg.norm(design, axis=0)
        solution = linprog(
            -y,
            A_eq=(design / scale).T,
            b_eq=np.zeros(design.shape[1]),
            bounds=np.column_stack([-weight, weight]),
            method="highs",
        )
        if solution.status != 0:
            raise InvalidDataError(
                f"The absolute loss could not be minimised: {solution.message} "
                "Scale y, or use another loss."
            )
        return np.asarray(-solution.eqlin.marginals / scale)


class MarginLoss(Loss):
    """A loss of the margin y f, for labels that become -1 and +1."""

    def prepare(self, targets: np.ndarray) -> np.ndarray:
        """Return one column of -1 and +1 for two classes, one for each of more classes.

        Parameters
        ----------
        targets : ndarray of shape (n_samples, n_targets)
            Labels as one column for each class, of 0 and 1, or one column of two values.

        Returns
        -------
        ndarray of shape (n_samples, 1) or (n_samples, n_classes)
        """
        if targets.shape[1] > 1 and not (targets.sum(axis=1) == 1).all():
            raise InvalidDataError(_NO_LABELS.format(type(self).__name__))
        if targets.shape[1] > 2:
            return 2.0 * targets - 1.0  # each against the rest
        levels = np.unique(targets[:, -1])
        if len(levels) != 2:
            raise InvalidDataError(_NO_LABELS.format(type(self).__name__))
        return np.where(targets[:, -1:] == levels[1], 1.0, -1.0)


class LogisticLoss(MarginLoss):
    """``log(1 + exp(-y f))``."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.asarray(y * expit(-y * f))

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        p = expit(f)
        return np.asarray(p * (1.0 - p))

    def probabilities(self, f: np.ndarray) -> np.ndarray:
        return np.asarray(expit(f))


class ExponentialLoss(MarginLoss):
    """``exp(-y f)``."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.exp(-y * f)

    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y * np.exp(-y * f)

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.exp(-y * f)

    def probabilities(self, f: np.ndarray) -> np.ndarray:
        return np.asarray(expit(2 * f))  # f is half the log odds where the mean loss is least


LOSSES: dict[str, type[Loss]] = {
    "squared": SquaredLoss,
    "absolute": AbsoluteLoss,
    "logistic": LogisticLoss,
    "exponential": ExponentialLoss,
}


def resolve_loss(loss: str | Loss) -> Loss:
    """Return a loss for a name, or the user's own.

    Parameters
    ----------
    loss : str or Loss
        A name in ``LOSSES``, or an object, which is returned as it is.

    Returns
    -------
    Loss

    Examples
    --------
    >>> from kernelsieve.deflation import resolve_loss
    >>> type(resolve_loss("logistic")).__name__
    'LogisticLoss'
    """
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise InvalidParameterError(
            f"loss={loss!r} is not known; pass one of {', '.join(map(repr, LOSSES))}, or an object of "
            "a class derived from kernelsieve.deflation.Loss."
        )
    return LOSSES[loss]()


def refit(
    loss: Loss, Y: np.ndarray, features: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return intercepts (q,) and coefficients (k, q), each column of Y with the least loss."""
    heads = [loss.minimise(y, features, weight) for y in Y.T]
    return np.array([head[0] for head in heads]), np.column_stack([head[1] for head in heads])


def damped_newton(
    loss: Loss,
    y: np.ndarray,
    design: np.ndarray,
    weight: np.ndarray,
    *,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients with the least weighted loss of ``design @ coefficients``, and that.

    Newton steps, each halved until the loss does not rise. A slight penalty on all coefficients but
    the constant's gives separable classes a minimum, which rounding does not move.
    """
    coefficients = np.zeros(design.shape[1]) if start is None else start
    prediction = design @ coefficients
    penalty = _slight_penalty(loss, y, design, weight)

    def objective(c: np.ndarray, f: np.ndarray) -> float:
        return _weighted_loss(loss, y, f, weight) + 0.5 * float(penalty @ c**2)

    total = objective(coefficients, prediction)
    least = _LEAST_LOSS * _weighted_loss(loss, y, np.zeros(len(y)), weight)
    for _ in range(_MOST_NEWTON_STEPS):
        slope = design.T @ (weight * loss.negative_gradient(y, prediction)) - penalty * coefficients
        hessian = (design.T * (weight * loss.curvature(y, prediction))) @ design + np.diag(penalty)
        hessian += _SOLVABLE * np.trace(hessian) / len(hessian) * np.eye(len(hessian))
        step = np.linalg.solve(hessian, slope)
        along = design @ step
        if slope @ step <= _LAST_STEP * max(total, least):  # whose fall rounding would hide
            return coefficients + step, prediction + along
        for size in 0.5 ** np.arange(20):
            trial = objective(coefficients + size * step, prediction + size * along)
            if trial <= total:
                break
        else:
            break
        coefficients = coefficients + size * step
        prediction = prediction + size * along
        total = trial
    return coefficients, prediction


def _slight_penalty(loss: Loss, y: np.ndarray, design: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a penalty for each column of the design, by its variance; none for the constant."""
    bend = weight * loss.curvature(y, np.zeros(len(y)))
    centred = design - weight @ design / weight.sum()
    return _PENALTY * (bend @ centred**2)


def _weighted_loss(loss: Loss, y: np.ndarray, f: np.ndarray, weight: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # a step too far is shortened
        return float(weight @ loss.value(y, f))
