"""What the pages load: small, from this server alone, with licences, and the same drawing as the animation page."""

import re
from pathlib import Path

import pytest

import lissom
from lissom.describe import library_names
from lissom.show import viewer
from lissom.studio.app import assets

SOURCE = Path(lissom.__file__).parent
PAGES = sorted((SOURCE / "studio" / "pages").glob("*.js"))
DRAWING = sorted((SOURCE / "show" / "drawing").glob("*.js"))


def test_all_scripts_together_stay_below_their_limit():
    scripts = [path for path in assets().values() if path.suffix == ".js"]
    assert sum(path.stat().st_size for path in scripts) < 1_600_000


def test_third_party_scripts_come_with_versions_and_licences():
    text = (SOURCE / "studio" / "vendor" / "LICENSES.txt").read_text()
    for name in ("uplot 1.6.32", "yaml 2.9.1", "@codemirror/view 6.43.15"):
        assert name in text
    assert (
        text.count("Permission is hereby granted") + text.count("Permission to use")
        > 10
    )


@pytest.mark.parametrize("file", [*PAGES, *DRAWING], ids=lambda file: file.name)
def test_own_scripts_load_nothing_that_is_not_there(file):
    known = assets()
    imported = re.findall(r'from "([^"]+)"', file.read_text())
    for name in imported:
        place = name.removeprefix("/assets/").removeprefix("./")
        in_drawing = f"drawing/{place}" in known
        assert place in known or in_drawing, name


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_own_scripts_name_no_other_host_and_build_no_page_from_text(file):
    text = file.read_text()
    hosts = set(re.findall(r"https?://[^\s\"'`]+", text)) - {
        "http://www.w3.org/2000/svg"
    }
    assert not hosts
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|new Function", text
    )


def test_the_page_has_no_script_and_no_style_inside():
    page = assets()["index.html"].read_text()
    assert not re.search(r"<style|style=|onclick=|<script(?![^>]*src=)", page)


def test_every_robot_of_the_library_has_its_picture():
    known = assets()
    missing = [n for n in library_names() if f"pictures/{n}.png" not in known]
    assert not missing


def test_the_animation_page_holds_all_drawing_modules_and_no_import():
    script = viewer.page_script()
    assert not re.search(r"^(import|export) ", script, re.M)
    assert {path.stem for path in DRAWING} == set(viewer.DRAWING)
    assert len(script) < 1_000_000


def test_names_at_the_top_of_drawing_modules_are_unique():
    """They stand side by side in one script on the animation page."""
    names = re.findall(
        r"^(?:const|let|class|function) (\w+)", viewer.page_script(), re.M
    )
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)


def test_drawing_modules_import_in_one_line_what_stands_before_them():
    for k, name in enumerate(viewer.DRAWING):
        text = (SOURCE / "show" / "drawing" / f"{name}.js").read_text()
        lines = [line for line in text.splitlines() if line.startswith("import")]
        for line in lines:
            other = re.search(r'from "\./(\w+)\.js";$', line)
            assert other and other[1] in viewer.DRAWING[:k], line
