"""Tables and figures of the papers: list them, run them, and write the page that compares them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .catalogue import entries
from .page import write
from .results import best_records
from .runner import run


def show_list() -> None:
    """Print the identifiers, with how many cells are finished."""
    for entry in entries():
        title = (entry.module.__doc__ or "").partition("\n")[0]
        finished = f"{len(best_records(entry))}/{len(entry.table.in_reach)}"
        print(f"{entry.identifier:<24}{finished:>9}  {title}")


def parser() -> argparse.ArgumentParser:
    main = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    commands = main.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="print the identifiers, and how many cells are finished")
    runs = commands.add_parser("run", help="compute what is not finished")
    runs.add_argument("names", nargs="+", metavar="name", help="an identifier, a paper, or all")
    how = runs.add_mutually_exclusive_group()
    how.add_argument("--quick", dest="mode", action="store_const", const="quick", help="the default")
    how.add_argument("--full", dest="mode", action="store_const", const="full", help="as in the paper")
    runs.add_argument("--again", action="store_true", help="compute finished cells again too")
    runs.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes, all cores by default"
    )
    runs.set_defaults(mode="quick")
    commands.add_parser("page", help="write docs/papers.md and its figures from the results")
    return main


def main(arguments: Sequence[str] | None = None) -> int:
    commands = parser()
    given = commands.parse_args(arguments)
    if given.command == "list":
        show_list()
        return 0
    if given.command == "page":
        write()
        return 0
    if given.jobs < 1:
        commands.error(f"--jobs {given.jobs} is less than one process")
    try:
        return run(given.names, given.mode, again=given.again, n_jobs=given.jobs)
    except KeyError as error:
        commands.error(error.args[0])


if __name__ == "__main__":
    sys.exit(main())
