"""The command line: tables in, models, features, predictions and reports out."""

from .errors import main

__all__ = ["main"]
