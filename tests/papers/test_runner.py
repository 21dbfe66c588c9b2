"""Cells are computed once, kept as they finish, and computed again when they are no longer current."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from papers import __main__, catalogue, page, runner
from papers.catalogue import Entry
from papers.form import Cell, Estimate, Table
from papers.results import best_records, compact, kept, read

CALLS = []


def errors(method, repetitions):
    """Return as many errors as asked for."""
    CALLS.append((method, repetitions))
    if method == "broken":
        raise ArithmeticError("no such method")
    return {"error": [0.1 * repetition for repetition in range(repetitions)]}


TABLE = Table(
    axes=("method",),
    cells=[
        Cell((method,), {"method": method}, {"error": Estimate(0.1, 0.1, 4)})
        for method in ("SMA", "SMC")
    ],
    compute=errors,
    quick={"repetitions": 3},
    full={"repetitions": 5},
    lower_is_better={"error": True},
)


@pytest.fixture
def entry(monkeypatch, tmp_path):
    """A paper with one table, whose results go to a folder of its own."""
    CALLS.clear()
    paper, module = ModuleType("papers.fake", "Somebody: Something."), ModuleType("papers.fake.table1")
    module.__doc__ = "Table 1: errors.\n\nOf two methods.\n"
    paper.TABLES, module.TABLE = ("table1",), TABLE
    monkeypatch.setitem(sys.modules, "papers.fake", paper)
    monkeypatch.setitem(sys.modules, "papers.fake.table1", module)
    monkeypatch.setattr(catalogue, "HERE", tmp_path)
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "__init__.py").touch()
    return Entry("fake", "table1")


def declare(table):
    sys.modules["papers.fake.table1"].TABLE = table


def test_a_finished_cell_is_not_run_again_unless_asked(entry, capsys):
    assert runner.run(["fake"], "quick") == 0
    assert CALLS == [("SMA", 3), ("SMC", 3)]
    assert runner.run(["fake/table1"], "quick") == 0
    assert len(CALLS) == 2
    assert "2 of 2 cells are finished, 0 run now" in capsys.readouterr().out
    assert runner.run(["all"], "quick", again=True) == 0
    assert len(CALLS) == 4
    assert len(entry.results_path.read_text().splitlines()) == 2


def test_what_is_kept_says_what_was_asked_and_found(entry):
    runner.run(["fake"], "quick")
    line = json.loads(entry.results_path.read_text().splitlines()[0])
    assert line["cell"] == "SMA"
    assert line["mode"] == "quick"
    assert line["settings"] == {"method": "SMA", "repetitions": 3}
    assert line["values"]["error"] == {
        "value": pytest.approx(0.1),
        "spread": pytest.approx(0.1),
        "n": 3,
    }
    assert {"python", "numpy", "sklearn", "kernelsieve"} <= set(line["versions"])
    assert line["seconds"] >= 0


def test_a_full_result_answers_for_a_quick_one_and_not_the_other_way(entry):
    runner.run(["fake"], "quick")
    runner.run(["fake"], "full")
    assert CALLS[2:] == [("SMA", 5), ("SMC", 5)]
    assert {record.mode for record in best_records(entry).values()} == {"full"}
    entry.results_path.unlink()
    runner.run(["fake"], "full")
    runner.run(["fake"], "quick")
    assert CALLS[4:] == [("SMA", 5), ("SMC", 5)]


def test_a_cell_with_other_settings_is_stale(entry):
    runner.run(["fake"], "quick")
    declare(replace(TABLE, quick={"repetitions": 4}))
    assert kept(entry) == {}
    runner.run(["fake"], "quick")
    assert CALLS[2:] == [("SMA", 4), ("SMC", 4)]
    assert len(list(read(entry.results_path))) == 2


def test_a_killed_run_loses_nothing_that_was_finished(entry, monkeypatch):
    def killed(jobs, n_jobs):
        yield runner.work(jobs[0])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner, "outcomes", killed)
        with pytest.raises(KeyboardInterrupt):
            runner.run(["fake"], "quick")
    with entry.results_path.open("a") as file:
        file.write('{"cell": "SMC", "mo')
    assert list(kept(entry)) == [("SMA", "quick")]
    runner.run(["fake"], "quick")
    assert CALLS == [("SMA", 3), ("SMC", 3)]


def test_a_line_after_an_unfinished_one_is_not_lost(entry):
    entry.results_path.parent.mkdir()
    entry.results_path.write_text('{"cell": "SMC", "mo')
    runner.run(["fake"], "quick")
    assert set(kept(entry)) == {("SMA", "quick"), ("SMC", "quick")}


def test_a_cell_that_fails_does_not_stop_the_others(entry, capsys):
    declare(replace(TABLE, cells=[Cell(("broken",), {"method": "broken"}), *TABLE.cells]))
    assert runner.run(["fake"], "quick") == 1
    assert "no such method" in capsys.readouterr().out
    assert len(kept(entry)) == 2


def test_missing_data_are_named_and_the_rest_runs(entry, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELSIEVE_DATA", str(tmp_path))
    first, second = TABLE.cells
    declare(replace(TABLE, cells=[replace(first, data=("hitech",)), second]))
    assert runner.run(["fake"], "quick") == 3
    assert CALLS == [("SMC", 3)]
    printed = capsys.readouterr().out
    assert "hitech" in printed
    assert "KERNELSIEVE_DATA" in printed


def test_compaction_keeps_the_order_of_the_table(entry):
    runner.run(["fake"], "quick")
    lines = entry.results_path.read_text().splitlines()
    entry.results_path.write_text("\n".join([*reversed(lines), lines[0]]) + "\n")
    compact(entry)
    assert entry.results_path.read_text().splitlines() == lines


@pytest.mark.slow
def test_processes_give_what_one_gives():
    jobs = runner.outstanding(Entry("dhanjal2009", "table1"), "quick", again=True)[:2]
    alone = {o.job.name: o.found for o in runner.outcomes(jobs, 1)}
    together = {o.job.name: o.found for o in runner.outcomes(jobs, 2)}
    assert None not in alone.values()
    assert alone == together


def test_unknown_names_are_refused(entry, capsys):
    with pytest.raises(SystemExit):
        __main__.main(["run", "no_such_paper"])
    message = capsys.readouterr().err
    assert "no_such_paper" in message
    assert "fake/table1" in message


def test_fewer_than_one_process_is_refused(capsys):
    with pytest.raises(SystemExit):
        __main__.main(["run", "all", "--jobs", "0"])
    assert "--jobs 0" in capsys.readouterr().err


def test_the_list_has_identifiers_and_what_is_finished(entry, capsys):
    runner.run(["fake"], "quick")
    assert __main__.main(["list"]) == 0
    assert "fake/table1" in capsys.readouterr().out


def test_the_page_shows_marks_reasons_and_what_was_not_run(entry):
    runner.run(["fake"], "quick")
    explained = replace(
        TABLE.cells[0], printed={"error": Estimate(0.01, 0.001, 4)}, explanation="because"
    )
    other = replace(TABLE.cells[1], not_comparable="other data", chosen_on_test="the number of errors")
    later = Cell(("later",), {"method": "later"}, {"error": Estimate(0.1)})
    declare(replace(TABLE, cells=[explained, other, later]))
    text = page.page()
    assert "| SMA | 0.010 (0.001) | 0.100 (0.100) | +1.6 | agrees |" in text
    assert "not comparable: other data" in text
    assert "\\* the number of errors" in text
    assert "| later | 0.100 |  |  | not run |" in text
    assert "| fake/table1 | 1 | 0 | 0 | 0 | 1 | 1 |" in text
    declare(replace(TABLE, cells=[replace(explained, printed={"error": Estimate(-1.0, 0.1, 4)})]))
    assert "worse: because |" in page.page()


def test_shares_count_what_can_be_compared_with_and_without_full_runs(entry, monkeypatch):
    monkeypatch.setattr(page, "ASKED", {"fake": ("table1",)})
    first, second = TABLE.cells
    apart = replace(second, printed={"error": Estimate(-1.0, 0.1, 4)})  # worse in the quick form
    aside = Cell(("aside",), {"method": "aside"}, {"error": Estimate(0.1)}, not_comparable="other data")
    declare(replace(TABLE, cells=[first, apart, aside]))
    runner.run(["fake"], "quick")
    assert (
        "| fake/table1 | 1 of 2, 50.0% (missed) | 1 of 2, 50.0% (missed) | 1 of 2, 50.0% (missed) |"
        in page.page()
    )
    declare(replace(TABLE, cells=[first, replace(apart, printed={"error": Estimate(0.2)})]))
    runner.run(["fake"], "full")  # its mean is 0.2, that of the quick form 0.1
    assert "| fake/table1 | 2 of 2, 100.0% | 2 of 2, 100.0% | 2 of 2, 100.0% |" in page.page()
    declare(replace(TABLE, cells=[first, replace(apart, printed={"error": Estimate(0.01, 0.05, 4)})]))
    assert (
        "| fake/table1 | 1 of 2, 50.0% (missed) | 1 of 2, 50.0% (missed) | 2 of 2, 100.0% |"
        in page.page()
    )


def test_shares_without_choices_on_test_errors_come_first(entry, monkeypatch):
    monkeypatch.setattr(page, "ASKED", {"fake": ("table1",)})
    first, second = TABLE.cells
    declare(replace(TABLE, cells=[first, replace(second, chosen_on_test="the number of errors")]))
    runner.run(["fake"], "quick")
    assert "**1 of 1 comparable cells**" in page.page()
    assert "these are 2 of 2." in " ".join(page.page().split())


def test_cells_out_of_reach_are_not_run_and_say_why(entry):
    later = Cell(("later",), {"method": "SMA"}, {"error": Estimate(0.1)}, out_of_reach="no data.")
    noted = replace(TABLE.cells[0], note="printed by mistake.")
    declare(replace(TABLE, cells=[noted, TABLE.cells[1], later], describe=lambda _: "All are there."))
    assert runner.run(["fake"], "quick") == 0
    assert "not run: no data. |" in page.page()
    assert "agrees: printed by mistake. |" in page.page()
    assert "All are there." in page.page()


def test_results_are_described_when_all_are_there(entry):
    declare(replace(TABLE, describe=lambda results: f"SMC has {results['SMC',]['error'].value:.2f}."))
    assert "SMC has" not in page.page()
    runner.run(["fake"], "quick")
    assert "SMC has 0.10." in page.page()
