"""Exit codes, and what is left behind: pipes, signals, streams that are closed, full disks."""

import os
import signal
import subprocess
import sys
import time

import pandas
import pytest
from cli_program import PROGRAM, environment, program

from kernelsieve.cli.errors import _flushed, _run, printable, shortened

only_unix = pytest.mark.skipif(os.name != "posix", reason="pipes and signals differ elsewhere")


def in_shell(text, *arguments):
    """Run a line of a shell, in which "$@" is the program with arguments."""
    call = ["sh", "-c", text, "sh", *PROGRAM, *map(str, arguments)]
    return subprocess.run(call, check=False, capture_output=True, env=environment(), timeout=600)


@pytest.fixture(scope="module")
def many(folder, houses, tmp_path_factory):
    """Return a table of so many rows that predictions take a while."""
    path = tmp_path_factory.mktemp("many") / "many.csv"
    pandas.concat([houses] * 500).to_csv(path, index=False)
    return path


@only_unix
def test_a_broken_pipe(folder, many):
    command = [*PROGRAM, "predict", str(folder / "plain.ksv"), str(many)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout.readline() == b"prediction\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@only_unix
@pytest.mark.slow
def test_nobody_reads_what_inspect_prints(folder):
    done = in_shell('{ "$@"; echo $? >&2; } | :', "inspect", folder / "price.ksv")
    assert done.stderr == b"141\n"


@only_unix
@pytest.mark.slow
def test_standard_output_by_its_name(folder):
    done = in_shell('"$@" -o /dev/stdout | cat', "predict", folder / "plain.ksv", folder / "plain.csv")
    assert done.stdout.startswith(b"prediction\n")
    assert done.stderr == b""


@pytest.mark.slow
@only_unix
def test_a_file_is_written_while_standard_output_is_closed(folder, tmp_path):
    out = tmp_path / "out.csv"
    done = in_shell('"$@" >&-', "predict", folder / "plain.ksv", folder / "plain.csv", "-o", out)
    assert done.returncode == 0
    assert done.stderr == b""
    assert out.read_bytes().startswith(b"prediction\n")


def test_streams_that_are_closed(folder, monkeypatch, capsys):
    """What nobody would see is an error."""
    model, table = str(folder / "plain.ksv"), str(folder / "plain.csv")
    monkeypatch.setattr("sys.stdin", None)
    assert _run(["predict", model, "-"], debug=False) == 1
    assert "Standard input is closed; name a file" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdout", None)
    for command in (["predict", model, table], ["inspect", model]):
        assert _run(command, debug=False) == 3
        assert "Standard output is closed" in capsys.readouterr().err
    assert _flushed(0) == 0
    monkeypatch.setattr("sys.stderr", None)
    assert _run(["inspect", "none.ksv"], debug=False) == 3


def _listen_to_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # those who run tests in the background do not


@only_unix
@pytest.mark.parametrize(
    "name", ["SIGHUP", *(pytest.param(name, marks=pytest.mark.slow) for name in ("SIGINT", "SIGTERM"))]
)
def test_an_interrupt_leaves_nothing(name, folder, many, tmp_path):
    command = [*PROGRAM, "predict", folder / "plain.ksv", many, "-o", tmp_path / "out.csv"]
    with subprocess.Popen(
        list(map(str, command)),
        stderr=subprocess.PIPE,
        env=environment(),
        preexec_fn=_listen_to_signals,
    ) as process:
        while not list(tmp_path.glob(".out.csv.*")):
            assert process.poll() is None
            time.sleep(0.002)
        process.send_signal(getattr(signal, name))
        assert b"Interrupted; no unfinished file is left." in process.stderr.read()
    assert process.returncode == 128 + getattr(signal, name)
    assert not any(tmp_path.iterdir())


def test_a_full_disk_leaves_nothing(folder, tmp_path):
    pytest.importorskip("resource", reason="limits of the size of files are those of Unix")
    lines = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from kernelsieve.cli.errors import _run\n"
        "model, data = sys.argv[1:]\n"
        "commands = (['predict', model, data, '-o', 'out.csv'],\n"
        "    ['report', model, data, '-o', 'r.html'], ['export', model, '--c', 'model.c'])\n"
        "sys.exit(sum(code != 3 for code in [_run(command, False) for command in commands]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", lines, folder / "price.ksv", folder / "houses.csv"],
        check=False,
        capture_output=True,
        cwd=tmp_path,
        # Python itself would leave half a module in __pycache__, which later processes could not read.
        env=environment() | {"NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr.decode().count("File too large") == 3
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_output_that_does_not_fit(folder, run):
    with open("/dev/full", "wb") as full:
        done = program("predict", folder / "plain.ksv", folder / "plain.csv", stdout=full)
    assert done.returncode == 3
    assert done.stderr.decode() == "kernelsieve: No space left on device\n"
    run("predict", folder / "plain.ksv", folder / "plain.csv", "-o", "/dev/full", code=3)
    run("export", folder / "plain.ksv", "--c", "/dev/full", code=3)
    assert not os.path.isfile("/dev/full")  # a device stays one


def test_texts_leave_the_terminal_as_it_is():
    assert printable("a\x1b[31m\r\n\t\x9b\u202e é \U0001f600\u200d") == (
        "a\\x1b[31m\\r\\n\\t\\x9b\\u202e é \U0001f600\u200d"
    )
    assert printable("to x " + "x" * 299) == "to x " + "x" * 299
    assert printable("to x " + "x" * 300) == "to x " + "x" * 150 + "…"
    assert shortened("x" * 10, 10) == "x" * 10
    assert shortened("x" * 11, 10) == "x" * 9 + "…"


def test_messages_have_no_control_characters(run, tmp_path):
    said = run("inspect", tmp_path / "\x1b[31m.ksv", code=3)[1]
    assert "\x1b" not in said
    assert "\\x1b[31m.ksv: No such file" in said
