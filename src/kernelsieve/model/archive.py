"""Files of arrays and JSON: written whole or not at all, and read only if nothing in them has changed.

A file is a zip archive without compression. The manifest says type, shape and SHA-256 of every array,
and the comment at the end of the archive is the SHA-256 of the manifest. So nothing is allocated that
the file does not hold, no byte of the content can change unseen, and the headers of arrays are compared
with the manifest and never evaluated.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import re
import stat
import struct
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import IO, Any, Literal

import numpy as np

from ..exceptions import ModelFileError
from .whole_files import replacing

_MANIFEST = "manifest.json"
_FORMAT = "kernelsieve"
_LIBRARIES = ("kernelsieve", "numpy", "scipy", "scikit-learn")
_LONGEST_MANIFEST = 2**26  # bytes
_MOST_ITEMS = 2**20  # of JSON in the manifest: each takes about 100 bytes of memory
_CHUNK = 2**20
_LARGEST_READ = 2**22  # bytes at once: arrays are read in chunks, and the list of members is smaller
_NPY = b"\x93NUMPY\x01\x00"  # what an array file begins with; two bytes follow, the length of a text
_HEADER_TEXT = 10  # where that text begins, which describes the array
_LONGEST_HEADER = _HEADER_TEXT + 2**16
_LONGEST_MESSAGE = 300  # characters of what a file says, or what is said about it
_DTYPE = re.compile(r"[<>|=]?(?:[biufU][0-9]{1,9}|O)")
#: Kinds of numpy types that files hold: nothing that could be an object.
STORED_KINDS = "biufU"
#: What zipfile, numpy and classes raise for content that makes no sense.
UNREADABLE = (
    zipfile.BadZipFile,
    struct.error,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    format_version: int,
    content: Any,
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a zip file of a JSON manifest and arrays; the old file stays until the new one is whole.

    ``numpy.load`` and any zip program can look inside.
    """
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        declared = {name: _write_array(archive, name, array) for name, array in arrays.items()}
        manifest = {
            "format": _FORMAT,
            "kind": kind,
            "version": format_version,
            "libraries": {"python": platform.python_version()} | _versions(),
            "content": content,
            "arrays": declared,
        }
        text = json.dumps(manifest, allow_nan=False).encode()
        if len(text) > _LONGEST_MANIFEST or _items_of(text) > _MOST_ITEMS:
            raise ModelFileError(
                f"What is no array takes {len(text):,} bytes and {_items_of(text):,} items of JSON; "
                f"a file holds {_LONGEST_MANIFEST:,} and {_MOST_ITEMS:,}. Labels, categories and names "
                "of features should be fewer, or shorter."
            )
        archive.writestr(zipfile.ZipInfo(_MANIFEST), text)
        archive.comment = hashlib.sha256(text).hexdigest().encode()


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder of sources
            found[name] = "unknown"
    return found


def _write_array(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> dict[str, Any]:
    """Write an array in its own memory order, so that products with it are rounded as before."""
    digest = hashlib.sha256()
    info = zipfile.ZipInfo(_member(name))  # without the time, so that equal models are equal files
    with archive.open(info, "w", force_zip64=True) as member:
        np.lib.format.write_array(_Hashed(member, digest), array, allow_pickle=False)
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest.hexdigest()}


class _Hashed:
    """A file that hashes what is written to it."""

    def __init__(self, file: IO[bytes], digest: Any) -> None:
        self._file, self._digest = file, digest

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        return self._file.write(data)


def _member(name: str) -> str:
    return f"arrays/{name}.npy"


def read_archive(
    path: str | os.PathLike[str], kind: str, format_version: int
) -> tuple[Any, dict[str, np.ndarray]]:
    """Return content and arrays of a file of that kind, or say why it cannot be trusted."""
    mode = os.stat(path).st_mode  # before it is opened, which waits where the file is a pipe
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ModelFileError(
            f"{path} is a device or a pipe, which may never end; copy what it gives to a file."
        )
    with open(path, "rb") as file:  # what cannot be opened is no matter of the format
        return _read(_LimitedFile(file), path, kind, format_version)


class _LimitedFile:
    """A file that refuses to read much at once, whatever sizes the archive claims."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable
        self.size = os.fstat(file.fileno()).st_size

    def read(self, size: int = -1, /) -> bytes:
        left = self.size - self._file.tell()
        if min(left, left if size < 0 else size) > _LARGEST_READ:
            raise ModelFileError(
                f"the list of its members claims more than {_LARGEST_READ:,} bytes; the file was not "
                "written by kernelsieve."
            )
        return self._file.read(size)


def shortened(text: object) -> str:
    """Return what is said about a file, which may quote it, at a length that can be read."""
    whole = str(text)
    if len(whole) <= _LONGEST_MESSAGE:
        return whole
    half = _LONGEST_MESSAGE // 2
    return f"{whole[:half]} ... {whole[-half:]}"


def dtype_named(name: Any) -> np.dtype:
    """Return the type of an array that a file names, such as ``<f8``; no list of types is one."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ModelFileError(f"the type {name!r} has no place in a file.")
    return np.dtype(name)


def _read(
    file: Any, path: str | os.PathLike[str], kind: str, format_version: int
) -> tuple[Any, dict[str, np.ndarray]]:
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive, file.size)
            _check_kind(manifest, kind, format_version)
            declared = manifest["arrays"]
            _check_members(archive, declared, file.size)
            arrays = {name: _read_array(archive, name, told) for name, told in declared.items()}
            return manifest["content"], arrays
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {shortened(error)}") from None
    except UNREADABLE as error:
        raise ModelFileError(
            f"{path} is damaged, cut short, or no file of kernelsieve ({shortened(error)}). Copy or "
            "write it again."
        ) from error


