"""Kernel partial least squares."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from .._sklearn import StrOptions
from ..deflation import Criterion, PartialLeastSquares
from ..estimators import KernelEstimator, LoopEstimator, OutOfCoreMixin, PredictMixin, estimator
from ..rows import TargetEncoder
from .chemometrics import target_loadings, training_scores, vip_scores
from .coefficients import dual_coefficients, intercept
from .monitoring import hotelling_t2, q_limit, q_residuals, t2_limit


@estimator
class KernelPLS(PredictMixin, OutOfCoreMixin, LoopEstimator):
    """Kernel partial least squares regression.

    Each step takes the direction, among combinations of all candidates, whose feature has the largest
    covariance with what is left of the targets, and removes its feature from all columns. Least
    squares on the features predicts. With a linear kernel this is
    ``sklearn.cross_decomposition.PLSRegression(scale=False)``; for one target it is the two-sided
    algorithm of Rosipal and Trejo as well, which deflates the kernel matrix from both sides.

    All targets are numbers, whole ones too; :class:`KernelPLSClassifier` takes labels. By default the
    width of the kernel is chosen by folds, and so is the number of components where it is None.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_landmarks,) or (n_landmarks, n_targets)
        Predictions are ``kernel(x, landmarks_) @ dual_coef_ + intercept_``.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant term of the predictions.
    x_scores_ : ndarray of shape (n_samples, n_components)
        Components of the training samples (those with a positive weight), with all samples as
        candidates. A model on a pool does not have them, and is not as large as they are:
        ``transform(X)`` computes them.
    y_loadings_ : ndarray of shape (n_targets, n_components)
        Coefficients of the targets on each component alone: components are orthogonal.
    {attributes}

    Notes
    -----
    With all samples as candidates a component costs one product with the kernel matrix, whatever the
    number of targets, and a prediction one kernel evaluation for every training sample. A pool of c
    candidates takes two passes over the samples, out of core too, and c evaluations; :meth:`prune`
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
    >>> model = KernelPLS(n_components=5).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    >>> bool(model.score(X, y) > 0.5)
    True
    >>> model.predict(X[:2], n_components=3).shape  # every k from one fit
    (2,)
    """

    n_components: int | None = None
    _: KW_ONLY
    gamma: str | float = "cv"
    candidates: Any = "auto"
    tol: float = 1e-24
    dtype: str = "float64"
    max_memory: float = 2**30

    _open_number: ClassVar[bool] = True

    dual_coef_ = property(dual_coefficients)
    intercept_ = property(intercept)
    x_scores_ = property(training_scores)
    y_loadings_ = property(target_loadings)
    hotelling_t2, t2_limit = hotelling_t2, t2_limit
    q_residuals, q_limit = q_residuals, q_limit
    vip_scores = vip_scores

    def _criterion(self) -> Criterion:
        return PartialLeastSquares()

    def _target_kind(self) -> str:
        return "continuous"


@estimator
class KernelPLSClassifier(PredictMixin, OutOfCoreMixin, LoopEstimator):
    """Kernel partial least squares for labels.

    As :class:`KernelPLS`, with labels that become columns of ``Y (Y'Y)^-1/2``, so that small classes
    count as much as large ones. The class with the largest fitted indicator, or with
    the nearest mean, is predicted.

    Parameters
    ----------
    decision : {"argmax", "centroid"}, default="argmax"
        How labels are predicted: by the largest of the indicators that least squares fits to the
        features, or by the nearest mean of the classes' features (Barker and Rayens, 2003).
    {parameters}

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_landmarks, n_classes)
        Scores of classes are ``kernel(x, landmarks_) @ dual_coef_ + intercept_``.
    intercept_ : ndarray of shape (n_classes,)
        The constant terms of the scores.
    x_scores_ : ndarray of shape (n_samples, n_components)
        Components of the training samples, as for :class:`KernelPLS`.
    y_loadings_ : ndarray of shape (n_classes, n_components)
        Coefficients of the classes' indicators on each component alone; with ``decision="argmax"``.
    {attributes}

    See Also
    --------
    KernelPLS : The same for numbers.

    References
    ----------
    R. Rosipal, L. J. Trejo, B. Matthews. Kernel PLS-SVC for linear and nonlinear classification.
    International Conference on Machine Learning, 2003. Class means: M. Barker, W. Rayens. Partial least
    squares for discrimination. Journal of Chemometrics 17(3), 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import KernelPLSClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KernelPLSClassifier(n_components=4).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "decision": [StrOptions({"argmax", "centroid"})],
    }

    n_components: int | None = None
    _: KW_ONLY
    decision: str = "argmax"
    candidates: Any = "auto"
    tol: float = 1e-24
    dtype: str = "float64"
    max_memory: float = 2**30

    _open_number: ClassVar[bool] = True

    dual_coef_ = property(dual_coefficients)
    intercept_ = property(intercept)
    x_scores_ = property(training_scores)
    y_loadings_ = property(target_loadings)
    hotelling_t2, t2_limit = hotelling_t2, t2_limit
    q_residuals, q_limit = q_residuals, q_limit
    vip_scores = vip_scores

    def _criterion(self) -> Criterion:
        return PartialLeastSquares(balanced=True, nearest_centre=self.decision == "centroid")

    def _target_kind(self) -> str:
        return "classes"

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        # Balanced indicators of two classes differ in length, so that signs would not do.
        return KernelEstimator._encoder(self, y, classes)
