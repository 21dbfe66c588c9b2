"""Model files: exact, safe to read, and written whole or not at all."""

import hashlib
import io
import json
import pickle
import signal
import subprocess
import sys
import tracemalloc
import zipfile

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
from configured import fit_with
from file_cases import FILES, FRAME, NAMES, TARGETS, X, fitted, outputs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder, QuantileTransformer, StandardScaler
from sklearn.svm import LinearSVC

import kernelsieve
from kernelsieve import (
    Candidates,
    ComponentPathCV,
    KernelFisherDiscriminant,
    KernelPCA,
    KernelPLS,
    SparseKernelFisherDiscriminant,
    SparseMaximalAlignment,
    StatisticPlan,
    load,
)
from kernelsieve.exceptions import ModelFileError
from kernelsieve.kernels import KERNELS, Linear, register_kernel
from kernelsieve.rayleigh import DecisionRule

Y = TARGETS["numbers"]


def saved(model, path):
    kernelsieve.save(model, path)
    return kernelsieve.load(path)


def same_outputs(model, other):
    expected = outputs(model)
    found = outputs(other)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert_array_equal(found[name], values)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_loaded_is_what_was_saved(name, tmp_path):
    model = fitted(name)
    twin = saved(model, tmp_path / "model.ksv")
    assert type(twin) is type(model)
    again = tmp_path / "again.ksv"
    kernelsieve.save(twin, again)
    assert content(again) == content(tmp_path / "model.ksv")
    same_outputs(model, twin)


@pytest.mark.parametrize("name", NAMES)
def test_joblib_loads_what_it_dumps(name, tmp_path):
    joblib.dump(fitted(name), tmp_path / "model.joblib")
    same_outputs(fitted(name), joblib.load(tmp_path / "model.joblib"))


@pytest.mark.parametrize("name", NAMES)
def test_cloudpickle_and_skops_load_what_they_dump(name):
    model = fitted(name)
    same_outputs(model, pickle.loads(cloudpickle.dumps(model)))
    dumped = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=dumped)
    assert {kind.partition(".")[0] for kind in types} <= {"kernelsieve", "numpy", "sklearn"}
    same_outputs(model, skops.io.loads(dumped, trusted=types))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("path", sorted(FILES.glob("*.ksv")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_read(path):
    model = kernelsieve.load(path)
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as expected:
        found = outputs(model)
        assert set(found) >= set(expected.files)  # models may have learned to do more
        for name in expected.files:
            compare = assert_allclose if found[name].dtype.kind == "f" else assert_array_equal
            options = {"rtol": 1e-7, "atol": 1e-9} if compare is assert_allclose else {}
            compare(found[name], expected[name], **options)


def test_there_is_a_file_of_every_kind():
    assert {path.stem for path in FILES.glob("*.ksv")} >= set(NAMES)


@pytest.mark.parametrize(
    "steps",
    [
        (MinMaxScaler(), KernelPCA(2), LinearRegression()),
        (QuantileTransformer(n_quantiles=5), KernelPCA(2), RidgeCV()),
        (FeatureUnion([("a", KernelPCA(2)), ("b", StandardScaler())]), Ridge()),
        ("passthrough", KernelPLS(2)),
    ],
    ids=str,
)
def test_pipelines_of_numbers(steps, tmp_path):
    model = make_pipeline(*steps).fit(X, Y)
    same_outputs(model, saved(model, tmp_path / "model.ksv"))


@pytest.mark.parametrize(
    "head",
    [LogisticRegression(), LinearSVC(), RidgeClassifier(), LinearDiscriminantAnalysis()],
    ids=str,
)
def test_pipelines_of_labels(head, tmp_path):
    labels = np.array(["a", "b", "ç"])[TARGETS["labels"]]
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(2), head).fit(X, labels)
    same_outputs(model, saved(model, tmp_path / "model.ksv"))


def test_columns_chosen_by_their_type(tmp_path):
    columns = ColumnTransformer(
        [("words", OrdinalEncoder(), make_column_selector(dtype_include=object))], remainder="drop"
    )
    frame = FRAME.astype({"colour": object})
    twin = saved(columns.fit(frame), tmp_path / "model.ksv")
    assert_array_equal(twin.transform(frame), columns.transform(frame))


def test_other_states(tmp_path):
    rows = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    model = KernelPCA(2, candidates=5, random_state=np.random.RandomState(4))
    fit_with({"dtype": "float32"}, model, rows)
    twin = saved(model, tmp_path / "model.ksv")
    assert_array_equal(twin.transform(rows), model.transform(rows))
    assert twin.transform(rows).dtype == np.float32
    assert twin.random_state.randint(10**6) == model.random_state.randint(10**6)
    with pytest.raises(NotFittedError):
        saved(KernelPCA(2), tmp_path / "model.ksv").transform(X)
    model = (
        make_pipeline(StandardScaler(), KernelPCA(2))
        .set_output(transform="pandas")
        .fit(FRAME[["width"]].fillna(0))
    )
    frame = saved(model, tmp_path / "model.ksv").transform(FRAME[["width"]].fillna(0))
    assert list(frame.columns) == ["kernelpca0", "kernelpca1"]


def test_a_stream_goes_on(tmp_path):
    model = fitted("partial")
    twin = saved(model, tmp_path / "model.ksv").partial_fit(X[:5])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[:5])
    assert_array_equal(twin.transform(X), again.transform(X))


