"""Back from features: to inputs by ridge regression, and to images in feature space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve
from sklearn.utils import check_array, check_random_state

from ..exceptions import InvalidDataError, InvalidParameterError
from ..kernels import Chi2, Kernel, Precomputed, Rows
from ..rows import draw_random
from .nested import NestedTransformer

_MOST_ANCHORS = 3000


@dataclass
class PreImages:
    """Kernel ridge regression of inputs on features, solved for the first j features when asked.

    Bakir, Weston and Schoelkopf (2004): the kernel of the inputs serves for the features as well.
    """

    kernel: Kernel
    inputs: np.ndarray  # of the anchors, (m, d)
    features: np.ndarray  # (m, k)
    alpha: float
    _dual: dict[int, np.ndarray] = field(default_factory=dict)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        j = features.shape[1]
        return self.kernel.block(features, self._anchors(j)) @ self._solve(j)

    def _anchors(self, j: int) -> np.ndarray:
        return np.ascontiguousarray(self.features[:, :j])

    def _solve(self, j: int) -> np.ndarray:
        if j not in self._dual:
            anchors = self._anchors(j)
            matrix = self.kernel.block(anchors, anchors)
            matrix.flat[:: len(matrix) + 1] += self.alpha
            self._dual[j] = solve(matrix, self.inputs, assume_a="sym")
        return self._dual[j]


class Rebuilding(NestedTransformer):
    """Estimators whose features describe the images: these and the inputs can be rebuilt from them."""

    kernel: Any
    fit_inverse_transform: bool
    alpha: float
    random_state: Any

    def reconstruction_error(
        self,
        X: Any,
        n_components: int | None = None,
        *,
        per_example: bool = False,
        diagonal: Any = None,
    ) -> float | np.ndarray:
        """Return what the features leave of the images: the squared distance in feature space.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows, as for ``transform``.
        n_components : int, default=None
            Use the first features only; None for all.
        per_example : bool, default=False
            Return one squared distance for each row instead of their mean.
        diagonal : array-like of shape (n,), default=None
            k(x, x) of each row, which must be given where the kernel is precomputed.

        Returns
        -------
        float or ndarray of shape (n,)
            With centred features, distances are taken from the mean image: exactly where all rows
            were candidates, in the span of the pool otherwise.
        """
        fitted = self if n_components is None else self.truncate(n_components)
        fit = fitted._current_fit()
        rows = self._check_new_rows(X, len(fit.model.projection))
        lengths = self._squared_lengths(rows, diagonal)
        features = fit.model.features(rows, self.n_jobs)
        if fit.mean_image is not None:
            lengths = lengths - 2 * fit.mean_image.features(rows, self.n_jobs)[:, 0]
        else:  # coordinates of the images themselves
            features = features + fit.model.offset
        errors = np.maximum(lengths - np.einsum("nk,nk->n", features, features), 0.0)
        return errors if per_example else float(errors.mean())

    def _squared_lengths(self, rows: Rows, diagonal: Any) -> np.ndarray:
        kernel = self._current_fit().model.kernel
        if not isinstance(kernel, Precomputed):
            return kernel.diag(rows)
        if diagonal is None:
            raise InvalidParameterError(
                "A precomputed kernel does not tell k(x, x) of its rows; pass it as diagonal."
            )
        lengths = np.asarray(diagonal, dtype=np.float64)
        if lengths.shape != (rows.shape[0],):
            raise InvalidDataError(
                f"diagonal has shape {lengths.shape}; it must be one number a row, ({rows.shape[0]},)."
            )
        return lengths

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return inputs whose features are near the given ones.

        Parameters
        ----------
        X : array-like of shape (n, j)
            Features, all or the first j of them.

        Returns
        -------
        ndarray of shape (n, d)
        """
        n_components = self._current_fit().model.n_components
        preimages = vars(self).get("_preimages")
        if preimages is None:
            raise InvalidParameterError(
                "inverse_transform needs rows of the training set; fit with fit_inverse_transform=True."
            )
        features = check_array(X, dtype=np.float64)
        if features.shape[1] > n_components:
            raise InvalidDataError(
                f"X has {features.shape[1]} features, this model {n_components}; pass features as "
                "transform returns them."
            )
        return np.asarray(preimages(features))

    def _check_rebuilding(self, X: Rows) -> None:
        if not self.fit_inverse_transform:
            return
        if self._is_precomputed:
            raise InvalidParameterError(
                "fit_inverse_transform=True needs inputs, which a precomputed kernel does not have; "
                "pass a kernel by its name or as a function."
            )
        if sparse.issparse(X):
            raise InvalidParameterError(
                "fit_inverse_transform=True gives dense rows back and does not take sparse X; pass "
                "fit_inverse_transform=False, or X.toarray()."
            )
        if isinstance(self.kernel, Chi2) or self.kernel == "chi2":
            raise InvalidParameterError(
                "fit_inverse_transform=True compares features by the kernel of the inputs, and "
                "kernel='chi2' takes no negative ones; pass another kernel, such as 'laplacian'."
            )

    def _remember_rows(self, rows: Rows) -> None:
        self.__dict__.pop("_preimages", None)
        if not self.fit_inverse_transform:
            return
        self._check_rebuilding(rows)
        if len(rows) > _MOST_ANCHORS:
            rows = rows[draw_random(len(rows), _MOST_ANCHORS, check_random_state(self.random_state))]
        model = self._current_fit().model
        features = model.features(rows, self.n_jobs).astype(np.float64)
        self._preimages = PreImages(model.kernel, np.array(rows, np.float64), features, self.alpha)
