"""The base of all estimators: it reads data and parameters, lets a method solve, uses the model."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from .._sklearn import fit_context, linked_to_documentation, parameter_names, wrap_output
from ..deflation import Criterion, Outcome
from ..exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError, warn
from ..fitting import CandidatePool, CandidateRule, Problem, Settings, way_to_draw
from ..kernels import Kernel, Precomputed, Rows, kernel_class, resolve_kernel
from ..model import Fit, prune, save
from ..program import Link, Output, Program, ProgramStep, feature_steps
from ..rows import Batch, TargetEncoder, warn_if_ambiguous
from .attributes import gamma_of, of_fit, with_version, without_version
from .declaration import parameters
from .inputs import (
    check_kernel_input,
    check_precomputed_columns,
    check_rows,
    check_weights,
    given_candidates,
    given_pool,
    is_rounded,
)
from .parameters import SHARED_CONSTRAINTS, with_class_weight
from .sources import fitted_on_sources, row_wise
from .transaction import all_or_nothing
from .writing import transform_to


@linked_to_documentation
@parameters
class KernelEstimator(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]  # of scikit-learn, which is not typed
):
    """Base of all estimators: features are ``kernel(x, landmarks_) @ projection_ - offset_``.

    A subclass says by ``_solve`` how a ``fitting.Problem`` becomes a ``model.Fit``. (scikit-learn must
    not wrap the output of ``transform``: it would name all features where a few were asked for.)
    """

    #: Whether the first j features are those of a fit with j, so that one fit answers for all numbers.
    _nested: ClassVar[bool] = True

    #: What is done with candidates, as ``fitting.Problem.pool_size`` says.
    _use_of_candidates: ClassVar[str] = "solved"

    _parameter_constraints: ClassVar[dict] = SHARED_CONSTRAINTS
    _get_param_names = parameter_names

    kernel: str | Callable[..., Any] | Kernel = "rbf"
    gamma: str | float = "scale"
    degree: float = 3
    coef0: float = 1.0
    kernel_params: dict[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int | bool = 0

    # ------------------------------------------------------------------ fitting

    @abstractmethod
    def _solve(self, problem: Problem) -> Fit:
        """Find the features."""

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    @fitted_on_sources
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
        problem = self._problem(X, y, sample_weight)
        self._set_fit(problem.renumbered(self._solve(problem)), problem.encoder, problem.rows.X)
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
        parameters = self.get_params(deep=False)
        random_state = check_random_state(parameters.get("random_state"))
        points = self._given_points(batch.X)
        rows, kept = batch.without_zero_weights()
        if points is None and kept is not None and self._is_precomputed:
            rows = Batch(rows.X[:, kept], rows.targets, rows.weight)
        kernel = self._resolve_kernel(rows, points, random_state)
        return Problem(
            rows=rows,
            kernel=kernel,
            given=None if points is None else given_pool(batch.X, kernel, points),
            candidates=CandidateRule.of_parameters(parameters),
            encoder=encoder,
            settings=replace(self._settings(), rounded=self._is_precomputed and is_rounded(rows.X)),
            n_components=parameters.get("n_components"),
            random_state=random_state,
            kept=kept,
            n_features=batch.X.shape[1],
        )

    # ------------------------------------------------------------------ what parameters mean

    @property
    def _is_precomputed(self) -> bool:
        return kernel_class(self.get_params(deep=False).get("kernel")) is Precomputed

    def _settings(self) -> Settings:
        """Read the parameters that concern every way to fit, as far as this class has them."""
        return Settings.of_parameters(self.get_params(deep=False))

    def _target_kind(self) -> str | None:
        """Return what ``y`` is: "classes", "continuous", "auto", or None where it is not looked at."""
        return "optional"

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
        batch = Batch(X, targets, check_weights(sample_weight, X))
        return with_class_weight(batch, self.get_params().get("class_weight"), encoder.classes)

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

    def _given_points(self, X: Rows) -> Rows | None:
        """Return candidates that were given as points, or as row numbers of a precomputed kernel."""
        parameters = self.get_params(deep=False)
        name = CandidateRule.of_parameters(parameters).parameter
        return given_candidates(
            parameters.get(name, "all"), X, precomputed=self._is_precomputed, name=name
        )

    def _screening(self) -> Criterion | None:
        """Return the criterion by which candidates are screened; without one they are not."""
        return None

    def _pool_size(self, problem: Problem, n_samples: int) -> int:
        """Return how many of so many samples become candidates."""
        return problem.pool_size(n_samples, self._use_of_candidates, self._screening())

    def _draw(self, problem: Problem, size: int) -> CandidatePool:
        """Draw candidates from the samples."""
        criterion = self._screening()
        return problem.draw(size, way_to_draw(problem.candidates, criterion), criterion)

    # ------------------------------------------------------------------ what was found

    def _set_fit(self, fit: Fit, encoder: TargetEncoder, rows: Rows) -> None:
        """Keep a fit of the given training samples; of the pool, where these are not at hand."""
        found, asked = fit.model.n_components, self.get_params(deep=False).get("n_components")
        if shortage := Outcome.shortage(fit.outcome, found, asked):
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

    kernel_ = of_fit(lambda fit: fit.model.kernel)
    gamma_ = of_fit(lambda fit: gamma_of(fit.model.kernel))
    landmarks_ = of_fit(lambda fit: fit.model.landmarks)
    landmark_indices_ = of_fit(lambda fit: fit.landmark_indices)
    projection_ = of_fit(lambda fit: fit.model.projection)
    offset_ = of_fit(lambda fit: fit.model.offset)
    n_components_ = of_fit(lambda fit: fit.model.n_components)
    kernel_evaluations_ = of_fit(lambda fit: fit.model.evaluations)
    criterion_path_ = of_fit(lambda fit: fit.criterion_path)
    explained_variance_ratio_ = of_fit(lambda fit: fit.explained_variance_ratio)
    explained_target_ratio_ = of_fit(lambda fit: fit.explained_target_ratio)
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
        fitted = self._prefix(n_components)
        return wrap_output("transform", self._features(X, fitted), X, fitted)

    transform_to = transform_to
    save = save

    def _features(self, X: Any, fitted: Self) -> np.ndarray:
        """Return the features by a prefix of this model, as an array."""
        model = fitted._current_fit().model
        rows = self._check_new_rows(X, len(model.projection), finite=False)
        return model.features(rows, self.n_jobs)

    def _prefix(self, n_components: int | None) -> Self:
        return self if n_components is None else self.truncate(n_components)

    def truncate(self, n_components: int) -> Self:
        """Return a copy with the first features only, without the landmarks that only others need.

        Parameters
        ----------
        n_components : int
            How many of the components to keep.

        Returns
        -------
        estimator
            A fitted copy.
        """
        fit = self._current_fit()
        whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
        if not whole or not 1 <= n_components <= fit.model.n_components:
            raise InvalidParameterError(
                f"n_components={n_components} is not between 1 and the {fit.model.n_components} "
                "components of this model; fit again with a larger n_components to get more."
            )
        return self._with_fit(fit.truncate(n_components))

    def _with_fit(self, fit: Fit) -> Self:
        """Return a copy with another fit; samples that come later belong to this one alone."""
        other = copy.copy(self)
        other._fit = fit
        other.__dict__.pop("_stream", None)
        return other

    def projector(self, n_components: int | None = None) -> Program:
        """Return a plain callable from samples to features, for serving.

        It checks no values, and for one sample is an order of magnitude faster than :meth:`transform`.

        Parameters
        ----------
        n_components : int, default=None
            Use the first components only; None for all.

        Returns
        -------
        program.Program
            ``f(x)`` takes a float array of shape (n_features,) or (n_samples, n_features) and returns
            (n_components,) or (n_samples, n_components).
        """
        steps = self._prefix(n_components).__program_steps__("features")
        return Program([*steps, Link(steps[-1].n_outputs, called="features")])

    def __program_steps__(self, output: Output) -> list[ProgramStep]:
        return feature_steps(self._current_fit().model, self.n_features_in_)

    def prune(
        self, X: Any, n_landmarks: int | None = None, *, tol: float = 0.01, sample_weight: Any = None
    ) -> Self:
        """Return a copy that computes nearly the same features from fewer landmarks.

        Sparse maximal alignment with the features of this model as targets chooses the landmarks, and
        the features become least squares on their kernel columns. Predictions keep their coefficients.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples to compare the features on, such as the training samples; more than landmarks.
        n_landmarks : int, default=None
            How many landmarks to keep; None for as few as ``tol`` allows. A ``FewerFeaturesWarning``
            says that fewer were kept, or that ``X`` has too few samples to choose them by.
        tol : float, default=0.01
            Largest share of the features' variance that may be lost on ``X``, on average.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        estimator
            A fitted copy. It can be truncated as before, but every feature needs all of its landmarks.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kernelsieve import KernelPLSClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = KernelPLSClassifier(10, candidates=500, gamma=0.001, random_state=0).fit(X, y)
        >>> pruned = model.prune(X, 100)
        >>> len(pruned.landmarks_), bool(pruned.score(X, y) > model.score(X, y) - 0.02)
        (100, True)
        """
        fit = self._current_fit()
        rows = self._check_new_rows(X, len(fit.model.projection))
        batch = Batch(rows, np.empty((rows.shape[0], 0)), check_weights(sample_weight, rows))
        return self._with_fit(prune(fit, batch, n_landmarks, tol, self.n_jobs))

    def _check_new_rows(self, X: Any, n_landmarks: int, *, finite: bool = True) -> Rows:
        """Check samples for a prefix of this model, which has so many landmarks."""
        model = self._current_fit().model
        if isinstance(model.kernel, Precomputed):
            rows = check_rows(copy.copy(self), X, reset=True, precomputed=True)
            known = (self.n_features_in_, len(model.projection), n_landmarks)
            check_precomputed_columns(rows, known, type(self).__name__)
            return rows
        rows = check_rows(self, X, reset=False, finite=finite)
        check_kernel_input(model.kernel, rows)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = kernel_class(self.get_params(deep=False).get("kernel"))
        tags.input_tags.sparse = kernel.accepts_sparse
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.positive_only = kernel.non_negative
        tags.target_tags.required = self._target_kind() not in (None, "optional")
        tags.target_tags.multi_output = True
        return tags
