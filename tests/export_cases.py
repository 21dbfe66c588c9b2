"""Fitted models that exports are compared with."""

from functools import cache

import numpy as np
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC

import kernelsieve as ks
from kernelsieve import SparseMaximalAlignment

X, Y = load_diabetes(return_X_y=True)
X = X * 30 + np.arange(X.shape[1])  # so that scalers matter
Y = (Y - Y.mean()) / Y.std()
CANCER, WINE = load_breast_cancer(return_X_y=True), load_wine(return_X_y=True)
GAPS = X.copy()
GAPS[::7, 3] = np.nan
KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf"},
    "narrow": {"kernel": "rbf", "gamma": 1e8},
    "matern12": {"kernel": "matern", "kernel_params": {"nu": 0.5}},
    "matern32": {"kernel": "matern"},
    "matern52": {"kernel": "matern", "kernel_params": {"nu": 2.5}},
    "rational_quadratic": {"kernel": "rational_quadratic", "kernel_params": {"alpha": 0.7}},
    "laplacian": {"kernel": "laplacian"},
    "poly": {"kernel": "poly", "gamma": 0.05, "degree": 2},
    "poly3": {"kernel": "poly", "gamma": 0.05},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
    "cosine": {"kernel": "cosine"},
}


CSR = sparse.csr_matrix(np.where(X > 1, X, 0))
TEXT = np.array(["benign", 'no "good"', "très"])


def _sieve(k=12, **parameters):
    return SparseMaximalAlignment(k, candidates=80, random_state=0, **parameters)


def _cases() -> dict[str, tuple]:
    cancer, wine = StandardScaler().fit_transform(CANCER[0]), WINE[0]
    cases = {
        name: (make_pipeline(StandardScaler(), _sieve(8, **how), Ridge()), X, Y)
        for name, how in KERNELS.items()
    }
    for head in (LogisticRegression(), LinearSVC(), RidgeClassifier()):
        name = type(head).__name__
        cases[f"{name}, two"] = make_pipeline(RobustScaler(), _sieve(), head), cancer, CANCER[1]
        several = make_pipeline(MinMaxScaler(), _sieve(), type(head)())
        cases[f"{name}, several"] = several, wine, TEXT[WINE[1]]
    metric = ks.GradientMetric(n_components=30, n_rounds=1, random_state=0)
    of_two = StandardScaler().fit_transform(X)[:, [2, 8]]  # of the inputs
    loss = ks.KernelBoostedLatentFeaturesClassifier(
        4, candidates=50, loss="exponential", random_state=0
    )
    fisher = ks.KernelFisherDiscriminant(candidates=50, random_state=0)
    columns = make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), slice(0, 10)))
    return cases | {
        "features": (make_pipeline(StandardScaler(), _sieve()), X, Y),
        "extractor": (_sieve(), X, Y),
        "primal": (ks.FeatureExtraction("pls", n_components=3), X, Y),
        "affine": (make_pipeline(StandardScaler(), PCA(3), LinearRegression()), X, Y),
        "metric": (
            make_pipeline(StandardScaler(), metric, _sieve(), Ridge()),
            X,
            np.sin(of_two).sum(axis=1),
        ),
        "pca before": (make_pipeline(PCA(4), _sieve(), Ridge()), X, Y),
        "two targets": (ks.KernelPLS(4, candidates=40), X, np.column_stack([Y, Y**2])),
        "loss, two": (loss, cancer, CANCER[1]),
        "fisher, several": (make_pipeline(StandardScaler(), fisher), wine, WINE[1]),
        "missing": (make_pipeline(columns, _sieve(), Ridge()), GAPS, Y),
        "search": (ks.ComponentPathCV(_sieve(), Ridge(), cv=3), X, Y),
        "sparse landmarks": (_sieve(), CSR, Y),
    }


CASES = _cases()


@cache
def fitted(name: str) -> tuple:
    """Return a fitted model and dense samples."""
    model, rows, targets = CASES[name]
    return model.fit(rows, targets), rows.toarray() if sparse.issparse(rows) else rows
