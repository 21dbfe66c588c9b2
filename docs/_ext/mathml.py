"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number


def mathml(node: nodes.Node, **options: bool) -> str:
    """Return a formula as MathML, with primes raised as TeX raises them."""
    return tex2mathml(node.astext().replace("'", r"^{\prime}"), **options)


def inline(translator, node: nodes.math) -> None:
    translator.body.append(mathml(node))
    raise nodes.SkipNode


def display(translator, node: nodes.math_block) -> None:
    number = ""
    if node.get("number"):
        number = f'<span class="eqno">({get_node_equation_number(translator, node)})</span>'
    formula = mathml(node, as_block=True)
    translator.body.append(f'<div class="math" id="{node.get("label") or ""}">{number}{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
