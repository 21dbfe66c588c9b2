"""What every way to fit returns: the model, and what its estimator tells about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ..deflation import Heads
from ..exceptions import ModelFileError
from ..kernels import Precomputed
from .kernel_model import KernelModel


@dataclass(frozen=True)
class Decision:
    """How features decide between classes."""

    slopes: np.ndarray  # of log odds per unit of decision, with the first 1, 2, ... features
    joint: bool  # whether features serve all classes, or each one of them
    n_candidates: int

    def truncate(self, n_components: int) -> Decision:
        """Return the decision by the first features."""
        return replace(self, slopes=self.slopes[:n_components])


@dataclass(frozen=True)
class Loadings:
    """The loadings ``p_j = Phi' t_j / t_j't_j`` of centred images Phi on orthogonal features t.

    An image less the mean is ``sum_j t_j(x) p_j`` and a rest. Loadings are combinations of the
    landmarks: exactly where these are all samples, as near as such combinations come otherwise.
    """

    image: KernelModel  # inner products of the loadings with an image less the mean
    gram: np.ndarray  # (k, k), inner products of the loadings
    weight: np.ndarray | None  # of the training samples, where the landmarks are these

    def check_shapes(self, k: int, n_features: int | None) -> None:
        """Refuse parts, read from a file, whose shapes do not agree."""
        self.image.check_shapes(n_features)
        m = len(self.image.projection)
        weights_agree = self.weight is None or self.weight.shape == (m,)
        if self.image.n_components != k or self.gram.shape != (k, k) or not weights_agree:
            raise ModelFileError(f"its loadings are not those of {k} features.")

    def truncate(self, n_components: int) -> Loadings:
        """Return the loadings on the first features."""
        gram = self.gram[:n_components, :n_components]
        return replace(self, image=self.image.truncate(n_components), gram=gram)

    def for_scaled(self, scales: np.ndarray) -> Loadings:
        """Return the loadings on features that are multiplied by ``scales``."""
        image = self.image.combined(np.diag(1 / scales), np.zeros(len(scales)))
        return replace(self, image=image, gram=self.gram / np.outer(scales, scales))

    def scores(self, feature_squares: np.ndarray) -> np.ndarray | None:
        """Return the features of the training samples, where the landmarks are these.

        A loading combines the samples by their features, so these are known without any computation;
        ``feature_squares`` are their weighted sums of squares.
        """
        if self.weight is None:
            return None
        return self.image.projection * feature_squares / self.weight[:, None]


@dataclass(frozen=True)
class Search:
    """How a search for features went."""

    path: np.ndarray  # the objective at the start and after every iteration
    ending: str  # why it ended


@dataclass(frozen=True)
class Fit:
    """A model with what its estimator tells about it.

    What only some methods know is optional; ``dataclasses.replace`` adds it.

    Parameters
    ----------
    model : KernelModel
        What computes the features.
    landmark_indices : ndarray of int of shape (m,)
        Rows of the training samples, or of the given candidates, that the landmarks are; -1 for points
        of neither.
    criterion_path : ndarray of shape (k,)
        The criterion's value at each step.
    explained_variance_ratio, explained_target_ratio : ndarray of shape (k,)
        What each feature adds to the explained variance of images, and of targets.
    outcome : str
        Why there are no more features, as in ``deflation.Outcome``.
    heads : Heads, default=None
        Predictions from the first j features, for every j, where there is a target.
    mean_image : KernelModel, default=None
        The mean of the images, where features are centred and images can be rebuilt from them.
    total_weight : float, default=0.0
        Number of samples, or the sum of their weights, where the loop was run.
    feature_squares : ndarray of shape (k,), default=None
        Sums of the squared features over the samples, where features are orthogonal.
    loadings : Loadings, default=None
        Loadings of the images on the features, where a criterion keeps them.
    direction_lengths : ndarray of shape (k,), default=None
        Lengths of the directions in feature space, where they are not 1.
    penalty : ndarray of shape (k, k), default=None
        What ridge and invariances add to inner products of features.
    decision : Decision, default=None
        How a classifier decides.
    search : Search, default=None
        How a search by iteration went.
    n_columns, n_iter : int, default=0
        Kernel columns that a solver of sparse programs kept, and the iterations that it took.
    """

    model: KernelModel
    landmark_indices: np.ndarray
    criterion_path: np.ndarray
    explained_variance_ratio: np.ndarray
    explained_target_ratio: np.ndarray
    outcome: str
    heads: Heads | None = None  # predictions from the first j features, where there is a target
    mean_image: KernelModel | None = None  # where features are centred and can be rebuilt from
    total_weight: float = 0.0  # of the rows, where the loop was run
    feature_squares: np.ndarray | None = None  # sums over the rows, where features are orthogonal
    loadings: Loadings | None = None  # of the images on the features, where a criterion keeps them
    direction_lengths: np.ndarray | None = None  # in feature space, where they are not 1
    penalty: np.ndarray | None = None  # what ridge and changes add to inner products of features
    decision: Decision | None = None  # of a classifier
    search: Search | None = None  # of features that are found by iteration
    n_columns: int = 0  # kernel columns that a solver of sparse programs kept
    n_iter: int = 0  # what such a solver counts

    def check_inputs(self, n_features: int | None) -> None:
        """Refuse parts, read from a file, whose shapes do not agree: compiled loops do not look."""
        k = self.model.n_components
        self.model.check_shapes(n_features)
        if self.mean_image is not None:
            self.mean_image.check_shapes(n_features)
        if self.loadings is not None:
            self.loadings.check_shapes(k, n_features)
        if self.heads is not None and (len(self.heads.intercepts), len(self.heads.coefficients)) != (
            k,
            k,
        ):
            raise ModelFileError(f"its heads are not those of {k} features.")

    def coordinates(self, features: np.ndarray) -> np.ndarray:
        """Return features, all or the first ones, as coordinates along unit directions."""
        if self.direction_lengths is None:
            return features
        return features / self.direction_lengths[: features.shape[1]]

    def truncate(self, n_components: int) -> Self:
        """Return the fit with the first features only.

        Parameters
        ----------
        n_components : int
            How many features.

        Returns
        -------
        Fit
        """
        model = self.model.truncate(n_components)
        return replace(
            self,
            model=model,
            landmark_indices=self.landmark_indices[: len(model.projection)],
            criterion_path=self.criterion_path[:n_components],
            explained_variance_ratio=self.explained_variance_ratio[:n_components],
            explained_target_ratio=self.explained_target_ratio[:n_components],
            heads=None if self.heads is None else self.heads.truncate(n_components),
            feature_squares=(
                None if self.feature_squares is None else self.feature_squares[:n_components]
            ),
            loadings=None if self.loadings is None else self.loadings.truncate(n_components),
            direction_lengths=(
                None if self.direction_lengths is None else self.direction_lengths[:n_components]
            ),
            penalty=None if self.penalty is None else self.penalty[:n_components, :n_components],
            decision=None if self.decision is None else self.decision.truncate(n_components),
        )

    def renumbered(self, kept: np.ndarray, n_columns: int) -> Self:
        """Return the fit of the kept rows with the numbers that they have among all rows."""

        def with_all_columns(model: KernelModel) -> KernelModel:
            if not isinstance(model.kernel, Precomputed):
                return model
            kernel = Precomputed(n_columns)
            return replace(model, kernel=kernel, as_fitted=None, landmarks=kept[model.landmarks])

        return replace(
            self,
            model=with_all_columns(self.model),
            landmark_indices=np.where(
                self.landmark_indices < 0, self.landmark_indices, kept[self.landmark_indices]
            ),
            mean_image=None if self.mean_image is None else with_all_columns(self.mean_image),
            loadings=(
                None
                if self.loadings is None
                else replace(self.loadings, image=with_all_columns(self.loadings.image))
            ),
        )


def signs_of_largest(lines: np.ndarray) -> np.ndarray:
    """Return the sign of the largest entry of every line.

    The last of nearly equal ones decides: for two classes, the one that sorts last.
    """
    size = np.abs(lines)
    nearly_largest = size >= (1 - 1e-6) * size.max(axis=1, keepdims=True)
    last = lines.shape[1] - 1 - nearly_largest[:, ::-1].argmax(axis=1)
    return np.where(lines[np.arange(len(lines)), last] < 0, -1.0, 1.0)
