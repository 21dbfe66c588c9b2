"""SMA against an implementation of others: fastcan selects columns by their correlation with a target.

For one target that is forward orthogonal least squares, so on kernel columns its choices, their order
and what each of them explains are those of SMA.
"""

import numpy as np
import pytest
from fastcan import FastCan
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import pairwise_kernels

from kernelsieve import FeatureExtraction, SparseMaximalAlignment
from kernelsieve.datasets import make_interactions


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 0.2), ("laplacian", 0.1)])
def test_landmarks_and_their_order_are_those_of_fastcan(kernel, gamma):
    X, y = make_interactions(2000, 5, random_state=0)
    K = pairwise_kernels(X, metric=kernel, gamma=gamma)
    oracle = FastCan(30, verbose=0).fit(K, y)
    sieve = SparseMaximalAlignment(30, kernel=kernel, gamma=gamma, candidates="all").fit(X, y)
    assert_array_equal(sieve.landmark_indices_, oracle.indices_)
    assert_allclose(sieve.criterion_path_, oracle.scores_, rtol=1e-9)


def test_columns_of_x_are_chosen_as_fastcan_chooses_them(diabetes):
    X, y = diabetes
    oracle = FastCan(X.shape[1], verbose=0).fit(X, y)
    sieve = FeatureExtraction("alignment", X.shape[1]).fit(X, np.asarray(y, dtype=float))
    assert_array_equal(sieve.landmarks_, oracle.indices_)
    assert_allclose(sieve.criterion_path_, oracle.scores_, rtol=1e-9)
