"""Sphinx configuration: `make docs` builds these pages to build/docs, and needs no network to show them."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))

import lissom  # noqa: E402

project = "lissom"
author = "the lissom authors"
project_copyright = "MIT License"
version = release = lissom.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "navigation",
    "outside_links",
    "local_math",
    "docstrings",
    "generated",
    "notebooks",
]
exclude_patterns = ["_site"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

html_theme = "furo"
html_title = f"lissom {version}"
html_static_path = ["_site/static"]
html_css_files = ["lissom.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

mathjax_path = "mathjax/tex-chtml.js"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"exclude-members": "model_config"}
napoleon_use_ivar = True
