"""Run the reproductions named on the command line, or all of them."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

HERE = Path(__file__).resolve().parent


def available() -> list[str]:
    """Return the names of the papers: folders with a ``figures`` module."""
    return sorted(path.parent.name for path in HERE.glob("*/figures.py"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of: {', '.join(available())}")
    names = parser.parse_args().names or available()
    unknown = sorted(set(names) - set(available()))
    if unknown:
        parser.error(f"unknown paper: {', '.join(unknown)}; there are: {', '.join(available())}")
    output = HERE.parent / "output" / "papers"
    for name in names:
        importlib.import_module(f"papers.{name}.figures").main(output)


if __name__ == "__main__":
    main()
