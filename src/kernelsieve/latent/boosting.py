"""Kernel design by boosting: features whose inner products separate equal from different labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .._sklearn import StrOptions
from ..data import Batch, Pool, TargetEncoder, draw_sample, weighted_sum
from ..deflation import Outcome, store_columns
from ..estimators import KernelEstimator
from ..exceptions import InvalidDataError, InvalidParameterError, KernelError
from ..fitting import DEFAULT_COMPONENTS, Problem
from ..kernels import Kernel, KernelLike, Precomputed
from ..model import (
    Fit,
    KernelModel,
    explained_variance_ratio,
    orthonormal_additions,
    signs_of_largest,
)
from .pairs import PAIR_WEIGHTS, Pairs, Span, boost, span_of

_PAIRED_SAMPLES = 3000  # of whose pairs the loss is summed up, where no number is given


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
        rows, kernel = problem.rows, problem.kernel
        sample, numbers = self._samples_of_pairs(problem)
        candidates = problem.given
        self._check(sample, self._n_candidates(problem, len(sample)), problem.settings.max_memory)
        if candidates is None and not problem.candidates.is_number:  # the samples of the pairs
            pool = Pool(kernel.points(rows.X, numbers), numbers)
            columns = W = self._columns(sample, kernel, pool)
            lengths = W.diagonal()
        else:
            pool = candidates or self._draw(problem, self._pool_size(problem, len(rows)))
            W = pool.W
            columns = self._columns(sample, kernel, pool)
            if problem.given is not None and isinstance(kernel, Precomputed):
                # The columns of a pool do not hold k(x, x) of the samples.
                lengths = np.full(len(sample), W.diagonal().max())
            else:
                lengths = kernel.diag_at(rows.X, numbers)
        span = span_of(columns, W, _largest(lengths), self.tol)
        return self._boost(span, sample, kernel, pool, lengths, problem.random_state)

    def _n_candidates(self, problem: Problem, n_pairs: int) -> int:
        if problem.given is not None:
            return len(problem.given)
        if problem.candidates.is_number:
            return self._pool_size(problem, len(problem.rows))
        return n_pairs

    def _boost(
        self,
        span: Span,
        sample: Batch,
        kernel: Kernel,
        pool: Pool,
        lengths: np.ndarray,
        random_state: np.random.RandomState,
    ) -> Fit:
        wanted = DEFAULT_COMPONENTS if self.n_components is None else self.n_components
        self._say(f"{len(pool)} candidates, {len(sample) ** 2} pairs of {len(sample)} samples")
        root = sample.root_weight
        pairs = Pairs(sample.Y.argmax(axis=1), root**2, self.loss)
        directions, steps = boost(span, pairs, wanted, random_state)
        features = span.coordinates @ directions * root[:, None]
        centred = sample.Y - root**2 @ sample.Y / (root @ root)
        scales = np.sqrt(steps) * signs_of_largest(features.T @ (root[:, None] * centred))
        captured = root[:, None] * (span.coordinates @ orthonormal_additions(directions))
        explained = orthonormal_additions(features).T @ (root[:, None] * sample.Y)
        used = pool[span.chosen]
        return Fit(
            model=KernelModel(
                kernel,
                used.points,
                span.dual @ directions * scales,
                np.zeros(len(steps)),
                np.zeros(len(used), dtype=np.intp),
            ),
            landmark_indices=used.indices,
            criterion_path=steps,
            explained_variance_ratio=explained_variance_ratio(
                captured, weighted_sum(lengths, sample) / _largest(lengths)
            ),
            explained_target_ratio=(explained**2).sum(axis=1) / float((root**2).sum()),
            outcome=Outcome.COMPLETE if len(steps) == wanted else Outcome.SETTLED,
        )

    def _columns(self, sample: Batch, kernel: Kernel, pool: Pool) -> np.ndarray:
        """Evaluate the kernel between the samples of the pairs and the candidates."""
        unweighted = replace(sample, weight=None)
        columns = store_columns(
            unweighted, kernel, pool.points, center=False, n_jobs=self.n_jobs
        ).values
        if not np.isfinite(columns).all():
            raise KernelError("Kernel values are not all finite; scale X, or lower degree.")
        return columns

    def _samples_of_pairs(self, problem: Problem) -> tuple[Batch, np.ndarray]:
        """Return the samples that form pairs, and their rows."""
        rows, size = problem.rows, problem.candidates.scored_on or _PAIRED_SAMPLES
        if size >= len(rows):
            return rows, np.arange(len(rows))
        numbers, weight = draw_sample(len(rows), size, problem.random_state, rows.weight)
        return replace(rows[numbers], weight=weight), numbers

    def _check(self, sample: Batch, n_candidates: int, max_memory: float) -> None:
        """Raise an error for a single class, or for a problem that does not fit in memory."""
        if np.count_nonzero(sample.Y.any(axis=0)) < 2:
            raise InvalidDataError(
                f"The {len(sample)} samples that form the pairs have one class only; at least 2 are "
                "needed. Raise scored_on of Candidates, or give samples of another class a positive "
                "weight."
            )
        n, m = len(sample), n_candidates
        needed = 8 * (2 * n * n + 2 * n * m + 2 * m * m)  # the pairs, their samples, the candidates
        if needed > max_memory:
            raise InvalidParameterError(
                f"The pairs of {n} samples and {m} candidates take {needed / 2**20:.0f} MB, "
                f"and max_memory is {max_memory / 2**20:.0f} MB; lower the size or scored_on of "
                "Candidates, or raise max_memory by kernelsieve.config_context."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def _largest(lengths: np.ndarray) -> float:
    """Return the largest k(x, x), by which the kernel is scaled."""
    largest = float(lengths.max())
    if not largest > 0:
        raise InvalidDataError(
            f"k(x, x) is at most {largest:g} for these samples, and must be positive for some; look "
            "for samples of zeros, or use another kernel."
        )
    return largest