def _items_of(manifest: bytes) -> int:
    """Return how many values JSON may hold, by what separates them."""
    return manifest.count(b",") + manifest.count(b"[") + manifest.count(b"{")


def _manifest(archive: zipfile.ZipFile, size: int) -> dict[str, Any]:
    info = archive.getinfo(_MANIFEST)
    _check_stored([info], size)
    if info.file_size > _LONGEST_MANIFEST:
        raise ModelFileError(
            f"the manifest has {info.file_size:,} bytes, and {_LONGEST_MANIFEST:,} are allowed; the "
            "file was not written by kernelsieve."
        )
    with archive.open(info) as file:
        text = b"".join(iter(lambda: file.read(_CHUNK), b""))
    if hashlib.sha256(text).hexdigest().encode() != archive.comment:
        raise ModelFileError(
            "the file is damaged: its manifest has a wrong hash. Copy or write it again."
        )
    if _items_of(text) > _MOST_ITEMS:
        raise ModelFileError(
            f"the manifest has {_items_of(text):,} items, and {_MOST_ITEMS:,} are allowed; the file "
            "was not written by kernelsieve."
        )
    manifest = json.loads(text)
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise ModelFileError("the file was not written by kernelsieve.")
    return manifest


def _check_kind(manifest: dict[str, Any], kind: str, format_version: int) -> None:
    found, found_version = manifest.get("kind"), manifest.get("version")
    if found != kind:
        raise ModelFileError(f"the file holds a {found}, and a {kind} was asked for.")
    if not isinstance(found_version, int) or found_version < 1:
        raise ModelFileError(f"version {found_version!r} of the format does not exist.")
    if found_version > format_version:
        raise ModelFileError(
            f"the file has version {found_version} of the format of a {kind}, and this version of "
            f"kernelsieve reads version {format_version}: it comes from the future. Upgrade "
            "kernelsieve."
        )


def _check_stored(members: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse members that would take more memory than the file has bytes."""
    if any(info.compress_type != zipfile.ZIP_STORED for info in members):
        raise ModelFileError("the file is compressed, which could be a zip bomb; kernelsieve stores.")
    if sum(info.file_size for info in members) > size:
        raise ModelFileError(f"its members claim more than the {size:,} bytes of the file: a zip bomb.")


def _check_members(archive: zipfile.ZipFile, declared: Any, size: int) -> None:
    """Refuse anything but the manifest and the arrays that it declares."""
    members = archive.infolist()
    _check_stored(members, size)
    for info in members:
        if ".." in info.filename or info.filename.startswith(("/", "\\")) or ":" in info.filename:
            raise ModelFileError(f"it has a path outside the archive, {info.filename!r}.")
    expected = sorted([_MANIFEST, *map(_member, declared)])
    if sorted(info.filename for info in members) != expected:
        raise ModelFileError("its members are not those that the manifest declares.")


def _read_array(archive: zipfile.ZipFile, name: str, told: Mapping[str, Any]) -> np.ndarray:
    """Read an array after a look if the file holds as much as it claims."""
    dtype, shape = _declared(name, told)
    member = _member(name)
    digest = hashlib.sha256()
    with archive.open(member) as file:
        header = file.read(_LONGEST_HEADER)
        order, length = _read_header(header, name, dtype, shape)
        n_bytes = math.prod(shape) * dtype.itemsize
        if archive.getinfo(member).file_size != length + n_bytes:
            raise ModelFileError(f"array {name} has not the bytes of {dtype} of shape {shape}.")
        file.seek(length)
        digest.update(header[:length])
        array = np.empty(shape, dtype, order)
        _read_into(file, array, digest)
    if digest.hexdigest() != told["sha256"]:
        raise ModelFileError(
            f"the file is damaged: array {name} has a wrong hash. Copy or write it again."
        )
    return array


def _declared(name: str, told: Mapping[str, Any]) -> tuple[np.dtype, tuple[int, ...]]:
    dtype, shape = dtype_named(told["dtype"]), tuple(told["shape"])
    if dtype.kind not in STORED_KINDS or not dtype.itemsize:  # items of no bytes would cost no file
        raise ModelFileError(f"array {name} has the type {dtype}, which has no place in a file.")
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in shape):
        raise ModelFileError(f"array {name} has the shape {shape}, which must not be negative.")
    return dtype, shape


def _read_header(
    header: bytes, name: str, dtype: np.dtype, shape: tuple[int, ...]
) -> tuple[Literal["C", "F"], int]:
    """Return the memory order of an array and the length of its header.

    The manifest says what the header must be, so it is compared, and never evaluated.
    """
    length = _HEADER_TEXT + int.from_bytes(header[_HEADER_TEXT - 2 : _HEADER_TEXT], "little")
    found = header[_HEADER_TEXT:length].rstrip()
    for order in ("C", "F"):
        about = {"descr": dtype.str, "fortran_order": order == "F", "shape": shape}
        expected = "{" + "".join(f"{key!r}: {value!r}, " for key, value in about.items()) + "}"
        if header.startswith(_NPY) and found == expected.encode():
            return order, length
    raise ModelFileError(
        f"array {name} is damaged: its header is not that of {dtype} of shape {shape} in the manifest."
    )


def _read_into(file: IO[bytes], array: np.ndarray, digest: Any) -> None:
    if not array.size or not array.itemsize:
        return
    flat: Any = memoryview(array.reshape(-1, order="A").view(np.uint8))  # type: ignore[arg-type]
    for start in range(0, len(flat), _CHUNK):
        piece = file.read(min(_CHUNK, len(flat) - start))
        digest.update(piece)
        flat[start : start + len(piece)] = piece
