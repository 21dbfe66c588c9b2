"""What estimators that run the loop share: reading data, settings, and telling the outcome."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..deflation import Criterion, Outcome
from ..exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError, warn
from ..execution import QUIET
from ..fitting import Settings
from ..kernels import Rows
from ..model import Fit
from ..rows import Batch, TargetEncoder
from .inputs import check_rows, check_weights
from .nested import NestedTransformer

DEFAULT_COMPONENTS = 100


_Method = TypeVar("_Method", bound=Callable[..., Any])


def all_or_nothing(fit: _Method) -> _Method:
    """Leave the estimator exactly as it was when a way to fit raises an error."""

    @wraps(fit)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            with np.errstate(**QUIET):
                return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded  # type: ignore[return-value]


class LoopTransformer(NestedTransformer):
    """Base of the estimators that extract features one after another by a criterion."""

    n_components: int | None
    center: bool
    tol: float
    precision: str
    target: str
    block_size: int | None
    max_memory: float
    verbose: int | bool
    dtype: str = "float64"
    _is_precomputed = False
    _one_target = False  # whether several columns of y are refused
    _candidates_are = "candidates; raise candidates or lower n_components"

    @abstractmethod
    def _make_criterion(self) -> Criterion:
        """Return the criterion that the parameters describe."""

    def _criterion_for(self, encoder: TargetEncoder) -> Criterion:
        """Return the criterion, which may depend on what the target is."""
        return self._make_criterion()

    def _read(
        self, X: Any, y: Any, sample_weight: Any, criterion: Criterion
    ) -> tuple[Batch, TargetEncoder]:
        """Check what was given to ``fit``."""
        X = check_rows(self, X, reset=True, min_rows=2, precomputed=self._is_precomputed)
        encoder = self._encoder(criterion, y)
        batch = self._batch(X, y, sample_weight, encoder)
        if batch.weight is not None and not batch.weight.any():
            raise InvalidDataError("All sample weights are zero; at least one must be positive.")
        return batch, encoder

    def _batch(self, X: Rows, y: Any, sample_weight: Any, encoder: TargetEncoder) -> Batch:
        n_rows = X.shape[0]
        Y = encoder.encode(y, n_rows) if encoder.n_targets else np.empty((n_rows, 0))
        return Batch(X, Y, check_weights(sample_weight, X))

    def _encoder(self, criterion: Criterion, y: Any, classes: Any = None) -> TargetEncoder:
        if self._one_target and y is not None:
            column_or_1d(y, warn=True)  # refuses several columns
        if not criterion.supervised:
            return TargetEncoder(None, 0)
        if y is None:
            raise InvalidDataError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is "
                "None. Pass y, or use a criterion without targets."
            )
        return TargetEncoder.for_target(y, self.target, classes)

    def _settings(self, criterion: Criterion, n_candidates: int) -> Settings:
        wanted = self.n_components
        if isinstance(wanted, bool):
            raise InvalidParameterError(
                f"n_components={wanted} is no number of features; pass a whole number, or None."
            )
        if wanted is not None and wanted > n_candidates:
            raise InvalidParameterError(
                f"n_components={wanted} is larger than the {n_candidates} {self._candidates_are}."
            )
        return Settings(
            n_components=min(DEFAULT_COMPONENTS, n_candidates) if wanted is None else wanted,
            center=self.center,
            tol=self.tol,
            precision=self.precision,
            dtype=np.float32 if self.dtype == "float32" else np.float64,
            max_memory=self.max_memory,
            block_rows=self.block_size,
            n_jobs=self.n_jobs,
        )

    def _set_fit(self, fit: Fit, encoder: TargetEncoder) -> None:
        found = fit.model.n_components
        if found == 0:
            raise InvalidDataError(
                f"No feature could be found: {fit.outcome.value}. "
                "Look for constant inputs, equal rows, or a target that is constant."
            )
        if fit.outcome is not Outcome.COMPLETE and self.n_components is not None:
            warn(
                f"The data gave {found} of the {self.n_components} features asked for: "
                f"{fit.outcome.value}.",
                FewerFeaturesWarning,
            )
        self._say(f"{found} features, {len(fit.landmark_indices)} landmarks")
        self._fit = fit
        self._set_classes(encoder)

    def _set_classes(self, encoder: TargetEncoder) -> None:
        self.__dict__.pop("classes_", None)  # of an earlier fit
        self._one_dimensional_y = encoder.one_dimensional
        if encoder.classes is not None:
            self.classes_ = encoder.classes

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {text}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._make_criterion().supervised
        tags.target_tags.multi_output = True
        return tags
