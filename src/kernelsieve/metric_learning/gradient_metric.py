"""Learn a linear map of the inputs in which a kernel follows the target."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from .._sklearn import Interval, StrOptions, fit_context, linked_to_documentation
from ..data import TargetEncoder, check_not_constant, warn_if_ambiguous
from ..estimators import all_or_nothing
from ..estimators.constraints import SHARED_CONSTRAINTS
from ..estimators.inputs import check_weights
from ..exceptions import InvalidDataError, InvalidParameterError, NothingLearntWarning, warn
from ..kernels import Kernel, Rows, kernel_class, resolve_kernel
from ..model import save
from ..program import AffineMap, Output, ProgramStep
from .evidence import apply_metric
from .functions import splits
from .orientation import along_axes, own_axes
from .rounds import (
    RIDGES,
    MetricProblem,
    Round,
    best_round,
    column_spreads,
    learn,
    total_variance,
    trial_table,
)

_STRUCTURES = {
    "diagonal": ("diagonal",),
    "full": ("full",),
    "diagonal-full": ("diagonal", "full"),
}


@linked_to_documentation
class GradientMetric(TransformerMixin, BaseEstimator):
    """A linear map of the features of X, learned from the gradients of a kernel function.

    Kernels treat all features of X alike, and most targets do not. Rounds of a fit with few landmarks
    and of weighting the features by the average outer product of the fitted function's gradients find
    directions along which the target changes. From there a search follows the gradient of the
    function's evidence, its marginal likelihood, to weights that make the target likely. ``transform``
    gives ``X @ components_``, for any method with a kernel or with distances that follows it.

    Parameters
    ----------
    kernel : str, default="matern"
        Name of a kernel with derivatives: "rbf", "matern", "rational_quadratic", "laplacian",
        "poly" or "linear". Give the method after it the same one.
    gamma : {"auto"}, float, str or sequence of these, default="auto"
        Widths among which held-out samples choose, anew in each round: numbers, or rules such as
        "scale/4". "auto" searches from 1/64 to 4 over the variance of X, and beyond where it pays.
    n_components : int, default=200
        Landmarks of the functions.
    structure : {"diagonal", "full", "diagonal-full"}, default="diagonal-full"
        A weight for each feature of X, a matrix, or weights first and then a matrix.
    rank : int, default=None
        Keep the leading directions only, or with "diagonal" the leading features. None keeps all.
    n_rounds : {"auto"} or int, default="auto"
        Rounds of gradients of each structure; "auto" stops when the held-out error stops falling. The
        best round is kept, never the last as such.
    evidence : bool, default=True
        Whether each structure ends with a search for the metric of the largest evidence. The
        "laplacian" kernel has none, nor X of more than 300 features for a matrix, 10,000 for weights.
    max_samples : int, default=10000
        Maximum number of samples to learn from; of more, a random subset is drawn. None takes all.
    ridge : {"auto"} or float, default="auto"
        Penalty of the function's squared norm in the kernel's space, beside the mean squared error of a
        target of unit variance; "auto" lets held-out samples choose from 1e-10 to 1.
    kernel_params : dict, default=None
        Further parameters of the kernel, such as ``nu`` of "matern".
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1.0
        Degree of the "poly" kernel.
    target : {"auto", "continuous", "classes"}, default="auto"
        Kind of ``y``; "auto" takes floats for numbers and all else for labels.
    random_state : int, RandomState instance or None, default=None
        Draws held-out samples and candidates.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_components_out)
        The map L; the metric is ``L L'``. Diagonal, symmetric, or with ``rank`` as many columns.
    importances_ : ndarray of shape (n_features,)
        The diagonal of ``L L'`` for features of X at unit variance; they add up to 1.
    gamma_ : float
        The width that was best for transformed samples.
    ridge_ : float
        The ridge that was best.
    error_ : float
        Held-out error of the round that was kept, in variances of the target.
    best_round_ : int
        The round that was kept; 0 where nothing was learnt.
    path_ : dict of ndarrays
        All trials: "round", "structure", "by" (gradients or evidence), "gamma", "ridge", "error".
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has any.

    Warns
    -----
    NothingLearntWarning
        If the held-out error did not fall; the map is then the identity.

    Notes
    -----
    The error is that of samples which neither the choice of landmarks nor the fit has seen. Of up to
    2,500 samples several parts are held out in turn. Sparse X needs ``structure="diagonal"``.

    References
    ----------
    D. J. C. MacKay. Bayesian interpolation. Neural Computation 4, 1992.

    A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin. Mechanism for feature learning in neural
    networks and backpropagation-free machine learning models. Science 383, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve import GradientMetric
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1]
    >>> metric = GradientMetric(n_components=50, structure="diagonal", random_state=0).fit(X, y)
    >>> sorted(np.argsort(metric.importances_)[-2:].tolist())
    [0, 1]
    >>> metric.transform(X).shape
    (300, 6)
    """

    _parameter_constraints: ClassVar[dict] = {
        "kernel": [str],
        "gamma": [str, Real, "array-like"],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "structure": [StrOptions(set(_STRUCTURES))],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "n_rounds": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "evidence": ["boolean"],
        "max_samples": [Interval(Integral, 4, None, closed="left"), None],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        **{name: SHARED_CONSTRAINTS[name] for name in ("kernel_params", "degree", "coef0")},
        **{name: SHARED_CONSTRAINTS[name] for name in ("target", "random_state")},
    }

    def __init__(
        self,
        kernel: str = "matern",
        *,
        gamma: Any = "auto",
        n_components: int = 200,
        structure: str = "diagonal-full",
        rank: int | None = None,
        n_rounds: int | str = "auto",
        evidence: bool = True,
        max_samples: int | None = 10000,
        ridge: float | str = "auto",
        kernel_params: dict | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        target: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.structure = structure
        self.rank = rank
        self.n_rounds = n_rounds
        self.evidence = evidence
        self.max_samples = max_samples
        self.ridge = ridge
        self.kernel_params = kernel_params
        self.degree = degree
        self.coef0 = coef0
        self.target = target
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the map from samples and targets.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their labels or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, in functions and in their held-out errors.

        Returns
        -------
        GradientMetric
        """
        X = self._check_rows(X, reset=True)
        given = check_weights(sample_weight, X)
        weight = np.ones(X.shape[0]) if given is None else given
        Y, counted = self._targets(X, y, weight), np.flatnonzero(weight)
        if len(counted) < len(weight):
            X, Y, weight = X[counted], Y[counted], weight[counted]
        spreads = column_spreads(X)
        if not spreads.any():
            raise InvalidDataError("All features of X are constant; nothing can be learned.")
        units = self._units(spreads)
        inverse = np.divide(1, units, out=np.zeros_like(units), where=units > 0)
        random_state = check_random_state(self.random_state)
        problem = self._problem(apply_metric(X, inverse), Y, weight, random_state)
        axes = own_axes(problem.X) if self.structure == "full" else None
        if axes is not None:
            problem = replace(problem, X=along_axes(problem.X, axes))
        structures = _STRUCTURES[self.structure]
        n_rounds = None if self.n_rounds == "auto" else int(self.n_rounds)
        found = learn(problem, structures, n_rounds, units, self.rank, evidence=self.evidence)
        rounds = [each.without_functions() for each in found]
        best = rounds[-1] if self.rank else best_round(rounds, problem.n_held_out)
        L = best.L
        if axes is not None and L.ndim == 2:  # a diagonal is the same for all axes
            L = axes @ (L @ axes.T if self.rank is None else L)
        self._keep(rounds, best, L * (inverse if L.ndim == 1 else inverse[:, None]), spreads)
        return self

    def _units(self, spreads: np.ndarray) -> np.ndarray:
        """Return the scales in which the rounds see the inputs.

        Weights must not depend on the units of inputs, so each has its own there. A matrix must not
        depend on a rotation, so all have the same: a power of 2, by which nothing is rounded.
        """
        if self.structure != "full":
            return spreads
        return np.where(spreads > 0, np.exp2(np.round(np.log2(np.mean(spreads**2)) / 2)), 0.0)

    def transform(self, X: Any) -> Any:
        """Apply the learned map to samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components_out)
            A CSR matrix where X is one and the map is diagonal.
        """
        check_is_fitted(self)
        mapped = apply_metric(self._check_rows(X, reset=False), self._map)
        return mapped if self._columns is None else mapped[:, self._columns]

    def __program_steps__(self, output: Output) -> list[ProgramStep]:
        """Return the map as an affine step."""
        return [AffineMap(self._map if self._columns is None else self.components_)]

    save = save

    @property
    def components_(self) -> np.ndarray:
        check_is_fitted(self)
        full = np.diag(self._map) if self._map.ndim == 1 else self._map
        return full if self._columns is None else full[:, self._columns]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names: those of the features of X for a diagonal map, numbered ones otherwise.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features of X, where ``fit`` has seen none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self._map.ndim == 2:
            numbers = range(self._map.shape[1])
            return np.array([f"gradientmetric{i}" for i in numbers], dtype=object)
        return names if self._columns is None else names[self._columns]

    # ------------------------------------------------------------------ what parameters mean

    def _check_rows(self, X: Any, *, reset: bool) -> Rows:
        few = {"ensure_min_samples": 4} if reset else {}
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=reset, **few)
        if sparse.issparse(X) and self.structure != "diagonal":
            raise InvalidDataError(
                f"Sparse data was passed for X, and structure={self.structure!r} makes it dense; pass "
                "structure='diagonal', or X.toarray()."
            )
        return X

    def _targets(self, X: Rows, y: Any, weight: np.ndarray) -> np.ndarray:
        """Return targets with mean 0 and mean variance 1."""
        if y is None:
            raise InvalidDataError(
                "This GradientMetric estimator requires y to be passed, but the target y is None. Pass "
                "y as well."
            )
        encoder = TargetEncoder.for_target(y, self.target)
        if self.target == "auto":
            warn_if_ambiguous(y, encoder)
        Y = encoder.encode(y, X.shape[0]).astype(np.float64)
        if not weight.any():
            raise InvalidDataError("All sample weights are zero; at least one must be positive.")
        centred = Y - np.average(Y, axis=0, weights=weight)
        check_not_constant(centred[weight > 0], Y[weight > 0])
        return centred / np.sqrt(np.average(centred**2, axis=0, weights=weight).mean())

    def _problem(
        self, X: Rows, Y: np.ndarray, weight: np.ndarray, random_state: np.random.RandomState
    ) -> MetricProblem:
        kind, n_features = kernel_class(self.kernel), int(X.shape[1])
        if kind.sample_gradient is Kernel.sample_gradient:
            # The kernel says which ones have derivatives; one that is not known says so itself.
            resolve_kernel(self.kernel, X[:2]).sample_gradient(X[:1], X[:1], np.ones((1, 1)))
        if self.rank is not None and self.rank > n_features:
            raise InvalidParameterError(
                f"rank={self.rank} is larger than the {n_features} features of X; lower rank, or pass "
                "None."
            )
        if self.max_samples is not None and X.shape[0] > self.max_samples:
            rows = random_state.permutation(X.shape[0])[: self.max_samples]
            X, Y, weight = X[rows], Y[rows], weight[rows]
        return MetricProblem(
            X,
            Y,
            weight,
            splits(X.shape[0], random_state),
            self._kernel_of,
            self._widths("gamma" in kind.parameter_names()),
            RIDGES if isinstance(self.ridge, str) else np.array([float(self.ridge)]),
            self.n_components,
        )

    def _widths(self, has_gamma: bool) -> list | None:
        if isinstance(self.gamma, str) and self.gamma == "auto":
            return None if has_gamma else ["scale"]
        single = isinstance(self.gamma, str | Real)
        widths = [self.gamma] if single else list(self.gamma)
        if not widths:
            raise InvalidParameterError("gamma=[] has no width; pass at least one, or 'auto'.")
        return [width if isinstance(width, str) else float(width) for width in widths]

    def _kernel_of(self, U: Rows, width: Any) -> Kernel:
        """Return the kernel of a width: as it was given, or a multiple where it is searched."""
        is_multiple = isinstance(self.gamma, str) and self.gamma == "auto" and isinstance(width, Real)
        return resolve_kernel(
            self.kernel,
            U,
            gamma=float(width) / total_variance(U) if is_multiple else width,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
        )

    # ------------------------------------------------------------------ what was found

    def _keep(self, rounds: list[Round], best: Round, L: np.ndarray, spreads: np.ndarray) -> None:
        identity = rounds[0]
        if best is identity:
            warn(
                f"No metric was learned: the held-out error, {identity.error:.3g} of the variance of "
                "the target, did not fall by more than chance, and the map is the identity. Pass more "
                "samples, another kernel, or another structure.",
                NothingLearntWarning,
            )
        self.best_round_ = rounds.index(best)
        self.error_, self.ridge_ = best.error, best.best.ridge
        self.gamma_ = getattr(best.best.kernel, "gamma", 1.0)
        self._map: np.ndarray = np.ones(len(spreads)) if best is identity else L
        of_rank = best.structure == "diagonal" and self.rank is not None
        self._columns = np.flatnonzero(best.L) if of_rank else None
        metric = L**2 if L.ndim == 1 else (L**2).sum(axis=1)
        importances = metric * spreads**2
        self.importances_ = importances / (importances.sum() or 1.0)
        self.path_ = trial_table(rounds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = self.structure == "diagonal"
        return tags
