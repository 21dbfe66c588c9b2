"""Kernel features that are cheap to train and cheaper to use."""

from .displays import (
    ComponentPathDisplay,
    CriterionPathDisplay,
    FeatureMapDisplay,
    LandmarkDisplay,
    MetricImportanceDisplay,
    MetricPathDisplay,
    RocComparisonDisplay,
    StabilityBoundDisplay,
)
from .estimators import StatisticPart, StatisticPlan
from .fitting import candidates_needed
from .greedy import (
    AcceleratedKernelFeatureAnalysis,
    SparseKernelFeatureAnalysis,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from .latent import (
    BoostedLatentFeatures,
    BoostedLatentFeaturesClassifier,
    FeatureExtraction,
    KernelBoostedLatentFeatures,
    KernelBoostedLatentFeaturesClassifier,
    KernelBoosting,
    KernelFeatureExtraction,
    KernelPCA,
    KernelPLS,
    KernelPLSClassifier,
    OrthogonalLoadingsKernelPLS,
    ReducedKernelOPLS,
    SparseKernelBoostedLatentFeatures,
    SparseKernelBoostedLatentFeaturesClassifier,
    SparseKernelPLS,
)
from .metric_learning import GradientMetric
from .model_selection import (
    ComponentPathCV,
)
from .rayleigh import (
    GreedyKernelFisherDiscriminant,
    KernelFisherDiscriminant,
    OrientedKernelPCA,
    RayleighCoefficient,
    SparseKernelFisherDiscriminant,
)
from .subspace import (
    AlignmentWeights,
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    SubspaceKernelFeatures,
)

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "AlignmentWeights",
    "BoostedLatentFeatures",
    "BoostedLatentFeaturesClassifier",
    "ComponentPathCV",
    "ComponentPathDisplay",
    "CriterionPathDisplay",
    "FeatureExtraction",
    "FeatureMapDisplay",
    "GradientMetric",
    "GreedyKernelFisherDiscriminant",
    "KernelBoostedLatentFeatures",
    "KernelBoostedLatentFeaturesClassifier",
    "KernelBoosting",
    "KernelDiscriminantQR",
    "KernelFeatureExtraction",
    "KernelFisherDiscriminant",
    "KernelOrthogonalCentroid",
    "KernelPCA",
    "KernelPLS",
    "KernelPLSClassifier",
    "LandmarkDisplay",
    "MetricImportanceDisplay",
    "MetricPathDisplay",
    "OrientedKernelPCA",
    "OrthogonalLoadingsKernelPLS",
    "RayleighCoefficient",
    "ReducedKernelOPLS",
    "RocComparisonDisplay",
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelBoostedLatentFeaturesClassifier",
    "SparseKernelFeatureAnalysis",
    "SparseKernelFisherDiscriminant",
    "SparseKernelPLS",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
    "StabilityBoundDisplay",
    "StatisticPart",
    "StatisticPlan",
    "SubspaceKernelFeatures",
    "candidates_needed",
]

__version__ = "0.1.0"
