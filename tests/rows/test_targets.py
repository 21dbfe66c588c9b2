"""What y means."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelsieve.rows import TargetEncoder


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
