"""A predictor in one piece gives what the model gives."""

import pickle

import numpy as np
import pytest
from configured import fit_with
from export_cases import TABLES, fitted_table
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, LinearSVR

import kernelsieve as ks
from kernelsieve import ComponentPathCV, SparseMaximalAlignment, predictor
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.kernels import RBF, Matern, RationalQuadratic

X, Y = load_diabetes(return_X_y=True)
X = X * 30 + 100.0 * np.arange(1, X.shape[1] + 1)  # so that scalers matter
Y = (Y - Y.mean()) / Y.std()
CANCER, WINE = load_breast_cancer(return_X_y=True), load_wine(return_X_y=True)


def check_equal(model, rows, of_one=True):
    p = predictor(model)
    scale = 1.0
    for method in ("predict", "decision_function", "predict_proba"):
        assert hasattr(p, method) == hasattr(model, method), method
        if not hasattr(model, method):
            continue
        expected = getattr(model, method)(rows)
        found = getattr(p, method)(rows)
        one = getattr(p, method)(rows[0]) if of_one else found[0]
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        if expected.dtype.kind in "fc":
            scale = max(scale, np.abs(expected).max())
            assert np.abs(found - expected).max() <= 1e-10 * scale
            assert np.abs(one - expected[0]).max() <= 1e-10 * scale
        else:
            assert (found == expected).all()
            assert one == expected[0]
    assert np.array_equal(p(rows), p.predict(rows))
    return p


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 2)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False, with_scaling=False),
        "passthrough",
        make_pipeline(VarianceThreshold(), StandardScaler(), PCA(5, whiten=True)),
        make_pipeline(RobustScaler(), TruncatedSVD(6), MinMaxScaler()),
        make_pipeline(StandardScaler(), ks.FeatureExtraction("pls", n_components=4)),
        make_pipeline(StandardScaler(), ks.AlignmentWeights()),
    ],
    ids=lambda scaler: "-".join(type(scaler).__name__.split()),
)
def test_scalers_and_linear_maps_before_the_kernel(scaler):
    model = make_pipeline(scaler, SparseMaximalAlignment(15, gamma="median"), Ridge(1e-3)).fit(X, Y)
    assert check_equal(model, X).kernel_evaluations == 15


@pytest.mark.parametrize(
    "head",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        Ridge(),
        RidgeCV(),
        Lasso(0.01),
        ElasticNet(0.01),
        LinearSVR(max_iter=100_000),
        SGDRegressor(random_state=0),
        make_pipeline(StandardScaler(), PCA(8), Ridge()),
    ],
    ids=lambda head: type(head).__name__,
)
def test_linear_regressors(head):
    check_equal(make_pipeline(StandardScaler(), SparseMaximalAlignment(15), head).fit(X, Y), X)


def test_several_targets():
    both = np.column_stack([Y, Y**2])
    check_equal(make_pipeline(StandardScaler(), SparseMaximalAlignment(15), Ridge()).fit(X, both), X)
    check_equal(make_pipeline(StandardScaler(), ks.KernelPLS(5)).fit(X, both), X)


@pytest.mark.parametrize("data", [CANCER, WINE], ids=["two classes", "three classes"])
@pytest.mark.parametrize(
    "head",
    [
        LogisticRegression(),
        LinearSVC(),
        RidgeClassifier(),
        LinearDiscriminantAnalysis(),
        SGDClassifier(loss="log_loss", random_state=0),
        SGDClassifier(loss="hinge", random_state=0),
    ],
    ids=lambda head: type(head).__name__,
)
def test_linear_classifiers(head, data):
    rows, labels = data[0], np.array(["first", "second", "third"])[data[1]]
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(15), head).fit(rows, labels)
    check_equal(model, rows)


@pytest.mark.parametrize("data", [CANCER, WINE], ids=["two classes", "three classes"])
@pytest.mark.parametrize(
    "last",
    [
        ks.KernelPLSClassifier(4),
        ks.KernelFisherDiscriminant(candidates=100, random_state=0),
        ks.SparseKernelFisherDiscriminant(candidates=60, random_state=0),
        ks.GreedyKernelFisherDiscriminant(5),
        ks.BoostedLatentFeaturesClassifier(3, loss="logistic"),
        ks.KernelBoostedLatentFeaturesClassifier(3, loss="exponential"),
        ks.SparseKernelBoostedLatentFeaturesClassifier(3, nu=0.1),
    ],
    ids=lambda last: type(last).__name__,
)
def test_our_own_classifiers(last, data):
    check_equal(make_pipeline(StandardScaler(), last).fit(*data), data[0])


