"""Kernel design by boosting: features whose inner products separate equal from different labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from scipy.special import expit

from .._sklearn import StrOptions
from ..data import Batch, Pool, TargetEncoder, draw_sample, row_slices, rows_per_block, weighted_sum
from ..deflation import Outcome, leading_eigenpairs, store_columns
from ..estimators import KernelEstimator
from ..exceptions import InvalidDataError, InvalidParameterError, KernelError
from ..fitting import DEFAULT_COMPONENTS, Problem
from ..kernels import KernelLike, Precomputed
from ..model import (
    Fit,
    KernelModel,
    explained_variance_ratio,
    orthonormal_additions,
    signs_of_largest,
)

_PAIRED_SAMPLES = 3000  # of whose pairs the loss is summed up, where no number is given
#: The weight of a pair in the next step as a function of its margin: minus the slope of the loss.
PAIR_WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": lambda margin: np.exp(-margin),
    "log": lambda margin: expit(-margin),
}
_SMOOTHING = 1e-12  # of the sum of all weights: keeps the step finite where no pair is wrong
_SHORTEST_STEP = 1e-6
_DENSE_UP_TO = 300  # coordinates; beyond, products with the pairs are cheaper than their matrix


class KernelBoosting(KernelEstimator):
    """A kernel learned from labels, as features: their inner products are its values.

    The learned kernel is to be positive for pairs of samples with equal labels and negative for pairs
    with different ones. Each step weighs the pairs by how wrong they still are, takes the direction
    whose projections agree best with the weighted pairs, and adds the outer product of these
    projections in the best proportion. Directions are not made orthogonal, so there may be more
    features than the kernel has rank.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    kernel : str, callable or Kernel, default="rbf"
        A name, "chi2", "cosine", "laplacian", "linear", "matern", "matern12", "matern32", "matern52",
        "poly", "precomputed", "rational_quadratic", "rbf", "sigmoid"; an object of
        :class:`~kernelsieve.kernels.Kernel`; or a function: vectorised, ``f(X, Z)`` giving an array of
        shape (len(X), len(Z)), or pairwise, ``f(x, z)`` giving a number.
    gamma : {"scale", "median"}, part or multiple of these, "cv", or float, default="scale"
        Width of a named kernel; rbf is exp(-gamma d^2). "scale" is one over (number of features times
        variance of X, or standard deviation for a distance that is not squared); "median" is one over
        the median (squared) distance of a sample; "scale/4" and "median*2" are understood. With
        candidates given as points they are taken from these points, so that a fit may go out of core.
        "cv" is the best of eight multiples of "median", from narrow to nearly linear, by five folds of
        at most 1,000 samples; for estimators that predict, and within ``ComponentPathCV``.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1.0
        Constant term of the "poly" and "sigmoid" kernels.
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function, or other parameters of a named kernel.
    candidates : {"all", "auto"}, int, array or Candidates, default="auto"
        Samples that directions combine: "all", which "auto" is as well, for those of the pairs, a
        number for random ones, or an array of points (row numbers, for a precomputed kernel). All
        features of a new sample together cost at most one kernel evaluation for each of them. Pass
        :class:`~kernelsieve.Candidates` to say how they are drawn, and by ``scored_on`` of how many
        random samples pairs are formed: 3,000 where it is None.
    tol : float, default=1e-08
        A candidate whose squared residual in feature space, after those before it, is below this part
        of the largest k(z, z) is left out. Those that are kept are the landmarks.
    loss : {"exponential", "log"}, default="exponential"
        Of the margins of the pairs; "log" gives pairs that stay wrong less weight.
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, n_features)
        The chosen samples, in the order of choice; column numbers for a precomputed kernel.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Indices of the landmarks in the training set, or in the given candidates; -1 for other points.
    projection_ : ndarray of shape (n_landmarks, n_components)
        Features are ``kernel(x, landmarks_) @ projection_ - offset_``.
    offset_ : ndarray of shape (n_components,)
        Subtracted from the features, so that centred features have mean zero.
    n_components_ : int
        Number of components found.
    kernel_, gamma_ : Kernel, float
        The fitted kernel with all its parameters, and its width if it has one.
    kernel_evaluations_ : ndarray of shape (n_components,)
        Kernel evaluations for a new sample with the first 1, 2, ... components.
    criterion_path_ : ndarray of shape (n_components,)
        The criterion's value at each step.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the kernel images that each component adds.
    explained_target_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the targets that each component explains; zeros without targets.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if ``y`` holds labels.
    n_features_in_, feature_names_in_
        Number and names of the features of X, as in scikit-learn.

    Notes
    -----
    The paper was not at hand: the method is reconstructed from descriptions elsewhere, and
    the steps are those that its bound on the loss leads to. With y of -1 and 1, K the kernel matrix
    divided by its largest diagonal entry, and L the learned kernel, a pair has the weight
    ``D = exp(-y y' L)``, or ``1 / (1 + exp(y y' L))`` for the log loss. The direction maximises
    ``sum D_ij y_i y_j p_i p_j`` for its projections p, and the step is
    ``a = log(W+ / W-) / 2``, where W+ and W- are the sums of ``D_ij |p_i p_j|`` over the pairs that
    ``p_i p_j`` has right and wrong. The feature is ``sqrt(a) p``. It ends when a step is below 1e-6.
    ``criterion_path_`` are the steps. Nothing is centred, and ``offset_`` is zero.

    More than two classes are an extension of ours: equal labels count 1 and different ones -1. So is
    ``sample_weight``, by which a pair counts as often as its samples do together.

    References
    ----------
    K. Crammer, J. Keshet, Y. Singer. Kernel design using boosting. Advances in Neural Information
    Processing Systems 15, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import KernelBoosting
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boosting = KernelBoosting(n_components=20).fit(scale(X), y)
    >>> features = boosting.transform(scale(X))
    >>> learned = features @ features.T
    >>> bool(((learned > 0) == (y[:, None] == y)).mean() > 0.9)
    True
    """

    _candidate_options: ClassVar[frozenset[str]] = frozenset({"scored_on"})
    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        "loss": [StrOptions(set(PAIR_WEIGHTS))],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        tol: float = 1e-08,
        loss: str = "exponential",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.tol = tol
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _target_kind(self) -> str:
        return "classes"

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        values = np.asarray(y)
        if values.dtype.kind == "f" and (values[np.isfinite(values)] % 1 != 0).any():
            raise InvalidDataError(
                "y is continuous, and KernelBoosting compares labels; pass class labels, or use "
                "KernelFeatureExtraction('kpls') for numbers to predict."
            )
        return super()._encoder(y, classes)

    def _solve(self, problem: Problem) -> Fit:
        sample, numbers = _samples_of_pairs(problem)
        pool, W, columns, lengths = self._candidate_columns(problem, sample, numbers)
        largest = _largest(lengths)
        wanted = DEFAULT_COMPONENTS if self.n_components is None else self.n_components
        self._say(f"{len(pool)} candidates, {len(sample) ** 2} pairs of {len(sample)} samples")
        chosen, dual = _orthonormal_basis(W, largest, self.tol)
        C, root = columns[:, chosen] @ dual, sample.root_weight
        pairs = Pairs(sample.Y.argmax(axis=1), root**2, self.loss)
        Z, steps = boost(C, pairs, wanted, problem.random_state)
        features = C @ Z * root[:, None]
        centred = sample.Y - root**2 @ sample.Y / (root @ root)
        scales = np.sqrt(steps) * signs_of_largest(features.T @ (root[:, None] * centred))
        captured = root[:, None] * (C @ orthonormal_additions(Z))
        explained = orthonormal_additions(features).T @ (root[:, None] * sample.Y)
        captured = explained_variance_ratio(captured, weighted_sum(lengths, sample) / largest)
        used = pool[chosen]
        return Fit(
            model=KernelModel(
                problem.kernel,
                used.points,
                dual @ Z * scales,
                np.zeros(len(steps)),
                np.zeros(len(used), dtype=np.intp),
            ),
            landmark_indices=used.indices,
            criterion_path=steps,
            explained_variance_ratio=captured,
            explained_target_ratio=(explained**2).sum(axis=1) / float((root**2).sum()),
            outcome=Outcome.COMPLETE if len(steps) == wanted else Outcome.SETTLED,
        )

    def _candidate_columns(
        self, problem: Problem, sample: Batch, numbers: np.ndarray
    ) -> tuple[Pool, np.ndarray, np.ndarray, np.ndarray]:
        """Return candidates, their kernel matrix, columns of the samples, and k(x, x) of these."""
        rows, kernel, given = problem.rows, problem.kernel, problem.given
        are_samples = given is None and not problem.candidates.is_number
        size = len(sample) if are_samples else self._pool_size(problem, len(rows))
        _check(sample, size if given is None else len(given), problem.settings.max_memory)
        if are_samples:
            pool = Pool(kernel.points(rows.X, numbers), numbers)
        else:
            pool = given or self._draw(problem, size)
        unweighted = replace(sample, weight=None)
        stored = store_columns(unweighted, kernel, pool.points, center=False, n_jobs=self.n_jobs)
        columns = stored.values
        if not np.isfinite(columns).all():
            raise KernelError("Kernel values are not all finite; scale X, or lower degree.")
        if are_samples:
            return pool, columns, columns, columns.diagonal()
        if given is not None and isinstance(kernel, Precomputed):
            # The columns of a pool do not hold k(x, x) of the samples.
            return pool, pool.W, columns, np.full(len(sample), pool.W.diagonal().max())
        return pool, pool.W, columns, kernel.diag_at(rows.X, numbers)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def boost(
    C: np.ndarray, pairs: Pairs, n_components: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return unit directions Z as columns, in orthonormal coordinates C, and the step a of each.

    With the signed weights B of the pairs a direction z maximises ``z'C'B C z``: its feature
    ``p = C z`` agrees best with them. ``a p p'`` joins the learned kernel, which gives the next B.
    There may be more directions than coordinates.
    """
    start = np.asarray(random_state.standard_normal(C.shape[1]))
    Z, steps = list[np.ndarray](), list[float]()
    while len(start) and len(steps) < n_components:
        z = _best_direction(C, pairs, start)
        p = C @ z
        a = pairs.step(p)
        if a < _SHORTEST_STEP:
            break
        pairs.add(a, p)
        Z.append(z)
        steps.append(a)
    return np.array(Z).reshape(len(steps), len(start)).T, np.array(steps)


