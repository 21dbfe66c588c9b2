"""Public names in backquotes become links to the reference, in the README's words as in the guide's."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

#: A name, perhaps called: ``SieveRegressor``, ``kernelsieve.save``, ``KernelPLS(10, gamma="cv")``.
NAME = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)


class LinkedNames(SphinxPostTransform):
    """Wrap literals that name a public object into references to its page."""

    default_priority = 500
    formats = ("html",)

    def run(self, **options: object) -> None:
        pages = self._pages()
        for literal in list(self.document.findall(nodes.literal)):
            match = NAME.fullmatch(literal.astext())
            place = pages.get(match[1]) if match else None
            if place and place[0] != self.env.docname and not _is_inside_a_link(literal):
                link = make_refnode(self.app.builder, self.env.docname, *place, literal.deepcopy())
                literal.replace_self(link)

    def _pages(self) -> dict[str, tuple[str, str]]:
        """Return document and target of every name that is unmistakable."""
        pages = {}
        for full, entry in self.env.get_domain("py").objects.items():
            if entry.objtype in ("class", "function", "exception"):
                place = entry.docname, entry.node_id
                short = full.rpartition(".")[2]
                pages[full] = pages[full.removeprefix("kernelsieve.")] = place
                if short.lower() != short or "_" in short:
                    pages[short] = place
        return {name: place for name, place in pages.items() if len(name) > 4}


def _is_inside_a_link(node: nodes.Node | None) -> bool:
    while node is not None:
        if isinstance(node, (nodes.reference, nodes.title, addnodes.desc_signature)):
            return True
        node = node.parent
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(LinkedNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
