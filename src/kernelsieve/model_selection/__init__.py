"""Choose the number of features: cross-validation from one fit a fold, rules, and a bound."""

from .bound import StabilityBound, select_by_bound, stability_bound
from .checks import folds_of
from .composed import ExtractorWithHead
from .distribution import CriterionDistribution, criterion_distribution
from .nested import NestedScores, nested_cross_validate
from .path import ComponentPathCV

__all__ = [
    "ComponentPathCV",
    "CriterionDistribution",
    "ExtractorWithHead",
    "NestedScores",
    "StabilityBound",
    "criterion_distribution",
    "folds_of",
    "nested_cross_validate",
    "select_by_bound",
    "stability_bound",
]
