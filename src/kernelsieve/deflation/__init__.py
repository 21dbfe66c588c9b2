"""The loop that every greedy and latent method runs, and the criteria that steer it."""

from .candidates import Candidates, FixedCandidates, FreshCandidates
from .columns import Columns, RecomputedColumns, StoredColumns, store_columns
from .criteria import (
    CRITERIA,
    Alignment,
    BestSubset,
    Covariance,
    Criterion,
    Direction,
    LossGradient,
    PartialLeastSquares,
    PrincipalDirections,
    ScoringCriterion,
    Step,
    Variance,
    View,
    resolve_criterion,
)
from .loop import Extraction, Outcome, extract
from .losses import LOSSES, ExponentialLoss, LogisticLoss, Loss, SquaredLoss
from .metric import DiagonalOnly, GramMetric, IdentityMetric, Metric, PoolMetric

__all__ = [
    "CRITERIA",
    "LOSSES",
    "Alignment",
    "BestSubset",
    "Candidates",
    "Columns",
    "Covariance",
    "Criterion",
    "DiagonalOnly",
    "Direction",
    "ExponentialLoss",
    "Extraction",
    "FixedCandidates",
    "FreshCandidates",
    "GramMetric",
    "IdentityMetric",
    "LogisticLoss",
    "Loss",
    "LossGradient",
    "Metric",
    "Outcome",
    "PartialLeastSquares",
    "PoolMetric",
    "PrincipalDirections",
    "RecomputedColumns",
    "ScoringCriterion",
    "SquaredLoss",
    "Step",
    "StoredColumns",
    "Variance",
    "View",
    "extract",
    "resolve_criterion",
    "store_columns",
]
