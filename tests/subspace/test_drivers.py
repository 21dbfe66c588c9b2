"""The same subspace of inputs, however the rows arrive, and classes that do not occur."""

import numpy as np
import pytest
from configured import fit_with
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from kernelsieve import KernelDiscriminantQR, KernelOrthogonalCentroid, SubspaceKernelFeatures

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

METHODS = {
    "koc": KernelOrthogonalCentroid,
    "kda": KernelDiscriminantQR,
    "skfe": lambda **kw: SubspaceKernelFeatures(max_iter=20, **kw),
    "skfe from kpls": lambda **kw: SubspaceKernelFeatures(5, init="kpls", max_iter=10, **kw),
}
KINDS = {"pool": {"gamma": 0.1}, "inputs": {"kernel": "linear"}}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((900, 6))
    y = np.digitize(np.sin(X[:, 0]) * X[:, 1] + X[:, 2], [-0.7, 0, 0.7])
    return X, y, X[rng.choice(900, 40, replace=False)]


def make(name, kind, pool, **parameters):
    candidates = {"candidates": pool} if kind == "pool" else {}
    return METHODS[name](**KINDS[kind], **candidates, **parameters)


def pieces(size, *arrays):
    for start in range(0, len(arrays[0]), size):
        yield tuple(array[start : start + size] for array in arrays)


def agree(model, reference, X):
    assert_allclose(model.transform(X), reference.transform(X), atol=1e-8)
    assert_allclose(model.criterion_path_, reference.criterion_path_, rtol=1e-8, atol=1e-12)
    for ratio in ("explained_variance_ratio_", "explained_target_ratio_"):
        assert_allclose(getattr(model, ratio), getattr(reference, ratio), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("n_jobs", "config"),
    [(2, {}), (None, {"block_size": 7}), (None, {"precision": "safe"}), (None, {"block_size": 10_000})],
    ids=str,
)
def test_threads_and_blocks_change_nothing(name, n_jobs, config, problem):
    X, y, pool = problem
    other = fit_with(config, make(name, "inputs", pool, n_jobs=n_jobs), X, y)
    agree(other, make(name, "inputs", pool).fit(X, y), X)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [7, 400])
def test_rows_in_pieces(name, size, problem):
    X, y, pool = problem
    reference = make(name, "inputs", pool).fit(X, y)
    model = make(name, "inputs", pool)
    for part, labels in pieces(size, X, y):
        model.partial_fit(part, labels, classes=range(4))
    agree(model, reference, X)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    for batches in (list(pieces(size, X, y)), pieces(size, X, y)):
        agree(make(name, "inputs", pool).fit_batches(batches, classes=range(4)), reference, X)


@pytest.fixture(scope="module", params=["iris", "wine", "digits"])
def whole(request):
    if request.param == "digits":
        return tuple(array[:200] for array in request.getfixturevalue("digits"))
    X, y = (load_iris if request.param == "iris" else load_wine)(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("precision", ["auto", "fast", "safe"])
@pytest.mark.parametrize("name", METHODS)
def test_a_pool_of_all_rows_is_the_exact_fit(name, precision, whole, configured):
    configured(precision=precision)
    X, y = whole
    exact = METHODS[name](gamma=0.1, candidates="all").fit(X, y).transform(X)
    pool = METHODS[name](gamma=0.1, candidates=X)
    atol = 1e-6 * np.abs(exact).max()
    assert_allclose(pool.fit(X, y).transform(X), exact, rtol=0, atol=atol)
    for start in range(3):
        pool.partial_fit(X[start::3], y[start::3], classes=np.unique(y))
    assert_allclose(pool.transform(X), exact, rtol=0, atol=atol)


def test_a_class_that_does_not_occur(problem):
    X, y, pool = problem
    rows = y < 3
    for kind in KINDS:
        model = make("koc", kind, pool).partial_fit(X[rows], y[rows], classes=range(4))
        assert_allclose(
            model.transform(X), make("koc", kind, pool).fit(X[rows], y[rows]).transform(X), atol=1e-8
        )
    weight = rows.astype(float)
    a = KernelOrthogonalCentroid(gamma=0.1).fit(X, y, sample_weight=weight)
    b = KernelOrthogonalCentroid(gamma=0.1).fit(X[rows], y[rows])
    assert_allclose(a.transform(X), b.transform(X), atol=1e-10)


def refused(message, estimator, X, y, **kwargs):
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, **kwargs)
    assert list(vars(estimator)) == list(before)
    assert all(vars(estimator)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"init": "pca"}, "init"),
        ({"span": "lines"}, "span"),
        ({"objective": "accuracy"}, "objective"),
        ({"solver": "newton"}, "solver"),
        ({"max_iter": -1}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"objective": ("large_margin", 0.0)}, "objective"),
        ({"objective": ("alignment", "accuracy")}, "objective"),
        ({"objective": ("alignment",)}, "objective"),
    ],
)
def test_parameters_of_the_search(parameters, message, problem):
    X, y, _ = problem
    refused(message, SubspaceKernelFeatures(**parameters), X, y)
