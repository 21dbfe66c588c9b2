"""Make ``docs/benchmarks.md`` and its pictures from the kept results."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .common import mark, text_of
from .readme import README, filled
from .record import RESULTS, Record, read

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
WITH_RESULTS = (README, PAGE.with_name("choose.md"), PAGE.with_name("scale.md"))
ONE_THREAD = ("digits", "learned_metric", "landmarks", "peers", "peer_scale", "sparse_pls")
FIGURES = PAGE.parent / "figures"
PLACE = re.compile(r"(<!-- result of (\w+): (.*?) -->\n).*?(<!-- end of result -->)", re.DOTALL)

HEAD = """\
# Benchmarks

`python -m benchmarks` runs every benchmark, or those that are named, and keeps what they print in
`benchmarks/results`; `python -m benchmarks page` writes this page from there. It is never edited by
hand.

A benchmark compares with alternatives in one run, in turns, so that a slow spell of the machine hits
all of them; `peers` and `landmarks` keep results of single splits between runs. Errors are of samples
that no method has seen, and lower is better. A line with **ok** or **MISS** is a number beside what we
ask of it: a MISS stays here until the code is better. Times are those of the machine that is named
below each heading: medians where a range stands behind them, single runs where none does. Ratios within
a table carry over to other machines, seconds do not.
"""


def page(names: Iterable[str], folder: Path = RESULTS) -> str:
    """Return the page; it depends on the kept results and the docstrings of the benchmarks alone."""
    records = {name: read(name, folder) for name in names}
    sections = [section(found, folder) for found in records.values() if found is not None]
    absent = [f"`{name}`: {title(name)}" for name, found in records.items() if found is None]
    parts = [HEAD, summary([found for found in records.values() if found is not None]), *sections]
    if absent:
        parts.append("## No kept result")
        parts.append("`python -m benchmarks <name>` runs them.\n\n" + bullets(absent))
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def summary(records: Sequence[Record]) -> str:
    """Return a table of verdicts."""
    rows = [
        [f"[{found.benchmark}](#{found.benchmark})", *map(str, counts(found)), found.date]
        for found in records
    ]
    return grid(["benchmark", "ok", "MISS", "date"], rows) if rows else ""


def counts(found: Record) -> tuple[int, int]:
    verdicts = [part["verdict"]["good"] for part in found.parts if "verdict" in part]
    return sum(verdicts), len(verdicts) - sum(verdicts)


def section(found: Record, folder: Path) -> str:
    """Return the part of the page for one benchmark."""
    name = found.benchmark
    parts = [f"## {name}", docstring(name), circumstances(found)]
    parts += [f"![{text}](figures/{file})" for file, text in pictures(name, folder)]
    parts += blocks(found.parts)
    return "\n\n".join(parts)


def title(name: str) -> str:
    return docstring(name).partition("\n")[0]


def docstring(name: str) -> str:
    """Return what the module says about itself, with code as Markdown has it."""
    text = inspect.cleandoc(importlib.import_module(f"benchmarks.{name}").__doc__ or "")
    prose, _, commands = text.partition("::\n")
    return prose.replace("``", "`") + (
        f":\n\n```\n{inspect.cleandoc(commands)}\n```" if commands else ""
    )


def circumstances(found: Record) -> str:
    machine = found.machine
    threads = 1 if found.benchmark in ONE_THREAD else machine["threads of BLAS"]
    # A report of results that were kept takes no time worth telling.
    seconds = f", {found.seconds:,.0f} seconds" if found.seconds > 2 else ""
    versions = ", ".join(f"{name} {value}" for name, value in found.versions.items())
    return (
        f"*{found.date}{seconds}; {machine['cpu']}, {machine['cores']} cores, "
        f"threads of BLAS: {threads}, {machine['memory, GB']} GB, "
        f"{machine['system']}; {versions}.*"
    )


def blocks(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Return the parts as Markdown; verdicts and remarks that follow each other are a list."""
    found: list[str] = []
    lines: list[str] = []
    for part in parts:
        ((kind, value),) = part.items()
        if kind in LINES:
            lines.append(LINES[kind](value))
            continue
        found += [bullets(lines)] if lines else []
        lines = []
        found.append(BLOCKS[kind](value))
    return found + ([bullets(lines)] if lines else [])


def with_results(text: str, folder: Path = RESULTS) -> str:
    """Return a page with what a benchmark has below a heading where the page names both."""

    def filled_place(match: re.Match[str]) -> str:
        found = read(match[2], folder)
        parts = [] if found is None else found.below(match[3])
        return match[1] + "\n\n".join(blocks(parts)) + ("\n" if parts else "") + match[4]

    return PLACE.sub(filled_place, text)


def bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, numbers to the right."""
    rule = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(map(escaped, row))} |" for row in (header, rule, *rows))


def escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


LINES: dict[str, Callable[[Any], str]] = {
    "verdict": lambda value: f"**{mark(value['good']).strip()}** {value['text']}",
    "remark": str,
}
BLOCKS: dict[str, Callable[[Any], str]] = {
    "heading": lambda value: f"### {value}",
    "table": lambda value: grid(value["header"], [list(map(text_of, row)) for row in value["rows"]]),
}


# ---------------------------------------------------------------------- pictures


def pictures(name: str, folder: Path) -> list[tuple[str, str]]:
    """Return files and texts of pictures: the one that a run drew, and those of its record."""
    found = [(f"benchmarks_{name}.png", title(name))] if (folder / f"{name}.png").exists() else []
    return found + [(f"benchmarks_{name}_{key}.png", text) for key, (text, _) in drawings(name).items()]


def drawings(name: str) -> dict[str, tuple[str, Callable[[Record], Any]]]:
    """Return texts, and functions from a record to a figure."""
    from .peer_pictures import DRAWINGS

    return DRAWINGS.get(name, {})


def write(names: Iterable[str]) -> None:
    """Draw the pictures and write the page."""
    names = list(names)
    FIGURES.mkdir(exist_ok=True)
    for name in names:
        found = read(name)
        if found is None:
            continue
        if (RESULTS / f"{name}.png").exists():
            shutil.copyfile(RESULTS / f"{name}.png", FIGURES / f"benchmarks_{name}.png")
        for key, (_, draw) in drawings(name).items():
            draw(found).savefig(FIGURES / f"benchmarks_{name}_{key}.png", dpi=110)
    PAGE.write_text(page(names))
    README.write_text(filled(README.read_text(), read("peers")))
    for path in WITH_RESULTS:
        path.write_text(with_results(path.read_text()))
    print(PAGE, *WITH_RESULTS, sep="\n")
