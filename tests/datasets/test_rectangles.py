"""Rectangle features equal sums over pixels, taken one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve.datasets import rectangle_features, rectangle_windows
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError


def sign(kind, y, x, height, width):
    """Return what a pixel of the window counts, by the rectangle that it lies in."""
    if kind == "two_horizontal":
        return 1 if x >= width // 2 else -1
    if kind == "two_vertical":
        return 1 if y >= height // 2 else -1
    if kind == "three_horizontal":
        return 1 if width // 3 <= x < 2 * width // 3 else -1
    if kind == "three_vertical":
        return 1 if height // 3 <= y < 2 * height // 3 else -1
    return 1 if (x < width // 2) == (y < height // 2) else -1


def naive_feature(image, window):
    kind, top, left, height, width = window.item()
    total = 0.0
    for y in range(height):
        for x in range(width):
            total += sign(kind, y, x, height, width) * image[top + y, left + x]
    return total


def test_there_are_as_many_as_the_paper_says():
    windows = rectangle_windows((19, 19))
    assert len(windows) == 30_798
    kinds, counts = np.unique(windows["kind"], return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {
        "two_horizontal": 8100,
        "two_vertical": 8100,
        "three_horizontal": 3249,
        "three_vertical": 3249,
        "four": 8100,
    }
    assert len(np.unique(windows)) == 30_798


def test_every_feature_of_small_images_is_a_sum_over_pixels(rng):
    images = rng.integers(0, 256, (4, 7, 6)).astype(np.uint8)
    windows = rectangle_windows((7, 6))
    expected = [[naive_feature(image.astype(float), window) for window in windows] for image in images]
    assert_array_equal(rectangle_features(images, (7, 6)), expected)


def test_features_of_faces_are_sums_over_pixels(rng):
    images = rng.random((300, 19, 19))  # more than are taken at once
    windows = rectangle_windows()
    features = rectangle_features(images.reshape(300, 361))
    for column in rng.choice(len(windows), 40, replace=False):
        for number in (0, 255, 256, 299):
            expected = naive_feature(images[number], windows[column])
            assert features[number, column] == pytest.approx(expected, abs=1e-10)


def test_single_precision_rounds_the_features_alone(rng):
    images = 1000 + rng.random((3, 19, 19))
    single = rectangle_features(images, dtype=np.float32)
    assert single.dtype == np.float32
    assert_array_equal(single, rectangle_features(images).astype(np.float32))


def test_features_are_written_where_asked(rng, tmp_path):
    images = rng.random((3, 5, 5))
    n_features = len(rectangle_windows((5, 5)))
    out = np.lib.format.open_memmap(tmp_path / "f.npy", "w+", np.float32, (3, n_features))
    assert rectangle_features(images, (5, 5), out=out) is out
    assert_allclose(out, rectangle_features(images, (5, 5)), rtol=1e-6, atol=1e-6)
    with pytest.raises(InvalidParameterError, match="out has shape"):
        rectangle_features(images[:2], (5, 5), out=out)


def test_no_images_have_no_features():
    assert rectangle_features(np.empty((0, 19, 19))).shape == (0, 30_798)


@pytest.mark.parametrize("images", [np.ones((2, 360)), np.ones((19, 19)), np.array([["a"] * 361])])
def test_images_must_have_the_shape(images):
    with pytest.raises(InvalidDataError, match="images have shape"):
        rectangle_features(images)


@pytest.mark.parametrize("shape", [(19,), (1, 19), (19.0, 19.0)])
def test_shapes_are_two_sides(shape):
    with pytest.raises(InvalidParameterError, match="image_shape="):
        rectangle_features(np.ones((2, 361)), shape)


def test_features_are_floats():
    with pytest.raises(InvalidParameterError, match="dtype="):
        rectangle_features(np.ones((2, 361)), dtype=np.int64)
