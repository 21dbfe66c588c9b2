"""Plans and parts: the same fit from statistics that were made apart, sent, merged and taken back."""

import itertools
import subprocess
import sys
import zipfile
from functools import reduce

import numpy as np
import pytest
from contract_cases import EXTRACTORS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    StatisticPart,
    StatisticPlan,
)
from kernelsieve.exceptions import (
    FewerFeaturesWarning,
    InvalidDataError,
    InvalidParameterError,
    ModelFileError,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=400)
LABELS = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 1] > 0, "left", "right"))
WEIGHT = RNG.uniform(0.5, 2.0, 400)
POOL = X[::8]

METHODS = {
    "alignment": (SparseMaximalAlignment(8, candidates=POOL, gamma=0.3), Y),
    "covariance": (SparseMaximalCovariance(8, candidates=POOL, gamma=0.3), Y),
    "analysis": (AcceleratedKernelFeatureAnalysis(8, candidates=POOL, gamma=0.3), None),
    "pca": (KernelPCA(4, candidates=POOL, gamma=0.3), None),
    "pls": (KernelPLS(4, candidates=POOL, gamma=0.3), Y),
    "fisher": (KernelFisherDiscriminant(candidates=POOL, gamma=0.3), LABELS),
    "centroid": (KernelOrthogonalCentroid(candidates=POOL, gamma=0.3), LABELS),
}
method = pytest.mark.parametrize("name", METHODS)


def halves(plan, y, cut=170):
    some, others = slice(cut), slice(cut, None)
    rows_of = (some, others)
    return [plan.statistic(X[r], None if y is None else y[r], WEIGHT[r]) for r in rows_of]


def assert_same(model, other):
    assert list(model.landmark_indices_) == list(other.landmark_indices_)
    assert_allclose(model.transform(X), other.transform(X), atol=1e-8)


@method
def test_two_halves_give_the_fit_of_all(name):
    model, y = METHODS[name]
    whole = model.fit(X, y, sample_weight=WEIGHT)
    whole_features, indices = whole.transform(X), list(whole.landmark_indices_)
    plan = model.prepare(X[:100], y if y is None else y[:100])
    here, there = halves(plan, y)
    assert (here.n_samples, there.n_samples) == (170, 230)
    for merged in (here.merge(there), there.merge(here)):
        apart = model.finish(plan, merged)
        assert list(apart.landmark_indices_) == indices
        assert_allclose(apart.transform(X), whole_features, atol=1e-8)
    assert (here.n_samples, there.n_samples) == (170, 230)


@method
def test_files_carry_plans_and_parts(name, tmp_path):
    model, y = METHODS[name]
    plan = model.prepare(X[:100], y if y is None else y[:100])
    plan.save(tmp_path / "plan")
    sent = StatisticPlan.load(tmp_path / "plan")
    for number, part in enumerate(halves(sent, y)):
        part.save(tmp_path / f"part{number}")
    parts = [StatisticPart.load(tmp_path / f"part{number}") for number in range(2)]
    whole = model.finish(plan, plan.statistic(X, y, WEIGHT))
    features = whole.transform(X)
    back = model.finish(plan, parts[0].merge(parts[1]))
    assert_allclose(back.transform(X), features, atol=1e-8)


