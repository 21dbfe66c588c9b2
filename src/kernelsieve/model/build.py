"""From what the loop found to a model: projection, offset, scales, signs, explained shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ..data import Batch, Pool
from ..deflation import NEVER, Criterion, Extraction, Heads, Metric
from ..exceptions import InvalidParameterError
from ..kernels import Kernel, Rows
from ..statistics import AugmentedBlock, Change, GramStatistic, change_products, gather
from .explained import explained_variance_ratio, is_indefinite
from .fit_result import Fit, Loadings, signs_of_largest
from .kernel_model import KernelModel, order_of_first_use

_JITTER = 10.0  # times the rounding of a sum of as many terms as there are directions
_MOST_ROUNDING = 1e-11  # of a feature of unit length, before it is computed in two steps


@dataclass(frozen=True)
class OrthonormalModel:
    """Orthonormal features of the training rows: the model before scales and signs are settled."""

    extraction: Extraction
    model: KernelModel
    names: np.ndarray  # of the landmarks, in the order of first use
    dual: np.ndarray  # B, (m, k): the directions as combinations of the landmarks
    means: np.ndarray  # of the landmarks' columns; zero where features are not centred
    levels: np.ndarray  # the sizes of these means, centred or not
    centred: bool
    changes: np.ndarray | None = None  # inner products of the directions' changes, where these count

    @property
    def needs_refinement(self) -> bool:
        """Whether the rounding of products with the projection would be seen in the features."""
        if self.model.dtype != np.float64 or not len(self.extraction):
            return False
        # A feature is a sum of directions, and these of columns, which vary about their means; its
        # error is a last digit of each.
        triangle = self.extraction.triangle
        weights = np.abs(solve_triangular(triangle, np.eye(len(triangle))))
        of_directions = np.linalg.norm(triangle, axis=0) @ weights
        of_means = np.sqrt(self.extraction.total_weight) * self.levels @ np.abs(self.model.projection)
        rounding = np.finfo(np.float64).eps * (of_directions + of_means)
        return bool(rounding.max() > _MOST_ROUNDING)

    @property
    def refined(self) -> OrthonormalModel:
        """The same features, in two steps where that is needed."""
        return replace(self, model=self.model.in_two_steps()) if self.needs_refinement else self


def build_model(
    extraction: Extraction, pool: Pool, kernel: Kernel, *, center: bool, dtype: type
) -> OrthonormalModel:
    """Write the features as ``K_S B R^-1``, formula (4) of Dhanjal et al. in triangular form."""
    names, first_use = order_of_first_use([d.candidates for d in extraction.directions])
    position = np.zeros(names.max(initial=-1) + 1, dtype=np.intp)
    position[names] = np.arange(len(names))
    dual = np.zeros((len(names), len(extraction)))
    means = np.zeros(len(names))
    for j, direction in enumerate(extraction.directions):
        rows = position[direction.candidates]
        dual[rows, j] = direction.weights
        means[rows] = direction.means
    levels = np.abs(means)
    if not center:
        means = np.zeros(len(names))
    projection = dual @ solve_triangular(extraction.triangle, np.eye(len(extraction)))
    model = KernelModel(
        kernel,
        pool.points[names],
        projection,
        means @ projection,
        first_use,
        dtype,
        as_fitted=kernel.rounded_as_with(pool.points),
    )
    return OrthonormalModel(extraction, model, names, dual, means, levels, center)


def reorthonormalise(
    built: OrthonormalModel,
    batches: Iterable[Batch],
    target_shift: np.ndarray,
    target_scale: np.ndarray,
    *,
    n_labels: int = 0,
    block_rows: int | None,
    n_jobs: int | None,
    changes: Sequence[Change] = (),
) -> OrthonormalModel:
    """Make the features orthonormal as they are computed, in a pass that evaluates them once more.

    The loop knows the triangular factor to some of its digits. The features of the model are
    nearly orthonormal, so their inner products are well conditioned and correct it to full accuracy.

    Targets may be shifted where features are centred: that keeps digits, and centring takes it out.
    """
    built = built.refined
    model, center = built.model, built.centred
    shift = target_shift if center else np.zeros(len(target_shift))
    shift = shift[:0] if n_labels else shift
    first, fill = 1 + len(shift), model.line_filler()  # the place of the features in [1 | Y | F]
    frame = AugmentedBlock(fill, np.zeros(model.n_components), shift)
    empty = partial(GramStatistic, n_classes=n_labels)
    sums = gather(batches, frame, empty, block_rows=block_rows, n_jobs=n_jobs)
    gram = sums.gram  # type: ignore[attr-defined]
    squares, products, target_sums = gram[first:, first:], gram[first:, 1:first], gram[0, 1:first]
    if sums.class_sums is not None:
        products, target_sums = sums.class_sums[:, 1:].T, sums.class_sums[:, 0]
    root = np.sqrt(gram[0, 0])
    of_ones = gram[0, first:] / root
    if center:
        squares = squares - np.outer(of_ones, of_ones)
        products = products - np.outer(of_ones, target_sums / root)
    # The features are orthonormal together with what the ridge adds to them.
    ridge = built.extraction.ridge
    if ridge > 0:
        squares = squares + ridge * (model.projection.T @ model.projection)
    if changes:
        how = {"block_rows": block_rows, "n_jobs": n_jobs}
        changed = change_products(changes, batches, fill, model.n_components, **how)
        squares = squares + changed
        triangle = built.extraction.triangle
        built = replace(built, changes=triangle.T @ changed @ triangle)
    try:
        correction = cholesky(squares)
    except LinAlgError:  # the model is too far off; it is still the best one known
        return built
    means = of_ones / root if center else np.zeros(len(correction))
    inverse = solve_triangular(correction, np.eye(len(correction)))
    extraction = built.extraction.with_factor(
        correction @ built.extraction.triangle, inverse.T @ products * target_scale
    )
    return replace(built, extraction=extraction, model=model.combined(inverse, means @ inverse))


def finish(
    built: OrthonormalModel,
    criterion: Criterion,
    pool: Pool,
    explained_variance: np.ndarray,
    heads: Heads | None = None,
    *,
    directions: np.ndarray | None = None,
    scale: str | None = None,
    loadings: Loadings | None = None,
) -> Fit:
    """Settle scales and signs, and put together what is told about the model.

    ``directions`` is the Gram matrix of the directions in feature space: with ``scale="rkhs"`` features
    become coordinates along orthonormal directions of their span; with "auto" if that is possible. With
    ``scale="unit_variance"`` they have unit mean square, whatever the criterion says.
    """
    extraction = built.extraction
    coordinates = None
    if directions is not None and scale in ("auto", "rkhs"):
        coordinates = _to_coordinates(extraction, directions, required=scale == "rkhs")
    lengths = _lengths(extraction, criterion, scale)
    if criterion.unit_expansions:
        lengths = lengths / np.abs(built.model.projection).sum(axis=0)
    scales = _signs(extraction) * lengths
    if coordinates is None:
        model = built.model.combined(np.diag(scales), np.zeros(len(scales)))
    else:
        model, heads = built.model.combined(coordinates, np.zeros(len(scales))), None
    penalty = _penalty(built, model.projection, scales)
    orthogonal = coordinates is None and penalty is None and not criterion.deflation.symmetric
    products = extraction.target_products
    explained = np.einsum("kq,kq->k", products, products)
    return Fit(
        model=model,
        landmark_indices=pool.indices[built.names],
        criterion_path=np.array([criterion.value(step) for step in extraction.steps()]),
        explained_variance_ratio=explained_variance,
        explained_target_ratio=explained / (extraction.target_squared_norm or np.inf),
        outcome=extraction.outcome,
        heads=None if heads is None else heads.for_scaled(scales),
        total_weight=extraction.total_weight,
        feature_squares=lengths**2 if orthogonal else None,
        loadings=None if loadings is None else loadings.for_scaled(scales),
        direction_lengths=lengths if criterion.unit_expansions else None,
        penalty=penalty,
    )


def _to_coordinates(
    extraction: Extraction, directions: np.ndarray, *, required: bool
) -> np.ndarray | None:
    """Return how orthonormal features become coordinates along orthonormal directions.

    With ``K B = T R`` and ``B'WB = C'C`` the directions ``B C^-1`` are orthonormal, and the coordinates
    along them are ``K B C^-1 = T R C^-1``: a triangle, so that the first ones need the first landmarks.
    """
    try:
        factor = _factor(directions)
    except LinAlgError:
        if not required:
            return None
        raise InvalidParameterError(
            "scale='rkhs' needs a kernel that is positive definite on the landmarks, and this one is "
            "not; pass scale='unit_variance', another kernel, or fewer components."
        ) from None
    triangle = solve_triangular(factor, extraction.triangle.T, trans="T").T
    products = triangle.T @ extraction.target_products
    signs = signs_of_largest(products) if products.shape[1] else _signs(extraction)
    return np.asarray(triangle * signs)


def _factor(directions: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor; where rounding makes the matrix singular, of a larger diagonal."""
    try:
        return np.asarray(cholesky(directions))
    except LinAlgError:
        rounding = _JITTER * len(directions) * np.finfo(np.float64).eps
        return np.asarray(cholesky(directions + rounding * np.diag(np.diagonal(directions))))


