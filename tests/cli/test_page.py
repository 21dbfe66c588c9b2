"""Cells of tables in reports."""

import numpy as np

from kernelsieve.cli.page import plain, table
from kernelsieve.cli.terminal import numbers_table


def test_cells():
    columns = {"count": [np.int64(12345)], "score": [0.123456], "<b>": ["x" * 100], "ctl": ["\x1b"]}
    found = table(columns)
    for text in (">12,345<", ">0.1235<", "&lt;b&gt;", f">{'x' * 59}…<", r">\x1b<"):
        assert text in found
    assert [next(iter(column.cells)) for column in numbers_table(columns).columns] == [
        "12,345",
        "0.1235",
        "x" * 59 + "…",
        r"\x1b",
    ]


def test_long_names_that_begin_alike_keep_their_columns():
    assert table({"x" * 100 + end: [1] for end in "ab"}).count("<th") == 2 + 1  # and the head


def test_texts_in_figures():
    assert plain("$a$" + "x" * 100) == r"\$a\$" + "x" * 26 + "…"
