"""From what the loop found to a model: projection, offset, scales, signs, explained shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ..data import Batch, Pool
from ..deflation import NEVER, Criterion, Heads, Metric, Selection, Step
from ..exceptions import InvalidParameterError
from ..kernels import Kernel, Rows
from ..statistics import AugmentedBlock, Change, GramStatistic, change_products, gather
from .explained import explained_variance_ratio, is_indefinite
from .fit_result import Fit, Loadings, signs_of_largest
from .kernel_model import KernelModel

_JITTER = 10.0  # times the rounding of a sum of as many terms as there are directions
_MOST_ROUNDING = 1e-11  # of a feature of unit length, before it is computed in two steps


def build_model(
    selection: Selection, pool: Pool, kernel: Kernel, *, center: bool, dtype: type
) -> KernelModel:
    """Write the features as ``K_S B R^-1``, formula (4) of Dhanjal et al. in triangular form."""
    projection = selection.dual @ solve_triangular(selection.triangle, np.eye(len(selection)))
    return KernelModel(
        kernel,
        pool.points[selection.names],
        projection,
        selection.means @ projection if center else np.zeros(len(selection)),
        selection.first_use,
        dtype,
        as_fitted=kernel.rounded_as_with(pool.points),
    )


def needs_refinement(selection: Selection, model: KernelModel) -> bool:
    """Return True if the rounding of products with the projection would be seen in the features."""
    if model.dtype != np.float64 or not len(selection):
        return False
    # A feature is a sum of directions, and these of columns, which vary about their means; its error
    # is a last digit of each.
    triangle = selection.triangle
    weights = np.abs(solve_triangular(triangle, np.eye(len(triangle))))
    of_directions = np.linalg.norm(triangle, axis=0) @ weights
    levels = np.abs(selection.means)
    of_means = np.sqrt(selection.total_weight) * levels @ np.abs(model.projection)
    rounding = np.finfo(np.float64).eps * (of_directions + of_means)
    return bool(rounding.max() > _MOST_ROUNDING)


def reorthonormalise(
    selection: Selection,
    model: KernelModel,
    batches: Iterable[Batch],
    target_shift: np.ndarray,
    target_scale: np.ndarray,
    *,
    center: bool,
    n_labels: int = 0,
    block_rows: int | None,
    n_jobs: int | None,
    changes: Sequence[Change] = (),
) -> tuple[Selection, KernelModel]:
    """Make the features orthonormal as they are computed, in a pass that evaluates them once more.

    The loop knows the triangular factor to some of its digits. The features of the model are
    nearly orthonormal, so their inner products are well conditioned and correct it to full accuracy.

    Targets may be shifted where features are centred: that keeps digits, and centring takes it out.
    """
    if needs_refinement(selection, model):
        model = model.in_two_steps()
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
    ridge = selection.ridge
    if ridge > 0:
        squares = squares + ridge * (model.projection.T @ model.projection)
    if changes:
        how = {"block_rows": block_rows, "n_jobs": n_jobs}
        changed = change_products(changes, batches, fill, model.n_components, **how)
        squares = squares + changed
        changed = selection.triangle.T @ changed @ selection.triangle
        selection = replace(selection, changes=changed)
    try:
        correction = cholesky(squares)
    except LinAlgError:  # the model is too far off; it is still the best one known
        return selection, model
    means = of_ones / root if center else np.zeros(len(correction))
    inverse = solve_triangular(correction, np.eye(len(correction)))
    selection = replace(
        selection,
        triangle=correction @ selection.triangle,
        target_products=inverse.T @ products * target_scale,
    )
    return selection, model.combined(inverse, means @ inverse)


def finish(
    selection: Selection,
    model: KernelModel,
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
    coordinates = None
    if directions is not None and scale in ("auto", "rkhs"):
        coordinates = _to_coordinates(selection, directions, required=scale == "rkhs")
    lengths = _lengths(selection, criterion, scale)
    if criterion.unit_expansions:
        lengths = lengths / np.abs(model.projection).sum(axis=0)
    products = selection.target_products
    scales = _signs(selection, products) * lengths
    if coordinates is None:
        model = model.combined(np.diag(scales), np.zeros(len(scales)))
    else:
        model, heads = model.combined(coordinates, np.zeros(len(scales))), None
    penalty = None
    if selection.ridge > 0 or selection.changes is not None:
        penalty = _penalty(selection, model.projection, scales)
    orthogonal = coordinates is None and penalty is None and not criterion.deflation.symmetric
    explained = np.einsum("kq,kq->k", products, products)
    return Fit(
        model=model,
        landmark_indices=pool.indices[selection.names],
        criterion_path=_criterion_path(selection, criterion),
        explained_variance_ratio=explained_variance,
        explained_target_ratio=explained / (selection.target_squared_norm or np.inf),
        outcome=selection.outcome,
        heads=None if heads is None else heads.for_scaled(scales),
        total_weight=selection.total_weight,
        feature_squares=lengths**2 if orthogonal else None,
        loadings=None if loadings is None else loadings.for_scaled(scales),
        direction_lengths=lengths if criterion.unit_expansions else None,
        penalty=penalty,
    )


def _to_coordinates(
    selection: Selection, directions: np.ndarray, *, required: bool
) -> np.ndarray | None:
    """Return how orthonormal features become coordinates along orthonormal directions.

    With ``K B = T R`` and ``B'WB = C'C`` the directions ``B C^-1`` are orthonormal, and the coordinates
    along them are ``K B C^-1 = T R C^-1``: a triangle, so that the first ones need the first landmarks.
    """
    rounding = _JITTER * len(directions) * np.finfo(np.float64).eps
    factor = None
    for more in (0.0, rounding):  # a larger diagonal where rounding makes the matrix singular
        with suppress(LinAlgError):
            factor = cholesky(directions + more * np.diag(np.diagonal(directions)))
            break
    if factor is None and required:
        raise InvalidParameterError(
            "scale='rkhs' needs a kernel that is positive definite on the landmarks, and this one is "
            "not; pass scale='unit_variance', another kernel, or fewer components."
        )
    if factor is None:
        return None
    triangle = solve_triangular(factor, selection.triangle.T, trans="T").T
    return np.asarray(triangle * _signs(selection, triangle.T @ selection.target_products))


def _signs(selection: Selection, products: np.ndarray) -> np.ndarray:
    """Positive covariance with the target; without one, the largest weight is positive."""
    if products.shape[1]:
        return signs_of_largest(products)
    return np.array([signs_of_largest(d.weights[None])[0] for d in selection.directions])


def _penalty(selection: Selection, projection: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return what ridge and changes add to the inner products of features."""
    penalty = selection.ridge * projection.T @ projection
    if selection.changes is not None:
        triangle = selection.triangle
        half = solve_triangular(triangle, selection.changes, trans="T")
        penalty += solve_triangular(triangle, half.T, trans="T") * np.outer(scales, scales)
    return penalty


