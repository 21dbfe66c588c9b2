"""Kernel features that are cheap to train and cheaper to use."""

from .displays import (
    ComponentPathDisplay,
    CriterionPathDisplay,
    FeatureMapDisplay,
    LandmarkDisplay,
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
from .serving import predictor
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
    "predictor",
]

__version__ = "0.1.0"
