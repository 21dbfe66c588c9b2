"""The program in this process or as it is installed, and tables for it."""

import contextlib
import io
import subprocess
import sys
import warnings
from unittest.mock import patch

import numpy as np
import pandas
import pytest
from cli_program import PROGRAM, QUIET, environment

from kernelsieve.cli.errors import _run


@pytest.fixture(scope="session")
def run():
    """Run the program in this process; return what it said, after a look at its exit code."""

    def run(*arguments, code=0, stdin=b""):
        streams = [io.TextIOWrapper(io.BytesIO(given), encoding="utf-8") for given in (stdin, b"", b"")]
        given, out, err = streams
        with (
            patch.dict("os.environ", QUIET),
            patch.object(sys, "stdin", given),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            found = _run(list(map(str, arguments)), debug=False)
        said = []
        for stream in (out, err):
            stream.flush()
            said.append(stream.buffer.getvalue().decode())
        assert found == code, "".join(said)
        assert "Traceback" not in "".join(said)
        return tuple(said)

    return run


@pytest.fixture(scope="session")
def start():
    """Start the program as it is installed; return what it said, after a look at its exit code."""

    def start(*arguments, code=0, stdin=None, cwd=None):
        done = subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            check=False,
            capture_output=True,
            input=stdin,
            cwd=cwd,
            env=environment(),
            timeout=600,
        )
        said = done.stdout.decode() + done.stderr.decode()
        assert done.returncode == code, said
        assert "Traceback" not in said
        return done.stdout.decode(), done.stderr.decode()

    return start


@pytest.fixture(scope="session")
def run_here():
    """Run the program in this process, which saves the time to start another."""

    def run_here(*arguments):
        with warnings.catch_warnings():
            assert _run(list(map(str, arguments)), debug=False) == 0

    return run_here


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
def folder(tmp_path_factory, houses, start, run_here):
    """Return a folder with the table, and models: of numbers, labels, plain columns, and by default."""
    folder = tmp_path_factory.mktemp("cli")
    table = folder / "houses.csv"
    houses.to_csv(table, index=False)
    quick = ("--method", "sma", "--budget", 20, "--gamma", "scale")
    numbers = start(
        "fit", table, "--target", "price", "--drop", "dear", "-o", folder / "price.ksv", *quick
    )
    (folder / "said.txt").write_text(numbers[1])
    run_here("fit", table, "-t", "dear", "--drop", "price", "-o", folder / "dear.ksv", "-q", *quick)
    plain = houses[["living area, m²", 'the "rooms"', "price"]]
    plain.to_csv(folder / "plain.csv", index=False)
    run_here("fit", folder / "plain.csv", "-t", "price", "-o", folder / "plain.ksv", "-q", *quick)
    run_here(
        "fit", table, "-t", "price", "--drop", "dear", "-o", folder / "auto.ksv", "-q", "--budget", 20
    )
    return folder
