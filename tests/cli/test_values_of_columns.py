"""The same value is the same number, date or category, whatever else a table has."""

import datetime
import gzip

import numpy as np
import pandas
import pytest

from kernelsieve import SieveRegressor
from kernelsieve.cli import fit, tables
from kernelsieve.cli.columns import as_texts, coerce_columns, find_task, infer_kinds
from kernelsieve.cli.tables import open_table
from kernelsieve.cli.training import Reading

ROLES = {"target": "y", "drop": [], "weight": None, "group": None}
QUICK = ("--method", "sma", "--budget", 10, "--gamma", 0.1, "-q")


def read(path):
    """Return all rows of a table."""
    return pandas.concat(list(open_table(str(path)).blocks()), ignore_index=True)


def predicted(run, model, frame, path):
    """Return what the program predicts for a table that is written to a file."""
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    run("predict", model, path, "-o", path.with_suffix(".npy"))
    return np.load(path.with_suffix(".npy")).ravel()


# ---------------------------------------------------------------------- codes


@pytest.fixture(scope="module")
def codes(run, tmp_path_factory):
    """Return a model, and its table, whose target is settled by a code."""
    random, folder = np.random.default_rng(0), tmp_path_factory.mktemp("codes")
    frame = pandas.DataFrame({"dep": random.choice(["01", "02", "03", "2A", "2B"], 100)})
    frame["y"] = frame["dep"].map({"01": -11, "02": 3, "03": 8, "2A": 20, "2B": 1}) + 0.01
    frame.to_csv(folder / "t.csv", index=False)
    run("fit", folder / "t.csv", "-t", "y", "-o", folder / "m.ksv", "--task", "regression", *QUICK)
    return folder / "m.ksv", frame


@pytest.mark.parametrize("name", ["n.csv", "n.parquet"])
def test_codes_do_not_depend_on_other_rows(name, codes, run, tmp_path):
    model, frame = codes
    whole = predicted(run, model, frame, tmp_path / f"all {name}")
    assert np.corrcoef(whole, frame["y"])[0, 1] > 0.99
    few = frame["dep"].isin(["01", "02", "03"])
    assert np.array_equal(predicted(run, model, frame[few], tmp_path / name), whole[few])


@pytest.mark.parametrize("block", [3, 1000])
def test_codes_do_not_depend_on_blocks(block, codes, run, tmp_path, monkeypatch):
    model, frame = codes
    frame = frame.sort_values("dep")
    whole = predicted(run, model, frame, tmp_path / "n.csv")
    monkeypatch.setattr(tables, "ROWS", block)
    assert np.allclose(predicted(run, model, frame, tmp_path / "n.csv"), whole, rtol=0, atol=1e-9)
    assert sorted(read(tmp_path / "n.csv")["dep"].unique()) == ["01", "02", "03", "2A", "2B"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_codes_beside_an_empty_cell(suffix, run, tmp_path):
    """Where one value is missing, pandas makes floats of whole numbers."""
    random = np.random.default_rng(0)
    frame = pandas.DataFrame({"c": random.choice(["1", "2", "A"], 90)})
    frame["y"] = frame["c"].map({"1": -10.0, "2": 4.5, "A": 9.25})
    frame.loc[5, "c"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.ksv", "--task", "regression", *QUICK)
    whole = predicted(run, tmp_path / "m.ksv", frame, tmp_path / "a.csv")
    assert whole[frame["c"] == "1"].max() < -5
    numbers = frame[(frame["c"] != "A").to_numpy()]
    typed = numbers.assign(c=pandas.to_numeric(numbers["c"]))  # floats, as one is missing
    if suffix == "parquet":
        numbers = typed
    path = tmp_path / f"n.{suffix}"
    assert np.array_equal(predicted(run, tmp_path / "m.ksv", numbers, path), whole[numbers.index])
    whole_numbers = typed.dropna().astype({"c": int})
    found = predicted(run, tmp_path / "m.ksv", whole_numbers, tmp_path / f"w.{suffix}")
    assert np.array_equal(found, whole[whole_numbers.index])


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None],
        [1.0, 2.0, np.nan],
        pandas.array([1, 2, None], dtype="Int64"),
        pandas.array([1, 2, None], dtype="Float64"),
        pandas.Categorical([1, 2, None]),
        pandas.Series([1.0, 2, None], dtype=object),
        pandas.array(["1", "2", None], dtype="string"),
    ],
)
def test_texts_of_values(values):
    found = as_texts(pandas.Series(values))
    assert found.tolist()[:2] == ["1", "2"]
    assert found.isna().tolist() == [False, False, True]


