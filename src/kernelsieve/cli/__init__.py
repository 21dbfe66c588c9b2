"""The command line: fits models to tables, predicts, and writes reports."""

from .errors import main

__all__ = ["main"]
