"""How discriminants decide, as an object."""

import numpy as np
import pytest
from sklearn.base import clone

from kernelsieve import (
    GreedyKernelFisherDiscriminant,
    KernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
)
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


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
def test_alignment_decides_by_the_kernel_of_features(n_classes, multi_class, rng):
    X = rng.standard_normal((90, 2))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, np.linspace(-0.5, 1.5, n_classes - 1))
    weight = rng.integers(1, 4, 90).astype(float)
    rule = DecisionRule("alignment", multi_class=multi_class)
    model = KernelFisherDiscriminant(decision=rule).fit(X, y, sample_weight=weight)
    f = model.transform(X)
    f = f - weight @ f / weight.sum()
    if multi_class == "joint" and n_classes > 2:
        means = [weight[y == c] @ (f @ f.T)[y == c] / weight[y == c].sum() for c in range(n_classes)]
        expected = np.argmax(means, axis=0)
        first = [weight[y == c] @ f[y == c, 0] / weight[y == c].sum() for c in range(n_classes)]
        np.testing.assert_array_equal(
            model.predict(X, n_components=1), np.argmax(np.outer(first, f[:, 0]), axis=0)
        )
    elif n_classes == 2:
        expected = weight * (2 * y - 1) @ (f @ f.T) > 0
    else:
        signs = np.sign(f)  # each output separates its class from the rest by the sign of its kernel
        np.testing.assert_array_equal(np.sign(model.decision_function(X)), signs)
        return
    np.testing.assert_array_equal(model.predict(X), expected)


def test_all_discriminants_decide_by_alignment(rng):
    X = rng.standard_normal((80, 2))
    y = np.hypot(*X.T) > 1
    for entry in (GreedyKernelFisherDiscriminant, SparseKernelFisherDiscriminant):
        model = entry(decision="alignment").fit(X, y)
        scores = model.decision_function(X)
        assert abs(scores.mean()) < 1e-6 * np.abs(scores).max()
        assert model.score(X, y) > 0.8
