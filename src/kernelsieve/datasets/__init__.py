"""Synthetic data, and the data sets of the papers."""

from .cards import Card, Download, card, names
from .columns import select_columns
from .loading import DATA_VARIABLE, load, local_data_folder, locate
from .rectangles import rectangle_features, rectangle_windows
from .remote import CACHE_VARIABLE, cache_folder
from .synthetic import make_interactions, make_noisy_circle, make_sparse_linear, make_swiss_cross

__all__ = [
    "CACHE_VARIABLE",
    "DATA_VARIABLE",
    "Card",
    "Download",
    "cache_folder",
    "card",
    "load",
    "local_data_folder",
    "locate",
    "make_interactions",
    "make_noisy_circle",
    "make_sparse_linear",
    "make_swiss_cross",
    "names",
    "rectangle_features",
    "rectangle_windows",
    "select_columns",
]
