"""Cross-validation over the number of features, with one fit a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
    is_regressor,
)
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import assert_all_finite, indexable
from sklearn.utils.validation import check_is_fitted

from .._sklearn import Interval, StrOptions, fit_context, linked_to_documentation
from ..data import Part, counted, open_source, reported
from ..estimators import all_or_nothing
from ..exceptions import InvalidParameterError
from ..fitting import DEFAULT_COMPONENTS
from ..model import save
from .checks import (
    check_fold_sizes,
    check_folds,
    check_head,
    folds_of,
    settled_target,
    tells_classes_apart,
    with_widths,
)
from .composed import composed_tags
from .folds import Task, run_apart, with_setting
from .leave_one_out import WITHOUT_FOLDS, score_without_folds
from .nested_extractors import check_nested, last_step, name_in_pipeline, predicts
from .one_pass import run_in_one_pass
from .out_of_core import SearchesOutOfCore
from .rules import RULES, is_negative_error
from .table import error_table, geometric_subset, sizes_of


@linked_to_documentation
class ComponentPathCV(SearchesOutOfCore, TransformerMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose the number of features by cross-validation that fits the extractor once a fold.

    Features are nested: the first k of a large model are the model with k features. So for each fold,
    and each setting of ``param_grid``, the extractor is fitted once with the most features, and the
    head is scored on every prefix. Least squares and ridge heads (``LinearRegression``, ``Ridge``,
    ``RidgeClassifier``) are found for all prefixes from one factorisation; any other predictor is
    fitted to each prefix. The scores are those of ``GridSearchCV`` over ``n_components``.

    Where the folds can share one pool of candidates, one pass over all samples is enough for them: the
    statistics of the folds tell every fit. They tell the scores as well where the head is least squares
    or ridge and the score R2 or a squared error; other heads and scores need one more pass, over the
    chosen landmarks alone. A pool is shared that is given as points, or drawn from more than 3,000
    samples. One that is screened by targets is shared by more than 20,000 samples, 10,000 of which
    screen it and are never held out.

    Parameters
    ----------
    extractor : transformer
        Of kernelsieve, or a ``Pipeline`` that ends in one, so that scaling is learned in the fold.
        Not ``SubspaceKernelFeatures``, whose first features depend on how many there are.
    head : predictor, default=None
        Predictor on the features. None for extractors that predict by themselves, such as
        ``KernelPLS``, and for transformers with a ``scoring`` of their own.
    n_components : int or array-like of int, default=None
        Numbers of features to look at. An int stands for every number up to it, None for every one up
        to the extractor's own ``n_components`` (100 where that is None); beyond 50 they are thinned
        geometrically.
    param_grid : dict or list of dicts, default=None
        Values of parameters of the extractor, as ``GridSearchCV`` takes them; names that begin with
        ``head__`` belong to the head. Values of ``gamma``, ``degree`` and ``coef0`` share distances or
        inner products where that saves time, and values of the head's parameters share one fit of the
        extractor. An extractor with ``gamma="cv"`` has its widths tried as if they were named here.
    cv : int, splitter or iterable, default=None
        As for ``GridSearchCV``; None is 5 folds. Folds that are only counted are stratified where
        labels are predicted: by a classifier as head, or by an extractor that is a classifier. "loo"
        and "gcv" are leave-one-out and generalised cross-validation in closed form, for least squares
        and ridge, from one fit to all samples; they do not see that all targets chose the landmarks.
    scoring : str or callable, default=None
        A scorer; larger is better. None is the head's own ``score``.
    rule : {"one_standard_error", "best", "budget"}, default="one_standard_error"
        The smallest k whose mean score is within one standard error (over folds) of the best; the k of
        the best mean score; or the same within the budget, which then has to be given. All rules keep
        to a budget that is given.
    max_kernel_evaluations : int, default=None
        Most kernel evaluations that a new sample may cost.
    max_latency_us : float, default=None
        Most microseconds that the features of one new sample may take: measured on this machine,
        through ``projector()``, in every fold. The shortest time counts.
    refit : bool, default=True
        Fit the chosen model to all samples.
    n_jobs : int, default=None
        Processes for the folds and settings, through joblib.
    verbose : int or bool, default=0
        Show a progress bar (plain text where rich is not installed).

    Attributes
    ----------
    path_ : dict of ndarray
        A tidy table, a row for each fold, setting and k: ``fold``, ``param_<name>`` for every
        parameter of the grid, ``k``, ``train_score``, ``test_score``, ``fit_seconds`` (of the
        extractor, once for all k), ``kernel_evaluations`` (for a new sample), and ``latency_us`` where
        a budget needs it. ``pandas.DataFrame(path_)`` makes a data frame. Scores are NaN where a fold
        found fewer than k features.
    error_path_ : dict of ndarray
        Errors of the chosen setting, as positive numbers, where ``scoring`` is the name of a negative
        error: ``k``, ``train_error``, ``test_error`` (the means over folds) and ``standard_error`` (of
        the latter). With ``"neg_root_mean_squared_error"`` that is RMSECV against k.
    best_n_components_ : int
        The chosen k.
    best_params_ : dict
        The chosen setting of ``param_grid``.
    best_index_ : int
        Row of ``path_`` with the chosen setting and k in the first fold; the other folds follow at
        equal distances. A model of all samples that costs more than the folds promised is made smaller,
        to the next k with scores; where there is none this remains the row that was chosen first.
    best_score_ : float
        Mean test score of the chosen model. It is a little too good, as it was chosen by its score;
        :func:`nested_cross_validate` gives an unbiased one. NaN where the model of all samples had to
        be made smaller than every k with scores.
    reason_ : str
        Why this k.
    best_estimator_ : ExtractorWithHead
        The chosen model, fitted to all samples.
    scorer_ : callable
        The scorer.
    way_ : str
        How scores were found: "one pass", "one pass and one over the landmarks", "one fit a fold",
        "leave-one-out" or "generalised cross-validation".
    n_passes_ : int
        Passes over the samples, before the chosen model is fitted. Kernels that differ in ``gamma``,
        ``degree`` or ``coef0`` share one, where folds do.
    n_splits_ : int
        Number of folds.
    classes_ : ndarray of shape (n_classes,)
        Labels, where the chosen model predicts labels.
    n_features_in_, feature_names_in_
        Number and names of the features of X, as in scikit-learn.

    Notes
    -----
    The refitted model is the first k features of a fit with the most features, as in the folds.
    Usually that is a fit with k features. The exception is ``candidates="auto"`` with so many
    samples that a pool is drawn: where single samples are chosen, its size depends on
    ``n_components``.

    Weights are used by fits and by scorers; a function that takes no ``sample_weight`` is called
    without. The standard error of a single fold is not known, and taken for zero.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from kernelsieve.model_selection import ComponentPathCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = ComponentPathCV(SparseMaximalAlignment(30), Ridge(), param_grid={"gamma": [1, 10]})
    >>> search = search.fit(X, y)
    >>> len(search.path_["k"]) == 5 * 2 * 30  # from ten fits
    True
    >>> search.best_estimator_.extractor.n_components_ == search.best_n_components_
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "param_grid": [dict, list, None],
        "cv": ["cv_object", StrOptions(set(WITHOUT_FOLDS))],
        "scoring": [str, callable, None],
        "rule": [StrOptions(set(RULES))],
        "max_kernel_evaluations": [Interval(Real, 0, None, closed="neither"), None],
        "max_latency_us": [Interval(Real, 0, None, closed="neither"), None],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        extractor: Any,
        head: Any = None,
        *,
        n_components: Any = None,
        param_grid: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "one_standard_error",
        max_kernel_evaluations: float | None = None,
        max_latency_us: float | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.extractor = extractor
        self.head = head
        self.n_components = n_components
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.max_kernel_evaluations = max_kernel_evaluations
        self.max_latency_us = max_latency_us
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ------------------------------------------------------------------ fitting

    @fit_context(prefer_skip_nested_validation=False)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        """Score every number of features in every fold, choose one, and refit to all samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Training samples; the n x n kernel matrix for a precomputed kernel. Samples that are not in
            memory as the extractor takes them: folds then follow from their inputs.
        y : array-like of shape (n,) or (n, q), default=None
            Targets.
        groups : array-like of shape (n,), default=None
            Groups of samples, for splitters that keep them together.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples.

        Returns
        -------
        self
        """
        source = open_source(X, y, sample_weight)
        if source is not None:
            self._fit_source(source)
            return self
        self._check_parameters()
        X, y, groups, weight = indexable(X, y, groups, sample_weight)
        if y is not None:
            assert_all_finite(y, input_name="y")  # before a splitter does
        data = Part(X, y, None if weight is None else np.asarray(weight, dtype=np.float64))
        settled = settled_target(self.extractor, self.head, y)
        task = self._task(settled)
        if isinstance(self.cv, str):
            self._fit_without_folds(task, data)
            return self
        cv = check_cv(self.cv, y, classifier=tells_classes_apart(self.extractor, self.head, settled))
        folds = folds_of(cv, X, y, groups)
        check_folds(self.cv, folds)
        largest = last_step(task.extractor).n_components
        check_fold_sizes(folds, largest, by_r2=self._scores_by_r2())
        self._fit_in_folds(task, data, folds)
        return self

    def _check_parameters(self) -> list[Mapping[str, Any]]:
        """Check all parameters before any work; return the settings of the grid."""
        check_nested(self.extractor)
        check_head(self.head)
        has_budget = self.max_kernel_evaluations is not None or self.max_latency_us is not None
        if self.rule == "budget" and not has_budget:
            raise InvalidParameterError(
                "rule='budget' needs a budget; pass max_kernel_evaluations or max_latency_us."
            )
        if self.head is None and self.scoring is None and not predicts(last_step(self.extractor)):
            raise InvalidParameterError(
                f"{type(last_step(self.extractor)).__name__} does not predict by itself; pass a head, "
                "such as Ridge(), or scoring as a function of the model and the samples."
            )
        settings = list(ParameterGrid({} if self.param_grid is None else self.param_grid))
        if not settings:
            raise InvalidParameterError("param_grid is an empty list; pass None, or parameters to try.")
        names = {name for setting in settings for name in setting}
        if name_in_pipeline(self.extractor, "n_components") in names:
            raise InvalidParameterError(
                "param_grid names n_components; pass the numbers of features as n_components=..."
            )
        for setting in settings:  # an unknown name is refused now
            with_setting(self.extractor, self.head, setting)
        return with_widths(self.extractor, settings)

    def _scores_by_r2(self) -> bool:
        if self.scoring is not None:
            return isinstance(self.scoring, str) and self.scoring == "r2"
        return is_regressor(last_step(self.extractor) if self.head is None else self.head)

    def _task(self, settled: Mapping[str, Any]) -> Task:
        name = name_in_pipeline(self.extractor, "n_components")
        asked = last_step(self.extractor).n_components
        if self.n_components is None and asked is None:
            sizes, largest = geometric_subset(DEFAULT_COMPONENTS), None  # as many as the data give
        else:
            sizes = sizes_of(asked if self.n_components is None else self.n_components)
            largest = int(sizes[-1])
        return Task(
            clone(self.extractor).set_params(**{name: largest}, **settled),
            self.head,
            self._check_parameters(),
            self.scoring,
            check_scoring(self, scoring=self.scoring),
            sizes,
            time_rows=self.max_latency_us is not None,
        )

    def _fit_in_folds(
        self, task: Task, data: Part, folds: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> None:
        shared = run_in_one_pass(task, data, folds)
        if shared is not None:
            again = " and one over the landmarks" if shared.looked_again else ""
            self.n_passes_, self.way_ = shared.n_passes, f"one pass{again}"
            self._choose_and_refit(shared.curves, task, data, shared.settled)
            return
        self.n_passes_, self.way_ = len(folds) * sum(map(len, task.groups)), "one fit a fold"
        with (
            reported(type(self).__name__, self.verbose),
            counted(self.n_passes_, "fits", stage="folds") as done,
        ):
            curves = run_apart(task, data, folds, self.n_jobs, done)
        self._choose_and_refit(curves, task, data)

    def _fit_without_folds(self, task: Task, data: Part) -> None:
        """Choose by leave-one-out or generalised cross-validation scores in closed form."""
        curves, fitted = score_without_folds(task, data, self.cv)
        self.n_passes_, self.way_ = sum(map(len, task.groups)), WITHOUT_FOLDS[self.cv]
        self._choose_and_refit([curves], task, data, fitted=fitted)

    @property
    def error_path_(self) -> dict[str, np.ndarray]:
        if not is_negative_error(self.scoring):
            raise AttributeError(
                f"scoring={self.scoring!r} is not a negative error; pass one such as "
                "'neg_root_mean_squared_error', or read scores in path_."
            )
        check_is_fitted(self)
        return error_table(self.path_, self.best_index_)

    save = save

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()  # without the scorer, which may refer to the search
        return {name: value for name, value in state.items() if name != "scorer_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            self.scorer_ = check_scoring(self, scoring=self.scoring)

    to_state, take_state = __getstate__, __setstate__  # of files as of pickles

    def __sklearn_is_fitted__(self) -> bool:
        return "path_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        return composed_tags(super().__sklearn_tags__(), self.extractor, self.head)
