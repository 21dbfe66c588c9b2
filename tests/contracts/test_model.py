"""What every fitted estimator is: one model form, whose first components are a model as well."""

import copy
import pickle
from functools import partial

import cloudpickle
import numpy as np
import pytest
import skops.io
from contract_cases import Case, all_cases, contract, plain_cases
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelsieve.exceptions import InconsistentVersionWarning

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning"),
]

_FITTED = {}


def fitted(case: Case):
    """Return a fitted model, the same one for all contracts, which must leave it as it is."""
    if case not in _FITTED:
        _FITTED[case] = case.make().fit(*case.data())
    return _FITTED[case]


def plain_parameters(model) -> dict:
    """Return all parameters, those of a criterion as well, but not the criterion, which is a copy."""
    parameters = model.get_params(deep=True)
    return {name: v for name, v in parameters.items() if not isinstance(v, BaseEstimator)}


@contract(all_cases)
def test_features_are_kernel_times_projection_minus_offset(case: Case):
    X, _ = case.data()
    model = fitted(case)
    if "kernel" not in case.parameters:
        values = X[:, model.landmarks_]
    elif model.kernel == "linear":
        values = linear_kernel(X, model.landmarks_)
    else:
        values = rbf_kernel(X, model.landmarks_, gamma=model.gamma)
    assert model.projection_.shape == (len(model.landmarks_), model.n_components_)
    assert model.offset_.shape == (model.n_components_,)
    assert_allclose(model.transform(X), values @ model.projection_ - model.offset_, atol=1e-8)


@contract(all_cases)
def test_prefixes_truncation_and_projector_agree(case: Case):
    X, _ = case.data()
    model = fitted(case)
    everything = model.transform(X)
    for k in range(1, model.n_components_ + 1):
        short = model.truncate(k)
        assert short.n_components_ == len(short.criterion_path_) == k
        assert len(short.explained_target_ratio_) == k
        assert len(short.landmarks_) == model.kernel_evaluations_[k - 1] <= len(model.landmarks_)
        for features in (
            model.transform(X, n_components=k),
            short.transform(X),
            short.projector()(X),
            model.projector(k)(X),
        ):
            assert_allclose(features, everything[:, :k], atol=1e-9)
    assert_allclose(model.projector()(X[5]), everything[5], atol=1e-9)


@contract(all_cases, when=lambda case: "decision" not in case.option)  # which changes no feature
def test_features_or_directions_are_orthogonal(case: Case):
    """Features of the training rows are orthogonal and centred, or else directions orthonormal."""
    X, _ = case.data()
    model = fitted(case)
    features = model.transform(X)
    gram = features.T @ features
    if np.abs(gram - np.diag(np.diagonal(gram))).max() > 1e-8 * gram.max():
        kernel = linear_kernel if model.kernel == "linear" else partial(rbf_kernel, gamma=model.gamma)
        gram = model.projection_.T @ kernel(model.landmarks_) @ model.projection_
        assert_allclose(gram, np.eye(len(gram)), atol=1e-8)
    elif model.get_params().get("center", True):
        assert np.abs(features.mean(axis=0)).max() < 1e-8 * np.abs(features).max()


@contract(all_cases, when=lambda case: "n_components" in case.parameters)
def test_fewer_components_are_the_first_of_more(case: Case):
    X, y = case.data()
    everything = fitted(case).transform(X)
    for k in range(1, everything.shape[1]):
        features = case.make(n_components=k).fit(X, y).transform(X)
        assert_allclose(features, everything[:, :k], atol=1e-8)


@contract(all_cases)
def test_explained_ratios_are_parts_of_one(case: Case):
    model = fitted(case)
    for ratio in (model.explained_variance_ratio_, model.explained_target_ratio_):
        assert ratio.shape == (model.n_components_,)
        assert (ratio >= -1e-12).all()
        assert ratio.sum() <= 1 + 1e-12


@contract(all_cases)
def test_copies_are_the_same_model(case: Case):
    X, _ = case.data()
    model = fitted(case)
    for twin in (
        pickle.loads(pickle.dumps(model)),
        pickle.loads(cloudpickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert_array_equal(twin.transform(X), model.transform(X))
        if hasattr(model, "predict"):
            assert_array_equal(twin.predict(X), model.predict(X))


@contract(plain_cases)
def test_skops_loads_what_it_dumps(case: Case):
    X, _ = case.data()
    model = fitted(case)
    dumped = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=dumped)
    assert all(name.partition(".")[0] in ("kernelsieve", "numpy") for name in types)
    twin = skops.io.loads(dumped, trusted=types)
    assert_array_equal(twin.transform(X), model.transform(X))
    if hasattr(model, "predict"):
        assert_array_equal(twin.predict(X), model.predict(X))


def test_a_model_of_another_version_is_warned_of(monkeypatch):
    case = plain_cases()[0]
    dumped = pickle.dumps(fitted(case))
    pickle.loads(dumped)  # warnings are errors
    monkeypatch.setattr("kernelsieve.estimators.attributes.own_version", lambda: "99.0")
    with pytest.warns(InconsistentVersionWarning, match=r"saved by kernelsieve 0\..* read by 99\.0"):
        pickle.loads(dumped)


@contract(all_cases)
def test_a_clone_fits_again_to_the_same_model(case: Case):
    X, y = case.data()
    model = fitted(case)
    again = clone(model)
    assert not again.__sklearn_is_fitted__()
    assert plain_parameters(again) == plain_parameters(model)
    other = case.entry().set_params(**model.get_params())
    for twin in (again, other):
        assert_array_equal(twin.fit(X, y).transform(X), model.transform(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@contract(plain_cases)
def test_data_frames_in_and_out(case: Case, library):
    frames = pytest.importorskip(library)
    X, y = case.data()
    names = [f"input{i}" for i in range(X.shape[1])]
    columns = {name: X[:, i] for i, name in enumerate(names)}
    frame = frames.DataFrame(columns)
    model = case.make().set_output(transform=library).fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    k = model.n_components_
    expected = [f"{type(model).__name__.lower()}{i}" for i in range(k)]
    assert model.get_feature_names_out().tolist() == expected
    for features, count in ((model.transform(frame), k), (model.transform(frame, n_components=1), 1)):
        assert isinstance(features, frames.DataFrame)
        assert list(features.columns) == expected[:count]
    assert_allclose(np.asarray(model.transform(frame)), fitted(case).transform(X), atol=1e-8)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[names[::-1]])
