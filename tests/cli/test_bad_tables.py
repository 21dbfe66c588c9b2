"""Tables that cannot be used, and options that make no sense: one readable line each."""

import warnings

import numpy as np
import pandas
import pytest

from kernelsieve.cli.columns import coerce_columns, find_task, infer_kinds
from kernelsieve.cli.errors import TableError, _run
from kernelsieve.cli.tables import open_table
from kernelsieve.cli.training import Reading

ROWS = pandas.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7, "y": np.arange(40.0) ** 2})


@pytest.fixture
def said(tmp_path, capsys):
    """Run the program here, on a table; return its line."""

    def said(frame, *options, code=1, target="y"):
        path = tmp_path / "table.csv"
        if isinstance(frame, pandas.DataFrame):
            frame.to_csv(path, index=False)
        else:
            path.write_bytes(frame)
        before = sorted(tmp_path.iterdir())
        output = ["-o", str(tmp_path / "model.ksv"), "-q"]
        with warnings.catch_warnings():
            assert _run(["fit", str(path), "-t", target, *output, *options], debug=False) == code
        assert sorted(tmp_path.iterdir()) == before
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        return line

    return said


def test_tables(said):
    assert "is empty" in said(b"")
    assert "has no rows" in said(b"a,b,y\n")
    assert "No column is left to predict from" in said(ROWS[["y"]])
    assert "cannot be read as a table" in said(b"a,b,y\n1,2,3\n1,2,3,4,5\n")
    assert "cannot be read as a table" in said(b"a,b,y\n\xff\xfe,\0,3\n")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-100], lambda raw: raw[:200] + b"\0" * 50 + raw[250:]]
)
def test_compressed_tables_that_are_damaged(damage, tmp_path, capsys):
    path = tmp_path / "t.csv.gz"
    random = np.random.default_rng(0)
    pandas.DataFrame(random.normal(size=(500, 3)), columns=list("aby")).to_csv(path, index=False)
    path.write_bytes(damage(path.read_bytes()))
    assert _run(["fit", str(path), "-t", "y", "-o", str(tmp_path / "m.ksv")], debug=False) == 1
    said = capsys.readouterr().err
    assert f"{path} is damaged or cut short" in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("ignore")
def test_archives_that_are_cut_short(tmp_path, capsys):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.ones((50, 2)), y=np.arange(50.0))
    path.write_bytes(path.read_bytes()[:-100])
    assert _run(["fit", str(path), "-t", "y", "-o", str(tmp_path / "m.ksv")], debug=False) == 1
    assert f"{path} is damaged or cut short" in capsys.readouterr().err


def test_targets(said):
    assert "has no column 'z'; it has 'a', 'b', 'y'" in said(ROWS, target="z")
    wide = pandas.DataFrame(np.ones((3, 30)), columns=[f"column {i}" for i in range(30)])
    line = said(wide, target="Column 7")
    assert "(is it 'column 7'?)" in line
    assert line.endswith("and 10 more.\n")
    assert "All values of the target 'y' are missing" in said(ROWS.assign(y=np.nan))
    assert "The target 'y' is 3 in all rows" in said(ROWS.assign(y=3))
    assert "The target 'y' is 'a' in all rows" in said(ROWS.assign(y="a"))
    texts = ROWS.assign(y=np.where(ROWS["a"] > ROWS["a"].median(), "flat", "house"))
    line = said(texts, "--task", "regression")
    assert "The target 'y' is text such as" in line
    assert "pass --task classification" in line
    assert "is for classification" in said(ROWS, "--method", "kfd")
    assert "is for classification" in said(ROWS, "--head", "logistic")


def test_options(said):
    assert "--method x is not known; pass auto, sma" in said(ROWS, "--method", "x")
    assert "--head x is not known" in said(ROWS, "--head", "x")
    assert "--k x must be auto" in said(ROWS, "--k", "x")
    assert "--kernel x is not known" in said(ROWS, "--kernel", "x")
    assert "--task x must be" in said(ROWS, "--task", "x")
    assert "no column 'w'" in said(ROWS, "--weight", "w")
    assert "missing or negative" in said(ROWS.assign(w=-1.0), "--weight", "w")
    assert "budget" in said(ROWS, "--budget", "0", code=2)


