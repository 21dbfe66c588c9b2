"""Parameters that have another place now."""

import pickle

import numpy as np
import pytest

import kernelsieve as ks

SMA = ks.SparseMaximalAlignment
KFD = ks.KernelFisherDiscriminant
SKFD = ks.SparseKernelFisherDiscriminant


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda: SMA(pool="kmeans"), r"pass candidates=Candidates\('auto', how='kmeans'\)"),
        (lambda: SMA(candidates=9, pool="kmeans"), r"candidates=Candidates\(9, how='kmeans'\)"),
        (lambda: SMA(candidates=np.eye(3), resample=True), r"Candidates\(points, resample=True\)"),
        (lambda: ks.KernelBoosting(sample_rows=9), r"Candidates\('auto', scored_on=9\)"),
        (lambda: ks.ReducedKernelOPLS(pool="random"), r"n_landmarks=Candidates\('auto', how='random'"),
        (lambda: SMA(precision="safe"), r"kernelsieve.config_context\(precision='safe'\)"),
        (lambda: ks.KernelPCA(dtype="float32"), r"config_context\(dtype='float32'\)"),
        (lambda: ks.BoostedLatentFeatures(max_memory=9), r"config_context\(max_memory=9\)"),
        (lambda: KFD(block_size=9), r"config_context\(block_size=9\)"),
        (lambda: SMA().set_params(pool="kmeans"), r"candidates=Candidates\('auto', how='kmeans'\)"),
        (lambda: KFD(threshold="margin"), r"decision=DecisionRule\(threshold=\.\.\.\)"),
        (lambda: KFD(probability_cv=3), r"decision=DecisionRule\(probability=\.\.\.\)"),
        (lambda: KFD(virtual_candidates=True), "virtual_candidates=True"),
        (lambda: SKFD(delta=0.5), r"loss=\('huber', delta\)"),
        (lambda: SKFD(max_iter=9), "max_systems"),
        (lambda: ks.OrientedKernelPCA(noise_weight=2.0), r"NoiseSamples\(samples, weight\)"),
        (lambda: ks.SubspaceKernelFeatures(C=2.0), r"objective=\('large_margin', C\)"),
        (lambda: ks.SparseKernelPLS(cache_columns=9), r"config_context\(max_memory=\.\.\.\)"),
    ],
)
def test_the_error_names_the_new_place(make, place):
    with pytest.raises(TypeError, match=place):
        make()


def test_what_never_was_a_parameter_is_refused_by_python():
    with pytest.raises(TypeError, match="unexpected keyword argument 'pools'"):
        SMA(pools="kmeans")
    with pytest.raises(TypeError, match="unexpected keyword argument 'pool'"):
        ks.SparseKernelPLS(pool="kmeans")  # which has no candidates
    with pytest.raises(ValueError, match="Invalid parameter 'pools'"):
        SMA().set_params(pools="kmeans")


class WithPool(SMA):
    """An estimator of a user's, with a parameter of that name."""

    def __init__(self, n_components=None, *, pool=None, **parameters):
        super().__init__(n_components, **parameters)
        self.pool = pool

    @classmethod
    def _get_param_names(cls):
        return sorted([*SMA._get_param_names(), "pool"])


def test_a_class_of_a_users_may_have_such_a_parameter():
    assert WithPool(3, pool="mine").set_params(pool="yours").pool == "yours"


def test_copies_need_no_parameters():
    assert pickle.loads(pickle.dumps(SMA(3))).n_components == 3
