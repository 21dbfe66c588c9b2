"""Every block of Python in the README and in the pages runs, and so do the commands for a shell."""

import re
import shlex
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import SparseMaximalAlignment
from kernelsieve.cli.errors import _run
from kernelsieve.exceptions import FewerFeaturesWarning, NothingLearntWarning, VacuousBoundWarning

ROOT = Path(__file__).parents[2]
#: Pages whose blocks build on each other; those of the guide are read, and run, one by one.
STORIES = ("README.md", "docs/start.md", "docs/migrate.md", "docs/criteria.md", "docs/kernels.md")
GUIDES = (
    "docs/guide.md",
    "docs/scale.md",
    "docs/choose.md",
    "docs/numerics.md",
    "docs/architecture.md",
)
#: Blocks with any of these words are about labels, and about tables.
OF_LABELS = ("Fisher", "Rayleigh", "Subspace", "AlignmentWeights", "RocComparison", "predict_proba")
OF_TABLES = ("SieveRegressor", "GradientMetric")


def blocks(page, language):
    """Return the number of the line and the text of each block of a language."""
    text = (ROOT / page).read_text()
    fences = re.finditer(r"^```(.*?)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: f.start()].count("\n") + 2, f[2]) for f in fences if f[1] == language]


def run(page, line, source, space):
    """Run a block as if it stood in its file, so that an error shows the line."""
    with warnings.catch_warnings():
        for harmless in (FewerFeaturesWarning, NothingLearntWarning, VacuousBoundWarning):
            warnings.simplefilter("ignore", harmless)
        exec(compile("\n" * (line - 1) + source, str(ROOT / page), "exec"), space)
    plt.close("all")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # starting processes takes longer than these fits
    mpl.use("Agg")
    return tmp_path


def samples(words):
    """Return samples that suit what a block is about."""
    if any(word in words for word in OF_TABLES):
        n = 200 if "GradientMetric" in words else 150
        X = np.random.default_rng(0).standard_normal((n, 3))
        return X, np.sin(X[:, 0]) + X[:, 1]
    X, digit = load_digits(return_X_y=True)
    X = X[:240] / 16
    if any(word in words for word in OF_LABELS):
        return X, np.where(digit[:240] < 5, "few", "many")
    return X, np.sin(X[:, 20] * 3) + X[:, 30]


def guide_space(source):
    """Return the variables that the guide promises: data and a fitted pipeline, but no imports."""
    X, y = samples(source)
    head = LogisticRegression() if y.dtype.kind == "U" else Ridge()
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(20), head).fit(X, y)
    some = {"X_new": X[:100], "y_new": y[:100], "X_valid": X[100:], "y_valid": y[100:]}
    return {"__name__": "page", "X": X, "y": y, "x": X[0], "model": model} | some


def write_houses(folder):
    """Write the table that a block of the guide reads."""
    inputs, price = samples("")
    frame = pandas.DataFrame(inputs[:, 20:24], columns=list("abcd")).assign(price=price)
    (folder / "houses").mkdir()
    frame.to_parquet(folder / "houses" / "part.parquet")


@pytest.mark.parametrize("page", STORIES)
def test_the_blocks_of_a_page_run_one_after_the_other(page):
    X, y = samples("GradientMetric")
    space = {"__name__": "page", "X": X, "y": y, "X_new": X[:5]}
    found = blocks(page, "python")
    assert found
    for line, source in found:
        run(page, line, source, space)


def guide_blocks():
    return [(page, line, source) for page in GUIDES for line, source in blocks(page, "python")]


@pytest.mark.parametrize(
    ("page", "line", "source"), guide_blocks(), ids=lambda value: str(value)[-30:] if value else ""
)
def test_a_block_of_the_guide_runs(page, line, source, folder):
    write_houses(folder)
    run(page, line, source, guide_space(source))


def commands(page):
    lines = [line for _, block in blocks(page, "") for line in block.splitlines()]
    typed = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("kernelsieve ")]
    return [command for command in typed if command[0] != "compare"]  # takes long; tests/cli runs it


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_the_commands_of_a_page_run(page, folder):
    random = np.random.default_rng(0)
    numbers = pandas.DataFrame(random.uniform(size=(80, 2)), columns=["area", "age"])
    numbers = numbers.assign(price=numbers["area"] * 3 - numbers["age"])
    houses = numbers.assign(kind=random.choice(["flat", "house"], 80))
    tables = {"numbers": numbers, "houses": houses, "new": houses[:5], "held_out": houses[:40]}
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    found = commands(page)
    assert found
    for command in found:
        with warnings.catch_warnings():
            assert _run(command, debug=False) == 0, command
