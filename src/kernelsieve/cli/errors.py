"""The entry point: exit codes, and errors as one readable line."""

from __future__ import annotations

import difflib
import os
import re
import signal
import sys
import warnings
from collections.abc import Container, Iterable
from contextlib import suppress
from numbers import Integral
from typing import Any, NoReturn

#: What a shell sees. The help of the program names them.
OK, BAD_DATA, USAGE, IO_FAILURE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
_NAMED = 20  # columns
_LONGEST = 60  # characters of a name or a label that are shown
_LONGEST_MESSAGE = 2000
_DELIMITER = re.compile(r"[,;\t|:^~]")
_ENDLESS = re.compile(r"(\S{150})\S{150,}")
#: Characters that move a terminal's cursor, turn the direction of text or end a line.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class TableError(ValueError):
    """A table that cannot be used; the message says why."""


def no_column(
    name: str, names: Iterable[str], why: str = "", others: Container[str] = ()
) -> TableError:
    """Return the error about a missing column, with the names of the existing ones.

    It may be called like one of them, unless that is one of ``others``, which are known to be something
    else.
    """
    known = list(names)
    like = difflib.get_close_matches(name, [other for other in known if other not in others], 1)
    asked = f" (is it {like[0]!r}?)" if like else ""
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return TableError(
        f"The table has no column {name!r}{why}{asked}; it has "
        f"{', '.join(map(repr, known[:_NAMED]))}{more}.{_delimiter_hint(known)}"
    )


def _delimiter_hint(names: list[str]) -> str:
    """Suggest --sep if a header with several names was read as one column."""
    found = _DELIMITER.search(names[0]) if len(names) == 1 else None
    if found is None:
        return ""
    shown = "tab" if found[0] == "\t" else found[0]
    return f" If that is a whole header, pass its delimiter, such as --sep {shown!r}."


def printable(text: str) -> str:
    """Escape control characters, and shorten endless words."""
    text = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    return _ENDLESS.sub(r"\1…", text)


def shortened(text: str, most: int = _LONGEST) -> str:
    """Return a text cut to a number of characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cell_text(value: Any) -> str:
    """Return a text or a number as a cell of a table shows it."""
    if isinstance(value, str):
        return shortened(value)
    return f"{value:,}" if isinstance(value, Integral) else f"{value:.4g}"


def main() -> NoReturn:
    """Run the command line; the process ends with an exit code."""
    _keep_descriptors()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # not all are everywhere
        if number and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        code = _flushed(_run(arguments, debug))
    except BrokenPipeError:
        code = BROKEN_PIPE
    if code in (BROKEN_PIPE, IO_FAILURE) and sys.stdout is not None:  # nothing is left to be flushed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _keep_descriptors() -> None:
    """Reserve the descriptors of closed standard streams, so that no file opened later takes them."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def _flushed(code: int) -> int:
    """Flush standard output; return the exit code, or that of a failure to write."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        return _report_error(error)
    return code


_interrupts: list[int] = []


def _interrupt(number: int, frame: Any) -> None:
    """Record the signal and raise KeyboardInterrupt, which table parsers may mask as a file error."""
    if number == getattr(signal, "SIGHUP", None):
        signal.signal(number, signal.SIG_IGN)  # a closing terminal sends several
    _interrupts.append(number)
    raise KeyboardInterrupt


def _run(arguments: list[str], debug: bool) -> int:
    try:
        from .app import app
    except ImportError as error:
        return _print_message(f'{error}; run: pip install "kernelsieve[cli]"', USAGE)
    warnings.simplefilter("always" if debug else "ignore")
    try:
        code = app(args=arguments, prog_name="kernelsieve", standalone_mode=False)
        return _interrupted() if code == INTERRUPTED else code if isinstance(code, int) else OK
    except SystemExit as end:  # of typer and rich, when nobody reads on, as with head
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        raise
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        if debug and not _interrupts:
            raise
        return _interrupted() if _interrupts else _report_error(error)


def _report_error(error: Any) -> int:
    """Print an error as one line, and return its exit code."""
    if type(error).__name__ == "Abort":  # which typer makes of the end of a file
        error = error.__cause__ or error
    if hasattr(error, "format_message"):  # of the command line
        text = error.format_message()
        return (
            _print_message(f"{text} (kernelsieve --help)", USAGE) if text else USAGE
        )  # help was shown
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return _print_message(f"{name}{error.strerror or error}", IO_FAILURE)
    if isinstance(error, ImportError):
        return _print_message(str(error), USAGE)
    if isinstance(error, MemoryError):
        return _print_message("There is not enough memory; pass fewer rows or columns.", BAD_DATA)
    text = " ".join(str(error).split())
    known = isinstance(error, ValueError)
    return _print_message(
        text if known else f"{type(error).__name__}: {text} (--debug shows where)", BAD_DATA
    )


def _interrupted() -> int:
    code = 128 + _interrupts[-1] if _interrupts else INTERRUPTED
    return _print_message("Interrupted; no unfinished file is left.", code)


def _print_message(text: str, code: int) -> int:
    if sys.stderr is not None:
        with suppress(OSError):  # the terminal may be gone
            text = shortened(printable(text), _LONGEST_MESSAGE)
            print(f"kernelsieve: {text}", file=sys.stderr)
    return code
