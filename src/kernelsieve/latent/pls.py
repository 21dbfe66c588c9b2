"""Kernel partial least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..deflation import Criterion, PartialLeastSquares
from ..estimators import LoopEstimator, OutOfCoreMixin, PredictMixin, documented
from ..kernels import Kernel
from ..rows import TargetEncoder


@documented
class KernelPLS(PredictMixin, OutOfCoreMixin, LoopEstimator):
    """Kernel partial least squares, for regression and classification.

    Each step takes the direction, among combinations of all candidates, whose feature has the largest
    covariance with what is left of the targets, and removes its feature from all columns. Least
    squares on the features predicts. With a linear kernel this is
    ``sklearn.cross_decomposition.PLSRegression(scale=False)``; for one target it is the two-sided
    algorithm of Rosipal and Trejo as well, which deflates the kernel matrix from both sides.

    Labels become columns of ``Y (Y'Y)^-1/2``, so that small classes count as much as large ones, and
    the class with the largest fitted indicator is predicted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With all samples as candidates a component costs one product with the kernel matrix, whatever the
    number of targets, and a prediction one kernel evaluation for every training sample. A pool of c
    candidates takes a single pass over the samples, out of core too, and c evaluations; :meth:`prune`
    leaves fewer. Sparse X stays sparse, because the features are centred and X is not.

    References
    ----------
    R. Rosipal, L. J. Trejo. Kernel partial least squares regression in reproducing kernel Hilbert
    space. Journal of Machine Learning Research 2, 2001. The deflation is that of C. Dhanjal, S. R.
    Gunn, J. Shawe-Taylor (2009), section 3.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelPLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLS(n_components=5).fit(X, y.astype(float))
    >>> model.predict(X[:2]).shape
    (2,)
    >>> bool(model.score(X, y) > 0.5)
    True
    >>> model.predict(X[:2], n_components=3).shape  # every k from one fit
    (2,)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        pool: str = "auto",
        center: bool = True,
        tol: float = 1e-20,
        precision: str = "auto",
        target: str = "auto",
        dtype: str = "float64",
        block_size: int | None = None,
        max_memory: float = 2**30,
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
        self.pool = pool
        self.center = center
        self.tol = tol
        self.precision = precision
        self.target = target
        self.dtype = dtype
        self.block_size = block_size
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _criterion(self) -> Criterion:
        return PartialLeastSquares()

    def _criterion_for(self, encoder: TargetEncoder) -> Criterion:
        return PartialLeastSquares(balanced=encoder.classes is not None)
