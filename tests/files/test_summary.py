"""What objects print as: short, in words, and safe in a notebook."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from lissom.describe.modelled import Modelled
from lissom.files.summary import MOST_ROWS, Summary, count, plain
from lissom.studies.comparison_table import ControllerComparison, ControllerRow

ROBOT = ls.Robot.load("simple-pendulum")


def test_a_robot_prints_its_links_in_a_table():
    text = str(ROBOT)
    assert text.startswith("Robot simple-pendulum: 1 link (1 flexible), 1 joint")
    assert "revolute" in text and "GPa" in text
    assert repr(ROBOT) == text


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "solid-arm"])
def test_every_kind_of_link_has_a_row(name):
    robot = ls.Robot.load(name)
    lines = str(robot).splitlines()
    for link in robot.links:
        assert any(line.split()[0] == link.name for line in lines)


@pytest.mark.slow
def test_results_print_as_tables_and_never_as_arrays():
    model = ls.Model(ROBOT)
    state = model.static([0.3])
    modes = ls.modes(model, state, count=3)
    linear = ls.linearize(model, [0.3])
    for thing in (model, state, modes, linear):
        text = repr(thing)
        assert len(text) < 4000 and "array(" not in text and " object at " not in text
        # Below the first table: the shares of the modes, the operating point of the linear model.
        tables = 2 if thing is modes or thing is linear else 1
        assert thing._repr_html_().count("<table>") == tables
    first = modes.frequency_hz[0]
    assert f"{first:.5g}" in str(modes)
    assert f"{state.torque[0]:.5g}" in str(state)


def test_a_traced_state_prints_without_its_numbers():
    seen = []
    model = ls.Model(ROBOT)

    def look(q):
        state = model.at([q])
        seen.append(str(state))
        return state.q[0]

    jax.jit(look)(0.3)
    assert "traced" in seen[0]


def test_names_cannot_act_in_a_notebook_or_on_a_terminal():
    summary = Summary("<b>\x1b[31m", (("<i>", "&"),), ("a",), (("<script>",),))
    assert "<script>" not in summary.html() and "<i>" not in summary.html()
    assert "\x1b" not in summary.text() and "\x1b" not in summary.html()


def test_long_tables_are_cut_and_counted():
    rows = tuple((str(k),) for k in range(MOST_ROWS + 7))
    text = Summary("long", (), ("row",), rows).text()
    assert "... and 7 more" in text
    assert count(1, "link") == "1 link" and count(2, "link") == "2 links"


@pytest.mark.slow
def test_a_mode_map_prints_the_range_of_each_frequency():
    q = np.linspace([0.0], [0.4], 3)
    found = ls.mode_map(ls.Model(ROBOT), q, count=2, axes={"rod": q[:, 0]})
    text = str(found)
    assert "3 points, joints free" in text and "rod: 0 to 0.4, 3 points" in text
    rows = [line.split() for line in text.splitlines()]
    for k, frequency in enumerate(np.asarray(found.frequency_hz).T):
        row = next(words for words in rows if words[:1] == [str(k + 1)])
        assert row[1] == f"{frequency.min():.5g}" and row[4] == f"{frequency.max():.5g}"


def test_a_comparison_of_controllers_prints_one_row_for_each():
    rows = (
        ControllerRow(name="PID", type="pid", residual=3e-4, residual_share=1.0),
        ControllerRow(name="LQG", type="lqg", failed="unstable"),
    )
    answer = ControllerComparison(
        robot="arm",
        modelled=Modelled("nonlinear", "craig-bampton", 12),
        first_mode_hz=12.3,
        stop=0.25,
        watched=0.5,
        rows=rows,
    )
    lines = str(answer).splitlines()
    assert lines[0].startswith("arm: motion of 0.25 s, 3.08 periods of the first mode")
    assert "(12.3 Hz); vibration watched for 0.5 s after it" in lines[0]
    assert lines[1].strip() == "model: nonlinear, craig-bampton, 12 modes"
    assert lines[3].split() == ["PID", "0.3", "100.0", "%", "not"]
    assert lines[-1].strip() == "LQG: failed: unstable"
    assert "<table>" in answer._repr_html_()


def test_answers_are_json_whatever_they_hold():
    answer = {
        "a": np.array([1.0, np.nan]),
        "b": jnp.inf,
        "c": (np.int64(3), None, True),
        "d": np.float64(2.5),
    }
    text = json.dumps(plain(answer), allow_nan=False)
    assert json.loads(text) == {
        "a": [1.0, None],
        "b": None,
        "c": [3, None, True],
        "d": 2.5,
    }
