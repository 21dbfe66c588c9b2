"""Loadings: images as sums of features times vectors of feature space, and what these sums leave."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..exceptions import ModelFileError
from .kernel_model import KernelModel


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
