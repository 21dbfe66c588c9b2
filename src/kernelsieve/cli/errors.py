"""The entry point: exit codes, and one readable line for an error."""

from __future__ import annotations

import difflib
import os
import signal
import sys
import warnings
from collections.abc import Container, Iterable
from typing import Any, NoReturn

#: What a shell sees. The help of the program names them.
OK, BAD_DATA, USAGE, IO_FAILURE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
_NAMED = 20  # columns


class TableError(ValueError):
    """A table cannot be used as it is."""


def no_column(
    name: str, names: Iterable[str], why: str = "", others: Container[str] = ()
) -> TableError:
    """Return the error about a column that a table has not, with the names that it has.

    It may be called like one of them, unless that is one of ``others``, which are known to be something
    else.
    """
    known = list(names)
    like = difflib.get_close_matches(name, [other for other in known if other not in others], 1)
    asked = f" (is it {like[0]!r}?)" if like else ""
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return TableError(
        f"The table has no column {name!r}{why}{asked}; it has "
        f"{', '.join(map(repr, known[:_NAMED]))}{more}."
    )


class ClosedPipe(Exception):  # noqa: N818  (no error: nobody reads on, as with head)
    """Whoever reads the output has enough."""


def main() -> NoReturn:
    """Run the command line; the process ends with an exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        code = _flushed(_run(arguments, debug))
    except (BrokenPipeError, ClosedPipe):
        code = BROKEN_PIPE
    if code in (BROKEN_PIPE, IO_FAILURE):  # nothing is left to be flushed at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _flushed(code: int) -> int:
    """Return an exit code after all is written: that of a failure where it does not fit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        return _explained(error)
    return code


_interrupts: list[int] = []


def _interrupt(number: int, frame: Any) -> None:
    """Remember that the user wants an end: parsers of tables take it for an error of the file."""
    _interrupts.append(number)
    raise KeyboardInterrupt


def _run(arguments: list[str], debug: bool) -> int:
    try:
        from .app import app
    except ImportError as error:
        return _say(f'{error}; run: pip install "kernelsieve[cli]"', USAGE)
    warnings.simplefilter("always" if debug else "ignore")
    try:
        code = app(args=arguments, prog_name="kernelsieve", standalone_mode=False)
        return _interrupted() if code == INTERRUPTED else code if isinstance(code, int) else OK
    except ClosedPipe:
        raise
    except (KeyboardInterrupt, EOFError):
        return _interrupted()
    except Exception as error:
        if debug and not _interrupts:
            raise
        return _interrupted() if _interrupts else _explained(error)


def _explained(error: Any) -> int:
    """Say what was wrong in a line."""
    if hasattr(error, "format_message") or type(error).__name__ == "Abort":  # of the command line
        if type(error).__name__ == "Abort":
            return _interrupted()
        return _say(f"{error.format_message()} (kernelsieve --help)", USAGE)
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return _say(f"{name}{error.strerror or error}", IO_FAILURE)
    if isinstance(error, ImportError):
        return _say(str(error), USAGE)
    if isinstance(error, MemoryError):
        return _say("There is not enough memory; pass fewer rows or columns.", BAD_DATA)
    text = " ".join(str(error).split())
    known = isinstance(error, ValueError)
    return _say(text if known else f"{type(error).__name__}: {text} (--debug shows where)", BAD_DATA)


def _interrupted() -> int:
    return _say("Interrupted; nothing was written.", INTERRUPTED)


def _say(text: str, code: int) -> int:
    print(f"kernelsieve: {text}", file=sys.stderr)
    return code
