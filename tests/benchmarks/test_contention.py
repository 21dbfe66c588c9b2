"""The benchmark of fits beside a busy process compares three ways to run them."""

import os

import pytest

from benchmarks import contention, record


def test_every_work_has_a_row(monkeypatch, tmp_path, capsys):
    everyone = os.sched_getaffinity(0)
    works = {"a sum": (10, 2, "y.sum()"), "a product": (10, 2, "X.T @ y")}
    monkeypatch.setattr(contention, "WORKS", works)
    found = record.run("contention", contention.main, tmp_path)
    (table,) = found.tables("contention")
    assert [row[0] for row in table["rows"]] == list(works)
    assert os.sched_getaffinity(0) == everyone
    printed = capsys.readouterr().out
    assert (
        printed.index("   a sum:")
        < printed.index("   a product:")
        < printed.index("one thread / quiet")
    )


def test_what_fails_says_so(monkeypatch):
    with pytest.raises(contention.subprocess.CalledProcessError):
        contention.fit_seconds(10, 1, "raise SystemExit(3)")
