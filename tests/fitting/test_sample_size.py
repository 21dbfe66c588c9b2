"""Lemma 4.1: how many random candidates contain one of the best."""

import numpy as np
import pytest

from kernelsieve import candidates_needed
from kernelsieve.exceptions import InvalidParameterError


def test_the_best_of_59_is_in_the_top_5_percent_with_probability_95_percent():
    assert candidates_needed() == candidates_needed(top=0.05, probability=0.95) == 59


@pytest.mark.parametrize("probability", [0.01, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("top", [0.001, 0.05, 0.3, 0.9])
def test_it_is_the_first_number_with_that_probability(top, probability):
    count = next(c for c in range(1, 10_000) if 1 - (1 - top) ** c >= probability)
    assert candidates_needed(top, probability) == count


def test_whole_quotients_are_not_rounded_up():
    for count in range(1, 30):
        assert candidates_needed(0.1, 1 - 0.9**count) == count
    assert candidates_needed(1.0, 0.95) == 1


def test_drawn_candidates_contain_a_good_one_as_often_as_said():
    rng = np.random.default_rng(0)
    best = rng.random((20_000, candidates_needed(0.1, 0.9))).max(axis=1)
    assert np.mean(best > 0.9) == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize(("name", "value"), [("top", 0.0), ("top", 1.5), ("top", "5 %")])
def test_shares_are_shares(name, value):
    with pytest.raises(InvalidParameterError, match=f"{name}="):
        candidates_needed(**{name: value})


@pytest.mark.parametrize("value", [0.0, 1.0, None])
def test_no_number_is_certain(value):
    with pytest.raises(InvalidParameterError, match="probability="):
        candidates_needed(probability=value)
