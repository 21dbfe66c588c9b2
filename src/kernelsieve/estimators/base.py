"""The base of all estimators: it reads data and parameters, lets a method solve, uses the model."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from .._sklearn import fit_context, linked_to_documentation, parameter_names, wrap_output
from ..data import Batch, Pool, TargetEncoder, open_source, warn_if_ambiguous
from ..deflation import Criterion, Outcome
from ..exceptions import FewerFeaturesWarning, InvalidDataError, warn
from ..fitting import Candidates, Problem, Settings
from ..kernels import Kernel, KernelLike, Precomputed, Rows, kernel_class, resolve_kernel
from ..model import Fit, save
from .attributes import all_or_nothing, gamma_of, of_fit, with_version, without_version
from .constraints import SHARED_CONSTRAINTS, refuse_moved
from .inputs import (
    check_candidates,
    check_kernel_input,
    check_rows,
    check_weights,
    given_pool,
    is_rounded,
)
from .model_use import (
    check_new_rows,
    first_components,
    program_steps,
    projector,
    prune,
    truncate,
)
from .sources import fit_source, row_wise
from .writing import transform_to


@linked_to_documentation
class KernelEstimator(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]  # of scikit-learn, which is not typed
):
    """Base of all estimators: features are ``kernel(x, landmarks_) @ projection_ - offset_``.

    A subclass says by ``_solve`` how a ``fitting.Problem`` becomes a ``model.Fit``. (scikit-learn must
    not wrap the output of ``transform``: it would name all features where a few were asked for.)

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    kernel, gamma, degree, coef0, kernel_params
        The kernel and its parameters, as for :class:`~kernelsieve.SparseMaximalAlignment`.
    candidates : {"auto", "all"}, int, array or Candidates, default="auto"
        Samples among which landmarks are chosen.
    random_state : int, RandomState or None, default=None
        For drawing candidates.
    n_jobs : int, default=None
        Threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Print what is done.
    """

    #: Whether the first j features are those of a fit with j, so that one fit answers for all numbers.
    _nested: ClassVar[bool] = True

    #: What is done with candidates, as ``fitting.Problem.pool_size`` says.
    _use_of_candidates: ClassVar[str] = "solved"

    #: The parameter that takes candidates; none where all samples are.
    _candidates_parameter: ClassVar[str] = "candidates"

    #: What this class understands of ``Candidates`` beside ``size`` and ``how``.
    _candidate_options: ClassVar[frozenset[str]] = frozenset()

    #: Whether the user says how many components there are.
    _counts_components: ClassVar[bool] = True

    #: Whether folds of a cross-validation may be sums of one pass, where features are centred.
    _shares_folds: ClassVar[bool] = True

    #: Former parameters of this class, and what stands in their place.
    _moved: ClassVar[dict[str, str]] = {}

    _parameter_constraints: ClassVar[dict] = SHARED_CONSTRAINTS
    _get_param_names = parameter_names

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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        refuse_moved(cls, kwargs)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, as scikit-learn does.

        Parameters
        ----------
        **params : dict
            Parameters by their names.

        Returns
        -------
        self
        """
        refuse_moved(self, params)
        return super().set_params(**params)

    @abstractmethod
    def _solve(self, problem: Problem) -> Fit:
        """Find the features."""

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose landmarks and directions.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Training samples; kernel values for a precomputed kernel. Memory maps are read in blocks;
            so are arrays of HDF5 and Zarr, a ``pyarrow.dataset``, data of Dask, Spark and Ray.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers for a regressor, labels for a classifier, either for others, as ``target`` says.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a whole number counts as that many equal samples.

        Returns
        -------
        self
        """
        source = open_source(X, y, sample_weight)
        if source is not None:
            return fit_source(self, source)
        problem = self._problem(X, y, sample_weight)
        fit = self._solve(problem)
        fit = fit if problem.kept is None else problem.renumbered(fit)
        self._set_fit(fit, problem.encoder, problem.rows.X)
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """Check what was given to ``fit``, and read it together with the parameters."""
        X = check_rows(self, X, reset=True, min_rows=2, precomputed=self._is_precomputed)
        encoder = self._encoder(y)
        batch = self._batch(X, y, sample_weight, encoder)
        if batch.weight is not None and not batch.weight.any():
            raise InvalidDataError("All sample weights are zero; at least one must be positive.")
        return self._problem_of(batch, encoder)

    def _problem_of(self, batch: Batch, encoder: TargetEncoder) -> Problem:
        random_state = check_random_state(self._seed)
        candidates, points = self._check_candidates(batch.X)
        rows, kept = batch.without_zero_weights()
        if points is None and kept is not None and self._is_precomputed:
            rows = Batch(rows.X[:, kept], rows.targets, rows.weight)
        kernel = self._resolve_kernel(rows, points, random_state)
        return Problem(
            rows=rows,
            kernel=kernel,
            given=None if points is None else given_pool(batch.X, kernel, points),
            candidates=candidates,
            encoder=encoder,
            settings=replace(self._settings(), rounded=self._is_precomputed and is_rounded(rows.X)),
            random_state=random_state,
            kept=kept,
            n_features=batch.X.shape[1],
        )

    # ------------------------------------------------------------------ what parameters mean

    @property
    def _kernel_class(self) -> type[Kernel]:
        return kernel_class(self.kernel)

    @property
    def _is_precomputed(self) -> bool:
        return self._kernel_class is Precomputed

    @property
    def _wanted_components(self) -> int | None:
        """The number of components that is asked for, where it is left to the user."""
        return self.n_components if self._counts_components else None

    @property
    def _seed(self) -> Any:
        """What random numbers begin with."""
        return self.random_state

    @property
    def _has_open_width(self) -> bool:
        """Whether a cross-validation is to choose the width of the kernel."""
        return isinstance(self.gamma, str) and self.gamma == "cv"

    def _settings(self) -> Settings:
        """Return what every way to fit must know; subclasses add parameters that only they have."""
        return Settings.of_this_fit(self._wanted_components, n_jobs=self.n_jobs)

    def _candidates(self) -> Candidates:
        """Return which samples are candidates, and how they are drawn."""
        return Candidates.of(self.candidates)

    def _target_kind(self) -> str | None:
        """Return what ``y`` is: "classes", "continuous", "auto", or None where it is not looked at."""
        return "optional"

    def _out_of_core_obstacle(self) -> str:
        """Return what needs all samples at once, and the remedy; nothing if none does."""
        return "all samples are needed at once."

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        kind = self._target_kind()
        if kind is None or (kind == "optional" and y is None):
            return TargetEncoder(None, 0)
        if y is None:
            raise InvalidDataError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is "
                "None. Pass y as well."
            )
        encoder = TargetEncoder.for_target(y, "auto" if kind == "optional" else kind, classes)
        if kind == "auto" and classes is None:
            warn_if_ambiguous(y, encoder)
        return encoder

    def _batch(self, X: Rows, y: Any, sample_weight: Any, encoder: TargetEncoder) -> Batch:
        n_rows = X.shape[0]
        targets = encoder.targets(y, n_rows) if encoder.n_targets else np.empty((n_rows, 0))
        return Batch(X, targets, check_weights(sample_weight, X))

    def _resolve_kernel(
        self, batch: Batch, points: Rows | None, random_state: np.random.RandomState
    ) -> Kernel:
        """Settle the kernel; ``gamma`` from the pool where it was given, whatever the batches are."""
        kernel = resolve_kernel(
            self.kernel,
            batch.X if points is None or self._is_precomputed else points,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            sample_weight=batch.weight if points is None else None,
            random_state=random_state,
        )
        check_kernel_input(kernel, batch.X, fitting=True)
        return kernel

    def _screening(self) -> Criterion | None:
        """Return the criterion by which candidates are screened; without one they are not."""
        return None

    def _pool_size(self, problem: Problem, n_samples: int) -> int:
        """Return how many of so many samples become candidates."""
        return problem.pool_size(n_samples, self._use_of_candidates, self._screening())

    def _draw(self, problem: Problem, size: int) -> Pool:
        """Draw candidates from the samples."""
        return problem.draw(size, self._screening())

    # ------------------------------------------------------------------ what was found

    def _set_fit(self, fit: Fit, encoder: TargetEncoder, rows: Rows) -> None:
        """Keep a fit of the given training samples; of the pool, where these are not at hand."""
        found = fit.model.n_components
        if shortage := Outcome.shortage(fit.outcome, found, self._wanted_components):
            warn(shortage, FewerFeaturesWarning)
        self._say(f"{found} features, {len(fit.landmark_indices)} landmarks")
        self._fit = fit
        self._set_classes(encoder)
        self.__dict__.pop("_stream", None)  # of samples that were passed over before

    def _set_classes(self, encoder: TargetEncoder) -> None:
        self.__dict__.pop("classes_", None)  # of an earlier fit
        self._one_dimensional_y = encoder.one_dimensional
        if encoder.classes is not None:
            self.classes_ = encoder.classes

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {text}")

    def _current_fit(self) -> Fit:
        if "_fit" not in vars(self):
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance is not fitted yet. Call fit with data first.")
        return self._fit

    def __getstate__(self) -> dict[str, Any]:
        return with_version(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(without_version(state, type(self).__name__))

    def __sklearn_is_fitted__(self) -> bool:
        return "_fit" in vars(self)

    kernel_ = of_fit("model.kernel")
    gamma_ = property(gamma_of)
    landmarks_ = of_fit("model.landmarks")
    landmark_indices_ = of_fit("landmark_indices")
    projection_ = of_fit("model.projection")
    offset_ = of_fit("model.offset")
    n_components_ = of_fit("model.n_components")
    kernel_evaluations_ = of_fit("model.evaluations")
    criterion_path_ = of_fit("criterion_path")
    explained_variance_ratio_ = of_fit("explained_variance_ratio")
    explained_target_ratio_ = of_fit("explained_target_ratio")
    _n_features_out = n_components_

    @row_wise
    def transform(self, X: Any, n_components: int | None = None) -> Any:
        """Compute the features of new samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples with the features that ``fit`` saw. For a precomputed kernel, kernel values against
            the columns of the training matrix in its order or, where these are more than the
            landmarks, against the landmarks alone in theirs.
        n_components : int, default=None
            Use the first components only; None for all.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Or a data frame, where ``set_output`` asks for one.
        """
        fit = self._prefix(n_components)
        features = self._features(X, fit)
        return wrap_output(
            "transform", features, X, self if n_components is None else self._with_fit(fit)
        )

    transform_to = transform_to
    truncate = truncate
    projector = projector
    __program_steps__ = program_steps
    prune = prune
    _check_candidates = check_candidates
    _check_new_rows = check_new_rows
    save = save

    def _features(self, X: Any, fit: Fit) -> np.ndarray:
        """Return the features by a prefix of this model, as an array."""
        rows = self._check_new_rows(X, len(fit.model.projection), finite=False)
        return fit.model.features(rows, self.n_jobs)

    def _prefix(self, n_components: int | None) -> Fit:
        """Return the fit with the first components only; None for all."""
        fit = self._current_fit()
        return fit if n_components is None else first_components(fit, n_components)

    def _with_fit(self, fit: Fit) -> Self:
        """Return a copy with another fit; samples that come later belong to this one alone."""
        other = copy.copy(self)
        other._fit = fit
        other.__dict__.pop("_stream", None)
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = self._kernel_class
        tags.input_tags.sparse = kernel.accepts_sparse
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.positive_only = kernel.non_negative
        tags.target_tags.required = self._target_kind() not in (None, "optional")
        tags.target_tags.multi_output = True
        return tags