def _best_direction(coordinates: np.ndarray, pairs: Pairs, start: np.ndarray) -> np.ndarray:
    size = coordinates.shape[1]
    if size > _DENSE_UP_TO:
        operator = LinearOperator(
            (size, size),
            matvec=lambda z: coordinates.T @ pairs.multiply(coordinates @ z),
            dtype=np.float64,
        )
        try:
            return eigsh(operator, k=1, which="LA", v0=start)[1][:, 0]
        except ArpackNoConvergence:
            pass  # the largest eigenvalues are too close to each other; take the whole matrix
    symmetric = coordinates.T @ pairs.multiply(coordinates)
    return leading_eigenpairs((symmetric + symmetric.T) / 2, 1)[1][:, 0]


class Pairs:
    """All ordered pairs of samples, with their weights and the kernel learned so far.

    A pair is to have a positive value of the learned kernel where its labels are equal, and a
    negative one where they are not; its margin is the value with that sign.
    """

    def __init__(self, codes: np.ndarray, weight: np.ndarray, loss: str) -> None:
        self._codes = codes
        self._weight = weight
        self._weight_of = PAIR_WEIGHTS[loss]
        n = len(codes)
        self._blocks = list(row_slices(n, rows_per_block(n)))
        self._learned = np.zeros((n, n))
        self._signed = np.empty((n, n))  # B: weights, with the sign that the pair should have
        self._reweigh()

    def _reweigh(self) -> None:
        self._total = 0.0
        for rows in self._blocks:
            signs = np.where(self._codes[rows, None] == self._codes, 1.0, -1.0)
            weights = self._weight_of(signs * self._learned[rows])
            weights *= self._weight[rows, None] * self._weight
            self._total += float(weights.sum())
            np.multiply(signs, weights, out=self._signed[rows])

    def multiply(self, vectors: np.ndarray) -> np.ndarray:
        """Return ``B vectors``, B the signed weights of the pairs."""
        return self._signed @ vectors

    def step(self, feature: np.ndarray) -> float:
        """Return the step length along ``feature feature'``; 0 if no step lowers the loss."""
        right, wrong = self.split(feature)
        smoothing = _SMOOTHING * self._total
        if not right > wrong or not right + smoothing > 0:
            return 0.0
        return 0.5 * float(np.log((right + smoothing) / (wrong + smoothing)))

    def split(self, feature: np.ndarray) -> tuple[float, float]:
        """Return the weights of the pairs that ``feature feature'`` classifies right and wrong."""
        right = wrong = 0.0
        for rows in self._blocks:
            agreement = self._signed[rows] * feature
            agreement *= feature[rows, None]
            right += float(np.maximum(agreement, 0.0).sum())
            wrong -= float(np.minimum(agreement, 0.0).sum())
        return right, wrong

    def add(self, step: float, feature: np.ndarray) -> None:
        """Add ``step * feature feature'`` to the learned kernel."""
        for rows in self._blocks:
            self._learned[rows] += np.outer(step * feature[rows], feature)
        self._reweigh()


