"""Candidates as an object: shorthands, refusals, and what scikit-learn does with it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernelsieve import (
    Candidates,
    KernelFisherDiscriminant,
    KernelPLS,
    ReducedKernelOPLS,
    SparseMaximalAlignment,
)
from kernelsieve.exceptions import InvalidParameterError

X = np.random.default_rng(0).standard_normal((60, 3))
Y = X[:, 0] * X[:, 1]


@pytest.mark.parametrize("short", ["auto", "all", 20, X[:15]], ids=str)
def test_what_is_short_for_an_object_gives_the_same_model(short):
    one, other = (
        SparseMaximalAlignment(4, gamma=0.3, candidates=candidates, random_state=0).fit(X, Y)
        for candidates in (short, Candidates(short))
    )
    np.testing.assert_array_equal(one.transform(X), other.transform(X))


def test_points_may_be_given_to_a_stream():
    whole = KernelPLS(3, gamma=0.3, candidates=X[:15]).fit(X, Y)
    stream = KernelPLS(3, gamma=0.3, candidates=Candidates(X[:15]))
    stream.partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    np.testing.assert_allclose(stream.predict(X), whole.predict(X), atol=1e-8)


@pytest.mark.parametrize(
    ("candidates", "text"),
    [
        (Candidates(), "Candidates()"),
        (Candidates(1000, how="kmeans"), "Candidates(1000, how='kmeans')"),
        (
            Candidates("all", resample=True, scored_on=9),
            "Candidates('all', resample=True, scored_on=9)",
        ),
        (Candidates(X), "Candidates(<points of shape (60, 3)>)"),
    ],
)
def test_a_text_shows_what_is_not_the_default(candidates, text):
    assert repr(candidates) == text


@pytest.mark.parametrize("points", [X, sparse.csr_matrix(X)])
def test_clones_are_equal_and_nothing_changes_them(points):
    one = Candidates(points, how="random")
    assert clone(SparseMaximalAlignment(candidates=one)).candidates == one
    assert one == Candidates(points.copy(), how="random")
    assert hash(one) == hash(Candidates(points.copy(), how="random"))
    assert one not in (Candidates(points[:9], how="random"), Candidates(points), "random")
    with pytest.raises(AttributeError):
        one.how = "kmeans"


@pytest.mark.parametrize(
    "given",
    [
        {"size": "some"},
        {"size": 0},
        {"size": True},
        {"size": None},
        {"size": 1.5},
        {"how": "magic"},
        {"resample": "yes"},
        {"scored_on": 0},
        {"scored_on": "all"},
    ],
    ids=str,
)
def test_refusals_name_the_value_what_is_allowed_and_the_remedy(given):
    ((name, value),) = given.items()
    with pytest.raises(InvalidParameterError, match=rf"{name}=.*must be .*; pass") as caught:
        Candidates(**given)
    assert repr(value) in str(caught.value)


def test_what_an_estimator_does_not_understand_is_refused():
    with pytest.raises(InvalidParameterError, match="resample=True, which KernelPLS does not"):
        KernelPLS(candidates=Candidates(resample=True)).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="scored_on=9, which SparseMaximalAlignment"):
        SparseMaximalAlignment(candidates=Candidates(scored_on=9)).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="no criterion to screen by"):
        KernelFisherDiscriminant(candidates=Candidates(9, how="screen")).fit(X, Y > 0)


@pytest.mark.parametrize("how", ["random", "kmeans", "rpcholesky"])
def test_landmarks_of_reduced_opls_are_drawn_as_candidates_are(how):
    model = ReducedKernelOPLS(n_landmarks=Candidates(9, how=how), random_state=0).fit(X, Y)
    assert len(model.landmarks_) == 9
