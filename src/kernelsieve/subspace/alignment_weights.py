"""Feature weights with which a kernel fits the target: K_theta of formula (15)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sklearn import Interval, StrOptions, fit_context, linked_to_documentation
from ..data import Batch, TargetEncoder, draw_random
from ..estimators import all_or_nothing
from ..estimators.constraints import SHARED_CONSTRAINTS
from ..exceptions import InvalidDataError, InvalidParameterError, warn
from ..kernels import Kernel, resolve_kernel
from ..model import save
from ..program import AffineMap, Output, ProgramStep
from .objectives import CODINGS, MARGINS, checked_target_kernel, coded_labels, objective_and_value
from .weighted_kernels import WeightedAlignment, WeightedMargin, WeightedObjective

_MOST_REWEIGHTINGS = 10
_SMALL_WEIGHT = 0.1  # which counts as half a feature
_SHARED = ("kernel", "gamma", "degree", "coef0", "kernel_params", "center", "target", "random_state")


@linked_to_documentation
class AlignmentWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Non-negative weights of the features of X that align a kernel with the target.

    The kernel ``k(theta * x, theta * z)`` has a weight for each feature of X, and the weights with the
    largest kernel-target alignment are found, or those with the best objective or bound of a support
    vector machine. Features that tell nothing get small weights, or none. ``transform`` multiplies X
    by the weights, for any method with a kernel that follows in a pipeline.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear"} or Kernel, default="rbf"
        A kernel with a derivative.
    gamma : {"scale", "median"} or float, default="scale"
        Width of the kernel before features are weighted; the weights change it.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1.0
        Constant of "poly".
    kernel_params : dict, default=None
        Further parameters of the kernel.
    center : bool, default=True
        Centre both kernel matrices, so that classes of different sizes do no harm; False is the
        alignment of the paper.
    target_kernel : {"indicators", "signs", "balanced"} or array, default="indicators"
        What the kernel of labels is for two samples: 1 for the same class and 0 otherwise; 1 and
        ``-1 / (c - 1)``, which is -1 for two classes; one over the size of the class and 0; or any
        symmetric matrix with a row and a column for each sample. For numbers it is their product.
    objective : {"alignment", "large_margin", "radius_margin"} or (str, C), default="alignment"
        Objective to maximise: the alignment; or, to be made small, the objective of a support vector
        machine with squared slack, or the radius-margin bound on its leave-one-out errors, for labels.
        ("large_margin", C) and ("radius_margin", C) say the price of slack, which is 1 for the word
        alone, for the kernel divided by the mean of k(x, x). Of more than two classes each is separated
        from the rest.
    penalty : float, default=0.0
        Price of the weights: more of it leaves fewer features. The alignment is at most 1, and of the
        objectives of a support vector machine the logarithm is taken.
    norm : {1, 0}, default=1
        Norm of the weights that pays ``penalty``: 1 is the mean weight, and 0 the share of the features
        with a weight, by reweighting the mean until no further weight becomes zero. Weights that stay
        then pay nearly the same whatever their size.
    max_samples : int, default=1000
        Maximum number of samples for the alignment; of more, a random subset is drawn.
    max_iter : int, default=200
        Most iterations of L-BFGS-B.
    tol : float, default=1e-7
        Relative gain of the objective at which it has converged.
    target : {"auto", "continuous", "classes"}, default="auto"
        Kind of ``y``; "auto" takes floats for numbers and all else for labels.
    random_state : int, RandomState instance or None, default=None
        Draws the samples where there are too many.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        theta, at least 0. It begins with ones.
    alignment_ : float
        Alignment with these weights on the samples that it was computed on; for "large_margin" and
        "radius_margin" minus the logarithm of the objective or bound.
    initial_alignment_ : float
        The same with ones.
    n_iter_ : int
        Iterations.
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has any.

    Notes
    -----
    All objectives have several maxima; the one that is found depends on the scale of X, so scale it
    first. A weight of 0 stays 0. The 0-norm is approximated by the mean of ``theta / (theta + 0.1)``,
    whose tangent at the last weights prices them anew, as Candes et al. (2008) do.

    References
    ----------
    M. Wu, J. Farquhar. A subspace kernel for nonlinear feature extraction. International Joint
    Conference on Artificial Intelligence, 2007. Formula (15).

    O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee. Choosing multiple parameters for support vector
    machines. Machine Learning 46, 2002.

    E. J. Candes, M. B. Wakin, S. P. Boyd. Enhancing sparsity by reweighted l1 minimization. Journal of
    Fourier Analysis and Applications 14, 2008.

    C. Cortes, M. Mohri, A. Rostamizadeh. Algorithms for learning kernels based on centered alignment.
    Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from kernelsieve import AlignmentWeights, KernelFisherDiscriminant
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> weighted = make_pipeline(AlignmentWeights(), KernelFisherDiscriminant()).fit(X, y)
    >>> sorted(np.argsort(weighted[0].weights_)[-2:].tolist())
    [0, 1]
    """

    _parameter_constraints: ClassVar[dict] = {
        **{name: SHARED_CONSTRAINTS[name] for name in _SHARED},
        "target_kernel": [StrOptions(set(CODINGS)), "array-like"],
        "objective": [StrOptions({"alignment", *MARGINS}), tuple],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "norm": [Interval(Integral, 0, 1, closed="both")],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        *,
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict | None = None,
        center: bool = True,
        target_kernel: Any = "indicators",
        objective: str | tuple[str, float] = "alignment",
        penalty: float = 0.0,
        norm: int = 1,
        max_samples: int = 1000,
        max_iter: int = 200,
        tol: float = 1e-07,
        target: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.center = center
        self.target_kernel = target_kernel
        self.objective = objective
        self.penalty = penalty
        self.norm = norm
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.target = target
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their labels or numbers.

        Returns
        -------
        AlignmentWeights
        """
        if y is None:
            raise InvalidDataError(
                "This AlignmentWeights estimator requires y to be passed, but the target y is None."
            )
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        random_state = check_random_state(self.random_state)
        name, C = self._aim()
        encoder = TargetEncoder.for_target(y, self.target)
        if name in MARGINS and encoder.classes is None:
            raise InvalidParameterError(
                f"objective={name!r} separates classes, and y holds numbers; pass labels, "
                "target='classes', or objective='alignment'."
            )
        targets, rows = encoder.targets(y, len(X)), np.arange(len(X))
        if len(X) > self.max_samples:
            rows = np.sort(draw_random(len(X), self.max_samples, random_state))
        n_samples, X = len(X), X[rows]
        labels = Batch(X, targets[rows]).Y
        if encoder.classes is not None:
            labels = labels[:, labels.any(axis=0)]
        kernel = resolve_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            random_state=random_state,
        )
        objective: WeightedObjective
        if name in MARGINS:
            objective = WeightedMargin(X, labels, kernel, C, radius=name == "radius_margin")
        else:
            K_y = self._target_kernel(labels, encoder.classes is not None, rows, n_samples)
            objective = WeightedAlignment(X, K_y, kernel, center=self.center)
        self.initial_alignment_ = objective(np.ones(X.shape[1]))[0]
        self._optimise(objective)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Multiply the features of X by their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) * self.weights_

    def __program_steps__(self, output: Output) -> list[ProgramStep]:
        """Return the weighting as an affine step."""
        return [AffineMap(self.weights_)]

    save = save

    def _aim(self) -> tuple[str, Any]:
        """Return the name of the objective, and the price of slack for a margin."""
        if not isinstance(self.objective, str) and self.objective[:1] == ("alignment",):
            raise InvalidParameterError(
                f"objective={self.objective!r} has a parameter that belongs to target_kernel; pass "
                "objective='alignment', and the kernel of labels as target_kernel."
            )
        return objective_and_value(self.objective)

    def _target_kernel(
        self, labels: np.ndarray, are_classes: bool, rows: np.ndarray, n_samples: int
    ) -> np.ndarray:
        """Return K_y of the samples used for the alignment."""
        if not isinstance(self.target_kernel, str):
            return checked_target_kernel(self.target_kernel, n_samples)[np.ix_(rows, rows)]
        if are_classes:
            factor = coded_labels(labels, self.target_kernel)
        else:
            factor = labels - labels.mean(axis=0)
        return np.asarray(factor @ factor.T)

    def _optimise(self, objective: WeightedObjective) -> None:
        theta = prices = np.ones(objective.n_features)
        options = {"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-12}
        how = {"method": "L-BFGS-B", "bounds": [(0.0, None)] * len(theta), "options": options}
        self.n_iter_, n_used = 0, -1

        def downhill(theta: np.ndarray, prices: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = objective(theta)
            price = self.penalty * prices / len(theta)
            return float(price @ theta) - value, price - slope

        for _ in range(1 if self.norm == 1 or self.penalty == 0 else _MOST_REWEIGHTINGS):
            found = minimize(downhill, theta, args=(prices,), jac=True, **how)
            theta = np.asarray(found.x)
            self.n_iter_ += int(found.nit)
            n_before, n_used = n_used, int(np.count_nonzero(theta))
            if n_used == n_before:
                break
            prices = _SMALL_WEIGHT / (theta + _SMALL_WEIGHT) ** 2  # slopes of theta / (theta + small)
        self.weights_ = theta
        self.alignment_ = objective(theta)[0]
        if found.nit >= self.max_iter:
            warn(
                f"The weights still change after max_iter={self.max_iter} iterations; raise max_iter "
                "or tol.",
                ConvergenceWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
