"""Distances that kernels of several widths share."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelsieve import KernelPLS, SparseMaximalAlignment, SubspaceKernelFeatures
from kernelsieve.kernels import (
    RBF,
    BlockCache,
    Chi2,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    resolve_kernel,
    sharing,
)
from kernelsieve.kernels.distance_cache import CachedKernel, _fingerprint
from kernelsieve.kernels.resolve import shared

FAMILIES = [
    [RBF(0.001), RBF(0.02), Matern(0.01, 1.5), RationalQuadratic(0.02, 0.5)],
    [Matern(0.001, 0.5), Matern(0.02, 0.5)],
    [Laplacian(0.001), Laplacian(0.02)],
    [Chi2(0.001), Chi2(0.02)],
    [Polynomial(0.001, 2, 1.0), Polynomial(0.007, 3, 0.5), Sigmoid(0.002, 0.1)],
]


@pytest.fixture
def rows(rng):
    return rng.uniform(0, 2, (30, 400)), rng.uniform(0, 2, (7, 400))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f[0].name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_values_are_the_same_and_the_common_part_is_evaluated_once(family, dtype, make, rows):
    if make is sparse.csr_matrix and not family[0].accepts_sparse:
        pytest.skip("needs dense input")
    X, Z = (make(part) for part in rows)
    cache = BlockCache()
    for kernel in family:
        with sharing(cache):
            wrapped = shared(kernel)
        assert isinstance(wrapped, CachedKernel)
        values, expected = np.empty((7, 30), dtype), np.empty((7, 30), dtype)
        wrapped.against(Z.copy(), dtype)(X.copy(), values)  # equal rows in other arrays
        kernel.against(Z, dtype)(X, expected)
        assert_allclose(values, expected, rtol=1e-10 if dtype is np.float64 else 1e-4)
        assert_allclose(wrapped.diag(X), kernel.diag(X))
        assert wrapped.name == kernel.name
        assert wrapped.accepts_sparse == kernel.accepts_sparse
    assert cache.evaluated == 7 * 30
    assert cache.reused == (len(family) - 1) * 7 * 30


def test_other_rows_landmarks_types_and_families_are_not_mixed_up(rows):
    X, Z = rows
    cache = BlockCache()
    with sharing(cache):
        kernels = [shared(RBF(0.005)), shared(Laplacian(0.005))]
    for kernel, plain in zip(kernels, (RBF(0.005), Laplacian(0.005)), strict=True):
        for rows_, points in ((X, Z), (X[:7], Z), (X, Z[::-1]), (Z, X), (X + 1, Z)):
            assert_allclose(kernel.block(rows_, points), plain.block(rows_, points), rtol=1e-10)
    assert cache.reused == 0


def test_rows_whose_difference_is_lost_beside_a_large_input_are_not_mixed_up(rng):
    X, Z = (np.hstack([np.full((n, 1), 1e15), rng.uniform(0, 1, (n, 3))]) for n in (20, 7))
    cache = BlockCache()
    with sharing(cache):
        kernel = shared(Laplacian(0.5))
    for rows in (X, X[::-1], X + np.array([0, 1e-3, 0, 0])):
        assert_allclose(kernel.block(rows, Z), Laplacian(0.5).block(rows, Z), rtol=1e-12)
    assert cache.reused == 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_fingerprints_tell_contents_types_and_orders_apart(make, rng):
    X = rng.uniform(1, 2, (6, 4))
    X[:, 2] = 0
    others = [X[::-1], X[:, ::-1], X.reshape(4, 6), X.astype(np.float32), np.nextafter(X, 3)]
    prints = [_fingerprint(make(each)) for each in (X, *others)]
    assert len(set(prints)) == len(prints)
    assert _fingerprint(make(np.asfortranarray(X))) == prints[0]


def test_a_kernel_too_narrow_for_products_of_norms_keeps_its_digits():
    X = 1e4 + np.array([[0.0], [1e-4], [2e-4]]) + np.zeros((1, 400))
    X[:, 1] += np.array([0, 1e4, -1e4])
    cache = BlockCache()
    for gamma in (1e-9, 1e7):
        with sharing(cache):
            kernel = shared(RBF(gamma))
        assert_allclose(kernel.block(X, X), RBF(gamma).block(X, X), rtol=1e-12)


def test_products_of_few_inputs_are_made_again_which_is_as_fast(rows):
    X, Z = (part[:, :5] for part in rows)
    cache = BlockCache()
    with sharing(cache):
        kernels = [shared(RBF(0.5)), shared(Polynomial(0.5)), shared(Laplacian(0.5))]
    for kernel, plain in zip(kernels, (RBF(0.5), Polynomial(0.5), Laplacian(0.5)), strict=True):
        assert_allclose(kernel.block(X, Z), plain.block(X, Z), rtol=1e-12)
    assert cache.evaluated == 7 * 30  # of the laplacian kernel


def test_memory_is_bounded(rows):
    X, Z = rows
    cache = BlockCache(max_bytes=7 * 30 * 8)
    with sharing(cache):
        kernel = shared(RBF(0.5))
    for _ in range(2):
        kernel.against(Z)(X, np.empty((7, 30)))
        kernel.against(Z)(X + 1, np.empty((7, 30)))  # does not fit any more
    assert cache.reused == 7 * 30
    assert cache.evaluated == 3 * 7 * 30


def test_only_kernels_with_a_width_share_and_only_where_asked(rows):
    X, _ = rows
    assert isinstance(resolve_kernel("rbf", X), RBF)
    with sharing(BlockCache()):
        assert isinstance(resolve_kernel("rbf", X), CachedKernel)
        assert isinstance(resolve_kernel(RBF(1.0), X), CachedKernel)
        assert isinstance(resolve_kernel("linear", X), Linear)
        assert isinstance(resolve_kernel("cosine", X), Cosine)
    assert isinstance(resolve_kernel("laplacian", X), Laplacian)


def fitted(model, X, cache):
    with sharing(cache):
        return model.fit(X, X[:, 0])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_model_can_be_copied_and_outlives_the_cache(kernel, rows):
    X, _ = rows
    cache = BlockCache()
    model = fitted(SparseMaximalAlignment(5, kernel=kernel, gamma=0.01), X, cache)
    shared_features = model.transform(X)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert type(copied._fit.model.kernel) in (RBF, Laplacian)
        assert_allclose(copied.transform(X), shared_features, atol=1e-9)
    before, gone = cache.reused, weakref.ref(cache)
    model.transform(X)
    assert cache.reused > before
    del cache
    gc.collect()
    assert gone() is None
    assert_allclose(model.transform(X), shared_features, atol=1e-9)


@pytest.mark.parametrize("keep", [True, False])
def test_the_first_features_are_the_same_to_the_last_bit(keep, rng):
    X = rng.standard_normal((300, 450))
    cache = BlockCache() if keep else None
    model = fitted(SparseMaximalAlignment(20, gamma=0.001), X, cache or BlockCache())
    others = SparseMaximalAlignment(5, gamma=0.001)
    fitted(others, X, cache or BlockCache()).transform(X)  # the same landmarks, another origin
    assert_array_equal(others.landmark_indices_, model.landmark_indices_[:5])
    assert_array_equal(model.transform(X, 5), model.transform(X)[:, :5])


def test_shared_distances_serve_all_widths_of_a_model_with_a_pool(rng):
    X = rng.standard_normal((60, 4))
    cache = BlockCache()
    for gamma in (0.1, 0.2):
        model = KernelPLS(2, kernel="laplacian", gamma=gamma, candidates=X[:20])
        fitted(model, X, cache).transform(X)
    assert cache.reused >= cache.evaluated  # in the fit, and in the features of the fitted model


def test_a_kernel_that_shares_does_all_that_its_own_does(rng):
    X, Z, slopes = (rng.standard_normal(shape) for shape in ((9, 3), (4, 3), (9, 4)))
    kernel, cache = Polynomial(0.5, 2, 1.0), BlockCache()
    with sharing(cache):
        wrapped = shared(kernel)
    assert type(wrapped) is CachedKernel
    assert wrapped.kernel is kernel
    assert wrapped.name == "poly"
    assert repr(wrapped) == f"CachedKernel({kernel!r})"
    rows = np.array([2, 5])
    assert_array_equal(wrapped.points(X, rows), X[rows])
    assert_array_equal(wrapped.diag_at(X, rows), kernel.diag_at(X, rows))
    values = kernel.block(X, Z)
    gradients = [k.landmark_gradient(X, Z, values, slopes) for k in (wrapped, kernel)]
    assert_array_equal(*gradients)


@pytest.mark.parametrize("kernel", ["rbf", Polynomial(0.5, 2, 1.0)])
def test_landmarks_can_be_moved_by_a_kernel_that_shares(kernel, rng):
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] > 0).astype(int)
    model = SubspaceKernelFeatures(1, span="points", kernel=kernel, random_state=0)
    alone = model.fit(X, y).transform(X)
    with sharing(BlockCache()):
        assert_allclose(model.fit(X, y).transform(X), alone, atol=1e-8)
