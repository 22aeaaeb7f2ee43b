"""What the package says of itself: its page runs as it is written, and its words are those of its trade."""

import re
from pathlib import Path

import jaxnative
from jaxnative import clients, code_cache

PACKAGE = Path(jaxnative.__file__).parent


def test_the_blocks_of_the_page_run_one_after_the_other(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clients, "_clients", dict(clients._clients))
    monkeypatch.setattr(code_cache, "_find_folder", code_cache._find_folder)
    text = (PACKAGE / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    names: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)


def test_public_names_are_there():
    for name in jaxnative._HOME:
        assert getattr(jaxnative, name).__name__ == name
        assert name in dir(jaxnative)


def test_the_package_knows_of_no_client():
    word = re.compile(r"robot|lissom|pendulum", re.IGNORECASE)
    found = [
        f"{file.name}: {line.strip()}"
        for file in [*PACKAGE.rglob("*.py"), PACKAGE / "README.md"]
        for line in file.read_text().splitlines()
        if word.search(line)
    ]
    assert not found
