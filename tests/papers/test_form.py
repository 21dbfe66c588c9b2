"""How printed numbers and ours are compared."""

from __future__ import annotations

import numpy as np
import pytest

from papers.form import Cell, Estimate, Table, judge


def test_repetitions_become_mean_spread_and_number():
    assert Estimate.of([1.0, 2.0, 3.0]) == Estimate(2.0, 1.0, 3)
    assert Estimate.of([4.0]) == Estimate(4.0, None, 1)
    curve = Estimate.of(np.array([[1.0, 2.0], [3.0, 6.0]]))
    assert curve.is_curve
    assert curve.value == [2.0, 4.0]
    np.testing.assert_allclose(curve.spread, [np.sqrt(2), np.sqrt(8)])


def test_the_standard_error_falls_with_the_root_of_the_repetitions():
    assert Estimate(1.0, 0.6, 9).standard_error == pytest.approx(0.2)
    assert Estimate(1.0).standard_error == 0


@pytest.mark.parametrize(
    ("ours", "lower_is_better", "mark"),
    [
        (1.9, True, "agrees"),
        (0.1, True, "agrees"),
        (2.2, True, "worse"),
        (2.2, False, "better"),
        (-0.2, True, "better"),
        (-0.2, False, "worse"),
        (-0.2, None, "differs"),
    ],
)
def test_marks_are_those_of_two_standard_errors(ours, lower_is_better, mark):
    # standard errors of 0.3 and 0.4 make one of 0.5
    verdict = judge(Estimate(1.0, 0.6, 4), Estimate(ours, 0.8, 4), lower_is_better)
    assert verdict.mark == mark
    assert verdict.distance == pytest.approx((ours - 1) / 0.5)


def test_numbers_without_any_spread_are_compared_as_they_stand():
    assert judge(Estimate(2), Estimate(2.0), True).mark == "agrees"
    assert judge(Estimate(2), Estimate(1.9), True).mark == "better"
    assert judge(Estimate(2), Estimate(2.1), True).mark == "worse"
    assert judge(Estimate(2), Estimate(2.1), True).distance is None


def test_two_cells_with_one_key_are_refused():
    with pytest.raises(ValueError, match="same key"):
        Table(axes=("method",), cells=[Cell(("SMA",), {}), Cell(("SMA",), {})], compute=dict)
