"""Files of arrays and JSON: written whole or not at all, and read only if no byte has changed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import ModelFileError

_MANIFEST = "manifest.json"
_FORMAT = "kernelsieve"
_DIGEST_LENGTH = 64  # of a hexadecimal SHA-256, which is the comment at the end of the zip file


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    content: Any,
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a zip file of a JSON manifest and arrays; the old file stays until the new one is whole.

    ``numpy.load`` and any zip program can look inside.
    """
    manifest = {"format": _FORMAT, "kind": kind, "version": version, "content": content}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = b"0" * _DIGEST_LENGTH
        archive.writestr(_MANIFEST, json.dumps(manifest, allow_nan=False))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
    written = buffer.getbuffer()[:-_DIGEST_LENGTH]
    _replace(Path(path), written, hashlib.sha256(written).hexdigest().encode())


def _replace(path: Path, *parts: Any) -> None:
    """Write a file beside the old one and let it take its place."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
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
    path: str | os.PathLike[str], kind: str, version: int
) -> tuple[Any, dict[str, np.ndarray]]:
    """Return content and arrays of a file of that kind, or say why it cannot be trusted."""
    manifest, arrays = _opened(path)
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise ModelFileError(f"{path} was not written by kernelsieve.")
    found = manifest.get("kind")
    if found != kind:
        raise ModelFileError(f"{path} holds a {found}, and a {kind} was asked for.")
    if manifest.get("version") != version:
        raise ModelFileError(
            f"{path} has version {manifest.get('version')} of the format of a {kind}, and this version "
            f"of kernelsieve reads version {version}; write it again, or install the version that did."
        )
    return manifest.get("content"), arrays


def _opened(path: str | os.PathLike[str]) -> tuple[Any, dict[str, np.ndarray]]:
    data = Path(path).read_bytes()
    digest = hashlib.sha256(memoryview(data)[:-_DIGEST_LENGTH]).hexdigest().encode()
    if data[-_DIGEST_LENGTH:] != digest:
        raise ModelFileError(
            f"{path} is damaged, cut short, or no file of kernelsieve: its bytes do not agree with the "
            "hash at its end. Copy or write it again."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            manifest = json.loads(archive.read(_MANIFEST))
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            arrays = {name.removesuffix(".npy"): _array(archive.read(name)) for name in names}
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ModelFileError(f"{path} cannot be read: {error}") from error
    return manifest, arrays


def _array(data: bytes) -> np.ndarray:
    return np.asarray(np.lib.format.read_array(io.BytesIO(data), allow_pickle=False))
