"""Download files once, verify them, and keep them in a cache."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from sklearn.datasets import get_data_home

from ..exceptions import DownloadError
from ..model import replacing

CACHE_VARIABLE = "KERNELSIEVE_CACHE"
OPENML = "https://api.openml.org/api/v1/json"
TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 3
PAUSE = 1.0  # seconds before the second attempt; twice as long before each further one
MAX_BYTES = 500_000_000  # of one file; the largest of ours has some tens of millions
_PART = 1 << 20
_TEMPORARY = {408, 429, 500, 502, 503, 504}  # answers that another attempt may change


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of downloaded data sets.

    Parameters
    ----------
    cache : path, default=None
        The folder; None is that of the environment variable ``KERNELSIEVE_CACHE``, and without it
        ``kernelsieve`` in scikit-learn's ``get_data_home()``.

    Returns
    -------
    pathlib.Path
        Which need not exist yet.
    """
    named = cache or os.environ.get(CACHE_VARIABLE)
    return Path(named).expanduser() if named else Path(get_data_home()) / "kernelsieve"


def is_kept(folder: Path, urls: tuple[str, ...]) -> bool:
    """Return whether all files are in the cache, with their checksums."""
    paths = [folder / file_name(url) for url in urls]
    return all(path.is_file() and _pin(path).is_file() for path in paths)


def open_cached(folder: Path, urls: tuple[str, ...], sha256: tuple[str, ...]) -> list[IO[bytes]] | None:
    """Open the cached files; return None if one is missing.

    A file counts only with its checksum beside it, and is compared with that and with the known one.
    """
    if not is_kept(folder, urls):
        return None
    paths = [folder / file_name(url) for url in urls]
    with ExitStack() as opened:
        files: list[IO[bytes]] = [opened.enter_context(path.open("rb")) for path in paths]
        for path, file, known in zip(paths, files, _padded(sha256, urls), strict=True):
            try:
                _compare(file, "sha256", known or _pin(path).read_text(encoding="ascii").strip())
            except DownloadError as error:
                raise DownloadError(
                    f"{path} has changed since it was downloaded: {error} Delete it to get it again."
                ) from error
        opened.pop_all()
    return files


def fetch_all(files: list[IO[bytes]], urls: tuple[str, ...], sha256: tuple[str, ...]) -> None:
    """Download files, and compare them with known checksums."""
    for file, url, known in zip(files, urls, _padded(sha256, urls), strict=True):
        address, md5 = _at_openml(url) if url.startswith("openml:") else (url, None)
        fetch(address, file)
        for algorithm, digest in (("sha256", known), ("md5", md5)):
            if digest:
                _compare(file, algorithm, digest)


def keep_pins(folder: Path, urls: tuple[str, ...]) -> None:
    """Write the checksums of new files beside them, to verify later loads."""
    for url in urls:
        path = folder / file_name(url)
        with path.open("rb") as file, replacing(_pin(path)) as pin:
            pin.write(hashlib.file_digest(file, "sha256").hexdigest().encode())


def file_name(url: str) -> str:
    """Return the file name of an address in the cache."""
    if url.startswith("openml:"):
        name, _, version = url.removeprefix("openml:").partition("/")
        return f"{name}-{version}.arff"
    return urlsplit(url).path.rpartition("/")[2]


def fetch(url: str, file: IO[bytes]) -> None:
    """Download one file, with retries after temporary failures.

    Raises
    ------
    DownloadError
        With the address and what was wrong with it.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise DownloadError(f"{url} is not a web address: it must begin with https:// or http://.")
    for attempt in range(ATTEMPTS):
        file.seek(0)
        file.truncate()
        try:
            return _fetch_once(url, file)
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS - 1 or not _may_pass(error):
                raise DownloadError(f"{url}: {_reason(error, url)}") from error
            time.sleep(PAUSE * 2**attempt)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _fetch_once(url: str, file: IO[bytes]) -> None:
    request = Request(url, headers={"User-Agent": "kernelsieve"})
    with urlopen(request, timeout=TIMEOUT) as answer:
        announced = answer.headers.get("Content-Length")
        received = 0
        while part := answer.read(_PART):
            received += len(part)
            if received > MAX_BYTES:
                raise DownloadError(f"the file has more than the {MAX_BYTES:,} bytes that are allowed.")
            file.write(part)
    if announced is not None and received != int(announced):
        raise _TruncatedError(f"only {received:,} of {int(announced):,} bytes came.")
    file.flush()


class _TruncatedError(OSError):
    """The connection closed before the end of the file."""


def _may_pass(error: Exception) -> bool:
    if isinstance(error, HTTPError):
        return error.code in _TEMPORARY
    return not isinstance(error, DownloadError)


def _reason(error: Exception, url: str) -> str:
    if isinstance(error, HTTPError):
        return f"the server answered {error.code} {error.reason}."
    if isinstance(error, URLError):
        return f"there is no connection to {urlsplit(url).hostname} ({error.reason})."
    if isinstance(error, TimeoutError):
        return f"the server was silent for {TIMEOUT:g} seconds."
    return str(error)


def _at_openml(url: str) -> tuple[str, str | None]:
    """Return the download address of an OpenML data set, with the MD5 checksum stated there."""
    name, _, version = url.removeprefix("openml:").partition("/")
    found = _json(f"{OPENML}/data/list/data_name/{quote(name)}/data_version/{version}/limit/1")
    try:
        number = found["data"]["dataset"][0]["did"]
        described = _json(f"{OPENML}/data/{number}")["data_set_description"]
        return described["url"], described.get("md5_checksum")
    except (KeyError, IndexError, TypeError) as error:
        raise DownloadError(
            f"OpenML's answer about {name!r}, version {version}, lacks {error!r}."
        ) from error


def _json(url: str) -> Any:
    answer = io.BytesIO()
    fetch(url, answer)
    try:
        return json.loads(answer.getvalue())
    except ValueError as error:
        raise DownloadError(f"{url}: the answer is not JSON.") from error


def _compare(file: IO[bytes], algorithm: str, expected: str) -> None:
    file.seek(0)
    found = hashlib.file_digest(file, algorithm).hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    if found != expected.lower():
        raise DownloadError(f"the {algorithm} checksum is {found}, but must be {expected}.")


def _padded(sha256: tuple[str, ...], urls: tuple[str, ...]) -> tuple[str, ...]:
    return sha256 or ("",) * len(urls)


def _pin(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")
