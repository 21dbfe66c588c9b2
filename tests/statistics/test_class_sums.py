"""Sums by class in place of indicator lines: the same inner products, in both forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve.exceptions import ModelFileError
from kernelsieve.statistics import GramStatistic, TriangularStatistic

FORMS = [GramStatistic, TriangularStatistic]
NO_TARGETS = np.empty(0)


def rows_of(seed, n=120, q=15, c=6):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, q, n)
    return rng.standard_normal((n, c)) + rng.standard_normal((q, c))[codes] + 0.5, codes, rng


def statistic_of(form, columns, codes, weight, n_classes, blocks=1):
    statistic = form(1 + columns.shape[1], n_classes=n_classes)
    for rows in np.array_split(np.arange(len(columns)), blocks):
        part = statistic.empty()
        lines = np.vstack([np.ones(len(rows)), columns[rows].T])
        part.update(lines, weight=None if weight is None else weight[rows], codes=codes[rows])
        statistic.merge(part)
    return statistic


def one_hot(columns, codes, weight, n_classes, center):
    weight = np.ones(len(columns)) if weight is None else weight
    Y = np.eye(n_classes)[codes]
    if center:
        columns, Y = (values - weight @ values / weight.sum() for values in (columns, Y))
    return np.sqrt(weight)[:, None] * columns, np.sqrt(weight)[:, None] * Y


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), blocks=st.integers(1, 4), weighted=st.booleans())
def test_coordinates_have_the_inner_products_of_indicators(form, center, seed, blocks, weighted):
    columns, codes, rng = rows_of(seed)
    weight = rng.integers(0, 3, len(codes)).astype(float) if weighted else None
    found = statistic_of(form, columns, codes, weight, 16, blocks).coordinates(
        NO_TARGETS, np.zeros(6), center=center
    )
    A, Y = one_hot(columns, codes, weight, 16, center)
    assert_allclose(found.columns.T @ found.columns, A.T @ A, atol=1e-9)
    assert_allclose(found.columns.T @ found.targets, A.T @ Y, atol=1e-9)
    assert_allclose((found.targets**2).sum(axis=0), (Y**2).sum(axis=0), atol=1e-9)
    assert_allclose(found.total_weight, len(codes) if weight is None else weight.sum())


@pytest.mark.parametrize("form", FORMS)
def test_scatter_is_that_of_class_means_and_of_the_rest(form):
    columns, codes, rng = rows_of(1)
    weight = rng.uniform(0.5, 2.0, len(codes))
    scatter = statistic_of(form, columns, codes, weight, 15, 3).class_scatter(np.zeros(6), center=True)
    centred, _ = one_hot(columns, codes, weight, 15, True)
    means = np.array(
        [np.average(columns[codes == k], axis=0, weights=weight[codes == k]) for k in range(15)]
    )
    rest = np.sqrt(weight)[:, None] * (columns - means[codes])
    assert_allclose(scatter.within.T @ scatter.within, rest.T @ rest, atol=1e-9)
    between = centred.T @ centred - rest.T @ rest
    assert_allclose(scatter.between.T @ scatter.between, between, atol=1e-9)
    assert_allclose(scatter.labels.toarray()[:15], np.diag(np.sqrt(np.bincount(codes, weight))))


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_taken_out_and_weighed_again(form):
    columns, codes, rng = rows_of(4)
    weight = rng.uniform(0.5, 2.0, len(codes))
    stay = codes < 12  # of three classes nothing is left
    statistic = statistic_of(form, columns, codes, weight, 15)
    statistic.subtract(statistic_of(form, columns[~stay], codes[~stay], weight[~stay], 15))
    statistic.scale(0.3)
    expected = statistic_of(form, columns[stay], codes[stay], 0.3 * weight[stay], 15)
    found, expected = (each.class_scatter(np.zeros(6), center=False) for each in (statistic, expected))
    assert_allclose(found.class_weights, expected.class_weights, atol=1e-12)
    assert_allclose(found.columns.T @ found.columns, expected.columns.T @ expected.columns, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_holds_the_sums(form):
    columns, codes, _ = rows_of(5)
    statistic = statistic_of(form, columns, codes, None, 15)
    other = form(1)
    other.take_state(statistic.to_state())
    assert len(other.class_sums) == 15
    assert_array_equal(other.class_sums, statistic.class_sums)
    with pytest.raises(ModelFileError, match="class_sums"):
        other.take_state(statistic.to_state() | {"class_sums": np.zeros((2, 2))})


def test_rows_without_classes_are_refused():
    statistic = GramStatistic(2, n_classes=3)
    with pytest.raises(ValueError, match="pass codes"):
        statistic.update(np.ones((2, 4)))
    with pytest.raises(ValueError, match="n_classes"):
        GramStatistic(2).class_scatter(np.zeros(1), center=True)