def test_our_own_regressors_without_a_pipeline():
    check_equal(ks.KernelPLS(5, gamma="median").fit(X, Y), X)
    check_equal(ks.BoostedLatentFeatures(3).fit(X, Y), X)


@pytest.mark.parametrize(
    "kernel", ["linear", "poly", "laplacian", "cosine", RBF(1e3), RationalQuadratic(0.1)]
)
def test_other_kernels(kernel):
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(9, kernel=kernel), Ridge())
    check_equal(model.fit(X, Y), X)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_single_samples_at_landmarks_of_rough_kernels(nu):
    model = make_pipeline(SparseMaximalAlignment(9, kernel=Matern(1e-3, nu=nu)), Ridge(1e-6)).fit(X, Y)
    landmarks = model[0]._current_fit().model.landmarks
    p = check_equal(model, landmarks)
    np.testing.assert_allclose([p(x) for x in landmarks], model.predict(landmarks), atol=1e-10)


def test_searches_serve_what_they_chose():
    path = ComponentPathCV(make_pipeline(StandardScaler(), SparseMaximalAlignment(20)), Ridge(), cv=3)
    p = check_equal(path.fit(X, Y), X)
    assert p.kernel_evaluations == path.best_n_components_
    check_equal(ComponentPathCV(ks.KernelPLS(5, gamma="median"), cv=3).fit(X, Y), X)
    grid = {"sparsemaximalalignment__gamma": [0.01, 0.1]}
    pipeline = make_pipeline(StandardScaler(), SparseMaximalAlignment(9), Ridge())
    check_equal(GridSearchCV(pipeline, grid, cv=3).fit(X, Y), X)


def test_nearly_dependent_landmarks_keep_their_digits():
    extractor = SparseMaximalAlignment(60, gamma=1e-3, tol=1e-14)
    model = make_pipeline(StandardScaler(), extractor, Ridge()).fit(X, Y)
    assert model[1]._fit.model.refinement is not None  # otherwise this tests nothing
    check_equal(model, X)


def test_sparse_rows_and_precomputed_kernels():
    rows = sparse.random(200, 50, density=0.2, format="csr", random_state=0)
    target = np.asarray(rows.sum(axis=1)).ravel()
    model = make_pipeline(MaxAbsScaler(), SparseMaximalAlignment(9), Ridge()).fit(rows, target)
    check_equal(model, rows, of_one=False)
    K = RBF(1e-3).block(X, X)
    check_equal(make_pipeline(SparseMaximalAlignment(9, kernel="precomputed"), Ridge()).fit(K, Y), K)


def test_float32_models_and_rows():
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(15), Ridge())
    fit_with({"dtype": "float32"}, model, X, Y)
    expected = model.predict(X)
    p = predictor(model)
    assert np.allclose(p(X), expected, atol=1e-4)
    assert np.allclose(p(X[0]), expected[0], atol=1e-4)
    assert np.allclose(p(X.astype(np.float32)), expected, atol=1e-3)


def test_many_rows_come_in_blocks_and_copies_are_equal():
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(15), Ridge()).fit(X, Y)
    many = np.tile(X, (100, 1))
    p = predictor(model)
    p._block_rows = 1000
    assert np.abs(p(many) - model.predict(many)).max() < 1e-10
    again = pickle.loads(pickle.dumps(p))
    assert np.array_equal(again(many), p(many))


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (
            make_pipeline(QuantileTransformer(n_quantiles=20), SparseMaximalAlignment(5), Ridge()),
            "quantile",
        ),
        (make_pipeline(MinMaxScaler(clip=True), SparseMaximalAlignment(5), Ridge()), "minmax"),
        (make_pipeline(SparseMaximalAlignment(5), Normalizer(), Ridge()), "normalizer"),
        (make_pipeline(StandardScaler(), SparseMaximalAlignment(5), ks.KernelPLS(2)), "kernelpls"),
        (make_pipeline(SparseMaximalAlignment(5), RandomForestRegressor(2)), "randomforest"),
        (make_pipeline(StandardScaler(), SparseMaximalAlignment(5)), "sparsemaximalalignment"),
    ],
)
def test_what_cannot_be_folded_is_named(model, named):
    with pytest.raises(InvalidParameterError, match=f"Step '{named}"):
        predictor(model.fit(X, Y))


