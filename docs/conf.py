"""Sphinx configuration."""

import kernelsieve

project = "kernelsieve"
author = "The kernelsieve developers"
release = version = kernelsieve.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
html_theme = "furo"
myst_enable_extensions = ["dollarmath"]
numpydoc_show_class_members = False
autosummary_generate = True
