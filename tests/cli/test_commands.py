"""Every command, through the program as it is installed."""

import ctypes
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas
import pytest
from cli_program import PROGRAM, environment

import kernelsieve
from kernelsieve.cli.columns import coerced
from kernelsieve.cli.errors import _run


def test_fit_says_what_it_assumed(folder, houses):
    said = (folder / "said.txt").read_text()
    assert "Regression was assumed" in said
    assert "--task classification overrules" in said
    assert "1 of 160 rows have no target" in said
    assert "Column 'street' is left out: it has 160 different texts" in said
    assert "Column 'nothing' is left out: it has no values" in said
    model = kernelsieve.load(folder / "price.ksv")
    assert model.kinds == {
        "living area, m²": "number",
        'the "rooms"': "number",
        "colour é": "category",
        "sold on": "date",
    } | ({"mixed": "category"} if "mixed" in model.kinds else {})
    rows = houses.dropna(subset="price")
    assert np.corrcoef(model.predict(rows), rows["price"])[0, 1] > 0.95


def test_predictions(folder, houses, run):
    out, _ = run(
        "predict", folder / "price.ksv", folder / "houses.csv", "--keep", "street", "--explain", 2
    )
    found = pandas.read_csv(io.StringIO(out))
    model = kernelsieve.load(folder / "price.ksv")
    assert np.allclose(found["prediction"], model.predict(houses))
    assert found["street"].tolist() == houses["street"].tolist()
    assert (found["contribution_1"].abs() >= found["contribution_2"].abs()).all()
    assert set(found["landmark_1"]) <= set(range(160))
    assert not hasattr(model, "explain")  # an extractor with a head
    sieve = kernelsieve.load(folder / "auto.ksv")
    explained = sieve.explain(houses)
    total = explained.baseline + explained.contributions.sum(axis=1)
    assert np.allclose(total, sieve.predict(houses))


def test_probabilities_in_other_orders_and_formats(folder, houses, run, tmp_path):
    shuffled = houses[houses.columns[::-1]].assign(more=1)
    shuffled.to_parquet(tmp_path / "table.parquet")
    path = tmp_path / "out.parquet"
    run("predict", folder / "dear.ksv", tmp_path / "table.parquet", "--proba", "-o", path)
    found = pandas.read_parquet(path)
    model = kernelsieve.load(folder / "dear.ksv")
    assert found["prediction"].tolist() == model.predict(houses).tolist()
    p = found[["probability_no", "probability_yes"]].to_numpy()
    assert np.allclose(p, model.predict_proba(houses))
    assert np.allclose(p.sum(axis=1), 1)


def test_features(folder, houses, run, tmp_path):
    run("transform", folder / "price.ksv", folder / "houses.csv", "-o", tmp_path / "out.npy", "--k", 2)
    expected = kernelsieve.load(folder / "price.ksv").transform(houses)[:, :2]
    assert np.allclose(np.load(tmp_path / "out.npy"), expected)


def test_features_of_a_sieve(folder, houses, run_here, tmp_path, capsys):
    path, table = folder / "auto.ksv", folder / "houses.csv"
    run_here("transform", path, table, "-o", tmp_path / "out.npy")
    assert np.allclose(np.load(tmp_path / "out.npy"), kernelsieve.load(path).transform(houses))
    again = ["transform", str(path), str(table), "-o", str(tmp_path / "again.npy"), "--k", "2"]
    assert _run(again, debug=False) == 1
    assert "--k 2 is not for a SieveRegressor" in " ".join(capsys.readouterr().err.split())


