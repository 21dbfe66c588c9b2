"""Landmarks, projection, offset: how models are fitted and used."""

from .analysis import about_the_mean
from .assembly import Fit, orthonormal_additions, sign_of_largest
from .changes import Change, Changes
from .documentation import documented
from .estimator import KernelExtractor
from .fitting import (
    Settings,
    diagonal_of,
    fit_columns,
    row_columns,
    total_weight,
    trace_of,
    weighted_sum,
)
from .form import KernelModel, Projector
from .inputs import check_precomputed_columns
from .loop_transformer import DEFAULT_COMPONENTS, LoopTransformer, all_or_nothing
from .nested import NestedTransformer
from .one_pass import OnePass, RowPass, pool_pass
from .prediction import Predicting
from .rebuilding import Rebuilding
from .stream import Stream
from .targets import TargetEncoder, check_not_constant

__all__ = [
    "DEFAULT_COMPONENTS",
    "Change",
    "Changes",
    "Fit",
    "KernelExtractor",
    "KernelModel",
    "LoopTransformer",
    "NestedTransformer",
    "OnePass",
    "Predicting",
    "Projector",
    "Rebuilding",
    "RowPass",
    "Settings",
    "Stream",
    "TargetEncoder",
    "about_the_mean",
    "all_or_nothing",
    "check_not_constant",
    "check_precomputed_columns",
    "diagonal_of",
    "documented",
    "fit_columns",
    "orthonormal_additions",
    "pool_pass",
    "row_columns",
    "sign_of_largest",
    "total_weight",
    "trace_of",
    "weighted_sum",
]
