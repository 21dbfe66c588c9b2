"""The classes that a file may name: nothing else is ever made from one.

Files name a class of this package by its name alone, so that it may move to another module, and one of
scikit-learn by its public place. What is no longer written stays here, so that old files can be read.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from sklearn.base import BaseEstimator

_PACKAGE = __package__.partition(".")[0]

#: Classes that estimators of this package consist of, by the rooms that show them, or by their modules;
#: estimators themselves are public.
_OWN = {
    "kernels.radial": ("Centre",),
    "kernels": ("Inputs",),
    "data": ("HashedFolds", "Labels", "Pool", "TargetEncoder"),
    "statistics": ("GramStatistic", "TriangularStatistic", "FoldSums", "ColumnSums"),
    "deflation": (
        "DirectionVariance",
        "ExpansionVariance",
        "ContinuumRegression",
        "LossGradient",
        "PartialLeastSquares",
        "PrincipalDirections",
        "OrthonormalisedDirections",
        "Alignment",
        "Covariance",
        "RidgeAlignment",
        "Variance",
        "BestSubset",
        "Heads",
        "AbsoluteLoss",
        "ExponentialLoss",
        "LogisticLoss",
        "SquaredLoss",
    ),
    "model": ("Decision", "Fit", "Search", "PreImages", "Loadings", "KernelModel"),
    "model.kernel_model": ("Refinement",),
    "fitting": ("Candidates", "Plan", "Settings"),
    "estimators": ("StatisticPart", "StatisticPlan"),
    "estimators.statistic": ("Stream",),
    "rayleigh": (
        "ImageRotation",
        "ImageTranslation",
        "LineThickening",
        "DecisionRule",
        "BetweenClasses",
        "NoiseCovariance",
        "NoiseSamples",
        "Tangent",
        "TotalScatter",
        "WithinClasses",
    ),
    "model_selection": ("ExtractorWithHead",),
    "predictors.assembly": ("Preparation", "Sieve"),
    "program.steps.link": ("Calibration",),
    "predictors.calibration": ("HeldOut",),
    "predictors.inputs": ("CategoryColumn", "InputEncoder"),
    "predictors.kinds": ("KernelKind",),
    "predictors.race": ("TrialResult",),
    "predictors.recipe": ("SieveRecipe",),
    "predictors.streams": ("SieveStream",),
    "cli.table_model": ("TableModel",),
    "cli.statistic": ("TablePlan",),
}

#: What is no longer there, and is a namespace of its fields for the class that takes them.
_FORMER = {"CandidatePool", "Finalist", "Fitted", "LandmarkModel", "Round", "Trial"}

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
        is_known = last in _SCIKIT_LEARN.get(place, ())
        return getattr(import_module(place), last, None) if is_known else None
    for room, known in _OWN.items():
        if last in known:
            return getattr(import_module(f"{_PACKAGE}.{room}"), last, None)
    package = import_module(_PACKAGE)
    found = getattr(package, last) if last in package.__all__ else None
    return found if isinstance(found, type) and issubclass(found, BaseEstimator) else None
