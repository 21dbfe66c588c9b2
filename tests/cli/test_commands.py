"""Every command."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
from cli_program import PROGRAM, environment, program

import kernelsieve
from kernelsieve.cli.compare import _recommendation
from kernelsieve.cli.errors import _run


def test_fit_says_what_it_assumed(folder, houses):
    said = (folder / "said.txt").read_text()
    assert "Regression was chosen" in said
    assert "--task classification overrides this" in said
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
    for name in ("price", "auto"):  # an extractor with a head, and a sieve
        model = kernelsieve.load(folder / f"{name}.ksv")
        explained = model.explain(houses)
        total = explained.baseline + explained.contributions.sum(axis=1)
        assert np.allclose(total, model.predict(houses))


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


def test_features_of_a_sieve(folder, houses, run, tmp_path):
    path, table = folder / "auto.ksv", folder / "houses.csv"
    run("transform", path, table, "-o", tmp_path / "out.npy")
    assert np.allclose(np.load(tmp_path / "out.npy"), kernelsieve.load(path).transform(houses))
    said = run("transform", path, table, "-o", tmp_path / "again.npy", "--k", 2, code=1)[1]
    assert "--k 2 is not for a SieveRegressor" in " ".join(said.split())


def test_weights_groups_and_new_categories(houses, run, tmp_path):
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
    run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.ksv", *quick, *roles)
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
    said = run("predict", tmp_path / "m.ksv", tmp_path / "short.csv", code=1)[1]
    assert "no column 'sold on', which the model needs" in said
    said = run("predict", tmp_path / "m.ksv", tmp_path / "new.csv", "--proba", code=1)[1]
    assert "has no probabilities" in said


@pytest.mark.parametrize("name", ["price", "auto"])
def test_intervals_hold_the_target(name, folder, houses, run, tmp_path):
    out = tmp_path / "out.csv"
    run("predict", folder / f"{name}.ksv", folder / "houses.csv", "--interval", 0.8, "-o", out)
    found = pandas.read_csv(out).assign(price=houses["price"]).dropna()
    inside = (found["lower"] <= found["price"]) & (found["price"] <= found["upper"])
    assert 0.7 <= inside.mean() <= 1.0
    assert np.allclose(found[["lower", "upper"]].mean(axis=1), found["prediction"])


def test_what_has_no_intervals(folder, run):
    said = run("predict", folder / "dear.ksv", folder / "houses.csv", "--interval", 0.9, code=1)[1]
    assert "Labels have no intervals; ask for --proba" in said


@pytest.mark.parametrize("head", ["logistic", "svm"])
def test_heads_choose_their_own_number_of_features(head, folder, houses, run, tmp_path):
    target, other = ("dear", "price") if head == "logistic" else ("price", "dear")
    options = ("--method", "sma", "--budget", 12, "--gamma", "scale", "--head", head, "-q")
    model_file = tmp_path / "m.ksv"
    run("fit", folder / "houses.csv", "-t", target, "--drop", other, "-o", model_file, *options)
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
def test_formats(kind, run, tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 2)).round(3)
    frame = pandas.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "target": (X[:, 0] ** 2).round(3)})
    target, data, stdin = "target", tmp_path / f"table.{kind}", b""
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
        "Cross-validated R2 by number of features",
    ):
        assert text in out


def test_names_from_data_are_shown_as_they_are(hostile, run):
    model, table, said = hostile
    shown = run("inspect", model)[0]
    for text in (said, shown):
        assert "\x1b" not in text
        assert "flow [/h]" in text
        assert "[red]" in text
        assert ":smile:" in text
        assert r"a\x1b[31mb" in text
        assert len(text) < 20_000
    said = run("predict", model, table, "--keep", "\x1b", code=1)[1]
    assert "\x1b" not in said
    assert len(said) < 2000


def test_recommendations():
    table = pandas.DataFrame(
        {
            "method": ["a", "b", "c"],
            "R2": [0.9, 0.89, 0.7],
            "std err": 0.02,
            "predict us": [9.0, 2.0, 1.0],
        }
    )
    sentence = _recommendation(table)
    assert sentence.startswith(
        "Recommended: b, with cross-validated R2 0.89, within one standard error"
    )
    assert "the best, 0.9 of a;" in sentence
    table["predict us"] = [1.0, 2.0, 0.5]
    assert _recommendation(table).startswith("Recommended: a, with cross-validated R2 0.9, the best;")


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
    assert table["R2"].is_monotonic_decreasing
    assert "Recommended: " in out
    assert "with cross-validated R2 0." in out
    assert "<table" in paths["html"].read_text()


@pytest.mark.parametrize(("target", "other"), [("price", "dear"), ("dear", "price")])
def test_parts(target, other, houses, run, tmp_path):
    halves = houses[::2], houses[1::2]
    for name, half in zip("ab", halves, strict=True):
        half.to_csv(tmp_path / f"{name}.csv", index=False)
    plan = tmp_path / "plan.ksv"
    run("prepare", tmp_path / "a.csv", "-t", target, "--drop", other, "-o", plan, "--budget", 15)
    run("statistic", plan, tmp_path / "a.csv", "-o", tmp_path / "a.part")
    run("statistic", plan, tmp_path / "b.csv", "-o", tmp_path / "b.part")
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


@pytest.mark.slow
def test_demo(run, tmp_path):
    _, said = run("demo", cwd=tmp_path)
    assert "Regression was chosen" in said
    assert "kernelsieve inspect diabetes.ksv" in said
    assert (tmp_path / "diabetes.ksv").exists()
    _, said = run("demo", cwd=tmp_path, code=1)
    assert "diabetes.csv is in this folder already" in said


def test_papers_are_listed(run):
    assert "SparseMaximalAlignment" in run("papers")[0]


@pytest.mark.slow
def test_papers_and_benchmarks_need_the_sources(tmp_path):
    for command in (["papers", "list"], ["bench"]):
        done = program(*command, cwd=tmp_path)
        assert done.returncode == 1
        assert b"part of the repository" in done.stderr


@pytest.mark.slow
def test_papers_are_run_in_the_sources():
    done = program("papers", "list", cwd=Path(__file__).parents[2])
    assert b"dhanjal2009/table3" in done.stdout


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


def test_the_program_alone_shows_help(run):
    out, err = run(code=2)
    assert "Usage: kernelsieve" in out
    assert err == ""


def test_the_program_as_it_is_installed():
    done = program("--version")
    assert done.stdout.decode().strip() == kernelsieve.__version__
    assert done.returncode == 0


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
    with pytest.raises(FileNotFoundError, match="No such file or folder"):
        _run(["predict", str(folder / "price.ksv"), str(tmp_path / "no.csv")], debug=True)
