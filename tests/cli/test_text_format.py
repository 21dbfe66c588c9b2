"""Delimiters, encodings and decimal commas of tables of text: found in the file, or as told."""

import gzip
import sys
from types import ModuleType

import numpy as np
import pandas
import pytest

from kernelsieve.cli.columns import as_numbers
from kernelsieve.cli.tables import open_table
from kernelsieve.cli.terminal import Terminal
from kernelsieve.cli.text_format import TextFormat

FRAME = pandas.DataFrame(
    {
        "größe, m²": [1.5, 2.25, -3.0, 1234.5, np.nan, 7.125],
        "straße": ["Öl", "a;b", "x", "ä", 'say "é"', "01.02.2020"],
        "target": [1, 2, 3, 4, 5, 6],
    }
)


def read(path, **options):
    """Return the columns of a table, with numbers where all values are."""
    frame = pandas.concat(list(open_table(str(path), options).blocks()))
    numbers = {name: as_numbers(frame[name]) for name in frame}
    return frame.assign(**{name: n for name, n in numbers.items() if n.notna().sum() > len(frame) / 2})


OPEN = {"sep": None, "encoding": None, "decimal": None}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize(
    ("separator", "decimal"), [(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", ".")]
)
def test_what_is_written_is_read(separator, decimal, encoding, tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False, sep=separator, decimal=decimal, encoding=encoding)
    pandas.testing.assert_frame_equal(read(path, **OPEN), FRAME, check_dtype=False)


def test_points_between_thousands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;day;target\n1.234,5;1.234;01.02.2020;1\n-12,25;12.345.678;03.04.2020;2\n")
    frame = read(path, **OPEN)
    assert frame["a"].tolist() == [1234.5, -12.25]
    assert frame["b"].tolist() == [1234, 12345678]
    assert frame["day"].tolist() == ["01.02.2020", "03.04.2020"]


def test_a_comma_in_texts_divides_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size, m;target\n1;2\n3;4\n")
    assert read(path, **OPEN).columns.tolist() == ["size, m", "target"]
    path.write_text("a;b,target\n1,2\n3,4\n")
    assert read(path, **OPEN).columns.tolist() == ["a;b", "target"]
    path.write_text("target\n1\n2\n")
    assert read(path, **OPEN)["target"].tolist() == [1, 2]


def test_text_that_is_not_ascii_far_below(tmp_path):
    rows = b"a,target\n" + b"x,1\n" * 300_000
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(rows + b"\xe9,2\n", 1))
    assert read(path, **OPEN)["a"].iloc[-1] == "é"


def test_options_come_first(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("é;target\n1,5;2\n".encode("cp850"))
    frame = read(path, sep=";", encoding="cp850", decimal=".")
    assert frame.columns.tolist() == ["é", "target"]
    assert frame["é"].tolist() == ["1,5"]
    assert read(path, sep="tab", encoding="cp850", decimal=".").columns.tolist() == ["é;target"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": "ab"}, "one character"),
        ({"encoding": "none"}, "not known"),
        ({"decimal": "x"}, "a comma"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        TextFormat.from_options(**(OPEN | options))


def test_what_was_found_is_said(tmp_path, capsys):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False, sep=";", decimal=",", encoding="latin-1")
    open_table(str(path), OPEN, Terminal())
    said = " ".join(capsys.readouterr().err.split())
    assert "was read with delimiter ';', encoding cp1252 and decimal commas; --sep" in said
    FRAME.to_csv(path, index=False)
    open_table(str(path), OPEN, Terminal())
    assert capsys.readouterr().err == ""


def test_a_german_table_through_all_commands(run, tmp_path):
    random = np.random.default_rng(0)
    frame = pandas.DataFrame(random.normal(size=(60, 2)), columns=["größe", "höhe"])
    frame["preis"] = frame["größe"] + frame["höhe"]
    german = {"index": False, "sep": ";", "decimal": ",", "encoding": "latin-1"}
    frame.to_csv(tmp_path / "t.csv", **german)
    frame.to_csv(tmp_path / "plain.csv", index=False)
    quick = ("-t", "preis", "--method", "sma", "--budget", 10, "--gamma", "scale")
    for name in ("t", "plain"):
        run("fit", f"{name}.csv", *quick, "-o", f"{name}.ksv", cwd=tmp_path)
    found = [
        run("predict", model, data, cwd=tmp_path)[0]
        for model in ("t.ksv", "plain.ksv")
        for data in ("t.csv", "plain.csv")
    ]
    assert len(set(found)) == 1
    stdin = (tmp_path / "t.csv").read_bytes()
    assert run("predict", "t.ksv", "-", stdin=stdin, cwd=tmp_path)[0] == found[0]
    assert run("transform", "t.ksv", "t.csv", "--encoding", "cp1252", cwd=tmp_path)[0]
    run("report", "t.ksv", "t.csv", "-o", "r.html", "--sep", ";", cwd=tmp_path)
    run("prepare", "t.csv", "-t", "preis", "-o", "plan.ksv", cwd=tmp_path)
    run("statistic", "plan.ksv", "t.csv", "-o", "p.part", cwd=tmp_path)


def test_a_wrong_delimiter_is_hinted_at(run, tmp_path):
    (tmp_path / "t.csv").write_text("a;b;target\n1;2;3\n2;3;4\n")
    said = run("fit", "t.csv", "-t", "target", "--sep", ",", code=1, cwd=tmp_path)[1]
    assert "pass its delimiter, such as --sep ';'" in " ".join(said.split())


def test_options_of_text_are_refused_for_other_files(run, tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet")
    said = run("fit", "t.parquet", "-t", "target", "--sep", ";", code=1, cwd=tmp_path)[1]
    assert "--sep, --encoding and --decimal are for CSV and TSV files" in " ".join(said.split())


def test_a_file_that_is_no_text(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(bytes(range(256)) * 10)
    said = run("fit", "t.csv", "-t", "target", code=1, cwd=tmp_path)[1]
    assert "it is not text" in " ".join(said.split())


def test_excel_files(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    FRAME.to_excel(path, index=False)
    pandas.testing.assert_frame_equal(read(path, **OPEN), FRAME, check_dtype=False)


def test_excel_files_need_openpyxl(run, tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").touch()
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "kernelsieve[excel]" in run("fit", "t.xlsx", "-t", "target", code=2, cwd=tmp_path)[1]
    monkeypatch.setitem(sys.modules, "openpyxl", ModuleType("openpyxl"))
    monkeypatch.setattr(pandas, "read_excel", lambda path, dtype: FRAME.astype(dtype))
    pandas.testing.assert_frame_equal(read(tmp_path / "t.xlsx"), FRAME, check_dtype=False)
