"""The benchmark of landmarks keeps what is done, way by way."""

import json

from benchmarks import landmark_runs
from benchmarks.landmark_runs import SETS, WAYS, forget, kept_results, missing


def result(name, split, ways):
    errors = {way: {"10": 0.5} for way in ways}
    return json.dumps({"set": name, "split": split, "errors": errors, "held_out_errors": dict(errors)})


def test_ways_may_be_computed_one_after_another(tmp_path, monkeypatch):
    monkeypatch.setattr(landmark_runs, "KEPT", tmp_path / "kept.jsonl")
    some, rest = list(WAYS)[:3], list(WAYS)[3:]
    assert len(list(missing(2))) == 2 * len(SETS)
    lines = [result(SETS[0], 0, some), result(SETS[1], 0, WAYS)]
    landmark_runs.KEPT.write_text("\n".join(lines) + "\n")
    assert next(missing(1)) == (SETS[0], 0, rest)
    assert SETS[1] not in {name for name, _, _ in missing(1)}
    landmark_runs.KEPT.write_text("\n".join([*lines, result(SETS[0], 0, rest)]) + "\n")
    assert [list(kept["errors"]) for kept in kept_results()] == [list(WAYS)] * 2
    forget("SMC")
    assert [(name, ways) for name, _, ways in missing(1)][:2] == [
        (SETS[0], ["SMC"]),
        (SETS[1], ["SMC"]),
    ]
