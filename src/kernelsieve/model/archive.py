"""Files of arrays and JSON: written whole or not at all, and read only if nothing in them has changed.

A file is a zip archive without compression. The manifest says type, shape and SHA-256 of every array,
and the comment at the end of the archive is the SHA-256 of the manifest. So nothing is allocated that
the file does not hold, and no byte of the content can change unseen.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import struct
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..exceptions import ModelFileError

_MANIFEST = "manifest.json"
_FORMAT = "kernelsieve"
_LIBRARIES = ("kernelsieve", "numpy", "scipy", "scikit-learn")
_LONGEST_MANIFEST = 2**26  # bytes: what JSON becomes in memory is many times larger
_CHUNK = 2**20
#: Kinds of numpy types that files hold: nothing that could be an object.
STORED_KINDS = "biufU"
# What zipfile and numpy raise for bytes that make no sense.
_UNREADABLE = (
    zipfile.BadZipFile,
    struct.error,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    OverflowError,
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
        if len(text) > _LONGEST_MANIFEST:
            raise ModelFileError(
                f"What is no array takes {len(text):,} bytes, and a file holds {_LONGEST_MANIFEST:,} "
                "of it; labels and names of features should be fewer, or shorter."
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


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file beside the old one, which takes its place if all goes well."""
    path = Path(os.path.realpath(path))  # so that a link stays one
    if path.exists() and not path.is_file():  # a device or a pipe has nothing to keep
        with open(path, "wb") as file:
            yield file
        return
    try:
        handle, temporary = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=".unfinished", dir=path.parent
        )
    except OSError as error:  # which names the file that was asked for
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_archive(
    path: str | os.PathLike[str], kind: str, format_version: int
) -> tuple[Any, dict[str, np.ndarray]]:
    """Return content and arrays of a file of that kind, or say why it cannot be trusted."""
    with open(path, "rb") as file:  # what cannot be opened is no matter of the format
        return _read(file, path, kind, format_version)


def _read(
    file: IO[bytes], path: str | os.PathLike[str], kind: str, format_version: int
) -> tuple[Any, dict[str, np.ndarray]]:
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive)
            _check_kind(manifest, kind, format_version)
            declared = manifest["arrays"]
            _check_members(archive, declared)
            arrays = {name: _read_array(archive, name, told) for name, told in declared.items()}
            return manifest["content"], arrays
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except _UNREADABLE as error:
        raise ModelFileError(
            f"{path} is damaged, cut short, or no file of kernelsieve ({error}). Copy or write it "
            "again."
        ) from error


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    info = archive.getinfo(_MANIFEST)
    _check_stored(archive, [info])
    if info.file_size > _LONGEST_MANIFEST:
        raise ModelFileError(
            f"the manifest has {info.file_size:,} bytes, and {_LONGEST_MANIFEST:,} are allowed; the "
            "file was not written by kernelsieve."
        )
    text = archive.read(info)
    if hashlib.sha256(text).hexdigest().encode() != archive.comment:
        raise ModelFileError(
            "the file is damaged: its manifest has a wrong hash. Copy or write it again."
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


def _check_stored(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
    """Refuse members that would take more memory than the file has bytes."""
    if any(info.compress_type != zipfile.ZIP_STORED for info in members):
        raise ModelFileError("the file is compressed, which could be a zip bomb; kernelsieve stores.")
    file: Any = archive.fp
    size = os.fstat(file.fileno()).st_size
    if sum(info.file_size for info in members) > size:
        raise ModelFileError(f"its members claim more than the {size:,} bytes of the file: a zip bomb.")


def _check_members(archive: zipfile.ZipFile, declared: Any) -> None:
    """Refuse anything but the manifest and the arrays that it declares."""
    members = archive.infolist()
    _check_stored(archive, members)
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
        fortran_order, header = _read_header(file, name, dtype, shape)
        n_bytes = math.prod(shape) * dtype.itemsize
        if archive.getinfo(member).file_size != len(header) + n_bytes:
            raise ModelFileError(f"array {name} has not the bytes of {dtype} of shape {shape}.")
        digest.update(header)
        array = np.empty(shape, dtype, order="F" if fortran_order else "C")
        _read_into(file, array, digest)
    if digest.hexdigest() != told["sha256"]:
        raise ModelFileError(
            f"the file is damaged: array {name} has a wrong hash. Copy or write it again."
        )
    return array


def _declared(name: str, told: Mapping[str, Any]) -> tuple[np.dtype, tuple[int, ...]]:
    dtype, shape = np.dtype(str(told["dtype"])), tuple(told["shape"])
    if dtype.kind not in STORED_KINDS:
        raise ModelFileError(f"array {name} has the type {dtype}, which has no place in a file.")
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in shape):
        raise ModelFileError(f"array {name} has the shape {shape}, which must not be negative.")
    return dtype, shape


def _read_header(
    file: IO[bytes], name: str, dtype: np.dtype, shape: tuple[int, ...]
) -> tuple[bool, bytes]:
    """Return if the array is in Fortran order, and the bytes of the header of its file."""
    recorded = _Recorded(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[np.lib.format.read_magic(recorded)]
    found_shape, fortran_order, found_dtype = read(recorded)
    if any(n < 0 for n in found_shape):
        raise ModelFileError(f"array {name} has the shape {found_shape}, which must not be negative.")
    if found_shape != shape or found_dtype != dtype:
        raise ModelFileError(
            f"array {name} is {found_dtype} of shape {found_shape}, and {dtype} of shape {shape} in "
            "the manifest."
        )
    return bool(fortran_order), recorded.data


class _Recorded:
    """A file that remembers what was read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.data = file, b""

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self.data += data
        return data


def _read_into(file: IO[bytes], array: np.ndarray, digest: Any) -> None:
    if not array.size or not array.itemsize:
        return
    flat: Any = memoryview(array.reshape(-1, order="A").view(np.uint8))  # type: ignore[arg-type]
    for start in range(0, len(flat), _CHUNK):
        piece = file.read(min(_CHUNK, len(flat) - start))
        digest.update(piece)
        flat[start : start + len(piece)] = piece