def test_weights_groups_and_new_categories(houses, run, run_here, tmp_path, capsys):
    table = houses.assign(weight=np.where(houses.index < 100, 1.0, 0.0), block=houses.index // 10)
    table.to_csv(tmp_path / "t.csv", index=False)
    quick = (
        "--method",
        "sma",
        "--budget",
        10,
        "--gamma",
        "scale",
        "-q",
        "-t",
        "price",
        "--drop",
        "dear",
    )
    roles = ("--weight", "weight", "--group", "block")
    run_here("fit", tmp_path / "t.csv", "-o", tmp_path / "m.ksv", *quick, *roles)
    model = kernelsieve.load(tmp_path / "m.ksv")
    assert {"weight", "block"}.isdisjoint(model.kinds)
    assert max(model.fitted.best_estimator_.extractor.landmark_indices_) < 100  # of weight
    assert model.fitted.cv.get_n_splits() == 5
    new = houses.assign(**{"colour é": "never seen", "sold on": "not a date"})
    new.drop(columns=["price", "dear"]).to_csv(tmp_path / "new.csv", index=False)
    out, err = run("predict", tmp_path / "m.ksv", tmp_path / "new.csv")
    assert np.isfinite(pandas.read_csv(io.StringIO(out))["prediction"]).all()
    lost = (
        "'sold on': 160 of 160 values are no date and count as missing, such as 'not a date' in row 1."
    )
    assert lost in " ".join(err.split())
    new.drop(columns="sold on").to_csv(tmp_path / "short.csv", index=False)
    assert _run(["predict", str(tmp_path / "m.ksv"), str(tmp_path / "short.csv")], debug=False) == 1
    assert "no column 'sold on', which the model needs" in capsys.readouterr().err
    proba = ["predict", str(tmp_path / "m.ksv"), str(tmp_path / "new.csv"), "--proba"]
    assert _run(proba, debug=False) == 1
    assert "has no probabilities" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["price", "auto"])
def test_intervals_hold_the_target(name, folder, houses, run_here, tmp_path):
    out = tmp_path / "out.csv"
    run_here("predict", folder / f"{name}.ksv", folder / "houses.csv", "--interval", 0.8, "-o", out)
    found = pandas.read_csv(out).assign(price=houses["price"]).dropna()
    inside = (found["lower"] <= found["price"]) & (found["price"] <= found["upper"])
    assert 0.7 <= inside.mean() <= 1.0
    assert np.allclose(found[["lower", "upper"]].mean(axis=1), found["prediction"])


def test_what_has_no_intervals(folder, tmp_path, capsys):
    arguments = ["predict", str(folder / "dear.ksv"), str(folder / "houses.csv"), "--interval", "0.9"]
    assert _run(arguments, debug=False) == 1
    assert "Labels have no intervals; ask for --proba" in capsys.readouterr().err


@pytest.mark.parametrize("head", ["logistic", "svm"])
def test_heads_choose_their_own_number_of_features(head, folder, houses, run_here, tmp_path):
    target, other = ("dear", "price") if head == "logistic" else ("price", "dear")
    options = ("--method", "sma", "--budget", 12, "--gamma", "scale", "--head", head, "-q")
    model_file = tmp_path / "m.ksv"
    run_here("fit", folder / "houses.csv", "-t", target, "--drop", other, "-o", model_file, *options)
    search = kernelsieve.load(model_file).fitted
    assert set(search.best_params_) == {"head__C"}
    assert type(search.head) is type(search.best_estimator_.head)
    assert len(set(search.path_["k"])) > 3
    rows = houses.dropna(subset=target)
    predicted = kernelsieve.load(model_file).predict(rows)
    if head == "logistic":
        assert np.mean(predicted == rows[target]) > 0.9
    else:
        assert np.corrcoef(predicted, rows[target])[0, 1] > 0.95


