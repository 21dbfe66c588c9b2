"""Methods that choose one example at a time."""

from .maximal import SparseMaximalAlignment, SparseMaximalCovariance

__all__ = ["SparseMaximalAlignment", "SparseMaximalCovariance"]
