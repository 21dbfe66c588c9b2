"""Fitted models that exports are compared with."""

from functools import cache

import numpy as np
import pandas
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler
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
    sexes = np.column_stack([X[:, 1] > 1, GAPS[:, 3:5]]).astype(float)
    blocks = make_column_transformer(
        (OneHotEncoder(sparse_output=False), [0]), (StandardScaler(), [1, 2])
    )
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
        "columns of imputed": (make_pipeline(SimpleImputer(), blocks, _sieve(), Ridge()), sexes, Y),
        "search": (ks.ComponentPathCV(_sieve(), Ridge(), cv=3), X, Y),
        "sparse landmarks": (_sieve(), CSR, Y),
    }


CASES = _cases()


@cache
def fitted(name: str) -> tuple:
    """Return a fitted model and dense samples."""
    model, rows, targets = CASES[name]
    return model.fit(rows, targets), rows.toarray() if sparse.issparse(rows) else rows


def _table(n=240):
    """Return a table with gaps, categories that are text and numbers, and three targets."""
    random = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {
            "age, years": random.uniform(20, 60, n).round(1),
            "colour": random.choice(["red", "très bleu", 'a "NAME"'], n),
            "size": random.normal(size=n),
            "code": pandas.Categorical(random.choice([10, 20, 35], n)),
            "kind": random.choice(["x", "y"], n),
        }
    )
    score = np.sin(frame["age, years"] / 8) + (frame["colour"] == "red") + frame["size"]
    score = score + (frame["code"].astype(int) == 20)
    frame.loc[::9, "size"] = np.nan
    frame.loc[::11, "colour"] = None
    frame.loc[::13, "code"] = np.nan
    targets = {
        "numbers": score.to_numpy(),
        "two": np.where(score > score.median(), "yes", "no"),
        "three": np.digitize(score, [0.3, 1.4]),
        "counts": random.poisson(np.exp(score.to_numpy() / 3)),
    }
    return frame, targets


TABLE, TARGETS = _table()
_NUMERIC = ["age, years", "size"]
_PLAIN = TABLE[_NUMERIC].to_numpy()


def _columns(**one_hot):
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    texts = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="(none)"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False, **one_hot),
    )
    return make_column_transformer(
        (texts, ["kind", "colour"]), (numbers, _NUMERIC), (OneHotEncoder(sparse_output=False), ["code"])
    )


def _sieves() -> dict[str, tuple]:
    quick = {"random_state": 0, "metric": False, "kernel": "rbf", "cv": 2}
    labels = ks.SieveClassifier(30, **quick | {"kernel": "laplacian"})
    return {
        "sieve": (ks.SieveRegressor(40, random_state=0, kernel="matern", cv=2), TABLE, "numbers"),
        "sieve, two": (ks.SieveClassifier(30, **quick), TABLE, "two"),
        "sieve, three": (labels, TABLE, "three"),
        "sieve, counts": (ks.SieveRegressor(20, loss="poisson", **quick), TABLE, "counts"),
        "sieve of an array": (
            ks.SieveRegressor(20, categorical_features=[2], **quick),
            np.column_stack([_PLAIN, TABLE["code"].astype(float)]),
            "numbers",
        ),
        "scaled sieve": (
            make_pipeline(StandardScaler(), ks.SieveRegressor(20, **quick)),
            _PLAIN,
            "numbers",
        ),
        "columns": (make_pipeline(_columns(), _sieve(20), LogisticRegression()), TABLE, "two"),
        "columns and sieve": (
            make_pipeline(_columns(drop="first"), ks.SieveRegressor(20, **quick)),
            TABLE,
            "numbers",
        ),
        "columns, linear": (make_pipeline(_columns(), Ridge()), TABLE, "numbers"),
    }


TABLES = _sieves()


@cache
def fitted_table(name: str) -> tuple:
    """Return a model that is fitted to a table, and rows with values that it has not seen."""
    model, table, target = TABLES[name]
    y = TARGETS[target]
    if isinstance(table, np.ndarray):
        new = np.vstack([table[:60], np.full(table.shape[1], np.nan), table[0] + 0.25])
        return model.fit(table, y), new
    strange = {"colour": "never seen", "code": 10, "kind": None, "size": np.nan, "age, years": np.nan}
    rows = pandas.concat([table[:60].astype(object), pandas.DataFrame([strange])], ignore_index=True)
    return model.fit(table, y), rows.astype({"age, years": float, "size": float})