@pytest.mark.parametrize("kind", ["tsv.gz", "feather", "npz", "npy", "svm", "folder", "stdin"])
def test_formats(kind, run, run_here, tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 2)).round(3)
    frame = pandas.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "target": (X[:, 0] ** 2).round(3)})
    target, data, stdin = "target", tmp_path / f"table.{kind}", None
    if kind == "tsv.gz":
        frame.to_csv(data, sep="\t", index=False)
    elif kind == "feather":
        frame.to_feather(data)
    elif kind == "npz":
        np.savez(data, X=X, target=frame["target"])
    elif kind == "npy":
        np.save(data, frame.to_numpy())
        target = "x2"
    elif kind == "svm":
        from sklearn.datasets import dump_svmlight_file

        dump_svmlight_file(X, frame["target"], str(data))
    elif kind == "folder":
        data.mkdir()
        frame[:30].to_parquet(data / "a.parquet")
        frame[30:].to_parquet(data / "b.parquet")
    else:
        data, stdin = "-", frame.to_csv(index=False).encode()
    model = tmp_path / "model.ksv"
    arguments = ("fit", data, "-t", target, "-o", model, "--k", 5, "--gamma", 0.5, "--method", "sma")
    if stdin is None:
        run_here(*arguments)
    else:
        run(*arguments, stdin=stdin)
    found = kernelsieve.load(model)
    assert found.kinds == {"x0": "number", "x1": "number"}
    assert found.fitted.best_n_components_ == 5
    assert found.fitted.best_estimator_.extractor.gamma_ == 0.5


def test_inspect(folder, run):
    out, _ = run("inspect", folder / "price.ksv")
    for text in (
        "SparseMaximalAlignment",
        "RBF(gamma=",
        "kernel evaluations",
        "colour é",
        "Mean test score",
    ):
        assert text in out


def test_columns_have_their_names_everywhere(folder, run_here, tmp_path, capsys):
    run_here("inspect", folder / "auto.ksv")
    said = capsys.readouterr().out
    run_here("report", folder / "auto.ksv", folder / "houses.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    for text in (said, page):
        assert "SieveRegressor" in text
        assert "The features that count most: living area, m²" in " ".join(text.split())
        assert not re.search(r"(?<!#)\bx\d+\b", re.sub("<svg.*?</svg>", "", text, flags=re.DOTALL))
    for part in ("Importances", "Landmarks", "What was tried", "Residuals"):
        assert f"<h2>{part}</h2>" in page
    model = kernelsieve.load(folder / "auto.ksv")
    first = pandas.read_csv(folder / "houses.csv").iloc[model.landmark_rows[0]]
    assert model.landmarks["colour é"][0] == first["colour é"]
    assert model.landmarks["price"][0] == f"{first['price']:.6g}"


def test_reports(folder, run, run_here, tmp_path):
    for name, parts in (("price", ["Residuals"]), ("dear", ["Confusion matrix", "Calibration"])):
        page = tmp_path / f"{name}.html"
        through = run if name == "price" else run_here
        through("report", folder / f"{name}.ksv", folder / "houses.csv", "-o", page)
        text = page.read_text()
        for part in (
            "Score against the number of features",
            "Landmarks",
            "The first two features",
            *parts,
        ):
            assert f"<h2>{part}</h2>" in text
        assert text.count("<svg") >= 3
        assert "<script" not in text
        assert not [
            start for start in ('src="http', 'href="http', "url(http", "@import") if start in text
        ]
        assert 'name="viewport"' in text
        assert "color-scheme: light dark" in text


@pytest.mark.slow
def test_compare(folder, run, tmp_path):
    paths = {"csv": tmp_path / "c.csv", "html": tmp_path / "c.html"}
    options = [item for name, path in paths.items() for item in (f"--{name}", path)]
    less = ("--budget", 10, "--folds", 2)
    out, _ = run("compare", folder / "plain.csv", "-t", "price", *less, *options)
    table = pandas.read_csv(paths["csv"])
    assert {"kernelsieve sma", "KernelPCA", "Nystroem", "HistGradientBoosting", "linear"} <= set(
        table["method"]
    )
    assert table["1 - R2"].is_monotonic_increasing
    assert "Take " in out
    assert "<table" in paths["html"].read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("target", "other"), [("price", "dear"), ("dear", "price")])
