"""The program, run in this process, and tables for it."""

import io
import os
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from unittest import mock

import numpy as np
import pandas
import pytest

from kernelsieve.cli.errors import _run


@pytest.fixture(scope="session")
def run():
    """Run the program; return what it said, after a look at its exit code."""

    def run(*arguments, code=0, stdin=b"", cwd="."):
        given, out, err = (
            io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
            for text in (stdin, b"", b"")
        )
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            mock.patch.object(sys, "stdin", given),
            mock.patch.dict(os.environ, COLUMNS="200", NO_COLOR="1", TERM="dumb"),
            warnings.catch_warnings(),
            chdir(cwd),
        ):
            found = _run(list(map(str, arguments)), debug=False)
        for stream in (out, err):
            stream.flush()
        said = out.buffer.getvalue().decode(), err.buffer.getvalue().decode()
        assert found == code, said
        return said

    return run


@pytest.fixture(scope="session")
def houses():
    """Return a table with names, types and gaps as tables have them."""
    random, n = np.random.default_rng(0), 160
    frame = pandas.DataFrame(
        {
            "living area, m²": random.uniform(20, 200, n).round(1),
            'the "rooms"': random.integers(1, 8, n),
            "colour é": random.choice(["red", "blue", "green, dark"], n),
            "sold on": pandas.date_range("2020-01-01", periods=n).astype(str),
            "street": [f"street {i}" for i in range(n)],
            "nothing": np.nan,
            "mixed": [str(i) if i % 3 else "n/a?" for i in range(n)],
        }
    )
    area = frame["living area, m²"]
    frame["price"] = (2 * area + 30 * (frame["colour é"] == "red") + random.normal(0, 5, n)).round(2)
    frame["dear"] = np.where(frame["price"] > frame["price"].median(), "yes", "no")
    frame.loc[3, "living area, m²"] = np.nan
    frame.loc[5, "colour é"] = None
    frame.loc[7, "price"] = np.nan
    return frame


@pytest.fixture(scope="session")
def folder(tmp_path_factory, houses, run):
    """Return a folder with the table, and models: of numbers, labels, plain columns, and by default."""
    folder = tmp_path_factory.mktemp("cli")
    table = folder / "houses.csv"
    houses.to_csv(table, index=False)
    quick = ("--method", "sma", "--budget", 20, "--gamma", "scale")
    numbers = run(
        "fit", table, "--target", "price", "--drop", "dear", "-o", folder / "price.ksv", *quick
    )
    (folder / "said.txt").write_text(numbers[1])
    run("fit", table, "-t", "dear", "--drop", "price", "-o", folder / "dear.ksv", "-q", *quick)
    plain = houses[["living area, m²", 'the "rooms"', "price"]]
    plain.to_csv(folder / "plain.csv", index=False)
    run("fit", folder / "plain.csv", "-t", "price", "-o", folder / "plain.ksv", "-q", *quick)
    run("fit", table, "-t", "price", "--drop", "dear", "-o", folder / "auto.ksv", "-q", "--budget", 20)
    return folder


HOSTILE = ["flow [/h]", "[red]", ":smile:", "a\x1b[31mb", "$\\frac$", "<script>", "x" * 10_000]


@pytest.fixture(scope="session")
def hostile(run, tmp_path_factory):
    """Return a model and a table whose names and labels are hostile."""
    folder, random = tmp_path_factory.mktemp("hostile"), np.random.default_rng(0)
    frame = pandas.DataFrame(random.normal(size=(60, len(HOSTILE))), columns=HOSTILE)
    frame["[/]"] = np.array(["\x1b[32mno", "[/yes]" * 2000])[(frame["[red]"] > 0).astype(int)]
    frame.to_csv(folder / "t.csv", index=False)
    quick = ("--method", "sma", "--budget", 5, "--gamma", 0.1)
    _, said = run("fit", folder / "t.csv", "-t", "[/]", "-o", folder / "m.ksv", *quick)
    return folder / "m.ksv", folder / "t.csv", said