@pytest.mark.filterwarnings("ignore")
def test_files_that_are_not_there(capsys, tmp_path):
    assert _run(["fit", str(tmp_path / "x.csv"), "-t", "y"], debug=False) == 3
    assert "x.csv: No such file" in capsys.readouterr().err
    (tmp_path / "x.docx").write_text("?")
    assert _run(["fit", str(tmp_path / "x.docx"), "-t", "y"], debug=False) == 1
    assert "unknown file extension" in capsys.readouterr().err
    assert _run(["inspect", str(tmp_path / "x.docx")], debug=False) == 1
    assert "damaged, cut short, or no file of kernelsieve" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_one_corrupt_part_is_named(tmp_path, capsys):
    folder = tmp_path / "parts"
    folder.mkdir()
    ROWS.to_parquet(folder / "a.parquet")
    (folder / "b.parquet").write_bytes(b"PAR1 nothing PAR1")
    assert _run(["fit", str(folder), "-t", "y", "-o", str(tmp_path / "m.ksv"), "-q"], debug=False) == 1
    said = capsys.readouterr().err
    assert "b.parquet cannot be read" in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.filterwarnings("ignore")
def test_counts_are_numbers(tmp_path, capsys):
    """200 different integers are no labels; what was assumed is said, and how to overrule it."""
    frame = pandas.DataFrame({"a": np.arange(400) / 400, "y": np.arange(400) % 200})
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ["-o", str(tmp_path / "m.ksv"), "--method", "sma", "--k", "3", "--gamma", "1"]
    assert _run(["fit", str(tmp_path / "t.csv"), "-t", "y", *options], debug=False) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Regression was chosen, as the target has 200 different numbers" in said
    assert "--task classification overrides this" in said


def test_tasks():
    counts = pandas.Series(np.arange(400) % 200)
    assert find_task(counts, "auto")[0] == "regression"
    task, sentence = find_task(pandas.Series(np.arange(400) % 3), "auto")
    assert task == "classification"
    assert "--task regression overrides this" in sentence
    assert find_task(pandas.Series(["a", "b"]), "auto")[0] == "classification"
    assert find_task(pandas.Series([True, False]), "auto")[0] == "classification"
    assert find_task(pandas.Series([0.5, 1.5]), "auto")[0] == "regression"
    assert find_task(counts, "classification")[0] == "classification"


def test_what_is_new_or_missing_at_prediction():
    frame = pandas.DataFrame(
        {"n": ["1", "2", None], "d": ["2020-01-02", "1970-01-02", None], "c": ["x", "y", None], "u": 1}
    )
    kinds = {"c": "category", "n": "number", "d": "date"}
    found = coerce_columns(frame.assign(n=["1", "two", None]), kinds)
    assert list(found.columns) == ["c", "n", "d"]
    assert found["n"].isna().tolist() == [False, True, True]
    assert found["d"][1] == 1.0
    assert found["c"].isna().tolist() == [False, False, True]
    with pytest.raises(TableError, match="no column 'c', which the model needs; it has 'n', 'd', 'u'"):
        coerce_columns(frame.drop(columns="c"), kinds)


def test_kinds():
    frame = pandas.DataFrame(
        {
            "number": [1, 2, 3],
            "text number": ["1", "2.5", None],
            "date": ["2020-01-01", "2020-02-03T10:00", None],
            "truth": [True, False, True],
            "infinite": [1.0, np.inf, 2.0],
        }
    )
    towns = pandas.DataFrame({"town": np.arange(2000) % 80, "name": np.arange(2000)}).astype(str)
    kinds, notes = infer_kinds("t" + towns, [])
    assert kinds == {"town": "category"}
    assert "'name' is left out: it has 2000 different texts" in notes[0]
    kinds, _ = infer_kinds(frame, [])
    assert kinds == {
        "number": "number",
        "text number": "number",
        "date": "date",
        "truth": "number",
        "infinite": "number",
    }


def test_labels_that_are_whole_numbers_stay_so():
    frame = pandas.DataFrame({"a": range(30), "y": [0.0, 1.0, np.nan] * 10})
    roles = {"target": "y", "drop": [], "weight": None, "group": None}
    rows = Reading.infer(frame, roles, "auto").labelled(frame)
    assert rows.y.dtype == np.int64
    assert rows.n_dropped == 10


def test_samples_are_drawn_from_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelsieve.cli.tables.ROWS", 7)
    ROWS.to_csv(tmp_path / "t.csv", index=False)
    table = open_table(str(tmp_path / "t.csv"))
    some, n_rows = table.sampled(12, 0)
    assert n_rows == 40
    assert len(some) == 12
    assert some.index.is_monotonic_increasing
    assert (some.index == some["a"].astype(float)).all()
    assert table.sampled(40, 0)[0]["a"].tolist() == ROWS["a"].astype(str).tolist()
