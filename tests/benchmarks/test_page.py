"""What benchmarks print is kept as data, and the page is what the kept results give."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from benchmarks import common, readme, record
from benchmarks.__main__ import NAMES
from benchmarks.page import PAGE, PLACE, WITH_RESULTS, blocks, page, with_results
from benchmarks.peer_methods import accelerated_pivots
from benchmarks.peers_external.protocol import RidgeHeads, rbf


def small_benchmark():
    print("   how far it is")
    common.heading("a heading")
    common.table(["", "s"], [["one", np.float64(1.23456789)], ["two", float("nan")], ["three", 3]])
    common.verdict("a ratio", 0.5, 1.0, at_least=True)
    print("a conclusion")


def test_what_is_printed_is_kept(tmp_path, capsys):
    found = record.run("small", small_benchmark, tmp_path)
    assert record.read("small", tmp_path) == found
    assert found.tables("a head") == [found.parts[1]["table"]]
    assert found.below("no such") == []
    assert found.parts == [
        {"heading": "a heading"},
        {"table": {"header": ["", "s"], "rows": [["one", 1.23457], ["two", "nan"], ["three", 3]]}},
        {"verdict": {"good": False, "text": "a ratio: 0.50 (at least 1 asked)"}},
        {"remark": "a conclusion"},
    ]
    assert "MISS a ratio: 0.50" in capsys.readouterr().out
    assert {"cores", "cpu", "memory, GB", "system"} <= set(found.machine)
    assert {"python", "numpy", "scipy", "sklearn", "kernelsieve"} == set(found.versions)
    assert [path.name for path in tmp_path.iterdir()] == ["small.json"]


def test_a_benchmark_that_fails_keeps_nothing(tmp_path):
    def fails():
        small_benchmark()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        record.run("small", fails, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_benchmark_that_fails_leaves_what_was_kept(tmp_path):
    kept = record.run("small", small_benchmark, tmp_path)
    with pytest.raises(ZeroDivisionError):
        record.run("small", lambda: 1 / 0, tmp_path)
    assert record.read("small", tmp_path) == kept


def test_nothing_is_recorded_outside_a_run(capsys):
    small_benchmark()
    assert "a heading" in capsys.readouterr().out


def test_parts_become_markdown(tmp_path):
    found = record.run("small", small_benchmark, tmp_path)
    heading, table, lines = blocks(found.parts)
    assert heading == "### a heading"
    assert table.splitlines()[2] == "| one | 1.23 |"
    assert lines == "- **MISS** a ratio: 0.50 (at least 1 asked)\n- a conclusion"


def test_the_page_lists_what_has_no_result(tmp_path):
    text = page(["exact", "fill"], tmp_path)
    assert text.count("- `") == 2
    record.write(
        record.Record("exact", "2026-01-01", 1.0, record.machine(), record.versions()), tmp_path
    )
    text = page(["exact", "fill"], tmp_path)
    assert "## exact" in text
    assert text.count("- `") == 1


def test_the_page_is_made_from_the_results():
    assert PAGE.read_text() == page(NAMES), "run: python -m benchmarks page"


def test_the_table_of_the_readme_is_made_from_the_results():
    text = readme.README.read_text()
    kept = record.read("peers")
    assert kept is not None
    assert readme.PLACE.search(text)
    assert text == readme.filled(text, kept), "run: python -m benchmarks page"


@pytest.mark.parametrize("path", WITH_RESULTS, ids=lambda path: path.name)
def test_results_in_other_pages_are_made_from_the_results(path):
    text = path.read_text()
    places = PLACE.findall(text)
    assert len(places) == {"README.md": 1, "choose.md": 1, "scale.md": 5}[path.name]
    for _, name, heading, _ in places:
        kept = record.read(name)
        assert kept is not None
        assert kept.below(heading), f"{name} has nothing below {heading!r}"
    assert text == with_results(text), "run: python -m benchmarks page"


def test_a_median_is_shown_with_its_range():
    taken = common.Spread([3.0, 1.0, 2.0])
    assert taken == 2.0
    assert str(taken) == "2 (1 to 3)"
    assert str(taken / 4) == "0.5 (0.25 to 0.75)"
    assert str(1000 * taken) == "2e+03 (1e+03 to 3e+03)"
    assert taken / common.Spread([4.0]) == 0.5
    assert str(common.Spread([4.0])) == "4"
    assert str(pickle.loads(pickle.dumps(taken))) == str(taken)


def test_kept_files_name_benchmarks():
    for path in record.RESULTS.glob("*.json"):
        assert path.stem in NAMES
        assert json.loads(path.read_text())["benchmark"] == path.stem


# ---------------------------------------------------------------------- parts of the peers


def test_accelerated_pivots_approximate_the_kernel_matrix():
    X = np.random.default_rng(0).standard_normal((200, 2))
    chosen = accelerated_pivots(X, 0.2, 40, 0)
    assert len(set(chosen)) == len(chosen) == 40
    K, C = rbf(X, X, 0.2), rbf(X, X[chosen], 0.2)
    residual = K - C @ np.linalg.lstsq(rbf(X[chosen], X[chosen], 0.2), C.T, rcond=1e-12)[0]
    assert np.trace(residual) < 1e-4 * np.trace(K)


def test_ridge_heads_solve_the_normal_equations():
    rng = np.random.default_rng(0)
    F, Y = rng.standard_normal((50, 4)), rng.standard_normal((50, 2))
    heads = RidgeHeads(F, Y, [1e-3, 1.0])
    centred = F - F.mean(axis=0)
    for penalty, predicted in zip([1e-3, 1.0], heads(F), strict=True):
        system = centred.T @ centred + 50 * penalty * np.eye(4)
        direct = centred @ np.linalg.solve(system, centred.T @ (Y - Y.mean(axis=0))) + Y.mean(axis=0)
        np.testing.assert_allclose(predicted, direct)
