"""Inverse transforms by ridge regression, and reconstruction errors in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state

from ..data import Batch, TargetEncoder, draw_random, single_threaded_blas
from ..exceptions import InvalidDataError, InvalidParameterError
from ..kernels import Kernel, Precomputed, Rows
from ..model import Fit, PreImages

_MOST_SAMPLES = 3000


class InverseTransformMixin:
    """Inverse transforms, and distances in feature space, of features that describe images.

    Features must be coordinates along orthonormal directions, or ``direction_lengths`` of the
    ``model.Fit`` must tell how long these are. Write this class before the other bases.
    """

    fit_inverse_transform: bool
    alpha: float

    @single_threaded_blas()
    def reconstruction_error(
        self: Any,
        X: Any,
        n_components: int | None = None,
        *,
        per_example: bool = False,
        diagonal: Any = None,
    ) -> float | np.ndarray:
        """Return the squared distance of images from their reconstruction, in feature space.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples, as for ``transform``.
        n_components : int, default=None
            Use the first components only; None for all.
        per_example : bool, default=False
            Return one squared distance for each sample instead of their mean.
        diagonal : array-like of shape (n_samples,), default=None
            k(x, x) of each sample, which must be given where the kernel is precomputed.

        Returns
        -------
        float or ndarray of shape (n_samples,)
            With centred features, distances are taken from the mean image: exactly where all
            samples were candidates, in the span of the pool otherwise.
        """
        fit = self._prefix(n_components)
        rows = self._check_new_rows(X, len(fit.model.projection))
        lengths = squared_lengths(fit.model.kernel, rows, diagonal)
        features = fit.model.features(rows, self.n_jobs)
        if fit.mean_image is not None:
            lengths = lengths - 2 * fit.mean_image.features(rows, self.n_jobs)[:, 0]
        else:  # coordinates of the images themselves
            features = features + fit.model.offset
        features = fit.coordinates(features)
        errors = np.maximum(lengths - np.einsum("nk,nk->n", features, features), 0.0)
        return errors if per_example else float(errors.mean())

    @single_threaded_blas()
    def inverse_transform(self: Any, X: Any) -> np.ndarray:
        """Return samples whose features are near the given ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Features, all or the first ones.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        fit = self._current_fit()
        preimages = vars(self).get("_preimages")
        if preimages is None:
            raise InvalidParameterError(
                "inverse_transform needs training samples; fit with fit_inverse_transform=True."
            )
        features = check_array(X, dtype=np.float64)
        if features.shape[1] > fit.model.n_components:
            raise InvalidDataError(
                f"X has {features.shape[1]} features, this model {fit.model.n_components}; pass "
                "features as transform returns them."
            )
        return np.asarray(preimages(fit.coordinates(features)))

    def _resolve_kernel(
        self: Any, batch: Batch, points: Rows | None, random_state: np.random.RandomState
    ) -> Kernel:
        kernel = super()._resolve_kernel(batch, points, random_state)  # type: ignore[misc]
        if self.fit_inverse_transform:
            _check_invertible(kernel, batch.X)  # before any work
        return kernel

    def _set_fit(self: Any, fit: Fit, encoder: TargetEncoder, rows: Rows) -> None:
        super()._set_fit(fit, encoder, rows)  # type: ignore[misc]
        vars(self).pop("_preimages", None)
        if not self.fit_inverse_transform:
            return
        _check_invertible(fit.model.kernel, rows)  # the parameter may be newer than the samples
        if len(rows) > _MOST_SAMPLES:
            rows = rows[draw_random(len(rows), _MOST_SAMPLES, check_random_state(self.random_state))]
        features = fit.model.features(rows, self.n_jobs).astype(np.float64)
        inputs = np.array(rows, np.float64)
        self._preimages = PreImages(fit.model.kernel, inputs, fit.coordinates(features), self.alpha)


def squared_lengths(kernel: Kernel, rows: Rows, diagonal: Any) -> np.ndarray:
    """Return k(x, x) of samples; that of a precomputed kernel has to be given."""
    if not isinstance(kernel, Precomputed):
        return kernel.diag(rows)
    if diagonal is None:
        raise InvalidParameterError(
            "A precomputed kernel does not know k(x, x) of its samples; pass it as diagonal."
        )
    lengths = np.asarray(diagonal, dtype=np.float64)
    if lengths.shape != (rows.shape[0],):
        raise InvalidDataError(f"diagonal has shape {lengths.shape}; it must be ({rows.shape[0]},).")
    return lengths


def _check_invertible(kernel: Kernel, X: Rows) -> None:
    """Refuse samples that no inverse transform could give."""
    if isinstance(kernel, Precomputed):
        raise InvalidParameterError(
            "fit_inverse_transform=True needs the features of X, which a precomputed kernel does not "
            "have; pass a kernel by its name or as a function."
        )
    if sparse.issparse(X):
        raise InvalidParameterError(
            "fit_inverse_transform=True gives dense samples back and does not take sparse X; pass "
            "fit_inverse_transform=False, or X.toarray()."
        )
    if kernel.non_negative:
        raise InvalidParameterError(
            "fit_inverse_transform=True compares features by the kernel of X, and "
            f"kernel={kernel.name!r} takes no negative ones; pass another kernel, such as 'laplacian'."
        )
