"""One self-contained HTML page, readable on phones and in dark mode."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from typing import Any

from .errors import cell_text, printable, shortened

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
figure { margin: 1rem 0; max-width: 36rem; background: #fff; border-radius: .5rem; padding: .25rem; }
figure svg { width: 100%; height: auto; display: block; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.side { column-gap: 1rem; }
.side figure { margin: .5rem 0; }
.wide { overflow-x: auto; }
summary { cursor: pointer; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8884; white-space: nowrap; }
th.text, td.text { text-align: left; }
@media (prefers-color-scheme: dark) { figure { filter: invert(.9) hue-rotate(180deg); } }
"""


_IN_FIGURE = 30  # characters of a name
_NUMBER = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?")


def page(title: str, body: str) -> str:
    """Return a complete HTML page."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{_escaped(title)}</title>'
        f"<style>{_STYLE}</style></head>"
        f"<body><h1>{_escaped(title)}</h1>{body}</body></html>\n"
    )


def paragraph(sentence: str) -> str:
    """Wrap a sentence in a paragraph."""
    return f"<p>{_escaped(sentence)}</p>"


def section(title: str, *parts: str) -> str:
    """Return parts under a heading."""
    return f"<section><h2>{_escaped(title)}</h2>{''.join(parts)}</section>"


def table(columns: dict[str, list]) -> str:
    """Return an HTML table, which scrolls by itself if it is too wide."""
    kinds = [' class="text"' if _has_text(values) else "" for values in columns.values()]
    names = zip(columns, kinds, strict=True)
    head = "".join(f"<th{kind}>{_escaped(cell_text(str(name)))}</th>" for name, kind in names)
    rows = "".join(_row(row, kinds) for row in zip(*columns.values(), strict=True))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _row(values: Sequence[Any], kinds: Sequence[str]) -> str:
    cells = zip(values, kinds, strict=True)
    return (
        f"<tr>{''.join(f'<td{kind}>{_escaped(cell_text(value))}</td>' for value, kind in cells)}</tr>"
    )


def _has_text(values: list) -> bool:
    return any(isinstance(value, str) and not _NUMBER.fullmatch(value) for value in values)


def folded(summary: str, *parts: str) -> str:
    """Return parts that are hidden until the reader unfolds them."""
    return f"<details><summary>{_escaped(summary)}</summary>{''.join(parts)}</details>"


def side_by_side(*pictures: str) -> str:
    """Arrange pictures in columns where the screen is wide enough."""
    return f'<div class="side">{"".join(pictures)}</div>'


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def plain(text: str) -> str:
    """Make a text safe for matplotlib: shortened, without mathematical markup."""
    return printable(shortened(text, _IN_FIGURE)).replace("$", r"\$")


def picture(figure: Any, alternative: str) -> str:
    """Return a matplotlib figure as an element of the page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    label = _escaped(alternative)
    return f'<figure>{svg.replace("<svg", f"""<svg role="img" aria-label="{label}" """, 1)}</figure>'
