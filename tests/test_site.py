"""The documentation site: built without a warning, without a dead link, and from what the program says of itself."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lissom

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture
def site(monkeypatch):
    """Modules that make parts of the pages, by name."""
    monkeypatch.syspath_prepend(str(DOCS / "_site"))
    return importlib.import_module


def test_every_public_name_is_in_the_python_reference():
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    listed = " ".join(re.findall(r"<!-- generated: names (.*?) -->", page)).split()
    offered = [name for name in dir(lissom) if not name.startswith("__")]
    assert sorted(listed) == offered


def test_pages_need_nothing_beyond_what_the_package_offers():
    pages = [page for kind in ("*.md", "*.ipynb") for page in DOCS.rglob(kind)]
    inside = re.compile(r"(from lissom\.|import lissom\.).*")
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    assert not {name for name, text in texts.items() if inside.search(text)}


def test_every_command_and_option_is_in_the_command_reference(site):
    text = site("command_reference").commands()
    for words in ("lissom simulate", "lissom control compare", "lissom robots"):
        assert f"## `{words}`" in text
    assert (
        "| `-o`, `--output` `NC` | Result file: .nc (NetCDF), or a table .csv. |"
        in text
    )
    # Examples of the help texts stand in blocks of their own, one on each line.
    assert "\n$ lissom show anthropomorphic --q 0,30,-60 --deg -o robot.png\n" in text


def test_navigation_has_every_page_once(site):
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^[\w/-]+\.\w+$", "".join(site("navigation").toctrees(index)), re.MULTILINE
    )
    pages = {
        str(page.relative_to(DOCS))
        for kind in ("*.md", "*.ipynb")
        for page in DOCS.rglob(kind)
    }
    assert sorted(listed) == sorted(pages - {"index.md"})


def test_pictures_of_the_gallery_exist_and_so_do_the_scripts_that_make_them(site):
    pictures = site("gallery").PICTURES
    missing = [
        p.name for p in pictures if not (DOCS / "figures" / f"{p.name}.png").is_file()
    ]
    assert not missing
    commands = [p.command.split() for p in pictures]
    modules = [words[2] for words in commands if words[:2] == ["python", "-m"]]
    files = [ROOT / f"{module.replace('.', '/')}.py" for module in modules]
    assert files and all(file.is_file() for file in files)


def test_docstrings_become_text_that_the_site_can_read(site):
    turned = site("docstrings").restructured
    assert turned("the norm |u| of `x`") == r"the norm \|u\| of ``x``"
    assert turned("a b* and *c d*\n*e* f") == "a b\\* and *c d*\n*e* f"
    assert turned("mass $M$ [CraigBampton1968]").startswith("mass :math:`M` ")
    assert ".. math:: a = b" in turned("so\n\n$$ a\n  = b $$\n")


def test_dead_links_are_found(site, tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#there">2</a><a href="c.html">3</a>'
        '<script src="https://cdn.example/x.js"></script><a href="https://example.org">4</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p>')
    found = [line.partition(": ")[2] for line in site("dead_links").problems(tmp_path)]
    assert found == [
        "b.html#there has no such place",
        "c.html does not exist",
        "https://cdn.example/x.js is not beside the page",
    ]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small(notebook):
    assert notebook.stat().st_size < 300_000
    assert json.loads(notebook.read_text(encoding="utf-8"))["nbformat"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(notebook, tmp_path):
    import nbformat
    from nbclient import NotebookClient

    content = nbformat.read(notebook, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(content, timeout=1200, resources=resources).execute()


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_without_a_dead_link(site, tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
    done = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", DOCS, tmp_path / "site"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not site("dead_links").problems(tmp_path / "site")
    pages = {file: file.read_text() for file in (tmp_path / "site").rglob("*.html")}
    # A formula with a number inside `split` is shown as an error in red.
    assert not [
        file
        for file, text in pages.items()
        if r"\begin{split}" in text and r"\tag" in text
    ]
    assert (tmp_path / "site" / "_static" / "mathjax" / "tex-chtml.js").is_file()
    index = (tmp_path / "site" / "searchindex.js").read_text(encoding="utf-8")
    assert "stiffen" in index
