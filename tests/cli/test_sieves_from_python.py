"""Sieves that were fitted and saved in Python, used from the command line."""

import numpy as np
import pandas
import pytest

import kernelsieve
from kernelsieve import KernelPLS, SieveClassifier, SieveRegressor

QUICK = {"kernel": "rbf", "metric": False, "cv": 2, "random_state": 0}
RANDOM = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "a": RANDOM.normal(size=120).round(3),
        "code": pandas.Categorical(RANDOM.integers(1, 4, 120)),
        "floor": np.where(RANDOM.random(120) < 0.1, None, RANDOM.choice(["1", "2", "3a"], 120)),
        "new": RANDOM.random(120) < 0.5,
    }
)
FRAME["y"] = FRAME["a"] ** 2 + FRAME["code"].astype(float) + FRAME["new"]
FRAME["label"] = np.where(FRAME["y"] > FRAME["y"].median(), "high", "low")
X = FRAME[["a", "code", "floor", "new"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with a table, and sieves of numbers, of labels and of two targets."""
    folder = tmp_path_factory.mktemp("python")
    FRAME.to_csv(folder / "t.csv", index=False)
    SieveRegressor(20, **QUICK).fit(X, FRAME["y"]).save(folder / "y.ksv")
    SieveClassifier(20, **QUICK).fit(X, FRAME["label"]).save(folder / "label.ksv")
    two = np.column_stack([FRAME["y"], -FRAME["y"]])
    SieveRegressor(20, **QUICK).fit(X, two).save(folder / "two.ksv")
    return folder


def test_predictions(files, run):
    out = files / "out.csv"
    run("predict", files / "y.ksv", files / "t.csv", "-o", out, "--interval", 0.8, "--explain", 2)
    found, sieve = pandas.read_csv(out), kernelsieve.load(files / "y.ksv")
    assert np.allclose(found["prediction"], sieve.predict(X))
    assert np.allclose(found[["lower", "upper"]], sieve.predict_interval(X, 0.8))
    assert set(found["landmark_1"]) <= set(sieve.landmark_indices_)
    run("predict", files / "label.ksv", files / "t.csv", "-o", out, "--proba")
    found, sieve = pandas.read_csv(out), kernelsieve.load(files / "label.ksv")
    assert found["prediction"].tolist() == sieve.predict(X).tolist()
    assert np.allclose(found["probability_low"], sieve.predict_proba(X)[:, 1])
    run("predict", files / "two.ksv", files / "t.csv", "-o", out, "--interval", 0.8)
    found, sieve = pandas.read_csv(out), kernelsieve.load(files / "two.ksv")
    assert np.allclose(found[["prediction_1", "prediction_2"]], sieve.predict(X))
    assert np.allclose(found[["lower_2", "upper_2"]], sieve.predict_interval(X, 0.8)[:, 1])
    said = run("predict", files / "two.ksv", files / "t.csv", "--explain", 1, code=1)[1]
    assert "--explain is for models of one target" in said


def test_arrays_have_numbered_columns(run, tmp_path):
    A = FRAME[["a", "y"]].to_numpy()
    sieve = SieveRegressor(10, **QUICK).fit(A, FRAME["y"])
    sieve.save(tmp_path / "m.ksv")
    np.save(tmp_path / "t.npy", A)
    run("predict", tmp_path / "m.ksv", tmp_path / "t.npy", "-o", tmp_path / "out.npy")
    assert np.allclose(np.load(tmp_path / "out.npy").ravel(), sieve.predict(A))
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    said = run("predict", tmp_path / "m.ksv", tmp_path / "t.csv", code=1)[1]
    assert "no column 'x0', which the model needs" in said


def test_reports(files, run, tmp_path):
    page = tmp_path / "r.html"
    said = run("report", files / "y.ksv", files / "t.csv", "-o", page, code=1)[1]
    assert "pass --target" in said
    run("report", files / "y.ksv", files / "t.csv", "-o", page, "--target", "y")
    assert "<h1>y:" in page.read_text()
    X.assign(label=FRAME["label"]).to_csv(tmp_path / "t.csv", index=False)
    run("report", files / "label.ksv", tmp_path / "t.csv", "-o", page)  # the only column that is left
    assert "<h1>label:" in page.read_text()
    assert "<td>ROC AUC</td>" in page.read_text().replace(' class="text"', "")
    said = run("report", files / "two.ksv", files / "t.csv", "-t", "y", "-o", page, code=1)[1]
    assert "several targets" in said


@pytest.mark.parametrize("labels", [FRAME["y"] > 2, (FRAME["y"] > 2) * 2.0, (FRAME["y"] > 2) + 1])
def test_labels_that_are_no_text(labels, run, tmp_path):
    """They are compared with those of a table as the table has them."""
    sieve = SieveClassifier(20, **QUICK).fit(X[["a"]], labels)
    sieve.save(tmp_path / "m.ksv")
    X[["a"]].assign(y=labels).to_csv(tmp_path / "t.csv", index=False)
    run("report", tmp_path / "m.ksv", tmp_path / "t.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    accuracy = np.mean(sieve.predict(X[["a"]]) == labels)
    assert f"<td>{accuracy:.4g}</td></tr>" in page[: page.index("balanced accuracy")]
    run("predict", tmp_path / "m.ksv", tmp_path / "t.csv", "-o", tmp_path / "out.csv")
    found = pandas.read_csv(tmp_path / "out.csv")["prediction"]
    assert (found == sieve.predict(X[["a"]])).all()


def test_export_and_inspect(files, run, tmp_path):
    said = run("export", files / "y.ksv", "--c", tmp_path / "m.c")[1]
    assert "kernel evaluations" in said
    assert (tmp_path / "m.c").stat().st_size > 1000
    assert "SieveRegressor" in run("inspect", files / "y.ksv")[0]


def test_other_estimators_take_arrays(run, tmp_path):
    KernelPLS(2, candidates=20).fit(FRAME[["a"]], FRAME["y"]).save(tmp_path / "m.ksv")
    said = run("predict", tmp_path / "m.ksv", tmp_path / "t.csv", code=1)[1]
    assert "holds a KernelPLS, which takes arrays and not tables" in said
