"""Cards of the data sets: shape, source, licence, and differences from the papers."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from ..exceptions import InvalidParameterError


@dataclass(frozen=True)
class Download:
    """Addresses and format of the files of a data set.

    Parameters
    ----------
    urls : tuple of str
        Addresses of files whose samples follow one another; ``"openml:<name>/<version>"`` is looked up
        at OpenML.
    format : {"arff", "csv", "npz", "svmlight"}
        Of the files, which may be compressed by gzip or bzip2.
    sha256 : tuple of str, default=()
        Checksums of the files, where they are known. Others are kept from the first download on.
    n_train : int, default=0
        So many samples, the first, are for training and the others for testing; 0 is no known split.
    options : mapping, default={}
        For the reader of the format.
    """

    urls: tuple[str, ...]
    format: str
    sha256: tuple[str, ...] = ()
    n_train: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """Description of a data set.

    Parameters
    ----------
    name : str
        For :func:`load`.
    title : str
        In words.
    task : {"classification", "regression"}
        Kind of the target.
    shape : tuple of two int
        Samples and features.
    source : str
        Source of the data.
    class_counts : tuple of int, default=()
        Samples of each class; empty if there are no classes, or if the numbers are not known.
    licence : str, default="not stated"
        Licence, as the source states it.
    differs : str, default=""
        Differences from the paper that uses the set, and other remarks.
    file : str, default=""
        Place in a folder of data sets; empty is ``<name>/<name>.npz``.
    download : Download or None, default=None
        None if no address is known.
    """

    name: str
    title: str
    task: str
    shape: tuple[int, int]
    source: str
    class_counts: tuple[int, ...] = ()
    licence: str = "not stated"
    differs: str = ""
    file: str = ""
    download: Download | None = None

    @property
    def path(self) -> str:
        """Path of the file inside a folder of data sets."""
        return self.file or f"{self.name}/{self.name}.npz"


def card(name: str) -> Card:
    """Return the card of a data set.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Card

    Examples
    --------
    >>> from kernelsieve.datasets import card
    >>> sonar = card("sonar")
    >>> sonar.shape, sonar.class_counts, sonar.licence
    ((208, 60), (97, 111), 'CC BY 4.0 (UCI)')
    """
    known = _cards()
    if name in known:
        return known[name]
    lower = {other.lower(): other for other in known}
    near = [lower[n] for n in difflib.get_close_matches(str(name).lower(), lower, n=3, cutoff=0.5)]
    meant = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {sorted(known)}."
    raise InvalidParameterError(f"There is no data set {name!r}; {meant}")


def names() -> list[str]:
    """Return the names of all data sets with a card.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from kernelsieve.datasets import names
    >>> names()[:3]
    ['ionosphere', 'sonar', 'spectf']
    """
    return list(_cards())


@cache
def _cards() -> dict[str, Card]:
    text = resources.files(__package__).joinpath("cards.toml").read_text(encoding="utf-8")
    return {name: _card(name, fields) for name, fields in tomllib.loads(text).items()}


def _card(name: str, fields: dict[str, Any]) -> Card:
    download = fields.pop("download", None)
    return Card(name, **_frozen(fields), download=Download(**_frozen(download)) if download else None)


def _frozen(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
