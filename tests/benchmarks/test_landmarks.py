"""The benchmark of landmarks keeps what is done, way by way, and compares it."""

import json

from benchmarks import landmark_runs
from benchmarks.landmark_runs import FIRST_SPLIT, METRIC, SETS, WAYS, forget, kept_results, missing
from benchmarks.landmarks import IF_PREFERRED, with_preferred


def result(name, split, ways):
    errors = {way: {"10": 0.5} for way in ways}
    return json.dumps({"set": name, "split": split, "errors": errors, "held_out_errors": dict(errors)})


def test_ways_may_be_computed_one_after_another(tmp_path, monkeypatch):
    monkeypatch.setattr(landmark_runs, "KEPT", tmp_path / "kept.jsonl")
    some, rest = list(WAYS)[:3], list(WAYS)[3:]
    assert len(list(missing(2))) == 2 * len(SETS)
    lines = [result(SETS[0], FIRST_SPLIT, some), result(SETS[1], FIRST_SPLIT, WAYS)]
    landmark_runs.KEPT.write_text("\n".join(lines) + "\n")
    assert next(missing(1)) == (SETS[0], FIRST_SPLIT, rest)
    assert SETS[1] not in {name for name, _, _ in missing(1)}
    landmark_runs.KEPT.write_text("\n".join([*lines, result(SETS[0], FIRST_SPLIT, rest)]) + "\n")
    assert [list(kept["errors"]) for kept in kept_results()] == [list(WAYS)] * 2
    forget("SMC")
    assert [(name, ways) for name, _, ways in missing(1)][:2] == [
        (SETS[0], ["SMC"]),
        (SETS[1], ["SMC"]),
    ]


def test_held_out_samples_choose_whether_there_is_a_metric():
    found = with_preferred(
        {
            "errors": {"SMA": {"10": 0.3, "30": 0.2}, METRIC: {"10": 0.1, "30": 0.5}},
            "held_out_errors": {"SMA": {"10": 0.4, "30": 0.4}, METRIC: {"10": 0.5, "30": 0.3}},
        }
    )
    assert found["errors"][IF_PREFERRED] == {"10": 0.3, "30": 0.5}