def test_parts_come_from_other_processes(tmp_path):
    model, y = METHODS["alignment"]
    plan = model.prepare(X[:100], y[:100])
    plan.save(tmp_path / "plan")
    np.savez(tmp_path / "rows.npz", X=X[200:], y=y[200:])
    program = (
        "import sys, numpy as np\n"
        "from kernelsieve import StatisticPlan\n"
        "folder = sys.argv[1]\n"
        "rows = np.load(folder + '/rows.npz')\n"
        "plan = StatisticPlan.load(folder + '/plan')\n"
        "plan.statistic(rows['X'], rows['y']).save(folder + '/part')\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    there = StatisticPart.load(tmp_path / "part")
    model.finish(plan, plan.statistic(X[:200], y[:200]).merge(there))
    assert_same(model, SparseMaximalAlignment(8, candidates=POOL, gamma=0.3).fit(X, y))


@pytest.mark.parametrize("precision", ["fast", "safe"])
def test_forgotten_samples_leave_no_trace(precision, configured):
    configured(precision=precision)
    model = SparseMaximalAlignment(8, candidates=POOL, gamma=0.3)
    plan = model.prepare(X, Y)
    tenth = np.arange(400) % 10 == 3
    left = plan.statistic(X, Y).subtract(plan.statistic(X[tenth], Y[tenth]))
    assert left.n_samples == 360
    model.finish(plan, left)
    others = SparseMaximalAlignment(8, candidates=POOL, gamma=0.3)
    assert_same(model, others.fit(X[~tenth], Y[~tenth]))


@pytest.mark.parametrize("precision", ["fast", "safe"])
def test_too_little_left_is_refused(precision, configured):
    configured(precision=precision)
    model = SparseMaximalAlignment(8, candidates=POOL, gamma=0.3)
    plan = model.prepare(X, Y)
    tiny = plan.statistic(X[:50], Y[:50], np.full(50, 1e-14))
    large = plan.statistic(X[50:], Y[50:])
    with pytest.raises(InvalidDataError, match="too small against what was there"):
        tiny.merge(large).subtract(large)
    with pytest.raises(InvalidDataError, match="350 samples cannot be subtracted from 50"):
        tiny.subtract(large)


@pytest.mark.parametrize("precision", ["fast", "safe"])
@pytest.mark.parametrize("n_rows", [20, 400])
def test_decay_is_a_weight(precision, n_rows, configured):
    configured(precision=precision)
    model = SparseMaximalAlignment(5, candidates=POOL, gamma=0.3)
    plan = model.prepare(X, Y)
    old, new = plan.statistic(X[:n_rows], Y[:n_rows]), plan.statistic(X[100:], Y[100:])
    decayed = model.finish(plan, old.decay(0.5).decay(0.6).merge(new)).transform(X)
    weighted = plan.statistic(X[:n_rows], Y[:n_rows], np.full(n_rows, 0.3)).merge(new)
    assert_allclose(decayed, model.finish(plan, weighted).transform(X), atol=1e-9)


@given(st.lists(st.integers(1, 399), min_size=1, max_size=5, unique=True), st.randoms())
@settings(max_examples=15, deadline=None)
def test_any_division_in_any_order(cuts, random):
    model, y = METHODS["alignment"]
    plan = model.prepare(X[:60], y[:60])
    edges = [0, *sorted(cuts), 400]
    parts = [plan.statistic(X[a:b], y[a:b]) for a, b in itertools.pairwise(edges)]
    random.shuffle(parts)
    features = model.finish(plan, reduce(StatisticPart.merge, parts)).transform(X)
    assert_allclose(features, model.fit(X, y).transform(X), atol=1e-8)


def test_finishing_with_other_parameters():
    plan = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3).prepare(X, Y)
    part = plan.statistic(X, Y)
    more = SparseMaximalAlignment(12, candidates=POOL, gamma=0.3).finish(plan, part)
    assert more.n_components_ == 12
    covariance = SparseMaximalCovariance(6).finish(plan, part)
    same = SparseMaximalCovariance(6, candidates=POOL, gamma=0.3).fit(X, Y)
    assert_same(covariance, same)
    with pytest.warns(FewerFeaturesWarning, match="of the 51 components asked for"):
        SparseMaximalAlignment(51).finish(plan, part)


def test_parts_of_other_plans_are_refused():
    plan = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3).prepare(X, Y)
    other = SparseMaximalAlignment(3, candidates=POOL, gamma=0.4).prepare(X, Y)
    part = plan.statistic(X, Y)
    with pytest.raises(InvalidDataError, match="different plans"):
        part.merge(other.statistic(X, Y))
    with pytest.raises(InvalidDataError, match="another kernel"):
        SparseMaximalAlignment(3).finish(other, part)
    with pytest.raises(InvalidDataError, match="ndarray is no part"):
        part.merge(X)
    with pytest.raises(InvalidDataError, match="finish takes a plan and a part"):
        SparseMaximalAlignment(3).finish(part, plan)
    with pytest.raises(InvalidDataError, match="another kernel"):
        KernelFisherDiscriminant(candidates=POOL).finish(plan, part)
    with pytest.raises(InvalidParameterError, match=r"factor=0"):
        part.decay(0)


