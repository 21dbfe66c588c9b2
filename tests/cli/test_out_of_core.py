"""Tables that are larger than what is kept in memory."""

import numpy as np
import pandas
import pytest

import kernelsieve
from kernelsieve.cli import fit
from kernelsieve.cli.tables import open_table
from kernelsieve.cli.terminal import Terminal

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(1500, 3))
FRAME = pandas.DataFrame(X, columns=list("abc")).assign(
    y=np.sin(2 * X[:, 0]) + X[:, 1], label=np.where(X[:, 0] + X[:, 1] > 0, "p", "n")
)
GIVEN = {"method": "sma", "k": "auto", "kernel": "rbf", "gamma": "scale", "head": "auto"}
GIVEN |= {"budget": 20, "task": "auto", "seed": 0}


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "_SAMPLE", 400)
    monkeypatch.setattr(fit, "_IN_MEMORY", 1000)
    monkeypatch.setattr("kernelsieve.cli.tables.ROWS", 250)
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    return open_table(str(tmp_path / "t.csv"))


def fitted(table, target, drop, **options):
    roles = {"target": target, "drop": [drop], "weight": None, "group": None}
    return fit.fitted_model(table, roles, GIVEN | options, Terminal(quiet=True))


def test_numbers(table, tmp_path):
    model = fitted(table, "y", "label")
    assert "1,500 rows were fitted out of core" in " ".join(model.notes)
    assert np.corrcoef(model.predict(FRAME), FRAME["y"])[0, 1] > 0.95
    assert model.fitted.way_ == "one pass"
    kernelsieve.save(model, tmp_path / "m.ksv")
    assert np.array_equal(kernelsieve.load(tmp_path / "m.ksv").predict(FRAME), model.predict(FRAME))


@pytest.mark.parametrize("method", ["sma", "kpls", "kfd"])
def test_labels(table, method):
    model = fitted(table, "label", "y", method=method)
    assert np.mean(model.predict(FRAME) == FRAME["label"]) > 0.9


def test_groups_need_memory(table):
    roles = {"target": "y", "drop": ["label"], "weight": None, "group": "a"}
    with pytest.raises(ValueError, match="--group needs all rows in memory"):
        fit.fitted_model(table, roles, GIVEN, Terminal(quiet=True))
