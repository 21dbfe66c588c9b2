"""The benchmark of landmarks keeps what is done, way by way, and compares it."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import landmark_runs
from benchmarks.landmark_runs import (
    FIRST_SPLIT,
    METRIC,
    SETS,
    WAYS,
    WIDTHS,
    Inputs,
    Task,
    errors_of_ways,
    forget,
    kept_results,
    learned_metric,
    missing,
)
from benchmarks.landmarks import IF_PREFERRED, with_preferred
from benchmarks.ready_made_scale import Split


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


@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
def test_all_ways_try_widths_around_the_best_one_in_their_inputs(rng):
    X = rng.standard_normal((300, 4))
    split = Split.draw(X, np.sin(3 * X[:, 0]), 0, labelled=False, most_train=120, most_tested=100)
    task = Task(0, 0)
    metric = learned_metric(split, np.arange(90), task)
    random, sma, mapped = (Inputs.of(way, split, metric) for way in ("random", "SMA", METRIC))
    assert_allclose(mapped.widths, WIDTHS * metric.gamma_)
    assert_allclose(random.widths, sma.widths)
    first = metric.path_["round"] == 0
    best = metric.path_["error"][first].min()
    assert metric.path_["error"][metric.path_["gamma"] == random.widths[1]].min() == best
    assert random.X is split.X
    found = errors_of_ways(["random", METRIC], split, task)
    assert found[METRIC].test[30] < found["random"].test[30]
    assert found["random"].test.keys() == found[METRIC].test.keys() == {10, 30}
