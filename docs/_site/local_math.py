"""MathJax 3.2.2 (Apache License 2.0) beside the pages: its files come from the package sphinx-mathjax-offline."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes

PARTS = ("tex-chtml.js", "input/tex", "output/chtml/fonts")


def copy_mathjax(app, failure) -> None:
    """The program, its fonts and the TeX packages that it loads when a page uses them."""
    package = find_spec("sphinx-mathjax-offline")
    if failure or package is None or package.origin is None:
        return
    source = Path(package.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in PARTS:
        copy = shutil.copytree if (source / part).is_dir() else shutil.copy
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        options = {"dirs_exist_ok": True} if copy is shutil.copytree else {}
        copy(source / part, target / part, **options)


def keep_as_written(app, doctree) -> None:
    """Sphinx would put formulas with several rows into an environment in which they cannot be numbered."""
    for formula in doctree.findall(nodes.math_block):
        text = formula.astext()
        if r"\tag" in text and not formula.get("no-wrap"):
            formula.children = [nodes.Text(rf"\[{text}\]")]
            formula["no-wrap"] = True


def setup(app) -> dict:
    app.connect("doctree-read", keep_as_written)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True}
