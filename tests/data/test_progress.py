"""What ``verbose`` shows: rows done, rate, time left; and nothing by default."""

import io
import sys
import time

import numpy as np
import pytest

from kernelsieve import KernelFisherDiscriminant, SparseMaximalAlignment
from kernelsieve.data import counted, reported
from kernelsieve.data import progress as module

X = np.random.default_rng(0).normal(size=(500, 3))
Y = X[:, 0] ** 2


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_stages_of_no_time_are_not_told(capsys):
    SparseMaximalAlignment(2, candidates=20, random_state=0, verbose=1).fit(X, Y).transform(X)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "2 features" in captured.out


def test_silence_is_the_default(capsys):
    SparseMaximalAlignment(2, candidates=20, random_state=0).fit(X, Y).transform(X)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_fits_and_transforms_report(every_stage, capsys):
    model = SparseMaximalAlignment(2, candidates=20, random_state=0, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2  # a pass, and a finishing pass
    assert all("[SparseMaximalAlignment: " in line for line in lines)
    assert "summing up] 500 rows of 500 in" in lines[0]
    model.transform(X)
    assert "features] 500 rows of 500" in capsys.readouterr().err


def test_rows_are_counted_once(every_stage, capsys):
    labels = (X[:, 0] > 0).astype(str)
    model = KernelFisherDiscriminant(candidates=20, invariances=[(np.tanh, 0.1)], verbose=1)
    model.fit(X, labels)
    assert "500 rows of 500 in" in capsys.readouterr().err.splitlines()[0]


def test_streams_have_no_end(every_stage, capsys):
    model = SparseMaximalAlignment(2, candidates=20, random_state=0, verbose=1)
    model.fit_batches((X[rows], Y[rows]) for rows in (slice(300), slice(300, 500)))
    assert "500 rows in" in capsys.readouterr().err


def test_time_left(every_stage, monkeypatch, capsys):
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LINES", 0.0)
    with reported("fit", 1), counted(1000) as done:
        time.sleep(0.01)
        done(250)
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("[fit: summing up] 250 rows of 1,000 in 0.0 s, ")
    assert first.endswith(" s left")
    assert last.startswith("[fit: summing up] 250 rows")


def test_a_pass_in_a_silent_fit_does_not_count_for_the_search(every_stage, capsys):
    with reported("search", 1), counted(2, "fits") as done:
        SparseMaximalAlignment(2).fit(X, Y)
        done(1)
    assert "[search: summing up] 1 fits of 2" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["rich", "tqdm"])
def test_bars_on_a_terminal(package, monkeypatch):
    pytest.importorskip(package)
    if package == "tqdm":
        monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    SparseMaximalAlignment(2, candidates=20, random_state=0, verbose=1).fit(X, Y)
    assert "500" in sys.stderr.getvalue()
    assert "SparseMaximalAlignment" in sys.stderr.getvalue()
