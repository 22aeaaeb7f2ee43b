"""Who watches a long computation sees how far it is; who does not is left alone."""

import io
import sys
import types

import pytest

import lissom as ls
from lissom import progress
from lissom.progress import shown_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """A stand-in for the display of a notebook: what it was told to show, in order."""
    shown = []

    class Place:
        def update(self, content):
            shown.append(content)

    def display(content, display_id):
        assert display_id
        shown.append(content)
        return Place()

    python = types.ModuleType("IPython")
    python.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # pyright: ignore[reportAttributeAccessIssue]
    displays = types.ModuleType("IPython.display")
    displays.display = display  # pyright: ignore[reportAttributeAccessIssue]
    displays.HTML = str  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    return shown


def half_done(wanted):
    seen = []
    with shown_progress("simulating", 2.0, "s", wanted, seen.append) as tell:
        tell(0.5)
        tell(1.0)
    assert seen == [0.5, 1.0]


def test_a_bar_in_a_terminal_tells_how_far_it_is(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    half_done(True)
    assert "1 of 2 s" in terminal.getvalue()
    assert "50 %" in terminal.getvalue()


def test_a_bar_in_a_notebook_moves_and_goes(notebook):
    half_done(True)
    assert 'value="0.5000"' in notebook[2]
    assert "simulating: 1 of 2 s" in notebook[2]
    assert notebook[-1] == ""


def test_without_terminal_and_notebook_lines_are_printed(capsys):
    half_done(True)
    captured = capsys.readouterr()
    assert captured.err == (
        "simulating: 25 %, 0.5 of 2 s\nsimulating: 50 %, 1 of 2 s\n"
    )
    assert captured.out == ""


@pytest.mark.parametrize("wanted", [False, None])
def test_nothing_is_printed_unless_requested(wanted, capsys):
    half_done(wanted)
    assert capsys.readouterr() == ("", "")


def test_a_quick_computation_shows_no_bar_of_its_own(notebook):
    half_done(None)
    assert notebook == []


def test_a_long_computation_shows_one(notebook, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    half_done(None)
    assert 'value="0.5000"' in notebook[-2]


@pytest.mark.slow
def test_a_run_and_a_map_show_how_far_they_are(notebook):
    model = ls.Model("simple-pendulum", modes=0)
    ls.simulate(model, [0.3], t_end=0.02, output_dt=0.01, progress=True)
    assert any("0.02 of 0.02 s" in words for words in notebook)
    ls.mode_map(model, [[0.1], [0.2]], progress=True)
    assert any("modes: 1 of 1" in words for words in notebook)
    with pytest.raises(ValueError, match="progress: 'yes': must be True, False"):
        ls.simulate(model, t_end=0.02, output_dt=0.01, progress="yes")
