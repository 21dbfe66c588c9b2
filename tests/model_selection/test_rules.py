"""Rules that choose a number of features, on tables of scores that are written down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.model_selection.rules import RULES, Budget, Scores, choose

NO_BUDGET = Budget()


def scores_of(test, sizes=None, evaluations=None, latency=None):
    test = np.array(test, dtype=float)
    sizes = np.arange(1, test.shape[1] + 1) if sizes is None else np.array(sizes)
    return Scores(test, sizes, sizes if evaluations is None else np.array(evaluations), latency)


def test_one_standard_error_takes_the_smallest_near_the_best():
    # best: the last, with mean 0.9 and standard error 0.1 / sqrt(2) / sqrt(2) = 0.05
    scores = scores_of([[0.5, 0.83, 0.88, 0.85], [0.5, 0.85, 0.86, 0.95]])
    index, reason = choose(scores, "one_standard_error", NO_BUDGET)
    assert scores.sizes[index] == 3
    assert "smallest" in reason
    assert "k = 3" in reason
    assert "over 2 folds" in reason
    assert choose(scores, "best", NO_BUDGET)[0] == 3


def test_equal_scores_go_to_the_smaller_model():
    scores = scores_of([[0.5, 0.9, 0.9]])
    assert choose(scores, "best", NO_BUDGET)[0] == 1
    assert choose(scores, "one_standard_error", NO_BUDGET)[0] == 1


def test_of_equally_many_features_the_better_setting_is_taken():
    scores = scores_of([[0.5, 0.90, 0.4, 0.91], [0.5, 0.92, 0.4, 0.93]], sizes=[1, 2, 1, 2])
    assert choose(scores, "one_standard_error", NO_BUDGET)[0] == 3


def test_models_without_a_score_in_some_fold_are_left_out():
    scores = scores_of([[0.5, 0.6, np.nan], [0.5, 0.6, 0.9]])
    assert choose(scores, "best", NO_BUDGET)[0] == 1
    with pytest.raises(InvalidDataError, match="No number of features has a finite test score"):
        choose(scores_of([[np.nan]]), "best", NO_BUDGET)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_keeps_to_the_budget(rule):
    scores = scores_of(
        [[0.1, 0.5, 0.7, 0.9]], evaluations=[5, 10, 20, 40], latency=np.array([1.0, 2, 3, 4])
    )
    assert choose(scores, rule, Budget(20))[0] == 2
    assert choose(scores, rule, Budget(None, 2.5))[0] == 1
    index, reason = choose(scores, rule, Budget(39, 3.5))
    assert index == 2
    assert "at most 39 kernel evaluations and 3.5 microseconds a sample" in reason


def test_a_budget_that_nothing_meets_is_refused():
    scores = scores_of([[0.1, 0.5]], evaluations=[5, 10], latency=np.array([1.5, 2]))
    with pytest.raises(
        InvalidParameterError, match=r"the cheapest needs 5 kernel evaluations and 1\.5"
    ):
        choose(scores, "best", Budget(4, 1.0))


tables = st.tuples(st.integers(1, 6), st.integers(1, 8)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-10, 10))
)


@given(tables)
def test_the_choice_is_what_the_rule_says(test):
    scores = scores_of(test)
    mean, error = test.mean(axis=0), scores.standard_error
    best = choose(scores, "best", NO_BUDGET)[0]
    assert mean[best] == mean.max()
    chosen = choose(scores, "one_standard_error", NO_BUDGET)[0]
    assert chosen <= best
    assert mean[chosen] >= mean[best] - error[best]
    assert all(mean[:chosen] < mean[best] - error[best])


def test_a_single_model_was_given():
    scores = Scores(np.array([[0.5], [0.7]]), np.array([30]), np.array([30]))
    reason = choose(scores, "one_standard_error", Budget())[1]
    assert reason == "k = 30 was given; its mean test score is 0.6."


def test_a_choice_at_the_end_of_the_path_says_so():
    test, sizes = np.array([[0.1, 0.5, 0.9], [0.1, 0.6, 0.8]]), np.array([1, 2, 3])
    scores, end = (
        Scores(test, sizes, sizes),
        "No larger k was tried: a larger n_components may be better.",
    )
    for rule in ("best", "one_standard_error"):
        assert choose(scores, rule, Budget())[1].endswith(end)
        assert end not in choose(Scores(test[:, ::-1], sizes, sizes), rule, Budget())[1]
        assert end not in choose(scores, rule, Budget(3))[1]


def test_errors_are_told_as_positive_numbers():
    test = np.array([[-3.0, -1.05, -1.0], [-3.2, -1.25, -1.4]])
    sizes = np.array([1, 2, 3])
    scores = Scores(test, sizes, sizes, are_negative_errors=True)
    reasons = [choose(scores, rule, Budget())[1] for rule in ("best", "one_standard_error")]
    assert reasons == [
        "k = 2 has the best mean test error, 1.15.",
        "k = 2 has the best mean test error, 1.15, and no smaller k is within one standard error "
        "(0.1, over 2 folds) of it.",
    ]
    scores = Scores(test[:, [0, 2, 1]] + [0, 0, 0.02], sizes, sizes, are_negative_errors=True)
    assert choose(scores, "one_standard_error", Budget())[1] == (
        "k = 2 is the smallest number of features whose mean test error, 1.2, is within one standard "
        "error (0.1, over 2 folds) of the best, 1.13 with k = 3."
    )
