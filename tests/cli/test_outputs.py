"""Outputs are checked before any work, and are never inputs."""

import os
import shutil

import pytest

from kernelsieve.cli.errors import TableError
from kernelsieve.cli.outputs import check_files, check_format

#: Commands, with the names of files that they read and of those that they write.
COMMANDS = {
    "fit": ("fit {t.csv} -t price -o {out}", ["t.csv"]),
    "transform": ("transform {m.ksv} {t.csv} -o {out}", ["m.ksv", "t.csv"]),
    "predict": ("predict {m.ksv} {t.csv} -o {out}", ["m.ksv", "t.csv"]),
    "report": ("report {m.ksv} {t.csv} -o {out}", ["m.ksv", "t.csv"]),
    "compare": ("compare {t.csv} -t price --csv {out}", ["t.csv"]),
    "compare as HTML": ("compare {t.csv} -t price --html {out}", ["t.csv"]),
    "prepare": ("prepare {t.csv} -t price -o {out}", ["t.csv"]),
    "statistic": ("statistic {m.ksv} {t.csv} -o {out}", ["m.ksv", "t.csv"]),
    "merge": ("merge {m.ksv} {t.csv} -o {out}", ["m.ksv", "t.csv"]),
    "finish": ("finish {m.ksv} {t.csv} -o {out}", ["m.ksv", "t.csv"]),
    "export": ("export {m.ksv} --c {out}", ["m.ksv"]),
    "export as ONNX": ("export {m.ksv} --onnx {out}", ["m.ksv"]),
}


@pytest.fixture
def files(folder, tmp_path):
    """Return files to read, which no command may change, and what fills them into a command."""
    shutil.copy(folder / "plain.ksv", tmp_path / "m.ksv")
    shutil.copy(folder / "plain.csv", tmp_path / "t.csv")
    before = {name: (tmp_path / name).read_bytes() for name in ("m.ksv", "t.csv")}
    yield lambda line, output: [
        str(tmp_path / word[1:-1]) if word[1:-1] in before else str(output) if word == "{out}" else word
        for word in line.split()
    ]
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def _linked(path, kind):
    """Return another name of a file."""
    other = path.with_name(f"other {path.name}")
    if kind == "itself":
        return path.parent / "." / path.name
    if kind == "hard link":
        os.link(path, other)
    else:
        other.symlink_to(path)
    return other


@pytest.mark.parametrize(("line", "reads"), COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("kind", ["itself", "link", "hard link"])
def test_inputs_are_never_overwritten(line, reads, kind, files, run, tmp_path):
    for name in reads:
        output = _linked(tmp_path / name, kind)
        before = sorted(tmp_path.iterdir())
        said = run(*files(line, output), code=1)[1]
        assert "is read by this command, too; name another file" in said
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("line", [line for line, _ in COMMANDS.values()], ids=COMMANDS)
def test_outputs_are_checked_before_any_work(line, files, run, tmp_path, monkeypatch):
    """So no file is opened: neither tables nor models."""
    for module in ("fit", "predict", "report", "compare", "statistic"):
        monkeypatch.setattr(f"kernelsieve.cli.{module}.open_table", None)
    monkeypatch.setattr("kernelsieve.cli.predict.load", None)
    monkeypatch.setattr("kernelsieve.cli.statistic.TablePlan", None)
    monkeypatch.setattr("kernelsieve.cli.statistic.StatisticPart", None)
    assert "Is a folder; name a file in it" in run(*files(line, tmp_path), code=3)[1]
    assert "Its folder does not exist" in run(*files(line, tmp_path / "no" / "out.csv"), code=3)[1]


def test_two_outputs_are_two_files(files, run, tmp_path):
    line = files("export {m.ksv} --c {out} --onnx {out}", tmp_path / "out")
    assert "is written by this command, too" in run(*line, code=1)[1]
    assert not (tmp_path / "out").exists()


def test_a_part_of_a_folder_is_an_input(tmp_path):
    part = tmp_path / "inner" / "a.parquet"
    part.parent.mkdir()
    part.write_bytes(b"")
    with pytest.raises(TableError, match="is read by this command, too"):
        check_files([tmp_path], [part])
    check_files([tmp_path], [tmp_path / "b.parquet"])


def test_redirected_input_is_an_input(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(TableError, match="Standard input is read by this command, too"):
            check_files(["-"], [path])
    with path.open("a") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        with pytest.raises(TableError, match="Standard output cannot be written"):
            check_files([path], ["-"])
    monkeypatch.setattr("sys.stdout", None)
    check_files([path], ["-"])


def test_devices_may_be_read_and_written_at_once():
    check_files([os.devnull], [os.devnull, os.devnull])


def test_formats(tmp_path):
    for name in ("-", "a.csv", "a.tsv", "a.parquet", "a.npy", os.devnull):
        check_format(str(name))
    with pytest.raises(TableError, match="must end in"):
        check_format("a.xyz")