def test_what_is_no_estimator_is_named():
    with pytest.raises(InvalidParameterError, match="A str is not an estimator; pass a fitted one"):
        predictor("model.ksv")


def test_heads_whose_outputs_are_no_linear_functions_are_refused():
    counts = np.abs(Y)
    with pytest.raises(InvalidParameterError, match="Step 'poissonregressor'"):
        predictor(make_pipeline(SparseMaximalAlignment(5), PoissonRegressor()).fit(X, counts))
    for head in (SVC(kernel="linear"), KNeighborsClassifier()):
        with pytest.raises(InvalidParameterError, match="linear"):
            predictor(make_pipeline(SparseMaximalAlignment(5), head).fit(*WINE))


def test_probabilities_of_another_kind_are_left_to_the_model():
    head = SGDClassifier(loss="modified_huber", random_state=0)
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(9), head).fit(*WINE)
    p = predictor(model)
    assert (p(WINE[0]) == model.predict(WINE[0])).all()
    with pytest.raises(AttributeError) as error:
        p.predict_proba(WINE[0])
    assert "predict_proba of the model" in str(error.value.__cause__)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore:Found unknown categories")  # which are ignored, as asked for
def test_tables(name):
    model, table = fitted_table(name)
    p = pickle.loads(pickle.dumps(predictor(model)))
    rows = np.asarray(table, dtype=None if isinstance(table, np.ndarray) else object)
    for method in ("predict", "decision_function", "predict_proba"):
        assert hasattr(p, method) == hasattr(model, method)
        if hasattr(model, method):
            expected, found = getattr(model, method)(table), getattr(p, method)(table)
            one = getattr(p, method)(rows[-1])
            if expected.dtype.kind == "f":
                assert np.allclose(found, expected, 1e-10, 1e-10)
                assert np.allclose(one, expected[-1], 1e-10, 1e-10)
            else:
                assert found.tolist() == expected.tolist()
                assert one == expected[-1]


def test_a_frozen_metric_is_served_and_saved(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    metric = ks.GradientMetric(
        structure="diagonal", n_components=30, n_rounds=1, rank=5, random_state=0
    )
    metric.fit(X, y)
    pipeline = make_pipeline(FrozenEstimator(metric), SparseMaximalAlignment(20), Ridge()).fit(X, y)
    np.testing.assert_allclose(predictor(pipeline)(X), pipeline.predict(X), rtol=1e-8)
    ks.save(pipeline, tmp_path / "model.ksv")
    loaded = ks.load(tmp_path / "model.ksv")
    np.testing.assert_array_equal(loaded.predict(X), pipeline.predict(X))


def test_a_row_of_a_data_frame_is_a_sample():
    pandas = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    assert isinstance(X, pandas.DataFrame)
    pipeline = make_pipeline(StandardScaler(), SparseMaximalAlignment(20), Ridge()).fit(X, y)
    np.testing.assert_allclose(predictor(pipeline)(X.iloc[3]), pipeline.predict(X[3:4])[0])


def test_other_columns_than_those_of_fit_are_refused():
    pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), ks.SparseMaximalAlignment(5), Ridge()).fit(X, y)
    p = pickle.loads(pickle.dumps(ks.predictor(model)))
    assert np.allclose(p(X), model.predict(X))
    assert np.isclose(p(X.iloc[0]), p(X)[0])
    with pytest.raises(InvalidDataError, match=r"Column 0 of X is 's6', and was 'age' in fit"):
        p(X[X.columns[::-1]])
    for wrong in (X.to_numpy()[:, :5], X.to_numpy()[:, :1], X.to_numpy()[0, :5], X[["age"]]):
        with pytest.raises(InvalidDataError, match=r"and the model has 10: pass one sample"):
            p(wrong)
