"""What has no inverse transform is refused before any work."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import AcceleratedKernelFeatureAnalysis, KernelPCA
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.kernels import Chi2

FEEDS = [
    lambda model, X: model.fit(X),
    lambda model, X: model.fit_batches([X]),
    lambda model, X: model.partial_fit(X),
]


@pytest.mark.parametrize("feed", FEEDS, ids=["fit", "fit_batches", "partial_fit"])
@pytest.mark.parametrize("make", [KernelPCA, AcceleratedKernelFeatureAnalysis])
def test_sparse_rows_are_refused_before_the_kernel_is_evaluated(make, feed, rng):
    evaluated = []

    def kernel(X, Z):
        evaluated.append(len(Z))
        return rbf_kernel(X, Z)

    X = sparse.csr_matrix(rng.standard_normal((60, 3)))
    model = make(3, kernel=kernel, candidates=30, fit_inverse_transform=True)
    with pytest.raises(InvalidParameterError, match="does not take sparse X"):
        feed(model, X)
    assert not evaluated


@pytest.mark.parametrize("feed", FEEDS, ids=["fit", "fit_batches", "partial_fit"])
@pytest.mark.parametrize("kernel", ["chi2", Chi2(0.1)])
def test_a_kernel_that_takes_no_negative_features_is_refused(kernel, feed, rng):
    X = np.abs(rng.standard_normal((60, 3)))
    model = KernelPCA(3, kernel=kernel, candidates=30, fit_inverse_transform=True)
    with pytest.raises(InvalidParameterError, match="'chi2' takes no negative ones; pass another"):
        feed(model, X)
    assert feed(model.set_params(fit_inverse_transform=False), X).transform(X).shape == (60, 3)
