"""Learn a subspace: first directions or points, the search, and the features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.cluster import KMeans

from ..data import Batch, weighted_sum
from ..deflation import Outcome
from ..exceptions import InvalidDataError, InvalidParameterError
from ..kernels import Kernel, Rows
from ..model import Fit, KernelModel, Search
from .centroids import by_contribution, count_distinct, make_fit
from .images import Images, Labelled, class_columns, independent, labelled, orthonormal, products
from .objectives import (
    MARGINS,
    LargeMargin,
    Objective,
    RadiusMargin,
    TargetAlignment,
    checked_target_kernel,
    coded_labels,
    factor,
)
from .optimise import Directions, Optimum, Points, maximise, orthonormalise

_FEW_ROWS = 1500  # whose inner products are formed where there are many more features
_MOST_MACHINES = 1000
_LOST = 1e-6  # of directions of unit length
_DENSE_UP_TO = 500  # coordinates or samples
_RANK = 1e-7  # singular values, as a part of the largest
_SQUARED_RANK = 1e-12  # eigenvalues of inner products, as a part of their trace


def learn_directions(
    images: Images, aim: tuple[str, Any], init: Any, n_components: int | None, search: dict[str, Any]
) -> Fit:
    """Learn directions V in the span of the images, formulas (17) to (27).

    ``aim`` is the objective with its parameter, ``search`` the parameters of :func:`maximise`.
    """
    wanted = n_components
    if wanted is None:
        wanted = images.labels.shape[1] if isinstance(init, str) else np.shape(init)[-1]
    V = initial_directions(images, init, wanted)
    if V.shape[1] == 0:
        raise InvalidDataError(
            "No feature could be found: all images are zero. Look for samples of zeros, or use "
            "another kernel."
        )
    outcome = Outcome.COMPLETE if V.shape[1] == wanted else Outcome.EXHAUSTED
    Y = target_factor(aim, images)
    rows, down, up = fewer_coordinates(images.rows, V)
    found = maximise(Directions(rows, objective_of(aim, images, Y)), down(V), orthonormalise, **search)
    features = np.asarray(rows @ found.point)
    rotation = by_contribution(features, Y)
    model, indices = images.model(up(found.point @ rotation))
    return _learned_fit(model, indices, features @ rotation, images, Y, outcome, found)


def learn_points(
    batch: Batch,
    kernel: Kernel,
    aim: tuple[str, Any],
    init: Any,
    n_components: int | None,
    search: dict[str, Any],
    random_state: np.random.RandomState,
) -> Fit:
    """Learn points Z whose images span the subspace, formula (16)."""
    known = Labelled(*labelled(batch, weighted_sum(kernel.diag(batch.X), batch)))
    first = first_points(batch, init, n_components, random_state)
    Y = target_factor(aim, known)
    function = Points(batch.X, batch.root_weight, kernel, objective_of(aim, known, Y))
    Z = function.independent_points(first)
    if not function.features(Z)[0].any():
        raise InvalidDataError(
            "No feature could be found: k(x, z) is 0 for all samples x and all first points z, so "
            "there is no direction to improve them in. Lower gamma, scale X, or pass points near "
            "the samples as init."
        )
    found = maximise(function, Z, lambda Z: Z, **search)
    Z = function.independent_points(found.point)  # points may meet on their way
    features, basis = function.features(Z)
    rotation, k = by_contribution(features, Y), len(Z)
    model = KernelModel(kernel, Z, basis @ rotation, np.zeros(k), np.zeros(k, dtype=np.intp))
    outcome = Outcome.COMPLETE if k == (n_components or len(first)) else Outcome.EXHAUSTED
    return _learned_fit(model, np.full(k, -1), features @ rotation, known, Y, outcome, found)


def target_factor(aim: tuple[str, Any], known: Labelled) -> Rows:
    """Return F with ``F F'`` the target kernel, scaled by root weights; indicators for a margin."""
    name, target_kernel = aim
    if name in MARGINS:
        return known.labels
    if isinstance(target_kernel, str):
        return coded_labels(known.labels, target_kernel)
    root = np.asarray(known.labels.sum(axis=1)).reshape(-1, 1)
    return root * factor(checked_target_kernel(target_kernel, len(root)))


