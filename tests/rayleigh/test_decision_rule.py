"""How discriminants decide, as an object."""

import numpy as np
import pytest
from sklearn.base import clone

from kernelsieve import GreedyKernelFisherDiscriminant, KernelFisherDiscriminant
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.rayleigh import DecisionRule


@pytest.mark.parametrize(
    "given",
    [
        {"threshold": "best"},
        {"nu": 0.0},
        {"nu": 1.5},
        {"nu": "much"},
        {"multi_class": "ovo"},
        {"probability": 1},
        {"probability": "cv"},
        {"probability": True},
    ],
    ids=str,
)
def test_refusals_name_the_value_what_is_allowed_and_the_remedy(given):
    ((name, value),) = given.items()
    with pytest.raises(InvalidParameterError, match=rf"{name}=.*must be .*; pass") as caught:
        DecisionRule(**given)
    assert repr(value) in str(caught.value)


def test_texts_words_and_clones():
    assert repr(DecisionRule()) == "DecisionRule()"
    assert repr(DecisionRule("margin", nu=0.2)) == "DecisionRule(threshold='margin', nu=0.2)"
    assert DecisionRule.of("margin") == DecisionRule("margin")
    model = KernelFisherDiscriminant(decision=DecisionRule(probability=3))
    assert clone(model).decision == DecisionRule(probability=3)


def test_what_a_class_does_not_understand_is_refused(rng):
    X = rng.standard_normal((40, 2))
    y = X[:, 0] > 0
    with pytest.raises(InvalidParameterError, match="takes two"):
        GreedyKernelFisherDiscriminant(decision=DecisionRule(multi_class="ovr")).fit(X, y)
    with pytest.raises(InvalidParameterError, match="constant of a programme"):
        KernelFisherDiscriminant(decision=DecisionRule("intercept")).fit(X, y)


def test_a_word_is_a_rule(rng):
    X = rng.standard_normal((60, 2))
    y = np.hypot(*X.T) > 1
    one, other = (
        KernelFisherDiscriminant(decision=how).fit(X, y)
        for how in ("midpoint", DecisionRule("midpoint"))
    )
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
