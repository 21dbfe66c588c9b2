"""Pictures of paths, bounds, landmarks and features, drawn with matplotlib."""

from .path import ComponentPathDisplay
from .path_table import PathCurve

__all__ = ["ComponentPathDisplay", "PathCurve"]
