"""Explain a prediction as a sum over landmarks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

_SHOWN = 3  # samples, and landmarks of each


@dataclass(frozen=True, repr=False)
class Explanation:
    """Contributions of landmarks to scores; with the baseline they add up to the score.

    The score of a sample is a weighted sum of the scores of the landmarks, by the weights of
    interpolation with the kernel. A landmark contributes its weight times by how much its own score is
    above the mean of all landmarks.

    That is the arithmetic of one fit, and not a reason: contributions are of either sign and cancel, so
    that they may be many times as large as what they add up to, and a fit with another ``random_state``
    has other landmarks for nearly the same predictions. ``neighbors`` of a sieve tells which training
    samples are like a sample, nearly the same in every fit.

    Attributes
    ----------
    contributions : ndarray of shape (n_samples, n_landmarks) or (n_samples, n_landmarks, n_outputs)
        What each landmark adds to the score of each sample; one output for each target or class
        where there are several.
    baseline : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What no landmark accounts for: the mean score of the landmarks, near them, and the score that
        all samples far away have there.
    landmark_indices : ndarray of shape (n_landmarks,)
        Rows of the training samples that the landmarks are.
    similarities : ndarray of shape (n_samples, n_landmarks)
        Kernel values of samples and landmarks, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve import SieveRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> sieve = SieveRegressor(20, metric=False, kernel="rbf", random_state=0).fit(X, X[:, 0] ** 2)
    >>> found = sieve.explain(X[:3])
    >>> bool(np.allclose(found.baseline + found.contributions.sum(axis=1), sieve.predict(X[:3])))
    True
    """

    contributions: np.ndarray
    baseline: np.ndarray
    landmark_indices: np.ndarray
    similarities: np.ndarray

    def __repr__(self) -> str:
        shape, shown = self.contributions.shape, []
        for sample in range(min(shape[0], _SHOWN)):
            strongest = self.strongest(sample, _SHOWN)
            rows = ", ".join(map(str, self.landmark_indices[strongest].tolist()))
            baseline = np.array2string(self.baseline[sample], precision=4, threshold=_SHOWN)
            shown.append(f"  sample {sample}: baseline {baseline}; most by training rows {rows}")
        if shape[0] > _SHOWN:
            shown.append(f"  and {shape[0] - _SHOWN} more samples")
        outputs = f", {shape[2]} outputs" if len(shape) == 3 else ""
        return "\n".join([f"Explanation: {shape[0]} samples, {shape[1]} landmarks{outputs}", *shown])

    def of_output(self, output: int) -> Explanation:
        """Return the explanation of one output of several.

        Parameters
        ----------
        output : int
            The place of a target, or of a label in ``classes_``.

        Returns
        -------
        Explanation
            Without the axis of outputs.
        """
        return replace(
            self,
            contributions=self.contributions[:, :, output],
            baseline=self.baseline[:, output],
        )

    def of_difference(self, output: int, other: int) -> Explanation:
        """Return the explanation of the difference between two outputs.

        Parameters
        ----------
        output : int
            The place of a target, or of a label in ``classes_``.
        other : int
            The place of that which is subtracted.

        Returns
        -------
        Explanation
            Without the axis of outputs.
        """
        first, second = self.of_output(output), self.of_output(other)
        return replace(
            first,
            contributions=first.contributions - second.contributions,
            baseline=first.baseline - second.baseline,
        )

    def strongest(self, sample: int = 0, n_landmarks: int = 10) -> np.ndarray:
        """Return the landmarks with the largest contributions to a sample, positive or negative.

        Parameters
        ----------
        sample : int, default=0
            Number of the explained sample.
        n_landmarks : int, default=10
            Number of landmarks, the strongest first.

        Returns
        -------
        ndarray of int
        """
        sizes = np.abs(self.contributions[sample]).reshape(len(self.landmark_indices), -1).max(axis=1)
        return np.argsort(-sizes, kind="stable")[:n_landmarks]