def test_digits_of_long_numbers_stay(tmp_path):
    """Beside a missing value as well, where floats would lose them."""
    values = [2**60 + 1, 2**60 + 3, None]
    pandas.DataFrame({"c": pandas.array(values, dtype="Int64")}).to_parquet(tmp_path / "t.parquet")
    pandas.DataFrame({"c": [str(2**60 + 1), str(2**60 + 3), None]}).to_csv(tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        assert coerce_columns(read(tmp_path / name), {"c": "category"})["c"].tolist()[:2] == [
            str(2**60 + 1),
            str(2**60 + 3),
        ]


def test_sieves_from_python_know_numbers_among_texts(run, tmp_path):
    """A column of objects may have numbers, which a table has as texts."""
    c = pandas.Series(np.resize(np.array([1, 2.0, "A", None], dtype=object), 80))
    X, y = c.to_frame("c"), c.map({1: -10.0, 2.0: 4.0, "A": 9.0}).fillna(0).to_numpy() + 0.01
    sieve = SieveRegressor(10, kernel="rbf", metric=False, cv=2, random_state=0).fit(X, y)
    sieve.save(tmp_path / "m.ksv")
    for rows in (slice(None), (c != "A").to_numpy()):
        frame = X[rows].assign(c=X["c"][rows].map(lambda v: str(int(v)) if type(v) is float else v))
        found = predicted(run, tmp_path / "m.ksv", frame, tmp_path / "n.csv")
        assert np.allclose(found, sieve.predict(X)[rows])


def test_leading_zeros_are_codes():
    rare = pandas.DataFrame({"c": ["01", "02", "03", "04"] * 30 + ["2A"], "y": range(121)})
    assert infer_kinds(rare, ["y"])[0] == {"c": "category"}
    assert infer_kinds(rare.replace("2A", "05"), ["y"])[0] == {"c": "number"}
    assert infer_kinds(rare.replace("2A", "n/a").replace(r"0(\d)", r"\1", regex=True), ["y"])[0] == {
        "c": "number"
    }


def test_truth_values_are_numbers():
    texts = pandas.DataFrame({"t": ["True", "False", None, "TRUE"] * 5})
    assert infer_kinds(texts, [])[0] == {"t": "number"}
    for values in (texts, pandas.DataFrame({"t": [True, False, None, True]})):
        assert coerce_columns(values, {"t": "number"})["t"].tolist()[:2] == [1.0, 0.0]


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "1.0"], [1, 2, 1]),
        (["01", "02", "01"], ["01", "02", "01"]),
        (["1", "2A", "1"], ["1", "2A", "1"]),
        (["True", "False", "True"], ["True", "False", "True"]),
        ([1.0, 2.0, np.nan], [1, 2]),
        ([True, False, True], ["True", "False", "True"]),
    ],
)
def test_labels(labels, expected):
    frame = pandas.DataFrame({"a": np.arange(30.0), "y": pandas.Series(labels * 10)})
    rows = Reading.infer(frame, ROLES, "auto").labelled(frame)
    assert rows.y.tolist() == expected * 10


def test_one_label_that_is_no_number_makes_all_of_them_texts(tmp_path, monkeypatch):
    """Also where it is not in the sample that settles what columns are."""
    monkeypatch.setattr(fit, "_SAMPLE", 100)
    monkeypatch.setattr(fit, "_IN_MEMORY", 0)
    monkeypatch.setattr(tables, "ROWS", 50)
    random = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": random.normal(size=300), "y": random.choice(["1", "2"], 300)})
    frame.loc[299, "y"] = "2A"
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = open_table(str(tmp_path / "t.csv"))
    sample = table.sampled(100, 0)[0]
    assert "2A" not in set(sample["y"])
    reading = Reading.infer(sample, ROLES, "auto", table=table)
    assert {label for block in table.blocks() for label in reading.labelled(block).y} == {
        "1",
        "2",
        "2A",
    }


def test_labels_that_a_model_cannot_know(run, tmp_path):
    frame = pandas.DataFrame({"a": np.arange(40.0), "y": [1, 2] * 20})
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.ksv", *QUICK)
    frame.astype({"y": str}).replace("2", "2A").to_csv(tmp_path / "n.csv", index=False)
    said = run("report", tmp_path / "m.ksv", tmp_path / "n.csv", "-o", tmp_path / "r.html", code=1)[1]
    assert "The target 'y' has the label '2A', but all labels of the model are whole numbers" in said


def test_numbers_with_a_few_texts_may_be_labels():
    y = pandas.Series(["1", "2", "3"] * 20 + ["2A"])
    assert find_task(y, "auto")[0] == "classification"


