"""Tables of speeds go where README and docs have marks for them."""

import json

import pytest

from benchmarks.speed import tables


@pytest.fixture
def script(monkeypatch):
    for name in ("TABLES", "ROOT"):
        monkeypatch.setattr(tables, name, getattr(tables, name))
    return tables


def payloads():
    times = {"native_s": 0.5, "wall_s": 2.0, "first_s": 9.0}
    alone = {"lanes": 1, **times, "steps": 120.4, "error": 3e-5}
    faster = {"lanes": 8, "native_s": 0.125, "ratio": 4.0, "error": 2e-5}
    return {"count": 1000, "rows": [alone, alone | faster]}


def machine():
    names = ("cpu", "cores_used", "cores_available", "threads", "load", "python")
    return dict.fromkeys((*names, "lissom", "jax"), "?")


def test_a_measurement_replaces_what_stood_between_its_marks(script, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- payloads -->\nold\n<!-- /payloads -->\nafter\n")
    script.TABLES = (("payloads", page, "payloads", script.payloads_table),)
    script.ROOT = tmp_path
    numbers = tmp_path / "payloads.json"
    numbers.write_text(json.dumps({"machine": machine(), "payloads": payloads()}))
    script.main([str(numbers)])
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "| 8 | 0.125 | 4.00 |" in text and "old" not in text


def test_a_page_without_marks_is_refused_and_left_alone(script, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    with pytest.raises(ValueError, match="<!-- peers -->"):
        script.put(page, "peers", "table")
    assert page.read_text() == "nothing here\n"


def test_readme_and_docs_have_a_place_for_every_table(script):
    for _, page, mark, _ in script.TABLES:
        assert f"<!-- {mark} -->" in page.read_text()