def test_parts(target, other, houses, run, run_here, tmp_path):
    halves = houses[::2], houses[1::2]
    for name, half in zip("ab", halves, strict=True):
        half.to_csv(tmp_path / f"{name}.csv", index=False)
    plan = tmp_path / "plan.ksv"
    run = run if target == "price" else run_here
    run("prepare", tmp_path / "a.csv", "-t", target, "--drop", other, "-o", plan, "--budget", 15)
    run("statistic", plan, tmp_path / "a.csv", "-o", tmp_path / "a.part")
    run_here("statistic", plan, tmp_path / "b.csv", "-o", tmp_path / "b.part")
    run("merge", tmp_path / "a.part", tmp_path / "b.part", "-o", tmp_path / "all.part")
    run("finish", plan, tmp_path / "all.part", "-o", tmp_path / "model.ksv")
    model = kernelsieve.load(tmp_path / "model.ksv")
    rows = houses.dropna(subset=target)
    predicted = model.predict(rows)
    if target == "price":
        assert np.corrcoef(predicted, rows["price"])[0, 1] > 0.9
    else:
        assert np.mean(predicted == rows["dear"]) > 0.9
    assert f"sums of {len(rows)} rows" in model.notes[-1]


def test_export(folder, houses, run, tmp_path):
    """The model that fit makes by default, of a table with categories, gaps and dates."""
    runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    _, said = run("export", folder / "auto.ksv", "--onnx", tmp_path / "m.onnx", "--c", tmp_path / "m.c")
    assert "kernel evaluations" in said
    assert "Days since 1970-01-01 stand for dates: sold on." in said
    model = kernelsieve.load(folder / "auto.ksv")
    rows = coerced(houses, model.kinds)
    texts = [name for name, kind in model.kinds.items() if kind == "category"]
    inputs = {
        "X": rows.drop(columns=texts).to_numpy(dtype=float),
        "categories": rows[texts].fillna("").to_numpy(dtype=object),
    }
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    expected = model.predict(houses)
    assert np.allclose(session.run(None, inputs)[0], expected, 1e-10, 1e-10)
    compiler = shutil.which("cc")
    if compiler is not None:
        library = tmp_path / "model.so"
        subprocess.run(
            [compiler, "-shared", "-fPIC", tmp_path / "m.c", "-o", library, "-lm"], check=True
        )
        served = ctypes.CDLL(str(library))
        served.model_code.restype = ctypes.c_double
        first = rows.iloc[3]
        x = np.array(
            [
                served.model_code(i, first[name].encode()) if name in texts else first[name]
                for i, name in enumerate(model.kinds)
            ],
            dtype=float,
        )
        out = np.empty(1)
        served.model(x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
        assert np.allclose(out, expected[3], 1e-10, 1e-10)


def test_export_of_features(folder, houses, run_here, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    run_here("export", folder / "plain.ksv", "--onnx", tmp_path / "m.onnx", "--features")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    model = kernelsieve.load(folder / "plain.ksv")
    X = houses[list(model.kinds)].to_numpy(dtype=float)
    assert np.allclose(session.run(None, {"X": X})[0], model.transform(houses), 1e-8, 1e-8)


@pytest.mark.slow
def test_demo_papers_and_bench(run, tmp_path):
    _, said = run("demo", cwd=tmp_path)
    assert "kernelsieve inspect diabetes.ksv" in said
    assert (tmp_path / "diabetes.ksv").exists()
    _, said = run("demo", cwd=tmp_path, code=1)
    assert "diabetes.csv is in this folder already" in said
    assert "SparseMaximalAlignment" in run("papers")[0]
    assert "in the sources" in run("papers", "list", cwd=tmp_path, code=1)[1]
    assert "in the sources" in run("bench", cwd=tmp_path, code=1)[1]


@pytest.mark.slow
def test_papers_are_run_in_the_sources(run):
    assert "dhanjal2009/table3" in run("papers", "list", cwd=Path(__file__).parents[2])[0]


def test_help_loads_nothing_large():
    call = [sys.executable, "-X", "importtime", "-m", "kernelsieve", "--help"]
    done = subprocess.run(call, check=True, capture_output=True, text=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "pandas", "pyarrow", "matplotlib"}


def test_help(run):
    out, _ = run("--help")
    commands = "fit transform predict inspect report compare prepare statistic merge finish export demo"
    for command in [*commands.split(), "papers", "bench", "--install-completion"]:
        assert command in out
    assert "Exit codes: 0 done, 1 the data or the model cannot be used, 2 wrong usage" in out
    assert "Example: kernelsieve fit" in run("fit", "--help")[0]
    assert run("--version")[0].strip() == kernelsieve.__version__


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes break otherwise elsewhere")
def test_a_broken_pipe(folder, houses, tmp_path):
    many = pandas.concat([houses] * 200)
    many.to_csv(tmp_path / "many.csv", index=False)
    command = [*PROGRAM, "predict", str(folder / "price.ksv"), str(tmp_path / "many.csv")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout.readline() == b"prediction\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes break otherwise elsewhere")
def test_nobody_reads_what_inspect_prints(folder):
    command = [*PROGRAM, "inspect", str(folder / "price.ksv")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def _listen_to_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # those who run tests in the background do not


def test_an_interrupt_leaves_nothing(folder, houses, tmp_path):
    pandas.concat([houses] * 1500).to_csv(tmp_path / "many.csv", index=False)
    out = tmp_path / "out.csv"
    command = [
        *PROGRAM,
        "predict",
        str(folder / "price.ksv"),
        str(tmp_path / "many.csv"),
        "-o",
        str(out),
    ]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, env=environment(), preexec_fn=_listen_to_interrupts
    ) as process:
        while not list(tmp_path.glob(".out.csv.*")):
            assert process.poll() is None
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        assert b"Interrupted; nothing was written." in process.stderr.read()
    assert process.returncode == 130
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]


def test_a_full_disk_leaves_nothing(folder, run, tmp_path):
    pytest.importorskip("resource", reason="limits of the size of files are those of Unix")
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from kernelsieve.cli.errors import _run\n"
        "model, data = sys.argv[1:]\n"
        "commands = (['predict', model, data, '-o', 'out.csv'],\n"
        "    ['report', model, data, '-o', 'r.html'], ['export', model, '--c', 'model.c'])\n"
        "sys.exit(sum(code != 3 for code in [_run(command, False) for command in commands]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, folder / "price.ksv", folder / "houses.csv"],
        check=False,
        capture_output=True,
        cwd=tmp_path,
        env=environment() | {"NUMBA_CACHE_DIR": ""},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr.decode().count("File too large") == 3
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_output_that_does_not_fit(folder):
    predict = [*PROGRAM, "predict", str(folder / "plain.ksv"), str(folder / "plain.csv")]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            predict, check=False, stdout=full, stderr=subprocess.PIPE, env=environment()
        )
    assert done.returncode == 3
    assert done.stderr.decode() == "kernelsieve: No space left on device\n"
    assert _run([*predict[len(PROGRAM) :], "-o", "/dev/full"], debug=False) == 1  # has no ending
    assert _run(["export", str(folder / "plain.ksv"), "--c", "/dev/full"], debug=False) == 3
    assert not os.path.isfile("/dev/full")  # a device stays one


def test_completion(run):
    words = {
        "_KERNELSIEVE_COMPLETE": "complete_bash",
        "COMP_WORDS": "kernelsieve pre",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        PROGRAM, check=False, capture_output=True, env=environment() | words, timeout=60
    )
    assert done.stdout.decode().split() == ["predict", "prepare"]


def test_debug_shows_where(folder, tmp_path):
    command = [*PROGRAM, "--debug", "predict", str(folder / "price.ksv"), str(tmp_path / "no.csv")]
    done = subprocess.run(command, check=False, capture_output=True, env=environment())
    assert b"Traceback" in done.stderr
    assert b"No such file or folder" in done.stderr
