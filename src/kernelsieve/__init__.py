"""Kernel features that are cheap to train and cheaper to use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import config_context, get_config, set_config
    from .displays import (
        ComponentPathDisplay,
        ContributionDisplay,
        CriterionPathDisplay,
        FeatureMapDisplay,
        LandmarkDisplay,
        MetricImportanceDisplay,
        MetricPathDisplay,
        PredictedMeasuredDisplay,
        RocComparisonDisplay,
        ScoreDistanceDisplay,
        StabilityBoundDisplay,
    )
    from .estimators import StatisticPart, StatisticPlan
    from .fitting import Candidates, candidates_needed
    from .greedy import (
        AcceleratedKernelFeatureAnalysis,
        SparseKernelFeatureAnalysis,
        SparseMaximalAlignment,
        SparseMaximalCovariance,
    )
    from .kernels import warm_up
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
    from .model import load, save
    from .model_selection import (
        ComponentPathCV,
    )
    from .predictors import SieveClassifier, SieveRegressor
    from .program import export_c, export_onnx, predictor
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
    "Candidates",
    "ComponentPathCV",
    "ComponentPathDisplay",
    "ContributionDisplay",
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
    "PredictedMeasuredDisplay",
    "RayleighCoefficient",
    "ReducedKernelOPLS",
    "RocComparisonDisplay",
    "ScoreDistanceDisplay",
    "SieveClassifier",
    "SieveRegressor",
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
    "config_context",
    "export_c",
    "export_onnx",
    "get_config",
    "load",
    "predictor",
    "save",
    "set_config",
    "warm_up",
]

# Importing every room takes longer than most programs need: names are looked up when they are used.
_ROOM_OF = {
    "ComponentPathDisplay": "displays",
    "ContributionDisplay": "displays",
    "CriterionPathDisplay": "displays",
    "FeatureMapDisplay": "displays",
    "LandmarkDisplay": "displays",
    "MetricImportanceDisplay": "displays",
    "MetricPathDisplay": "displays",
    "PredictedMeasuredDisplay": "displays",
    "RocComparisonDisplay": "displays",
    "ScoreDistanceDisplay": "displays",
    "StabilityBoundDisplay": "displays",
    "config_context": "config",
    "get_config": "config",
    "set_config": "config",
    "StatisticPart": "estimators",
    "StatisticPlan": "estimators",
    "Candidates": "fitting",
    "export_c": "program",
    "export_onnx": "program",
    "candidates_needed": "fitting",
    "AcceleratedKernelFeatureAnalysis": "greedy",
    "SparseKernelFeatureAnalysis": "greedy",
    "SparseMaximalAlignment": "greedy",
    "SparseMaximalCovariance": "greedy",
    "warm_up": "kernels",
    "BoostedLatentFeatures": "latent",
    "BoostedLatentFeaturesClassifier": "latent",
    "FeatureExtraction": "latent",
    "KernelBoostedLatentFeatures": "latent",
    "KernelBoostedLatentFeaturesClassifier": "latent",
    "KernelBoosting": "latent",
    "KernelFeatureExtraction": "latent",
    "KernelPCA": "latent",
    "KernelPLS": "latent",
    "KernelPLSClassifier": "latent",
    "OrthogonalLoadingsKernelPLS": "latent",
    "ReducedKernelOPLS": "latent",
    "SparseKernelBoostedLatentFeatures": "latent",
    "SparseKernelBoostedLatentFeaturesClassifier": "latent",
    "SparseKernelPLS": "latent",
    "GradientMetric": "metric_learning",
    "load": "model",
    "save": "model",
    "ComponentPathCV": "model_selection",
    "SieveClassifier": "predictors",
    "SieveRegressor": "predictors",
    "GreedyKernelFisherDiscriminant": "rayleigh",
    "KernelFisherDiscriminant": "rayleigh",
    "OrientedKernelPCA": "rayleigh",
    "RayleighCoefficient": "rayleigh",
    "SparseKernelFisherDiscriminant": "rayleigh",
    "predictor": "program",
    "AlignmentWeights": "subspace",
    "KernelDiscriminantQR": "subspace",
    "KernelOrthogonalCentroid": "subspace",
    "SubspaceKernelFeatures": "subspace",
}


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        found = getattr(import_module(f".{_ROOM_OF[name]}", __name__), name)
        globals()[name] = found
        return found
    try:
        return import_module(f".{name}", __name__)  # a room itself
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__version__ = "0.1.0"