def _penalty(built: OrthonormalModel, projection: np.ndarray, scales: np.ndarray) -> np.ndarray | None:
    """Return what ridge and changes add to the inner products of features."""
    ridge = built.extraction.ridge
    if ridge == 0 and built.changes is None:
        return None
    penalty = ridge * projection.T @ projection
    if built.changes is not None:
        triangle = built.extraction.triangle
        half = solve_triangular(triangle, built.changes, trans="T")
        penalty += solve_triangular(triangle, half.T, trans="T") * np.outer(scales, scales)
    return penalty


def linear_heads(
    extraction: Extraction, criterion: Criterion, target_sums: np.ndarray, *, center: bool
) -> Heads | None:
    """Return the heads of orthonormal features, given the weighted sums of the targets as they were.

    By least squares they are inner products with the targets. The class with the nearest mean has the
    largest of linear functions as well.
    """
    if not extraction.target_products.shape[1]:
        return None
    products = extraction.target_products / criterion.target_scale(target_sums)
    if criterion.nearest_centre:
        return _centre_heads(products, target_sums, _lengths(extraction, criterion))
    means = target_sums / extraction.total_weight if center else np.zeros(len(target_sums))
    return Heads(np.tile(means, (len(extraction), 1)), products)


def _centre_heads(products: np.ndarray, class_weights: np.ndarray, lengths: np.ndarray) -> Heads:
    """Return ``t'm - |m|^2 / 2`` for every class mean m of the features t, which have these lengths."""
    present = class_weights > 0
    centres = lengths[:, None] * products / np.where(present, class_weights, 1.0)
    halves = np.cumsum(centres**2, axis=0) / 2
    # A class without samples has no centre and is never the nearest.
    intercepts = np.where(present, -halves, NEVER)
    return Heads(intercepts, lengths[:, None] * centres)