# ---------------------------------------------------------------------- separators


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "y,a,b\n1,2,3\n4,5,6\n",
        "y,a,b\n1,2,3,\n4,5,6,\n",
        "y,a,b,\n1,2,3,\n4,5,6,\n",
        "y,a,b,\n1,2,3\n4,5,6\n",
        "y,a,b,,\n1,2,3,\n4,5,6,,,,\n\n",
        'y,"a",b\r\n1,"2",3\r\n4,5,6, ',
        "\ufeffy,a,b\n1,2,3\n4,5,6",
    ],
)
def test_separators_at_the_end_move_nothing(text, compressed, tmp_path):
    path = tmp_path / ("t.csv.gz" if compressed else "t.csv")
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    assert read(path).to_dict("list") == {"y": ["1", "4"], "a": ["2", "5"], "b": ["3", "6"]}


@pytest.mark.parametrize(
    ("text", "row", "n_values"),
    [
        ("y,a,b\n1,2,3,7\n4,5,6,8\n", 1, 4),
        ("y,a,b\n1,2,3,\n4,5,6,8\n", 2, 4),
        ("y,a,b\n1,2,3\n4,5\n", 2, 2),
        ("y,a,b\n1,2\n4,5\n", 1, 2),
        ("y,a,b,\n1,2,3,4\n", 1, 4),
        ("y,a,b\n1,2,3\n4,5,6,,9\n", 2, 5),
    ],
)
def test_rows_with_other_numbers_of_values_are_refused(text, row, n_values, run, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    said = run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.ksv", code=1)[1]
    assert f"row {row} after the header has {n_values} values, and the header has 3 names" in said
    assert not (tmp_path / "m.ksv").exists()


def test_names_of_columns(tmp_path):
    (tmp_path / "t.csv").write_text('a,a,,a.1,"b\n c"\n1,2,3,4,"5,\n6"\n')
    found = read(tmp_path / "t.csv")
    assert list(found) == ["a", "a.1", "Unnamed: 2", "a.1.1", "b\n c"]
    assert found.iloc[0].tolist() == ["1", "2", "3", "4", "5,\n6"]


def test_quotes_that_do_not_end(run, tmp_path):
    (tmp_path / "t.csv").write_text('y,a\n1,2\n"3,4\n5,6\n')
    said = run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.ksv", code=1)[1]
    assert "cannot be read as a table: unexpected end of data" in said


def test_missing_values_are_those_of_pandas(tmp_path):
    texts = ["", "NA", "nan", "None", "null", "#N/A", "n/a", "-", "0", "missing"]
    pandas.DataFrame({"a": texts, "b": 1}).to_csv(tmp_path / "t.csv", index=False)
    expected = pandas.read_csv(tmp_path / "t.csv")["a"].isna()
    assert read(tmp_path / "t.csv")["a"].isna().tolist() == expected.tolist()


def test_wide_tables_are_read_in_small_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelsieve.cli.separated._VALUES", 20)
    pandas.DataFrame(np.ones((7, 10))).to_csv(tmp_path / "t.csv", index=False)
    assert [len(block) for block in open_table(str(tmp_path / "t.csv")).blocks()] == [2, 2, 2, 1]


# ---------------------------------------------------------------------- dates

DAYS = pandas.Series(pandas.date_range("2020-01-01", periods=60))


@pytest.mark.parametrize(
    "form", ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%y", "%Y-%m-%d", "%Y/%m/%d"]
)
def test_all_dates_of_a_column_have_one_format(form):
    """The 2nd of January is not the 1st of February because another date is the 13th of January."""
    texts = DAYS.dt.strftime(form).sample(frac=1, random_state=0)
    kinds, notes = infer_kinds(texts.to_frame("d"), [])
    found = coerce_columns(texts.to_frame("d"), kinds)["d"]
    expected = (DAYS - pandas.Timestamp(0)) / pandas.Timedelta(days=1)
    assert np.array_equal(found, expected[texts.index])
    one = coerce_columns(
        pandas.DataFrame({"d": [pandas.Timestamp("2020-02-01").strftime(form)]}), kinds
    )
    assert one["d"].tolist() == [18293.0]
    order = {"d": "day first", "m": "month first"}.get(form[1])
    assert kinds["d"] == (f"date, {order}" if order else "date")
    assert [order is not None and f"'d': dates are read {order}, as '" in note for note in notes] == (
        [True] if order else []
    )


def test_dates_that_may_be_either(run, tmp_path):
    for text, order, option in (("02.01.2020", "day", "month"), ("02/01/2020", "month", "day")):
        frame = pandas.DataFrame({"d": [text, text.replace("2020", "2021")]})
        kinds, notes = infer_kinds(frame, [])
        assert kinds == {"d": f"date, {order} first"}
        assert notes == [
            f"Column 'd': dates are read {order} first, though '{text}' and all others may be either; "
            f"--dates {option}-first overrides this."
        ]
        assert infer_kinds(frame, [], f"{option}-first")[0] == {"d": f"date, {option} first"}
    table = pandas.DataFrame({"d": ["02.01.2020", "03.04.2021"] * 20, "a": range(40), "y": range(40)})
    table.to_csv(tmp_path / "t.csv", index=False)
    line = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.ksv", "--task", "regression"]
    said = run(*line, *QUICK[:-1], "--dates", "month-first")[1]
    assert "dates are read month first, by --dates" in " ".join(said.split())
    assert "--dates x must be auto, day-first or month-first" in run(*line, "--dates", "x", code=1)[1]


def test_one_date_in_a_large_table_settles_the_order(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 50)
    texts = ["02/01/2020"] * 299 + ["13/01/2020"]
    pandas.DataFrame({"d": texts, "y": range(300)}).to_csv(tmp_path / "t.csv", index=False)
    table = open_table(str(tmp_path / "t.csv"))
    sample = table.sampled(20, 0)[0]
    assert set(sample["d"]) == {"02/01/2020"}
    reading = Reading.infer(sample, ROLES, "regression", table=table)
    assert reading.kinds == {"d": "date, day first"}
    assert "dates are read day first, as '13/01/2020' shows" in reading.notes[1]


def test_dates_beyond_those_of_pandas(run, tmp_path):
    """The years 1 and 9999 say "never", and are missing; others are dates."""
    texts = ["2020-01-02"] * 36 + ["9999-12-31", "0001-01-01", "1600-01-01", "2500-01-01"]
    frame = pandas.DataFrame({"d": texts, "a": np.arange(40.0), "y": np.arange(40.0)})
    (tmp_path / "t.csv").write_text(frame.to_csv(index=False))
    line = ["-t", "y", "-o", tmp_path / "m.ksv", "--task", "regression", *QUICK[:-1]]
    said = " ".join(run("fit", tmp_path / "t.csv", *line)[1].split())
    assert "Column 'd': 2 of 40 values are no date and count as missing, such as '9999-12-31'" in said
    frame["d"] = [datetime.date.fromisoformat(text) for text in texts]
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        run("predict", tmp_path / "m.ksv", tmp_path / name, "-o", tmp_path / f"{name}.npy")
    assert np.array_equal(np.load(tmp_path / "t.csv.npy"), np.load(tmp_path / "t.parquet.npy"))
    found = coerce_columns(read(tmp_path / "t.parquet"), {"d": "date"})["d"]
    assert found.tolist()[-2:] == [-135140.0, 193579.0]
    assert found.isna().tolist() == [False] * 36 + [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-02 12:00", 1.5),
        ("1970-01-02T06:00:00.000Z", 1.25),
        ("1970-1-2 6:00 PM", 1.75),
        ("1970-1-2 12:00 am", 1.0),
        ("02.01.1970 18:00:00+0600", 1.5),
        ("2.1.70", 1.0),
        ("1.2.68", 35825.0),
        ("1970-02-30", None),
        ("30.02.1970", None),
        ("1970-01-02 25:00", None),
    ],
)
def test_dates_and_times(text, expected):
    found = coerce_columns(pandas.DataFrame({"d": [text, None]}), {"d": "date, day first"})["d"]
    assert np.isnan(found[1])
    assert found[0] == expected or (expected is None and np.isnan(found[0]))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_resolution(unit):
    values = pandas.Series(np.array(["1970-01-02T12:00", "NaT"], f"datetime64[{unit}]"))
    for found in (values, values.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")):
        assert coerce_columns(found.to_frame("d"), {"d": "date"})["d"].tolist()[0] == 1.5


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_lists_and_records_are_texts(suffix, run, tmp_path):
    frame = pandas.DataFrame(
        {"l": [[1, 2], [3]] * 20, "r": [{"u": i} for i in range(40)], "b": [b"x"] * 40}
    )
    frame["y"], frame["none"] = np.arange(40.0), [None, [1.5]] * 20
    path = tmp_path / f"t.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_feather(path)
    found = read(path)
    assert list(found) == list(frame)
    assert found["l"].tolist()[:2] == ["[1, 2]", "[3]"]
    assert found["r"].tolist()[:2] == ["{'u': 0}", "{'u': 1}"]
    assert found["none"].isna().tolist() == [True, False] * 20
    line = ["-o", tmp_path / "m.ksv", "--task"]
    run("fit", path, "-t", "y", *line, "regression", *QUICK)
    run("fit", path, "-t", "l", *line, "classification", *QUICK)
