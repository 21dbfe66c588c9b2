"""What y means."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve import SparseMaximalAlignment, SparseMaximalCovariance
from kernelsieve.data import TargetEncoder
from kernelsieve.exceptions import AmbiguousTargetWarning


def encode(y, target="auto", classes=None):
    y = np.asarray(y)
    encoder = TargetEncoder.for_target(y, target, classes)
    return encoder, encoder.encode(y, len(y))


@pytest.mark.parametrize("labels", [[2, 0, 2], ["b", "a", "b"], [True, False, True]])
def test_labels_become_one_column_a_class(labels):
    encoder, Y = encode(labels)
    assert encoder.classes is not None
    assert_array_equal(Y, [[0, 1], [1, 0], [0, 1]])


def test_floats_are_continuous():
    encoder, Y = encode([1.0, 2.0, 1.0])
    assert encoder.classes is None
    assert_array_equal(Y, [[1], [2], [1]])


@pytest.mark.parametrize("labels", [[2, 0, 2], [np.int8(2), 0, 2], [True, False, True], list("bab")])
@pytest.mark.parametrize("target", ["auto", "classes"])
def test_labels_among_objects_are_labels(labels, target):
    encoder, Y = encode(np.array(labels, dtype=object), target)
    assert encoder.classes.tolist() == sorted(set(labels))
    assert_array_equal(Y, [[0, 1], [1, 0], [0, 1]])


@pytest.mark.parametrize("numbers", [[2.0, 0.5, 2.0], [2, 0.5, 2], [np.float32(2.0), 0.5, 2]])
def test_floats_among_objects_are_continuous(numbers):
    encoder, Y = encode(np.array(numbers, dtype=object))
    assert encoder.classes is None
    assert_array_equal(Y, [[2], [0.5], [2]])


def test_the_user_decides_where_asked():
    assert encode([1.0, 2.0, 1.0], "classes")[0].classes.tolist() == [1.0, 2.0]
    assert encode([1, 2, 3], "continuous")[0].classes is None


@pytest.mark.parametrize(
    ("n_values", "n_samples", "labels"),
    [(20, 30, True), (21, 300, True), (21, 200, False), (51, 5000, False)],
)
def test_integers_of_many_values_are_numbers(n_values, n_samples, labels):
    encoder, _ = encode(np.arange(n_samples) % n_values)
    assert (encoder.classes is not None) == labels


@pytest.mark.filterwarnings("error::kernelsieve.exceptions.AmbiguousTargetWarning")
@pytest.mark.parametrize(("values", "taken"), [(3, "labels"), (3.0, "numbers"), (20.0, "numbers")])
def test_few_whole_numbers_are_asked_about(values, taken):
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = np.arange(60) % values
    with pytest.warns(AmbiguousTargetWarning, match=f"taken for {taken}.*target=") as caught:
        SparseMaximalAlignment(2).fit(X, y)
    assert caught[0].filename == __file__
    for target in ("classes", "continuous"):  # said so, and nothing is asked
        SparseMaximalAlignment(2, target=target).fit(X, y)
    for clear in (y > 0, y + 0.5, np.arange(60.0) % 21, np.arange(60) % 2, y.astype(str)):
        SparseMaximalAlignment(2).fit(X, clear)


def test_two_classes_without_centring_are_signs():
    X = np.random.default_rng(0).standard_normal((80, 3)) + 1
    labels = (X[:, 0] + 0.3 * X[:, 1] > 1.5).astype(int)
    for method in (SparseMaximalAlignment, SparseMaximalCovariance):
        of_labels = method(6, center=False).fit(X, labels)
        of_signs = method(6, center=False, target="continuous").fit(X, 2.0 * labels - 1)
        assert_array_equal(of_labels.landmark_indices_, of_signs.landmark_indices_)
        assert_allclose(of_labels.criterion_path_, of_signs.criterion_path_)
        pieces = method(6, center=False, candidates=X).partial_fit(X[:30], labels[:30])
        pieces.partial_fit(X[30:], labels[30:])
        assert_array_equal(pieces.landmarks_, of_signs.landmarks_)
        assert_array_equal(of_labels.classes_, [0, 1])


def test_several_columns_are_several_targets():
    encoder, Y = encode([[1, 2], [3, 4], [5, 6]])
    assert encoder.classes is None
    assert Y.shape == (3, 2)
    assert Y.dtype == np.float64


def test_classes_that_are_given_need_not_all_occur():
    encoder, Y = encode(["a", "a"], classes=["a", "b", "c"])
    assert encoder.n_targets == 3
    assert_array_equal(Y, [[1, 0, 0], [1, 0, 0]])


def test_a_label_past_the_last_class_is_refused():
    encoder = TargetEncoder.for_target(np.array(["a", "b"]), "auto")
    with pytest.raises(ValueError, match="label 'z' in row 1"):
        encoder.encode(np.array(["a", "z"]), 2)


def test_later_targets_have_as_many_columns():
    encoder = TargetEncoder.for_target(np.ones((3, 2)), "auto")
    with pytest.raises(ValueError, match="3 columns"):
        encoder.encode(np.ones((4, 3)), 4)
    with pytest.raises(ValueError, match="1 or 2 dimensions"):
        TargetEncoder.for_target(np.ones((2, 2, 2)), "auto")


def test_numbers_of_any_kind_among_objects():
    halves = np.array([Fraction(1, 2), Fraction(3, 2), Fraction(1, 2)], object)
    encoder = TargetEncoder.for_target(halves, "auto")
    assert encoder.classes is None
    assert_array_equal(encoder.encode(halves, 3)[:, 0], [0.5, 1.5, 0.5])