def orthonormal_loadings(
    built: OrthonormalModel, metric: Metric, weight: np.ndarray | None = None
) -> Loadings | None:
    """Return the loadings on orthonormal features; None where there are no features.

    Products of the candidates' columns with a feature are inner products of the candidates' images with
    its loading. All candidates are landmarks; ``weight`` are those of the samples, where the candidates
    are all samples.
    """
    extraction = built.extraction
    if not len(extraction):
        return None
    combinations = metric.solve(extraction.column_products, extraction.features)
    gram = combinations.T @ extraction.column_products
    image = replace(
        built.model,
        projection=combinations,
        offset=built.means @ combinations,
        dtype=np.float64,
        refinement=None,
    )
    return Loadings(image, (gram + gram.T) / 2, weight)


def mean_image(
    kernel: Kernel, points: Rows, coefficients: np.ndarray, means: np.ndarray
) -> KernelModel:
    """Return a model of one column, with ``k(x, x) - 2 column`` the squared distance from the mean.

    The mean image is the combination of the points; ``means`` are the means of their columns.
    """
    half = 0.5 * coefficients @ means
    first_use = np.zeros(len(coefficients), dtype=np.intp)
    return KernelModel(kernel, points, coefficients[:, None], np.array([half]), first_use)


def _lengths(extraction: Extraction, criterion: Criterion, scale: str | None = None) -> np.ndarray:
    """Return the lengths that features get, as columns over the training rows."""
    if criterion.unit_variance or scale == "unit_variance":
        return np.full(len(extraction), np.sqrt(extraction.total_weight))
    return criterion.deflation.lengths(extraction.triangle)


def _signs(extraction: Extraction) -> np.ndarray:
    """Positive covariance with the target; without one, the largest weight is positive."""
    if extraction.target_products.shape[1]:
        return signs_of_largest(extraction.target_products)
    signs = [signs_of_largest(direction.weights[None])[0] for direction in extraction.directions]
    return np.array(signs)


def explained_by_directions(
    built: OrthonormalModel, lengths: np.ndarray, trace: float, mean_squared_norm: float
) -> np.ndarray:
    """Return the share of the images' variance that each direction adds to those before it.

    ``lengths`` is ``B' W B``, the Gram matrix of the directions in feature space, ``trace`` the
    weighted sum of k(x, x), and ``mean_squared_norm`` the squared length of the mean image.
    """
    extraction = built.extraction
    removed = extraction.total_weight * mean_squared_norm if built.centred else 0.0
    ridge, penalty = extraction.ridge, built.changes
    if ridge > 0:  # which is no variance of the images
        penalty = ridge * built.dual.T @ built.dual + (0.0 if penalty is None else penalty)
    total = np.nan if is_indefinite(lengths) else trace - removed
    return explained_variance_ratio(extraction.triangle, total, lengths, penalty)
