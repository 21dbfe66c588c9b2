"""The classes that a file may name: nothing else is ever made from one.

Files name a class of this package by its name alone, so that it may move to another module, and one of
scikit-learn by its public place. What is no longer written stays here, so that old files can be read.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from sklearn.base import BaseEstimator

_PACKAGE = __package__.partition(".")[0]

#: Where classes are that estimators of this package consist of; estimators themselves are public.
_OWN = {
    "Centre": "kernels.radial",
    "Inputs": "kernels.custom",
    "HashedFolds": "data.hashed_folds",
    "Labels": "data.blocks",
    "Pool": "data.pool",
    "TargetEncoder": "data.targets",
    "GramStatistic": "statistics.statistic",
    "TriangularStatistic": "statistics.statistic",
    "DirectionVariance": "deflation.criteria.analysis",
    "ExpansionVariance": "deflation.criteria.analysis",
    "ContinuumRegression": "deflation.criteria.continuum",
    "LossGradient": "deflation.criteria.dense",
    "PartialLeastSquares": "deflation.criteria.dense",
    "PrincipalDirections": "deflation.criteria.dense",
    "OrthonormalisedDirections": "deflation.criteria.orthonormalised",
    "Alignment": "deflation.criteria.sparse",
    "Covariance": "deflation.criteria.sparse",
    "RidgeAlignment": "deflation.criteria.sparse",
    "Variance": "deflation.criteria.sparse",
    "BestSubset": "deflation.criteria.subsets",
    "Heads": "deflation.heads",
    "AbsoluteLoss": "deflation.losses",
    "ExponentialLoss": "deflation.losses",
    "LogisticLoss": "deflation.losses",
    "SquaredLoss": "deflation.losses",
    "Decision": "model.fit_result",
    "Fit": "model.fit_result",
    "Search": "model.fit_result",
    "PreImages": "model.inverse_transform",
    "Loadings": "model.fit_result",
    "KernelModel": "model.kernel_model",
    "Refinement": "model.kernel_model",
    "FoldSums": "statistics.fold_sums",
    "Candidates": "fitting.candidates",
    "Plan": "fitting.problem",
    "Settings": "fitting.problem",
    "ColumnSums": "statistics.passes",
    "StatisticPart": "estimators.statistic",
    "StatisticPlan": "estimators.statistic",
    "Stream": "estimators.statistic",
    "ImageRotation": "rayleigh.invariances",
    "ImageTranslation": "rayleigh.invariances",
    "LineThickening": "rayleigh.invariances",
    "DecisionRule": "rayleigh.discriminant",
    "BetweenClasses": "rayleigh.scatter",
    "NoiseCovariance": "rayleigh.scatter",
    "NoiseSamples": "rayleigh.scatter",
    "Tangent": "rayleigh.scatter",
    "TotalScatter": "rayleigh.scatter",
    "WithinClasses": "rayleigh.scatter",
    "Fitted": "metric_learning.rounds",
    "Round": "metric_learning.rounds",
    "ExtractorWithHead": "model_selection.composed",
    "Finalist": "predictors.assembly",
    "Preparation": "predictors.assembly",
    "Sieve": "predictors.assembly",
    "Calibration": "program.steps.link",
    "HeldOut": "predictors.calibration",
    "KernelKind": "predictors.choice",
    "Trial": "predictors.choice",
    "CategoryColumn": "predictors.inputs",
    "InputEncoder": "predictors.inputs",
    "SieveRecipe": "predictors.recipe",
    "SieveStream": "predictors.streams",
    "TableModel": "cli.table_model",
    "TablePlan": "cli.statistic",
}

#: What is no longer there, and is a namespace of its fields for the class that takes them.
_FORMER = {"CandidatePool", "LandmarkModel"}

_SCIKIT_LEARN = {
    "sklearn.compose": ("ColumnTransformer", "TransformedTargetRegressor", "make_column_selector"),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.frozen": ("FrozenEstimator",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.linear_model": (
        "ElasticNet",
        "ElasticNetCV",
        "HuberRegressor",
        "Lasso",
        "LassoCV",
        "LinearRegression",
        "LogisticRegression",
        "LogisticRegressionCV",
        "Ridge",
        "RidgeCV",
        "RidgeClassifier",
        "RidgeClassifierCV",
    ),
    "sklearn.model_selection": (
        "GroupKFold",
        "GroupShuffleSplit",
        "KFold",
        "LeaveOneGroupOut",
        "LeaveOneOut",
        "ShuffleSplit",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
        "TimeSeriesSplit",
    ),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        "FunctionTransformer",
        "KBinsDiscretizer",
        "LabelBinarizer",
        "LabelEncoder",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
        "TargetEncoder",
    ),
    "sklearn.svm": ("LinearSVC", "LinearSVR"),
}


#: How a message names what files may hold.
KNOWN = (
    "estimators and kernels of kernelsieve, and of scikit-learn pipelines, column transformers, "
    "scalers, encoders, imputers, PCA and linear predictors"
)


def name_of_class(cls: type) -> str | None:
    """Return how files call a class; None where they may not hold it."""
    if cls.__module__.partition(".")[0] == _PACKAGE:
        names = [cls.__name__]
    else:
        names = [
            f"{place}.{cls.__name__}" for place, known in _SCIKIT_LEARN.items() if cls.__name__ in known
        ]
    return next((name for name in names if class_of_name(name) is cls), None)


def class_of_name(name: str) -> type | None:
    """Return the class that a file names; None for any that is not known."""
    if name in _FORMER:
        return SimpleNamespace
    place, _, last = name.rpartition(".")
    if place:
        known = last in _SCIKIT_LEARN.get(place, ())
        return getattr(import_module(place), last, None) if known else None
    if last in _OWN:
        return getattr(import_module(f"{_PACKAGE}.{_OWN[last]}"), last, None)
    package = import_module(_PACKAGE)
    found = getattr(package, last) if last in package.__all__ else None
    return found if isinstance(found, type) and issubclass(found, BaseEstimator) else None