def linear_heads(
    selection: Selection, criterion: Criterion, target_sums: np.ndarray, *, center: bool
) -> Heads | None:
    """Return the heads of orthonormal features, given the weighted sums of the targets as they were.

    By least squares they are inner products with the targets. The class with the nearest mean has the
    largest of linear functions as well, and so has that with the largest mean of inner products.
    """
    if not selection.target_products.shape[1]:
        return None
    products = selection.target_products / criterion.target_scale(target_sums)
    if criterion.nearest_centre or criterion.by_alignment:
        lengths = _lengths(selection, criterion)
        return centre_heads(products, target_sums, lengths, nearest=criterion.nearest_centre)
    means = target_sums / selection.total_weight if center else np.zeros(len(target_sums))
    return Heads(np.tile(means, (len(selection), 1)), products)


def centre_heads(
    products: np.ndarray, class_weights: np.ndarray, lengths: np.ndarray, *, nearest: bool
) -> Heads:
    """Return scores by the class means m of features t that have these lengths.

    ``t'm - |m|^2 / 2`` is largest for the nearest mean, and ``t'm`` for the largest mean of inner
    products with the samples of a class.
    """
    present = class_weights > 0
    centres = lengths[:, None] * products / np.where(present, class_weights, 1.0)
    halves = np.cumsum(centres**2, axis=0) / 2 if nearest else np.zeros_like(centres)
    # A class without samples has no centre and is never the nearest.
    intercepts = np.where(present, -halves, NEVER)
    return Heads(intercepts, lengths[:, None] * centres)


def orthonormal_loadings(
    selection: Selection,
    model: KernelModel,
    metric: Metric,
    weight: np.ndarray | None = None,
    *,
    center: bool,
) -> Loadings | None:
    """Return the loadings on orthonormal features; None where there are no features.

    Products of the candidates' columns with a feature are inner products of the candidates' images with
    its loading. All candidates are landmarks; ``weight`` are those of the samples, where the candidates
    are all samples.
    """
    if not len(selection):
        return None
    combinations = metric.solve(selection.column_products, selection.features)
    gram = combinations.T @ selection.column_products
    image = replace(
        model,
        projection=combinations,
        offset=selection.means @ combinations if center else np.zeros(len(selection)),
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


def _criterion_path(selection: Selection, criterion: Criterion) -> np.ndarray:
    """Return the criterion's value at every step."""
    path = np.empty(len(selection))
    for j, direction in enumerate(selection.directions):
        norm, products = float(selection.triangle[j, j]), selection.target_products[j]
        whole = selection.target_squared_norm, selection.total_weight
        path[j] = criterion.value(Step(direction.score, norm, products, *whole))
    return path


def _lengths(selection: Selection, criterion: Criterion, scale: str | None = None) -> np.ndarray:
    """Return the lengths that features get, as columns over the training rows."""
    if criterion.unit_variance or scale == "unit_variance":
        return np.full(len(selection), np.sqrt(selection.total_weight))
    symmetric, k = criterion.deflation.symmetric, len(selection)
    return np.ones(k) if symmetric else np.diagonal(selection.triangle)


def explained_by_directions(
    selection: Selection, lengths: np.ndarray, trace: float, mean_squared_norm: float
) -> np.ndarray:
    """Return the share of the images' variance that each direction adds to those before it.

    ``lengths`` is ``B' W B``, the Gram matrix of the directions in feature space, ``trace`` the
    weighted sum of k(x, x), and ``mean_squared_norm`` the squared length of the mean image, or 0 where
    features are not centred.
    """
    removed = selection.total_weight * mean_squared_norm
    ridge, penalty = selection.ridge, selection.changes
    if ridge > 0:  # which is no variance of the images
        penalty = ridge * selection.dual.T @ selection.dual + (0.0 if penalty is None else penalty)
    total = np.nan if is_indefinite(lengths) else trace - removed
    return explained_variance_ratio(selection.triangle, total, lengths, penalty)
