"""Sparse kernel PLS and sparse boosted latent features as estimators."""

import re

import numpy as np
import pytest
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

import kernelsieve
from kernelsieve import (
    KernelPLS,
    OrthogonalLoadingsKernelPLS,
    SparseKernelBoostedLatentFeatures,
    SparseKernelBoostedLatentFeaturesClassifier,
    SparseKernelPLS,
)
from kernelsieve.deflation import LogisticLoss, Loss
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError


@pytest.mark.parametrize("selection", ["mr", "mi", "mi-mr"])
def test_all_rows_as_support_vectors_are_kernel_pls(selection, diabetes):
    X, y = diabetes
    dense = KernelPLS(6, gamma=0.02).fit(X[:300], y[:300])
    model = SparseKernelPLS(6, gamma=0.02, nu=1.0, selection=selection, random_state=0)
    model.fit(X[:300], y[:300])
    for j in (1, 3, 6):
        assert_allclose(model.predict(X, j), dense.predict(X, j), rtol=1e-7)


def test_the_model_is_kernel_times_projection_minus_offset(diabetes):
    X, y = diabetes
    model = SparseKernelPLS(5, gamma=0.02, nu=0.1).fit(X, y)
    K = np.exp(-0.02 * ((X[:, None] - model.landmarks_[None]) ** 2).sum(axis=2))
    assert_allclose(model.transform(X), K @ model.projection_ - model.offset_, atol=1e-8)
    assert_allclose(model.landmarks_, X[model.landmark_indices_])
    assert len(model.landmarks_) == round(model.support_fraction_[-1] * len(X))
    short = model.truncate(2)
    assert len(short.landmarks_) < len(model.landmarks_)
    assert_allclose(short.predict(X), model.predict(X, n_components=2))


