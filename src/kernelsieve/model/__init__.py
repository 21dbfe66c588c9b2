"""Landmarks, projection, offset: how models are fitted and used."""

from .assembly import Fit
from .documentation import documented
from .estimator import KernelExtractor
from .fitting import OnePass, Settings, fit_columns
from .form import KernelModel, Projector
from .loop_transformer import LoopTransformer, all_or_nothing
from .nested import NestedTransformer
from .targets import TargetEncoder

__all__ = [
    "Fit",
    "KernelExtractor",
    "KernelModel",
    "LoopTransformer",
    "NestedTransformer",
    "OnePass",
    "Projector",
    "Settings",
    "TargetEncoder",
    "all_or_nothing",
    "documented",
    "fit_columns",
]
