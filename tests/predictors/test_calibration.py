"""Widths of intervals, against counting by hand."""

import numpy as np
import pytest

from kernelsieve.predictors.calibration import half_width


@pytest.mark.parametrize(("coverage", "expected"), [(0.5, 5), (0.85, 9), (0.9, 9), (0.95, np.inf)])
def test_the_new_sample_is_one_of_those_that_are_counted(coverage, expected):
    """Of nine residuals and a new one, each is the largest with the same probability."""
    residuals = np.arange(1.0, 10)[::-1, None]
    assert half_width(residuals, np.ones(9), coverage) == expected
    assert half_width(residuals, np.full(9, 3.0), coverage) == expected
    twice = np.column_stack([residuals, -residuals])
    assert half_width(twice, np.ones(9), coverage).tolist() == [expected, expected]
