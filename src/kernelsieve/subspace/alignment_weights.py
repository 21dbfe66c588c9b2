"""Feature weights that align a kernel with the target: K_theta of formula (15)."""

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
from ..exceptions import InvalidDataError, warn
from ..kernels import Kernel, resolve_kernel
from ..model import save
from ..program import AffineMap, Output, ProgramStep
from .objectives import CODINGS, checked_target_kernel, coded_labels

_SHARED = ("kernel", "gamma", "degree", "coef0", "kernel_params", "center", "target", "random_state")


@linked_to_documentation
class AlignmentWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Non-negative weights of the features of X that align a kernel with the target.

    The kernel ``k(theta * x, theta * z)`` has a weight for each feature of X, and the weights with the
    largest kernel-target alignment are found. Features that tell nothing get small weights, or none.
    ``transform`` multiplies X by the weights, for any method with a kernel that follows in a pipeline.

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
    penalty : float, default=0.0
        Price of the mean weight, the 1-norm: more of it leaves fewer features. The alignment is at
        most 1.
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
        Alignment with these weights on the samples that it was computed on.
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
    The alignment has several maxima; the one that is found depends on the scale of X, so scale it
    first. A weight of 0 stays 0.

    References
    ----------
    M. Wu, J. Farquhar. A subspace kernel for nonlinear feature extraction. International Joint
    Conference on Artificial Intelligence, 2007. Formula (15).

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
        "penalty": [Interval(Real, 0, None, closed="left")],
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
        penalty: float = 0.0,
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
        self.penalty = penalty
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
        K_y, rows = self._target(X, y, random_state)
        X = X[rows]
        kernel = resolve_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            random_state=random_state,
        )
        alignment = WeightedAlignment(X, K_y, kernel, center=self.center)
        self.initial_alignment_ = alignment(np.ones(X.shape[1]))[0]
        self._optimise(alignment)
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

    def _target(
        self, X: np.ndarray, y: Any, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return K_y of the samples used for the alignment, and their rows."""
        n = len(X)
        encoder = TargetEncoder.for_target(y, self.target)
        targets = encoder.targets(y, n)
        rows = np.arange(n)
        if n > self.max_samples:
            rows = np.sort(draw_random(n, self.max_samples, random_state))
        if not isinstance(self.target_kernel, str):
            return checked_target_kernel(self.target_kernel, n)[np.ix_(rows, rows)], rows
        labels = Batch(X[rows], targets[rows]).Y
        if encoder.classes is None:
            factor = labels - labels.mean(axis=0)
        else:
            factor = coded_labels(labels[:, labels.any(axis=0)], self.target_kernel)
        return factor @ factor.T, rows

    def _optimise(self, alignment: WeightedAlignment) -> None:
        n_features = alignment.n_features

        def downhill(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = alignment(theta)
            return self.penalty * float(theta.mean()) - value, self.penalty / n_features - slope

        options = {"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-12}
        bounds = [(0.0, None)] * n_features
        found = minimize(
            downhill, np.ones(n_features), jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        self.weights_ = np.asarray(found.x)
        self.alignment_ = alignment(self.weights_)[0]
        self.n_iter_ = int(found.nit)
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


class WeightedAlignment:
    """The alignment of ``k(theta * x, theta * z)`` with K_y and its gradient in theta."""

    def __init__(self, X: np.ndarray, K_y: np.ndarray, kernel: Kernel, *, center: bool) -> None:
        self.n_features = X.shape[1]
        self._X, self._kernel, self._center = X, kernel, center
        before = np.linalg.norm(K_y)
        self._K_y = _centred(K_y) if center else K_y
        self._size = float(np.linalg.norm(self._K_y))
        if not self._size > 1e-12 * before:
            raise InvalidDataError(
                "y is constant, or of one class, so no kernel can be aligned with it; check the target "
                "column."
            )

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        weighted = self._X * theta
        values = self._kernel.block(weighted, weighted)
        K = _centred(values) if self._center else values
        size = float(np.linalg.norm(K))
        if not size > 0:
            return 0.0, np.zeros(self.n_features)
        value = float(np.sum(K * self._K_y)) / (size * self._size)
        slopes = self._K_y / (size * self._size) - K * (value / size**2)
        # Samples are both arguments of the kernel, and slopes are symmetric.
        of_samples = 2 * self._kernel.landmark_gradient(weighted, weighted, values, slopes)
        return value, np.einsum("nd,nd->d", self._X, of_samples)


def _centred(K: np.ndarray) -> np.ndarray:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()
