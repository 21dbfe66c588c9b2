"""Tables that are larger than what is kept in memory."""

import weakref
from dataclasses import replace

import numpy as np
import pandas
import pytest

import kernelsieve
from kernelsieve.cli import fit
from kernelsieve.cli.methods import make_sieve
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
    monkeypatch.setattr("kernelsieve.predictors.base.SETTLING_SAMPLES", 500)
    monkeypatch.setattr("kernelsieve.predictors.streams.CALIBRATION_SAMPLES", 150)
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    return open_table(str(tmp_path / "t.csv"))


def fitted(table, target, drop, **options):
    roles = {"target": target, "drop": [drop], "weight": None, "group": None}
    return fit.fitted_model(table, roles, GIVEN | options, Terminal(quiet=True))


def test_numbers(table, tmp_path):
    model = fitted(table, "y", "label")
    assert "1,500 rows are fitted out of core" in " ".join(model.notes)
    assert np.corrcoef(model.predict(FRAME), FRAME["y"])[0, 1] > 0.95
    assert model.fitted.way_ == "one pass"
    kernelsieve.save(model, tmp_path / "m.ksv")
    assert np.array_equal(kernelsieve.load(tmp_path / "m.ksv").predict(FRAME), model.predict(FRAME))


@pytest.mark.parametrize("method", ["sma", "kpls", "kfd"])
def test_labels(table, method):
    model = fitted(table, "label", "y", method=method)
    assert np.mean(model.predict(FRAME) == FRAME["label"]) > 0.9


@pytest.fixture
def quick_sieves(monkeypatch):
    """Let sieves try little, which saves time."""

    def quick(task, budget, seed):
        made = make_sieve(task, budget, seed)
        return made.set_params(kernel="rbf", metric=False, cv=2)

    monkeypatch.setattr(fit, "make_sieve", quick)


@pytest.mark.parametrize(("target", "drop"), [("y", "label"), ("label", "y")])
def test_the_default(table, quick_sieves, target, drop):
    """A sieve reads the table block by block, with categories as they are."""
    model = fitted(table, target, drop, method="auto", gamma="auto")
    assert "out of core" in " ".join(model.notes)
    assert "out of core" in model.fitted.report_
    row = FRAME.iloc[model.landmark_rows[0]]
    assert float(model.landmarks["a"][0]) == pytest.approx(row["a"], abs=1e-5)
    predicted = model.predict(FRAME)
    if target == "y":
        assert np.corrcoef(predicted, FRAME["y"])[0, 1] > 0.95
    else:
        assert np.mean(predicted == FRAME["label"]) > 0.9


@pytest.mark.parametrize("method", [pytest.param("sma", marks=pytest.mark.slow), "auto"])
def test_few_blocks_are_in_memory_at_once(method, table, quick_sieves, monkeypatch):
    blocks, most = [], []

    def watched(read=table.read):
        for block in read():
            blocks.append(weakref.ref(block))
            most.append(sum(reference() is not None for reference in blocks))
            yield block

    monkeypatch.setattr("kernelsieve.cli.tables.ROWS", 75)
    gamma = "auto" if method == "auto" else "scale"
    fitted(replace(table, read=watched), "y", "label", method=method, gamma=gamma, budget=10)
    assert len(most) >= 2 * 20  # of twenty blocks, read more than once
    assert max(most) <= 4


def test_groups_need_memory(table):
    roles = {"target": "y", "drop": ["label"], "weight": None, "group": "a"}
    with pytest.raises(ValueError, match="--group needs all rows in memory"):
        fit.fitted_model(table, roles, GIVEN, Terminal(quiet=True))
