"""Synthetic data and the papers' data sets."""

from .columns import select_columns
from .local import DATA_VARIABLE, load_local, local_data_folder
from .rectangles import rectangle_features, rectangle_windows
from .synthetic import make_interactions, make_noisy_circle, make_sparse_linear, make_swiss_cross

__all__ = [
    "DATA_VARIABLE",
    "load_local",
    "local_data_folder",
    "make_interactions",
    "make_noisy_circle",
    "make_sparse_linear",
    "make_swiss_cross",
    "rectangle_features",
    "rectangle_windows",
    "select_columns",
]
