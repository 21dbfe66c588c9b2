"""C programs give what models give."""

import ctypes

import numpy as np
import pytest
from c_programs import COMPILER, applied, compiled
from export_cases import CASES, TABLES, fitted, fitted_table

from kernelsieve import export_c
from kernelsieve.exceptions import InvalidParameterError

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler on this machine")


def check_close(found, expected):
    assert np.abs(found - expected).max() <= 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
def test_programs_give_what_models_give(name, tmp_path):
    model, rows = fitted(name)
    rows = rows[:80]
    path = tmp_path / "served.c"
    written = export_c(model, path, name="served")
    assert written.n_bytes == path.stat().st_size
    library = compiled(path)
    if not hasattr(model, "predict"):
        expected = model.transform(rows)
        check_close(applied(library.served, rows, expected.shape[1]), expected)
    elif not hasattr(model, "classes_"):
        expected = model.predict(rows).reshape(len(rows), -1)
        check_close(applied(library.served, rows, expected.shape[1]), expected)
    else:
        check_classes(library, model, rows)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore:Found unknown categories")  # which are ignored, as asked for
def test_programs_of_tables(name, tmp_path):
    model, table = fitted_table(name)
    path = tmp_path / "served.c"
    export_c(model, path, name="served")
    library = compiled(path)
    rows = table if isinstance(table, np.ndarray) else coded(library, table)
    if hasattr(model, "classes_"):
        check_classes(library, model, rows, table)
    else:
        expected = model.predict(table).reshape(len(rows), -1)
        check_close(applied(library.served, rows, expected.shape[1]), expected)


def coded(library, table):
    """Return rows as the program takes them: texts by their numbers."""
    names = (ctypes.c_char_p * table.shape[1]).in_dll(library, "served_inputs")
    assert [name.decode() for name in names] == list(table.columns)
    library.served_code.restype = ctypes.c_double
    columns = []
    for i, name in enumerate(table.columns):
        values = table[name].tolist()
        if name in ("colour", "kind"):
            texts = [None if v != v or v is None else v.encode() for v in values]
            values = [library.served_code(i, text) for text in texts]
        columns.append(values)
    assert columns[1][-1] == -1.0  # never seen
    assert np.isnan(library.served_code(1, b""))  # missing, as in a file
    return np.array(columns, dtype=float).T.copy()


def check_classes(library, model, rows, table=None):
    table = rows if table is None else table
    n = len(model.classes_)
    labels = (ctypes.c_char_p * n).in_dll(library, "served_labels")
    assert [label.decode() for label in labels] == list(map(str, model.classes_.tolist()))
    numbers = [library.served_class(x.ctypes.data_as(ctypes.c_void_p)) for x in rows.copy()]
    assert np.array_equal(model.classes_[numbers], model.predict(table))
    if hasattr(model, "predict_proba"):
        check_close(applied(library.served_probabilities, rows, n), model.predict_proba(table))


def test_costs_are_stated(tmp_path):
    written = export_c(fitted("rbf")[0], tmp_path / "model.c")
    assert written.kernel_evaluations == 8
    head = (tmp_path / "model.c").read_text().splitlines()[1]
    assert head == "/* For a sample: 8 kernel evaluations, 872 bytes of arrays. */"


def test_names(tmp_path):
    with pytest.raises(InvalidParameterError, match="must be a name of C"):
        export_c(fitted("rbf")[0], tmp_path / "model.c", name="a-b")
