"""The loop that every greedy and latent method runs, and the criteria that steer it."""

from .candidates import DeflatedCandidates, FixedCandidates, FreshCandidates, FreshSubset
from .columns import Columns, DoublyCentredColumns, RidgeColumns, StoredColumns, store_columns
from .criteria.analysis import DirectionVariance, ExpansionVariance
from .criteria.base import Criterion, ScoringCriterion, Selector
from .criteria.continuum import ContinuumRegression
from .criteria.dense import (
    LossGradient,
    PartialLeastSquares,
    PrincipalDirections,
    SimultaneousCriterion,
)
from .criteria.orthonormalised import OrthonormalisedDirections
from .criteria.resolve import CRITERIA, resolve_criterion
from .criteria.sparse import Alignment, Covariance, RidgeAlignment, Variance
from .criteria.subsets import BestSubset
from .heads import NEVER, Heads
from .loop import Outcome, Selection, extract, order_of_first_use, select
from .losses import (
    LOSSES,
    AbsoluteLoss,
    ExponentialLoss,
    LogisticLoss,
    Loss,
    MarginLoss,
    SquaredLoss,
    resolve_loss,
)
from .metric import (
    DiagonalOnly,
    EvaluatedMetric,
    GramMetric,
    IdentityMetric,
    Metric,
    PoolMetric,
    leading_eigenpairs,
)
from .needs import DeflationRule, LeftDeflation, Needs, Ridge, SymmetricDeflation
from .recomputed import ColumnTable, RecomputedColumns
from .symmetric import DrawnCandidates, FollowedCandidates
from .view import Direction, Step, View

__all__ = [
    "CRITERIA",
    "LOSSES",
    "NEVER",
    "AbsoluteLoss",
    "Alignment",
    "BestSubset",
    "ColumnTable",
    "Columns",
    "ContinuumRegression",
    "Covariance",
    "Criterion",
    "DeflatedCandidates",
    "DeflationRule",
    "DiagonalOnly",
    "Direction",
    "DirectionVariance",
    "DoublyCentredColumns",
    "DrawnCandidates",
    "EvaluatedMetric",
    "ExpansionVariance",
    "ExponentialLoss",
    "FixedCandidates",
    "FollowedCandidates",
    "FreshCandidates",
    "FreshSubset",
    "GramMetric",
    "Heads",
    "IdentityMetric",
    "LeftDeflation",
    "LogisticLoss",
    "Loss",
    "LossGradient",
    "MarginLoss",
    "Metric",
    "Needs",
    "OrthonormalisedDirections",
    "Outcome",
    "PartialLeastSquares",
    "PoolMetric",
    "PrincipalDirections",
    "RecomputedColumns",
    "Ridge",
    "RidgeAlignment",
    "RidgeColumns",
    "ScoringCriterion",
    "Selection",
    "Selector",
    "SimultaneousCriterion",
    "SquaredLoss",
    "Step",
    "StoredColumns",
    "SymmetricDeflation",
    "Variance",
    "View",
    "extract",
    "leading_eigenpairs",
    "order_of_first_use",
    "resolve_criterion",
    "resolve_loss",
    "select",
    "store_columns",
]
