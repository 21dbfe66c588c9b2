"""Sparse (nu-) kernel PLS and boosted latent features: the numerical core, without an estimator.

M. Momma, "Efficient computations via scalable sparse kernel partial least squares and boosted latent
features", KDD 2005. At every step a few samples, the support vectors, are chosen for their residuals u.
They alone make the loading of the next feature, and they alone say how the images are shifted, so the
features of a new sample need the kernel with the support vectors only.

What is the paper's and what is ours: the algorithm, the update (5) and (6) of the kernel matrix
without ever forming it, and the selections MI and MR are stated there. The formulas of the shift, of
the dual (4), of MI's errors and the coefficients of new samples are our derivation, because the text
of (4), (11) and Algorithm 1 is lost; the tests check them against each other and against code that
forms every matrix. Sample weights, and what happens where a selection gives no direction, are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from ...deflation import Loss, Outcome, order_of_first_use
from ...exceptions import InvalidDataError, InvalidParameterError
from ...kernels import Kernel, Rows
from .columns import CachedColumns, DeflatedKernel, Loading, Multipliers
from .refit import Refits
from .selection import SELECTIONS, SelectionRule, Shares, make_selection

_MATRIX_VALUES = 2**23  # of a kernel matrix that "exact" may keep: 64 MB


@dataclass(frozen=True)
class SparseLatent:
    """Features ``k(x, landmarks) @ projection - offset``, with a model on every prefix of them."""

    landmarks: np.ndarray  # (m,): row numbers of all support vectors, in the order of first use
    first_use: np.ndarray  # (m,): the feature that needs each of them first, ascending
    projection: np.ndarray  # (m, k)
    offset: np.ndarray  # (k,)
    features: np.ndarray  # T, (n, k)
    baseline: np.ndarray  # (q,): the prediction without features; without the q for y of shape (n,)
    intercepts: np.ndarray  # (k, q): of the models with 1, 2, ... features
    coefficients: np.ndarray  # (k, k, q): row j - 1 belongs to the first j features, zeros after them
    support: np.ndarray  # (k,): fraction of the samples that are support vectors so far
    gaps: np.ndarray  # (k,): duality gap of each step where it is known
    errors: np.ndarray  # (k,): training error with 1, 2, ... features
    outcome: str

    def __len__(self) -> int:
        return len(self.intercepts)

    def with_flat_targets(self) -> SparseLatent:
        """Return a copy for one-dimensional y."""
        return replace(
            self,
            baseline=self.baseline[0],
            intercepts=self.intercepts[:, 0],
            coefficients=self.coefficients[:, :, 0],
        )

    def predict(self, features: np.ndarray, n_components: int | None = None) -> np.ndarray:
        """Return predictions from the first features; without features, the baseline."""
        k = len(self) if n_components is None else n_components
        if k == 0:
            return np.broadcast_to(self.baseline, (len(features), *np.shape(self.baseline)))
        return self.intercepts[k - 1] + features[:, :k] @ self.coefficients[k - 1, :k]


def extract_sparse(
    X: Rows,
    y: np.ndarray,
    kernel: Kernel,
    n_components: int,
    *,
    nu: float,
    selection: str,
    loss: Loss,
    weight: np.ndarray | None = None,
    target_error: float | None = None,
    sample_size: int = 200,
    cache_columns: int = 200,
    tol: float = 1e-12,
    gap_tol: float = 1e-4,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> SparseLatent:
    """Extract features from few support vectors, and fit the model on them.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Validated samples; a kernel matrix for :class:`~kernelsieve.kernels.Precomputed`.
    y : ndarray of shape (n,) or (n, q)
        What the loss compares with: numbers for the squared and the absolute loss, -1 and +1 for losses
        of a margin, one column for each of several classes. Features are shared by the columns, and
        each follows the column whose error is largest. The method depends on the scale of its
        residuals. For the squared loss y is therefore standardised inside, to mean 0 and variance 1;
        everything that is returned is in the units of the y given. Gradients of other losses are used
        as they are; those of the absolute loss are signs, so the residuals rank the samples.
    kernel : Kernel
        Its diagonal is evaluated, except for "mr" as long as that gives directions with several
        support vectors.
    nu : float
        In (0, 1]. If it is so small that a step has one support vector, images are not shifted, and
        the loading is what earlier loadings leave of the image of the sample (the paper's "nu = min").
    weight : ndarray of shape (n,), optional
        Positive sample weights, which limit the multipliers and weight the loss. A sample of weight 2
        counts as two equal samples for every selection, except that the random set of "mi" is drawn
        from samples as they stand, and that the least weight is taken for one sample where support
        vectors are counted and ``nu * n`` rounded up. ``support`` is a share of the rows as they
        stand.
    cache_columns : int, default=200
        Number of kernel columns that are kept. "exact" comes back to the same columns many times and
        keeps all of them where they take no more than 64 MB.
    n_components, selection, loss, target_error, sample_size, tol, gap_tol, random_state, n_jobs
        As for :class:`~kernelsieve.SparseKernelBoostedLatentFeatures`, with the loss as an object.

    Returns
    -------
    SparseLatent
        ``errors`` are mean squared errors for the squared loss (without the half that is in the
        loss), and mean losses for others. ``outcome`` is ``REACHED`` where ``target_error`` was
        reached, ``EXPLAINED`` where nothing is left to explain, and ``EXHAUSTED`` where no support
        vectors give another feature.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.deflation import SquaredLoss
    >>> from kernelsieve.kernels import RBF
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> found = extract_sparse(
    ...     X, y, RBF(0.5), 8, nu=0.02, selection="mi-mr", loss=SquaredLoss(), random_state=0
    ... )
    >>> bool(np.abs(found.predict(found.features) - y).max() < 0.05)
    True
    >>> len(found.landmarks) < 40  # of 200 samples
    True
    """
    weight = _checked(y, weight, nu, selection)
    n_rows = int(X.shape[0])
    Y = np.asarray(y, dtype=np.float64).reshape(n_rows, -1)
    capacity = n_rows if selection == "exact" and n_rows**2 <= _MATRIX_VALUES else cache_columns
    K = DeflatedKernel(CachedColumns(X, kernel, capacity, n_jobs), min(n_components, n_rows))
    rule = make_selection(
        selection, Shares(weight, nu), tol, gap_tol, sample_size, check_random_state(random_state)
    )
    model = Refits(loss, Y, weight, n_components)
    found = _nu_kpls(K, model, rule, n_components, target_error, tol)
    return found.with_flat_targets() if np.ndim(y) == 1 else found


def _nu_kpls(
    K: DeflatedKernel,
    model: Refits,
    rule: SelectionRule,
    n_components: int,
    target_error: float | None,
    tol: float,
) -> SparseLatent:
    """Add features until enough are found, none is left, or the target error is reached: Algorithm 1.

    A step takes support vectors with multipliers alpha for the residuals u, their loading w with its
    feature t, and the model on all features T so far, whose residuals are the next u; then it shifts
    and deflates K.
    """
    baseline, outcome = model.coefficients()[0], Outcome.COMPLETE
    models, errors, gaps = list[np.ndarray](), list[float](), list[float]()
    for _ in range(n_components):
        if target_error is not None and model.error <= target_error:
            outcome = Outcome.REACHED
            break
        if model.is_explained:
            outcome = Outcome.EXPLAINED
            break
        steps = (step for step in _steps(K, model, rule, tol) if model.add(step[2].feature))
        found = next(steps, None)
        if found is None:
            outcome = Outcome.EXHAUSTED
            break
        u, alpha, w = found
        gaps.append(rule.gap(K, u, alpha))
        K.commit(w)
        models.append(model.coefficients())
        errors.append(model.error)
    k, q = len(K.loadings), len(baseline)
    landmarks, first_use = order_of_first_use([w.rows for w in K.loadings])
    projection, offset = _projection(K.loadings, landmarks)
    coefficients = np.zeros((k, k, q))
    for j, of_prefix in enumerate(models):
        coefficients[j, : j + 1] = of_prefix[1:]
    return SparseLatent(
        landmarks=landmarks,
        first_use=first_use,
        projection=projection,
        offset=offset,
        features=K.features.copy(),
        baseline=baseline,
        intercepts=np.array([of_prefix[0] for of_prefix in models]).reshape(k, q),
        coefficients=coefficients,
        support=np.searchsorted(first_use, np.arange(1, k + 1)) / K.columns.n_rows,
        gaps=np.array(gaps),
        errors=np.array(errors),
        outcome=outcome,
    )


def _steps(
    K: DeflatedKernel, model: Refits, rule: SelectionRule, tol: float
) -> Iterator[tuple[np.ndarray, Multipliers, Loading]]:
    """Yield residuals u, multipliers alpha and the loading of possible steps, best first."""
    for column in model.worst_first():
        u = column.negative_gradient
        for alpha in rule.proposals(K, u, column.sizes):
            w = K.loading(alpha, u, tol)
            if w is not None:
                yield u, alpha, w


def _checked(y: np.ndarray, weight: np.ndarray | None, nu: float, selection: str) -> np.ndarray:
    if selection not in SELECTIONS:
        names = ", ".join(map(repr, SELECTIONS))
        raise InvalidParameterError(f"selection={selection!r} is not known; pass one of {names}.")
    if not 0 < nu <= 1:
        raise InvalidParameterError(
            f"nu={nu!r} must be a fraction of the samples, above 0 and at most 1; pass such a number."
        )
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    if not weight.min(initial=np.inf) > 0:
        raise InvalidDataError(
            f"The least weight is {weight.min()}; weights must be positive. Leave other samples out."
        )
    return weight


def _projection(loadings: list[Loading], landmarks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Express the loadings by undeflated images: A, and the offsets from shifts.

    A loading is a combination of deflated images. What the deflation took of them is along earlier
    loadings, so column after column ``a = beta - A (T' beta)``, and shifts drop out because beta sums
    to zero. Every feature needs the support vectors of its own and of earlier steps only.
    """
    position = np.zeros(landmarks.max(initial=-1) + 1, dtype=np.intp)
    position[landmarks] = np.arange(len(landmarks))
    projection = np.zeros((len(landmarks), len(loadings)))
    offset = np.zeros(len(loadings))
    for j, loading in enumerate(loadings):
        projection[position[loading.rows], j] = loading.beta
        projection[:, j] -= projection[:, :j] @ loading.overlap
        offset[j] = loading.level - offset[:j] @ loading.overlap
    return projection, offset
