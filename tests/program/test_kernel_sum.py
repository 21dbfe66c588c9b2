"""Kernel sums as steps of a program."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve.kernels import RBF, Cosine, Laplacian, Linear
from kernelsieve.model import KernelModel
from kernelsieve.program import KernelSum


@pytest.fixture
def model(rng):
    return KernelModel(
        kernel=RBF(0.2),
        landmarks=rng.standard_normal((4, 3)),
        projection=np.triu(rng.standard_normal((4, 4)))[:, 1:],
        offset=rng.standard_normal(3),
        first_use=np.array([0, 0, 1, 2]),
    )


def test_one_row_or_many(model, rng):
    X = rng.standard_normal((5, 3))
    step = KernelSum(model)
    assert_allclose(step.run(X), model.features(X), atol=1e-13)
    assert step.run_one(X[0]).shape == (3,)
    assert_allclose(step.run_one(X[0]), model.features(X)[0], atol=1e-13)


def test_a_kernel_sum_can_be_sent_elsewhere(model, rng):
    X = rng.standard_normal((5, 3))
    step = KernelSum(model)
    found = step.run(X)  # for which something is prepared
    assert_array_equal(pickle.loads(pickle.dumps(step)).run(X), found)


@pytest.mark.parametrize("kernel", [RBF(), Linear(), Cosine(), Laplacian()])
def test_no_rows(kernel, model):
    assert KernelSum(replace(model, kernel=kernel)).run(np.empty((0, 3))).shape == (0, 3)