def test_the_estimator_stays_as_it_is():
    model = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3)
    model.prepare(X, Y)
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(ValueError, match="features"):
        model.prepare(X, Y).statistic(X[:, :3], Y)


def test_damaged_files(tmp_path):
    model, y = METHODS["alignment"]
    plan = model.prepare(X[:100], y[:100])
    for what in (plan, plan.statistic(X, y)):
        path = tmp_path / what._kind
        what.save(path)
        data = path.read_bytes()
        random, refused = np.random.default_rng(1), 0
        for trial in range(150):
            damaged = bytearray(data)
            if trial % 3 == 0:
                damaged = damaged[: random.integers(len(data))]
            elif trial % 3 == 1:
                damaged[random.integers(len(data))] ^= 1 << int(random.integers(8))
            else:
                start = random.integers(len(data))
                damaged[start:start] = random.bytes(5)
            path.write_bytes(damaged)
            try:
                again = type(what).load(path)
            except ModelFileError as error:
                refused += "damaged" in str(error)
            else:  # a byte that says nothing, such as the time of writing
                again.save(path)
                assert path.read_bytes() == data
        assert refused > 100
        path.write_bytes(data)
        type(what).load(path)
    with pytest.raises(ModelFileError, match="holds a plan, and a part"):
        StatisticPart.load(tmp_path / "plan")


def test_code_of_the_user_is_not_written(tmp_path):
    plan = SparseMaximalAlignment(3, kernel=lambda x, z: x @ z, candidates=POOL).prepare(X, Y)
    with pytest.raises(ModelFileError, match="code of yours"):
        plan.save(tmp_path / "plan")
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file(tmp_path):
    model, y = METHODS["alignment"]
    plan = model.prepare(X[:100], y[:100])
    old = plan.statistic(X[:10], y[:10])
    old.save(tmp_path / "part")
    before = (tmp_path / "part").read_bytes()
    plan.save(tmp_path / "plan")
    program = (
        "import resource, signal, sys, numpy as np\n"
        "from kernelsieve import StatisticPlan\n"
        "folder = sys.argv[1]\n"
        "plan = StatisticPlan.load(folder + '/plan')\n"
        "part = plan.statistic(np.ones((300, 5)) * np.arange(300)[:, None], np.arange(300.0))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    part.save(folder + '/part')\n"
        "except OSError:\n"
        "    sys.exit(7)\n"
    )
    pytest.importorskip("resource", reason="limits of the size of files are those of Unix")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == 7
    assert (tmp_path / "part").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part", "plan"]


def test_sums_are_small_files(tmp_path):
    plan = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3).prepare(X, Y)
    plan.statistic(X, Y).save(tmp_path / "part")
    n_lines = 2 + len(POOL)
    assert (tmp_path / "part").stat().st_size < 8 * n_lines * (n_lines + 1) + 5000


@pytest.mark.parametrize("folds", [None, 3])
@pytest.mark.parametrize("n_samples", [1, 5, 100])
def test_a_file_holds_sums_and_no_sample(tmp_path, n_samples, folds):
    plan = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3).prepare(X, Y, folds=folds)
    plan.statistic(X[:n_samples], Y[:n_samples]).save(tmp_path / "part")
    n_lines = 2 + len(POOL)
    with zipfile.ZipFile(tmp_path / "part") as archive:
        arrays = [np.load(archive.open(name)) for name in archive.namelist() if name.endswith(".npy")]
    assert {array.size for array in arrays} <= {n_lines, n_lines * (n_lines + 1) // 2}


@pytest.mark.parametrize("entry", EXTRACTORS)
def test_who_cannot_prepare_says_why(entry):
    if hasattr(entry(), "partial_fit"):
        assert hasattr(entry(), "prepare")
        assert hasattr(entry(), "finish")
    else:
        assert not hasattr(entry(), "prepare")