def _orthonormal_basis(W: np.ndarray, scale: float, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Return candidates that span all of them, and the map to orthonormal coordinates of that span.

    W is their kernel matrix. Any orthonormal basis will do, and that of a pivoted Cholesky factor costs
    a small part of what eigenvectors do and needs no candidate that is a combination of others.
    ``scale`` divides the kernel; candidates with a squared residual below ``tol`` of the largest
    k(z, z) are left out.
    """
    factor, pivots, rank, _ = lapack.dpstrf(W, tol=tol * W.diagonal().max())
    dual = solve_triangular(factor[:rank, :rank], np.eye(rank)) / np.sqrt(scale)
    return pivots[:rank].astype(np.intp) - 1, dual


def _samples_of_pairs(problem: Problem) -> tuple[Batch, np.ndarray]:
    """Return the samples that form pairs, and their rows."""
    rows, size = problem.rows, problem.candidates.scored_on or _PAIRED_SAMPLES
    if size >= len(rows):
        return rows, np.arange(len(rows))
    numbers, weight = draw_sample(len(rows), size, problem.random_state, rows.weight)
    return replace(rows[numbers], weight=weight), numbers


def _check(sample: Batch, n_candidates: int, max_memory: float) -> None:
    """Raise an error for a single class, or for a problem that does not fit in memory."""
    if np.count_nonzero(sample.Y.any(axis=0)) < 2:
        raise InvalidDataError(
            f"The {len(sample)} samples that form the pairs have one class only; at least 2 are "
            "needed. Raise scored_on of Candidates, or give samples of another class a positive "
            "weight."
        )
    n, m = len(sample), n_candidates
    needed = 16 * (n * n + n * m + m * m)  # the pairs, their samples, the candidates
    if needed > max_memory:
        raise InvalidParameterError(
            f"The pairs of {n} samples and {m} candidates take {needed / 2**20:.0f} MB, "
            f"and max_memory is {max_memory / 2**20:.0f} MB; lower the size or scored_on of "
            "Candidates, or raise max_memory by kernelsieve.config_context."
        )


def _largest(lengths: np.ndarray) -> float:
    """Return the largest k(x, x), by which the kernel is scaled."""
    largest = float(lengths.max())
    if not largest > 0:
        raise InvalidDataError(
            f"k(x, x) is at most {largest:g} for these samples, and must be positive for some; look "
            "for samples of zeros, or use another kernel."
        )
    return largest
