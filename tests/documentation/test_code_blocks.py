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
from sklearn.svm import SVC

import kernelsieve
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
OF_LABELS = ("Fisher", "Rayleigh", "Subspace", "AlignmentWeights", "RocComparison")
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
        n = 320 if "GradientMetric" in words else 150
        X = np.random.default_rng(0).standard_normal((n, 3))
        return X, np.sin(X[:, 0]) + X[:, 1]
    X, digit = load_digits(return_X_y=True)
    X = X[:240] / 16
    if any(word in words for word in OF_LABELS):
        return X, np.where(digit[:240] < 5, "few", "many")
    return X, np.sin(X[:, 20] * 3) + X[:, 30]


def guide_space(source, folder):
    """Return what a reader of the guide has: samples, and a model that was fitted earlier."""
    X, y = samples(source)
    space = {name: getattr(kernelsieve, name) for name in kernelsieve.__all__}
    space |= {"np": np, "pandas": pandas, "Ridge": Ridge, "make_pipeline": make_pipeline}
    space |= {"X": X, "y": y, "x": X[0]}
    for name in ("new", "valid", "test", "some", "here", "there"):
        space |= {f"X_{name}": X[:100], f"y_{name}": y[:100]}
    head = LogisticRegression() if y.dtype.kind == "U" else Ridge()
    sieve = kernelsieve.SparseMaximalAlignment(20, random_state=0).fit(X, y)
    model = make_pipeline(StandardScaler(), kernelsieve.SparseMaximalAlignment(20), head).fit(X, y)
    space |= {"sieve": sieve, "pipeline": model, "model": model}
    if "model.prepare" in source:
        space["model"] = kernelsieve.SparseMaximalAlignment(10, candidates=X[:50])
    if "predict_proba" in source and y.dtype.kind != "U":
        labels = np.where(y > 0.5, "high", "low")
        space["model"] = make_pipeline(sieve, LogisticRegression()).fit(X, labels)
    if "RocComparison" in source:
        space["machine"] = SVC().fit(X, y)
    space |= {"faces": np.ones((3, 361)), "my_transform": lambda X: X + 0.01}
    (folder / "houses").mkdir(exist_ok=True)
    inputs, price = samples("")
    frame = pandas.DataFrame(inputs[:, 20:24], columns=list("abcd")).assign(price=price)
    frame.to_parquet(folder / "houses" / "part.parquet")
    return space


@pytest.mark.parametrize("page", STORIES)
def test_the_blocks_of_a_page_run_one_after_the_other(page):
    X, y = samples("GradientMetric")
    space = {"__name__": "page", "X": X, "y": y, "X_new": X[:5], "X_valid": X[:5]}
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
    run(page, line, source, guide_space(source, folder))


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