def objective_of(aim: tuple[str, Any], known: Labelled, Y: Rows) -> Objective:
    """Return the objective to maximise: alignment with Y, or that of a support vector machine."""
    name, C = aim
    labels = known.labels
    if name not in MARGINS:
        return TargetAlignment(Y)
    if labels.shape[1] > _MOST_MACHINES:
        raise InvalidParameterError(
            f"y has {labels.shape[1]} classes, and a margin needs a machine for each of them at "
            f"every step; that is for {_MOST_MACHINES} at most. Pass objective='alignment'."
        )
    labels = labels.toarray() if sparse.issparse(labels) else labels
    margin = LargeMargin if name == "large_margin" else RadiusMargin
    return margin(labels, known.trace / known.total_weight, C)


def _learned_fit(
    model: KernelModel,
    indices: np.ndarray,
    features: np.ndarray,
    known: Labelled,
    Y: Rows,
    outcome: str,
    found: Optimum,
) -> Fit:
    path = TargetAlignment(Y).prefixes(features)
    fit = make_fit(model, indices, features, features, known, path, outcome)
    return replace(fit, search=Search(found.path, found.ending))


#: From directions to directions.
Map = Callable[[np.ndarray], np.ndarray]


def fewer_coordinates(rows: Rows, first: np.ndarray) -> tuple[Rows, Map, Map]:
    """Return samples in coordinates of their own span if it is much smaller, and the maps to and fro.

    Directions worth looking at are combinations of the samples, so n coordinates do for n samples.
    Inner products know samples to half the digits; where they lose a part of the ``first`` directions,
    as with a large mean, the samples stay as they are.
    """
    n, r = rows.shape
    as_they_are = rows, lambda V: V, lambda V: V
    if n > min(_FEW_ROWS, r // 2):
        return as_they_are
    gram = rows @ rows.T
    factor, chosen = independent(gram.toarray() if sparse.issparse(gram) else gram)
    triangle, some = factor[:, chosen], rows[chosen]

    def down(V: np.ndarray) -> np.ndarray:
        return solve_triangular(triangle, np.asarray(some @ V), trans="T")

    def up(V: np.ndarray) -> np.ndarray:
        return np.asarray(some.T @ solve_triangular(triangle, V))

    lost = np.linalg.norm(first - up(down(first)))
    return as_they_are if lost > _LOST else (factor.T, down, up)


def initial_directions(images: Images, init: str | np.ndarray, n_components: int) -> np.ndarray:
    """Return orthonormal initial directions; fewer if the images span fewer."""
    if not isinstance(init, str):
        directions = images.combinations(init)
    elif init == "koc":
        directions = images.centroids
    else:
        directions = pls_directions(images.rows, images.labels, n_components)
    basis = orthonormal(directions)
    if not isinstance(init, str) and basis.shape[1] == 0:
        raise InvalidParameterError(
            "init combines the candidates to nothing; it needs a column that is not zero. Pass another "
            "array, or init='koc'."
        )
    if basis.shape[1] > n_components:  # of the centroids' span, what separates classes best
        rotation = by_contribution(np.asarray(images.rows @ basis), images.labels)
        return np.asarray(basis @ rotation[:, :n_components])
    missing = n_components - basis.shape[1]
    return np.hstack([basis, principal_rest(images.rows, basis, missing)]) if missing else basis


def pls_directions(rows: Rows, labels: Rows, n_components: int) -> np.ndarray:
    """Return partial least squares directions with left deflation, by products only.

    Each is the direction whose feature has the largest covariance with what the features before it
    leave of the labels.
    """
    directions: list[np.ndarray] = []
    features = np.empty((rows.shape[0], 0))
    with_labels = left = products(rows, labels)
    for _ in range(n_components):
        vectors, sizes, _ = np.linalg.svd(left, full_matrices=False)
        feature = np.asarray(rows @ vectors[:, 0])
        rest = feature - features @ (features.T @ feature)
        rest -= features @ (features.T @ rest)
        if not np.linalg.norm(rest) > _RANK * np.linalg.norm(feature) or not sizes[0] > 0:
            break
        directions.append(vectors[:, 0])
        features = np.column_stack([features, rest / np.linalg.norm(rest)])
        left = with_labels - np.asarray(rows.T @ features) @ (features.T @ labels)
    return np.array(directions).reshape(len(directions), rows.shape[1]).T


def principal_rest(rows: Rows, basis: np.ndarray, n_components: int) -> np.ndarray:
    """Return the principal directions of the complement of a basis."""

    def without(values: np.ndarray) -> np.ndarray:
        return values - basis @ (basis.T @ values)

    n, r = rows.shape
    if min(n, r) <= max(_DENSE_UP_TO, 2 * n_components):
        if sparse.issparse(rows):
            return _sparse_rest(rows, basis, n_components)
        sizes, vectors = np.linalg.svd(without(rows.T).T, full_matrices=False)[1:]
        kept = sizes[:n_components] > _RANK * np.linalg.norm(rows)
        return np.asarray(vectors[:n_components][kept].T)
    operator = LinearOperator(
        (n, r),
        matvec=lambda v: rows @ without(v.reshape(r, -1)),
        rmatvec=lambda u: without(rows.T @ u.reshape(n, -1)),
        dtype=np.float64,
    )
    first = np.full(min(n, r), 1 / np.sqrt(min(n, r)))
    _, sizes, vectors = svds(operator, k=n_components, v0=first)
    order = np.argsort(-sizes)
    kept = sizes[order] > _RANK * sizes.max()
    return np.asarray(vectors[order][kept].T)


def _sparse_rest(rows: sparse.csr_matrix, basis: np.ndarray, n_components: int) -> np.ndarray:
    """Return the same for few samples or few features, from the smaller Gram matrix."""
    n, r = rows.shape
    if n <= r:
        along = np.asarray(rows @ basis)
        values, vectors = np.linalg.eigh((rows @ rows.T).toarray() - along @ along.T)
    else:
        outside = np.eye(r) - basis @ basis.T
        values, vectors = np.linalg.eigh(outside @ (rows.T @ rows).toarray() @ outside)
    # eigenvalues are squares, known to half as many digits
    kept = values[::-1][:n_components] > _SQUARED_RANK * sparse.linalg.norm(rows) ** 2
    vectors = vectors[:, ::-1][:, :n_components][:, kept]
    directions = np.asarray(rows.T @ vectors) if n <= r else vectors
    directions = directions - basis @ (basis.T @ directions)
    return np.linalg.qr(directions / np.linalg.norm(directions, axis=0))[0]


def first_points(
    batch: Batch, init: Any, n_points: int | None, random_state: np.random.RandomState
) -> np.ndarray:
    """Return initial points: given ones, class means, or cluster means within the classes."""
    if isinstance(init, str) and init != "koc":
        raise InvalidParameterError(
            f"init={init!r} gives directions, not points; pass init='koc' or an array of points with "
            "span='points'."
        )
    if not isinstance(init, str):
        Z = np.asarray(init, dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != batch.X.shape[1] or not np.isfinite(Z).all():
            raise InvalidParameterError(
                f"init has shape {Z.shape}; with span='points' it must be finite numbers, one row for "
                f"each of the n_components points and {batch.X.shape[1]} columns."
            )
        if n_points not in (None, len(Z)):
            raise InvalidParameterError(
                f"n_components={n_points}, but init has {len(Z)} points; pass as many points as "
                "features, or n_components=None."
            )
        return Z
    return _means(batch, n_points, random_state)


def _means(batch: Batch, n_points: int | None, random_state: np.random.RandomState) -> np.ndarray:
    weight = batch.root_weight**2
    sums = batch.target_sums
    shares = class_columns(batch, weight)[:, sums > 0]  # of the classes that count
    sums = sums[sums > 0]
    n_points = len(sums) if n_points is None else n_points

    def centres(rows: Rows, count: int, weight: np.ndarray) -> np.ndarray:
        means = KMeans(count, n_init=3, random_state=random_state).fit(rows, None, weight)
        return np.asarray(means.cluster_centers_)

    if n_points <= len(sums):
        means = np.asarray(shares.T @ batch.X) / sums[:, None]
        if n_points == len(sums):
            return means
        return centres(means, count_distinct(means, n_points), sums)
    of_classes = sparse.csc_array(shares)
    members = np.split(of_classes.indices, of_classes.indptr[1:-1])
    most = np.array([count_distinct(batch.X[rows], n_points) for rows in members])
    counts = np.ones(len(sums), dtype=int)
    for _ in range(min(n_points, most.sum()) - len(sums)):  # to the class with most samples a cluster
        counts[np.argmax(np.where(counts < most, sums / counts, 0.0))] += 1
    parts = zip(members, counts, strict=True)
    return np.vstack([centres(batch.X[rows], count, weight[rows]) for rows, count in parts])
