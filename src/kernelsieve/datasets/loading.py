"""Load data sets: from a local folder, the cache, or a download."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
from sklearn.utils import Bunch

from ..exceptions import DownloadError, InvalidDataError
from ..model import replacing
from .cards import Card, Download, card
from .parsing import Parts, read_files, read_npz, read_table
from .remote import cache_folder, fetch_all, file_name, is_kept, keep_pins, open_cached

DATA_VARIABLE = "KERNELSIEVE_DATA"


def local_data_folder() -> Path | None:
    """Return the folder that the environment variable ``KERNELSIEVE_DATA`` names, if it exists."""
    folder = os.environ.get(DATA_VARIABLE)
    path = Path(folder) if folder else None
    return path if path is not None and path.is_dir() else None


def locate(name: str | Card, *, cache: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the path of a data set: its file in a local folder, or its folder in the cache.

    Parameters
    ----------
    name : str or Card
        As for :func:`load`.
    cache : path, default=None
        As for :func:`load`.

    Returns
    -------
    pathlib.Path or None
        None if :func:`load` would have to download it.

    Examples
    --------
    >>> from kernelsieve.datasets import Card, locate
    >>> locate(Card("mine", "My table", "regression", (10, 3), "made here")) is None
    True
    """
    known = name if isinstance(name, Card) else card(name)
    folder = local_data_folder()
    if folder is not None and (folder / known.path).is_file():
        return folder / known.path
    kept = cache_folder(cache) / known.name
    return kept if known.download is not None and is_kept(kept, known.download.urls) else None


def load(
    name: str | Card,
    *,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Bunch:
    """Load a data set: from a local folder, the cache, or its publisher.

    Parameters
    ----------
    name : str or Card
        One of :func:`names`, or a card of your own.
    cache : path, default=None
        Folder of downloaded files; None is that of the environment variable ``KERNELSIEVE_CACHE``,
        and without it ``kernelsieve`` in scikit-learn's ``get_data_home()``.
    download : bool, default=True
        Whether a set that is in neither folder is downloaded.

    Returns
    -------
    sklearn.utils.Bunch
        With ``X``, ``y`` and ``card``; ``train_idx`` and ``test_idx`` where a split is known, with a
        row for each of several splits; and what else the set has, such as names of columns.

    Raises
    ------
    InvalidParameterError
        For a name without a card.
    InvalidDataError
        If the set is in no folder and may not or cannot be downloaded, or if shape or classes are not
        those of the card.
    DownloadError
        If there is no network, if less came than was announced, or for a wrong checksum.

    Notes
    -----
    The folder that ``KERNELSIEVE_DATA`` names is looked at first, for the file ``card.path``. Downloads
    come from OpenML, UCI and the LIBSVM site. A checksum that the card has is compared with every file,
    and the one that OpenML states with its files. Where none is known, the first download is trusted if
    it has the shape and the classes of the card; its SHA-256 is written beside it and compared at each
    later load. Files appear in the cache after all that, or not at all.

    Examples
    --------
    >>> from kernelsieve.datasets import load
    >>> sonar = load("sonar")  # doctest: +SKIP
    >>> sonar.X.shape, sonar.card.licence  # doctest: +SKIP
    ((208, 60), 'CC BY 4.0 (UCI)')
    """
    known = name if isinstance(name, Card) else card(name)
    parts = _from_folder(known)
    if parts is None:
        parts = _from_cache(known, cache_folder(cache), download)
    return Bunch(**parts, card=known)


def _from_folder(card: Card) -> Parts | None:
    path = locate(card)
    if path is None or path.is_dir():
        return None
    parts = read_npz(path) if path.suffix == ".npz" else read_table(path)
    return _checked(parts, card, str(path))


def _from_cache(card: Card, cache: Path, download: bool) -> Parts:
    source = card.download
    if source is None:
        raise InvalidDataError(
            f"The data set {card.name!r} is not in {_looked_at()} and no address to download it "
            f"is known. Its source is: {card.source}. To use it, {_put_it_there(card)}"
        )
    folder = cache / card.name
    files = open_cached(folder, source.urls, source.sha256)
    if files is not None:
        with ExitStack() as opened:
            for file in files:
                opened.enter_context(file)
            return _read(files, card, source, str(folder))
    if not download:
        raise InvalidDataError(
            f"The data set {card.name!r} is in neither {_looked_at()} nor {cache}, and download=False. "
            f"Allow it, or {_put_it_there(card)}"
        )
    return _downloaded(folder, card, source)


def _downloaded(folder: Path, card: Card, source: Download) -> Parts:
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as unfinished:  # files take their places only if nothing is wrong with any of them
        files = [unfinished.enter_context(replacing(folder / file_name(url))) for url in source.urls]
        try:
            fetch_all(files, source.urls, source.sha256)
        except DownloadError as error:
            raise DownloadError(
                f"The data set {card.name!r} could not be downloaded. {error} Try again later, "
                f"or {_put_it_there(card)}"
            ) from error
        parts = _read(files, card, source, ", ".join(source.urls))
    keep_pins(folder, source.urls)
    return parts


def _read(files: list[IO[bytes]], card: Card, source: Download, where: str) -> Parts:
    for file in files:
        file.seek(0)
    names = [file_name(url) for url in source.urls]
    try:
        parts = read_files(files, names, source.format, source.options)
    except InvalidDataError:
        raise
    except Exception as error:
        raise InvalidDataError(f"{where} cannot be read as {source.format}: {error!r}.") from error
    if source.n_train:
        n_rows = parts["X"].shape[0]
        parts["train_idx"] = np.arange(source.n_train)
        parts["test_idx"] = np.arange(source.n_train, n_rows)
    return _checked(parts, card, where)


def _checked(parts: Parts, card: Card, where: str) -> Parts:
    """Return the arrays, checked against the card."""
    found = tuple(int(n) for n in parts["X"].shape)
    if found != card.shape or len(parts["y"]) != found[0]:
        raise InvalidDataError(
            f"{where} has X of shape {found} and {len(parts['y'])} targets; the card of {card.name!r} "
            f"says {card.shape}. It is another data set, or another version."
        )
    counts = tuple(np.unique(np.asarray(parts["y"]), return_counts=True)[1].tolist())
    if card.class_counts and sorted(counts) != sorted(card.class_counts):
        raise InvalidDataError(
            f"{where} has classes of {counts} samples; the card of {card.name!r} says "
            f"{card.class_counts}. It is another data set, or another version."
        )
    return parts


def _looked_at() -> str:
    folder = local_data_folder()
    return f"a folder of yours ({DATA_VARIABLE} names none)" if folder is None else str(folder)


def _put_it_there(card: Card) -> str:
    return f"put {card.path} into a folder and set {DATA_VARIABLE} to it."
