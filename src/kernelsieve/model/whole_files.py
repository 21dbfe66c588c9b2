"""Files that are written whole or not at all: all files are written by :func:`replacing`."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_MAY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_LONGEST_NAME = 100  # characters of the name that a temporary file repeats


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file beside the old one, which takes its place if all goes well.

    The new file gets the mode and the owner of the old one, and a file that may not be written is
    refused. A device or a pipe, such as ``/dev/stdout``, gets everything at the end.
    """
    check_writable(path)
    if is_stream(path):
        with tempfile.TemporaryFile() as whole:
            yield whole
            whole.seek(0)
            with open(path, "ab") as stream:
                shutil.copyfileobj(whole, stream)
        return
    target = Path(os.path.realpath(path))  # so that a link stays one
    old = target.stat() if target.exists() else None
    name = f".{target.name[:_LONGEST_NAME]}.{secrets.token_hex(4)}.unfinished"
    temporary = target.with_name(name)
    try:
        with _created(temporary, private=old is not None) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            _give_mode_and_owner(temporary, old)
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from None  # the one asked for
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error if a path cannot be written, before the work whose results it is to hold.

    Raises
    ------
    OSError
        If it is a folder, or in a folder that does not exist, or may not be written. A file that
        nobody may write is kept from the superuser, too.
    """
    name = os.fspath(path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "Is a folder; name a file in it", name)
    if is_stream(path):
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "Its folder does not exist; make it first", name)
    if target.exists() and not (target.stat().st_mode & _MAY_WRITE and os.access(target, os.W_OK)):
        raise PermissionError(
            errno.EACCES, "The file is read-only; make it writable or name another", name
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "Its folder is read-only; name a file in another", name)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return True for a device, a pipe or an open descriptor, which cannot be replaced."""
    in_system = Path(os.path.abspath(path)).parts[:2] in (("/", "dev"), ("/", "proc"))
    return os.path.exists(path) and (in_system or not os.path.isfile(path))


def _created(path: Path, *, private: bool) -> IO[bytes]:
    """Open a new file: with the usual mode, or for nobody else until it gets that of an old one."""
    mode = 0o600 if private else 0o666  # of which the system takes the umask away
    return open(path, "x+b", opener=lambda name, flags: os.open(name, flags, mode))


def _give_mode_and_owner(path: Path, old: os.stat_result) -> None:
    """Give a new file the mode of an old one; the owner and group too, where that is allowed."""
    mode = stat.S_IMODE(old.st_mode)
    if sys.platform != "win32":
        with suppress(PermissionError):
            os.chown(path, old.st_uid, old.st_gid)
        if path.stat().st_gid != old.st_gid:
            mode &= ~stat.S_IRWXG  # these rights were for another group
    path.chmod(mode)
