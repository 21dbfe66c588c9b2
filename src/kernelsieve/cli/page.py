"""One HTML file without anything from elsewhere, readable on a phone and in the dark."""

from __future__ import annotations

import html
import io
import re
from typing import Any

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
figure { margin: 1rem 0; max-width: 40rem; background: #fff; border-radius: .5rem; padding: .25rem; }
figure svg { width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8884; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
"""


def page(title: str, body: str) -> str:
    """Return a whole page."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head>"
        f"<body><h1>{html.escape(title)}</h1>{body}</body></html>\n"
    )


def paragraph(sentence: str) -> str:
    """Return a sentence as a paragraph."""
    return f"<p>{html.escape(sentence)}</p>"


def section(title: str, *parts: str) -> str:
    """Return parts under a title."""
    return f"<section><h2>{html.escape(title)}</h2>{''.join(parts)}</section>"


def table(columns: dict[str, list]) -> str:
    """Return a table that scrolls by itself where it is too wide."""
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell(value: Any) -> str:
    return html.escape(value) if isinstance(value, str) else f"{value:.4g}"


def picture(figure: Any, alternative: str) -> str:
    """Return a matplotlib figure as a part of the page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    label = html.escape(alternative, quote=True)
    return f'<figure>{svg.replace("<svg", f"""<svg role="img" aria-label="{label}" """, 1)}</figure>'