def test_fewer_support_vectors_with_a_smaller_share(diabetes):
    X, y = diabetes
    sizes = [len(SparseKernelPLS(5, nu=nu).fit(X, y).landmarks_) for nu in (0.02, 0.1, 0.4, 1.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.15 * len(X)


def test_only_columns_of_support_vectors_are_evaluated(diabetes):
    X, y = diabetes
    kernel = CountingKernel(0.02)
    model = SparseKernelPLS(6, kernel=kernel, nu=0.02).fit(X, y)
    n, m = len(X), len(model.landmarks_)
    assert kernel.evaluations <= n * m + 17 * m + 1  # and k(z, z) in small blocks
    assert m < 0.2 * n


def test_it_stops_at_a_training_error(diabetes):
    X, y = diabetes
    model = SparseKernelPLS(50, gamma=0.02, nu=0.1, target_error=0.5 * y.var()).fit(X, y)
    assert model.n_components_ < 50
    errors = [np.mean((model.predict(X, j) - y) ** 2) for j in range(1, model.n_components_ + 1)]
    assert_allclose(model.criterion_path_, errors, rtol=1e-8)
    assert errors[-1] <= 0.5 * y.var()
    assert (np.array(errors[:-1]) > 0.5 * y.var()).all()


def test_exact_selection_tells_its_gap(diabetes):
    X, y = diabetes[0][:150], diabetes[1][:150]
    model = SparseKernelPLS(3, gamma=0.02, nu=0.5, selection="exact").fit(X, y)
    assert (model.duality_gaps_ < 1e-2).all()
    assert np.isnan(SparseKernelPLS(3, nu=0.5).fit(X, y).duality_gaps_).all()


@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
@pytest.mark.parametrize("loss", ["squared", "absolute", "exponential", "logistic"])
def test_classes_are_separated_by_few_examples(loss, cancer):
    X, y = cancer
    model = SparseKernelBoostedLatentFeaturesClassifier(
        6, loss=loss, gamma=0.01, nu=0.05, random_state=0
    )
    model.fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert len(model.landmarks_) < 0.5 * len(X[::2])
    if loss in ("squared", "absolute"):
        assert not hasattr(model, "predict_proba")
    else:
        assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_numbers_with_the_squared_loss(diabetes):
    X, y = diabetes
    sparse = SparseKernelPLS(4, nu=0.1, selection="mr").fit(X, y)
    same = SparseKernelBoostedLatentFeatures(4, nu=0.1, selection="mr").fit(X, y)
    assert_allclose(same.predict(X), sparse.predict(X))


def test_what_it_cannot_do_is_said(diabetes):
    X, y = diabetes
    with pytest.raises(InvalidDataError, match=r"label '(low|high)' .* KernelPLSClassifier"):
        SparseKernelPLS().fit(X, np.where(y > 100, "high", "low"))
    with pytest.raises(InvalidParameterError, match="Classifier"):
        SparseKernelBoostedLatentFeatures(loss=LogisticLoss()).fit(X, y)
    with pytest.raises(ValueError, match="1d array"):
        SparseKernelPLS().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="nu"):
        SparseKernelPLS(nu=0).fit(X, y)
    with pytest.raises(ValueError, match="selection"):
        SparseKernelPLS(selection="best").fit(X, y)
    with pytest.raises(InvalidDataError, match="y is constant"):
        SparseKernelPLS().fit(X, np.ones(len(X)))
    assert not hasattr(SparseKernelPLS(), "partial_fit")


def test_more_than_two_classes_share_few_samples(digits):
    X, y = digits
    model = SparseKernelBoostedLatentFeaturesClassifier(14, gamma=0.03, nu=0.05, random_state=0)
    model.fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.8
    probabilities = model.predict_proba(X[1::2])
    assert_allclose(probabilities.sum(axis=1), 1)
    predicted = probabilities[np.arange(len(probabilities)), model.predict(X[1::2])]
    assert_allclose(predicted, probabilities.max(axis=1))
    assert len(model.landmarks_) < 0.5 * len(X[::2])


def test_the_absolute_loss_bears_outliers(diabetes):
    X, y = diabetes
    wild = y.copy()
    wild[::10] += 1e4
    errors = {}
    for loss in ("squared", "absolute"):
        model = SparseKernelBoostedLatentFeatures(4, loss=loss, gamma=0.02, random_state=0)
        model.fit(X, wild)
        errors[loss] = np.abs(model.predict(X) - y)[np.arange(len(y)) % 10 != 0].mean()
    assert errors["absolute"] < 0.8 * np.abs(y - np.median(y)).mean() < errors["squared"]


class OwnLogistic(Loss):
    """As a user writes it: without a margin's preparation."""

    def value(self, y, f):
        return np.log1p(np.exp(-y * f))

    def negative_gradient(self, y, f):
        return y / (1 + np.exp(y * f))

    def curvature(self, y, f):
        return np.exp(y * f) / (1 + np.exp(y * f)) ** 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_loss_of_the_user(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - n_classes], y[y >= 3 - n_classes]
    X = X + 0.8 * np.random.default_rng(0).standard_normal(X.shape)  # classes overlap
    named, own = (
        SparseKernelBoostedLatentFeaturesClassifier(3, nu=0.2, loss=loss, random_state=0).fit(X, y)
        for loss in ("logistic", OwnLogistic())
    )
    assert_allclose(own.transform(X), named.transform(X), atol=1e-6)
    assert_array_equal(own.predict(X), named.predict(X))
    assert not hasattr(own, "predict_proba")


@pytest.mark.parametrize("entry", [SparseKernelPLS, OrthogonalLoadingsKernelPLS])
@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array(["no", "yes"], dtype=object)])
def test_labels_are_refused_with_the_class_to_use(entry, labels, diabetes):
    X, y = diabetes
    classes = labels[(y > y.mean()).astype(int)]
    for given in (classes, classes.tolist(), classes.astype(object)):
        with pytest.raises(InvalidDataError, match=r"y has the label '\w+' .* a classifier") as caught:
            entry().fit(X, given)
        named = re.search(r"such as (\w+)", str(caught.value))[1]
        assert getattr(kernelsieve, named)(3).fit(X, given).score(X, given) > 0.7


def test_integers_are_numbers(diabetes):
    X, y = diabetes
    integers = y.astype(int)
    as_floats = SparseKernelPLS(4).fit(X, integers.astype(float)).predict(X)
    assert_allclose(SparseKernelPLS(4).fit(X, integers).predict(X), as_floats)


def test_one_support_vector_a_step_by_name(diabetes):
    X, y = diabetes
    few = SparseKernelPLS(12, gamma=0.02, nu="min").fit(X, y)
    assert len(few.landmarks_) <= 12
    assert_allclose(few.predict(X), SparseKernelPLS(12, gamma=0.02, nu=1 / len(X)).fit(X, y).predict(X))
