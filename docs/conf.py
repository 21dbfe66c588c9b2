"""Sphinx configuration."""

import os
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("KERNELSIEVE_QUICK", "1")  # examples of the gallery in their quick form
os.environ["KERNELSIEVE_DOCS"] = ".."  # estimators in the gallery link to this very site

import kernelsieve  # noqa: E402

project = "kernelsieve"
author = "The kernelsieve developers"
release = version = kernelsieve.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "linked_names",
    "mathml",
]
exclude_patterns = ["_build", "generated/readme", "gallery/*.ipynb"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"kernelsieve {version}"
html_static_path = ["_static"]
html_css_files = ["kernelsieve.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
myst_enable_extensions = ["attrs_block", "attrs_inline", "dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True
suppress_warnings = ["config.cache"]  # the order of examples is a function

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.ReadingOrder",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("kernelsieve",),
    "reference_url": {"kernelsieve": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}

# A warning in an example is an error, as in the tests.
warnings.filterwarnings("error", module="kernelsieve")


def without_foreign_labels(app, what, name, obj, options, lines) -> None:
    """Take references to scikit-learn's own pages out of docstrings that are inherited from it."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r":(?:ref|term):`([^<`]+?)(?:\s*<[^`]*>)?`", r"\1", line)


def write_parts_of_readme(app, config) -> None:
    """Write what README has between ``<!-- name -->`` and ``<!-- end of name -->``, with our links."""
    parts = HERE / "generated" / "readme"
    parts.mkdir(parents=True, exist_ok=True)
    readme = (HERE.parent / "README.md").read_text()
    for name, text in re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end of \1 -->", readme, re.DOTALL):
        text = re.sub(r"\(examples/gallery/(\w+)\.py\)", r"(/gallery/\1.rst)", text)
        (parts / f"{name}.md").write_text(re.sub(r"\(docs/", "(/", text))


def setup(app) -> None:
    app.connect("config-inited", write_parts_of_readme)
    app.connect("autodoc-process-docstring", without_foreign_labels, priority=100)