def test_registered_kernels(tmp_path):
    @register_kernel
    class Doubled(Linear):
        name = "doubled"

    try:
        model = KernelPCA(2, kernel="doubled").fit(X)
        same_outputs(model, saved(model, tmp_path / "model.ksv"))
    finally:
        del KERNELS["doubled"]
    with pytest.raises(ModelFileError, match="kernel='doubled' is not known here; register it"):
        kernelsieve.load(tmp_path / "model.ksv")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelPCA(2, kernel=lambda a, b: a @ b), "kernel is .*lambda.*code of yours.*register_kernel"),
        (ComponentPathCV(KernelPLS(2), scoring=lambda *_: 1.0), "scoring is .*code of yours"),
        (make_pipeline(KernelPCA(2), RandomForestRegressor()), "RandomForestRegressor.*joblib"),
        (3, "int is no estimator"),
    ],
    ids=["kernel", "scoring", "forest", "number"],
)
def test_what_a_file_cannot_hold(model, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        kernelsieve.save(model, tmp_path / "model.ksv")
    assert not any(tmp_path.iterdir())


# ---------------------------------------------------------------------- files that were changed


@pytest.fixture
def path(tmp_path):
    kernelsieve.save(fitted("columns"), tmp_path / "model.ksv")
    return tmp_path / "model.ksv"


def content(path):
    """Return the manifest of a file without the numbers of versions."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    return manifest["content"], manifest["arrays"]


def rewritten(path, change=lambda manifest: None, members=None, compression=zipfile.ZIP_STORED):
    """Write a file anew after a change to its manifest or members, with the right hash."""
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(old.pop("manifest.json"))
    change(manifest)
    old |= members or {}
    text = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in old.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", text)
        archive.comment = hashlib.sha256(text).hexdigest().encode()


def set_shape(shape):
    def change(manifest):
        manifest["arrays"]["0"]["shape"] = shape

    return change


def npy_with_shape(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


def set_class(name):
    def change(manifest):
        manifest["content"]["class"] = name

    return change


def forget(manifest):
    del manifest["arrays"]["1"]


REFUSED = {
    "zip bomb": ({"compression": zipfile.ZIP_DEFLATED}, "zip bomb"),
    "negative shape": ({"change": set_shape([-1])}, "must not be negative"),
    "negative shape inside": (
        {"members": {"arrays/0.npy": npy_with_shape((-4,))}},
        "must not be negative|damaged",
    ),
    "huge shape": ({"change": set_shape([10**15])}, "in the manifest"),
    "huge array": (
        {"change": set_shape([10**15]), "members": {"arrays/0.npy": npy_with_shape((10**15,))}},
        "has not the bytes|in the manifest",
    ),
    "future": ({"change": lambda m: m.update(version=99)}, "version 99.*from the future.*Upgrade"),
    "no version": ({"change": lambda m: m.update(version="1")}, "does not exist"),
    "another kind": ({"change": lambda m: m.update(kind="part")}, "holds a part"),
    "another format": ({"change": lambda m: m.update(format="x")}, "not written by kernelsieve"),
    "outside": ({"members": {"../evil.npy": b""}}, "path outside the archive, '../evil.npy'"),
    "absolute": ({"members": {"/etc/evil": b""}}, "path outside the archive"),
    "another member": ({"members": {"extra.bin": b"1"}}, "members are not those"),
    "fewer arrays": ({"change": forget}, "members are not those"),
    "unknown class": ({"change": set_class("os.system")}, "names the class os.system"),
    "class of a module": ({"change": set_class("sklearn.pipeline.os")}, "names the class"),
    "display": ({"change": set_class("LandmarkDisplay")}, "names the class"),
    "no estimator": ({"change": set_class("Fit")}, "unknown here|holds no model"),
    "object array": (
        {"change": lambda m: m["arrays"]["0"].update(dtype="|O")},
        "no place in a file",
    ),
    "no content": ({"change": lambda m: m.update(content=3)}, "holds no model"),
    "deep": (
        {"change": lambda m: m.update(content=json.loads('{"list":[' * 400 + "]}" * 400))},
        "holds no model",
    ),
    "unknown value": ({"change": lambda m: m.update(content={"code": "x"})}, "does not know"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_each_refusal_says_which(name, path):
    options, message = REFUSED[name]
    rewritten(path, **options)
    with pytest.raises(ModelFileError, match=message):
        kernelsieve.load(path)


def test_shapes_that_do_not_agree(tmp_path):
    path = tmp_path / "model.ksv"

    def fewer_landmarks(manifest):
        model = manifest["content"]["state"]["_fit"]["state"]["model"]["state"]
        model["landmarks"] = model["projection"]

    def other_inputs(manifest):
        manifest["content"]["state"]["n_features_in_"] = 2

    for change in (fewer_landmarks, other_inputs):
        kernelsieve.save(fitted("SparseMaximalAlignment"), path)
        rewritten(path, change)
        with pytest.raises(ModelFileError, match="do not agree"):
            kernelsieve.load(path)


def test_cut_short_or_wrong_hash(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFileError, match="damaged, cut short"):
        kernelsieve.load(path)
    path.write_bytes(data[:-1] + (b"0" if data[-1:] != b"0" else b"1"))
    with pytest.raises(ModelFileError, match="manifest has a wrong hash"):
        kernelsieve.load(path)
    with pytest.raises(FileNotFoundError):
        kernelsieve.load(path.with_name("nothing.ksv"))
    with pytest.raises(FileNotFoundError, match=r"nowhere/model\.ksv'$"):
        kernelsieve.save(Ridge().fit([[0.0], [1.0]], [0, 1]), path.parent / "nowhere" / "model.ksv")


def test_a_changed_array_is_named(path):
    with zipfile.ZipFile(path) as archive:
        changed = bytearray(archive.read("arrays/0.npy"))
    changed[-1] ^= 1
    rewritten(path, members={"arrays/0.npy": bytes(changed)})
    with pytest.raises(ModelFileError, match="array 0 has a wrong hash"):
        kernelsieve.load(path)


def test_plans_are_no_models(tmp_path):
    SparseMaximalAlignment(2, candidates=5).prepare(X, Y).save(tmp_path / "plan")
    with pytest.raises(ModelFileError, match="holds a plan, and a model"):
        kernelsieve.load(tmp_path / "plan")
    kernelsieve.save(fitted("KernelPCA"), tmp_path / "model")
    with pytest.raises(ModelFileError, match="holds a model, and a plan"):
        StatisticPlan.load(tmp_path / "model")


def mutated(data, random):
    """Return bytes after one of the accidents that happen to files."""
    start, length = int(random.integers(len(data))), int(random.integers(1, 200))
    match random.integers(6):
        case 0:
            return data[:start]
        case 1:
            flipped = bytearray(data)
            flipped[start] ^= 1 << int(random.integers(8))
            return bytes(flipped)
        case 2:
            return data[:start] + random.bytes(length) + data[start:]
        case 3:
            return data[:start] + data[start + length :]
        case 4:
            return data[:start] + b"\0" * length + data[start + length :]
    return data[:start] + b"\xff" * 4 + data[start + 4 :]


@pytest.mark.slow
def test_mutated_files_load_identically_or_are_refused(path):
    data, random = path.read_bytes(), np.random.default_rng(20)
    expected, refused = outputs(fitted("columns")), 0
    most = 2 * len(data) + 2**20  # the manifest as objects, and what zipfile keeps
    kernelsieve.load(path)  # imports take memory once
    for _ in range(2000):
        path.write_bytes(mutated(data, random))
        tracemalloc.start()
        try:
            model = kernelsieve.load(path)
        except ModelFileError:
            refused += 1
            model = None
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < most
        if model is not None:
            for name, values in outputs(model).items():
                assert_array_equal(values, expected[name])
    assert refused > 1500


def places(value, found):
    """Collect what holds a value in some JSON, with its key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        found.append((value, key))
        if isinstance(inner, dict | list):
            places(inner, found)
    return found


@pytest.mark.filterwarnings("ignore")
def test_forged_manifests_are_refused_or_load(path):
    data, random = path.read_bytes(), np.random.default_rng(21)
    others = [None, -1, 0, 2.5, "x", [], {}, {"array": "0"}, {"class": "Fit", "state": {}}, 10**30]
    refused = 0
    for _ in range(120):
        path.write_bytes(data)

        def forge(manifest):
            found = places(manifest, [])
            holder, key = found[int(random.integers(len(found)))]
            holder[key] = others[int(random.integers(len(others)))]

        rewritten(path, forge)
        try:
            kernelsieve.load(path)
        except ModelFileError:
            refused += 1
    assert refused > 15


# ---------------------------------------------------------------------- writing


def slow(value):
    """Return a value that is tried with the slow tests."""
    return pytest.param(value, marks=pytest.mark.slow)


KILLED = """
import sys, threading, time
import numpy as np
import kernelsieve
from sklearn.preprocessing import StandardScaler
scaler = StandardScaler().fit(np.zeros((2, 3)))
scaler.mean_ = np.zeros(10_000_000)
print("ready", flush=True)
while True:
    kernelsieve.save(scaler, sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kill -9 is a signal of Unix")
@pytest.mark.parametrize("delay", [slow(0.01), 0.05, slow(0.2)])
def test_a_killed_process_leaves_a_whole_file(delay, tmp_path):
    path = tmp_path / "model.ksv"
    kernelsieve.save(fitted("KernelPCA"), path)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
    with process:
        process.stdout.readline()
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    kernelsieve.load(path)


def test_an_interrupted_write_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("numpy.lib.format.write_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernelsieve.save(fitted("KernelPCA"), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_objects_in_parameters_are_kept(tmp_path):
    rows = np.random.default_rng(0).standard_normal((60, 3))
    labels = rows[:, 0] > 0
    models = [
        SparseMaximalAlignment(3, candidates=Candidates(20, how="kmeans"), random_state=0),
        SparseMaximalAlignment(3, candidates=Candidates(rows[:9])),
        KernelFisherDiscriminant(decision=DecisionRule("margin", nu=0.3)),
        SparseKernelFisherDiscriminant(loss=("huber", 0.5)),
    ]
    for model in models:
        model.fit(rows, labels).save(tmp_path / "model.ksv")
        again = load(tmp_path / "model.ksv")
        assert repr(again) == repr(model)
        np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
