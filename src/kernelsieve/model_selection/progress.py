"""Progress of a search: a bar where rich is installed, plain text where it is not."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")


def followed(items: Iterable[_Item], total: int, name: str, verbose: int | bool) -> Iterator[_Item]:
    """Hand items on, and report how many there were."""
    if not verbose:
        yield from items
        return
    try:
        track = importlib.import_module("rich.progress").track
    except ImportError:
        yield from _by_lines(items, total, name)
        return
    yield from track(items, description=name, total=total)


def _by_lines(items: Iterable[_Item], total: int, name: str) -> Iterator[_Item]:
    for done, item in enumerate(items, 1):
        print(f"[{name}] {done} of {total}", flush=True)
        yield item
