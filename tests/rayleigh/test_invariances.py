"""Image transformations: what they do to pixels, and that they are plain functions."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from kernelsieve.exceptions import InvalidDataError
from kernelsieve.rayleigh import ImageRotation, ImageTranslation, LineThickening

TRANSFORMS = [ImageTranslation(0.5, 0.3), ImageRotation(7.0), LineThickening(0.2)]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_images_are_moved_one_by_one(transform, digits):
    X, _ = digits
    moved = transform(X)
    assert moved.shape == X.shape
    assert moved.dtype == X.dtype
    assert_allclose(np.vstack([transform(row[None]) for row in X[:20]]), moved[:20], atol=1e-12)
    assert_allclose(transform(sparse.csr_matrix(X)), moved)
    assert transform(X.astype(np.float32)).dtype == np.float32
    twin = pickle.loads(pickle.dumps(transform))
    assert twin == transform
    assert_allclose(twin(X), moved)


def test_whole_steps(digits):
    X, _ = digits
    images = X.reshape(-1, 8, 8)
    assert_allclose(ImageTranslation(2, 0)(X).reshape(-1, 8, 8)[:, :, 2:], images[:, :, :-2])
    assert_allclose(ImageTranslation(0, 1)(X).reshape(-1, 8, 8)[:, 1:], images[:, :-1])
    turned = ImageRotation(90)(X).reshape(-1, 8, 8)
    assert_allclose(turned, np.rot90(images, axes=(1, 2)), atol=1e-8)


@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9))
def test_half_steps_are_between_whole_ones(right, down):
    image = np.arange(64.0).reshape(1, 64)  # linear: interpolation is exact inside
    moved = ImageTranslation(right, down)(image).reshape(8, 8)[1:-1, 1:-1]
    expected = (image - right - 8 * down).reshape(8, 8)[1:-1, 1:-1]
    assert_allclose(moved, expected, atol=1e-9)


@pytest.mark.parametrize("make", [ImageTranslation, ImageRotation, LineThickening])
def test_a_small_step_is_a_small_change(make, digits):
    X, _ = digits
    sizes = [np.abs(make(step)(X) - X).max() for step in (0.0, 0.01, 0.1)]
    assert sizes[0] < 1e-12
    assert sizes[1] < 0.2 * sizes[2]


def test_lines_become_thicker(digits):
    X, _ = digits
    assert (LineThickening(0.2)(X) >= X - 1e-12).all()
    assert LineThickening(0.2)(X).sum() > 1.05 * X.sum()
    assert LineThickening(-0.2)(X).sum() < 0.95 * X.sum()


def test_images_must_be_square():
    with pytest.raises(ValueError, match=r"shape \(2, 7\), which is not a square image"):
        ImageRotation()(np.ones((2, 7)))


def test_pixels_that_are_whole_numbers_become_floats():
    X = np.full((2, 16), 200, dtype=np.uint8)
    X[:, ::3] = 0
    for move in (LineThickening(0.1), ImageTranslation(right=0.5), ImageRotation(5)):
        assert_allclose(move(X), move(X.astype(float)))
    with pytest.raises(InvalidDataError, match="square image"):
        LineThickening()(X[0])
