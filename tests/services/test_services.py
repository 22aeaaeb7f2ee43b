"""Requests without a command line: sources, output checks, typed answers that JSON can carry."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from lissom.describe import DescriptionError, Robot, robot_facts
from lissom.files.summary import plain
from lissom.runs import output_files, sources


def test_library_robot_stands_alone_and_a_library_scenario_brings_its_choices():
    assert sources.robot_of("double-pendulum").reference is None
    assert (
        sources.robot_of("anthropomorphic-b").reference
        == sources.scenario_of("anthropomorphic-b").reference
    )
    assert sources.scenario_of("double-pendulum").reference == {
        "zeroed": ["upper/tip.y", "lower/0.rz"]
    }


def test_settings_of_a_robot_reach_gravity_and_links():
    changed = sources.robot_of(
        "double-pendulum",
        {"gravity": [0, 0, -9.81], "links.upper.beam.material.E": 9e9},
    ).robot
    assert changed.gravity == (0, 0, -9.81) and changed.links[0].beam.material.E == 9e9


def test_a_robot_takes_no_changes_that_only_a_simulation_reads():
    with pytest.raises(DescriptionError, match="only `lissom simulate` uses this"):
        sources.robot_of("double-pendulum", {"t_end": 3.0})


def test_robots_and_scenarios_are_sources_as_they_are():
    robot = Robot.load("double-pendulum")
    scenario = sources.scenario_of(robot, {"t_end": 0.5})
    assert scenario.robot == robot and scenario.t_end == 0.5
    assert sources.robot_of(scenario) is scenario
    assert sources.runs_from_rest(robot) and not sources.runs_from_rest(scenario)


def test_a_write_protected_result_is_not_replaced(tmp_path, monkeypatch):
    file = tmp_path / "out.nc"
    file.write_text("precious")
    monkeypatch.setattr(output_files.os, "access", lambda path, mode: False)
    assert "write-protected" in output_files.output_problem(file, (".nc",))


def test_checking_an_output_leaves_nothing_behind(tmp_path):
    assert output_files.output_problem(tmp_path / "out.nc", (".nc",)) is None
    assert list(tmp_path.iterdir()) == []


def test_all_outputs_are_checked_together(tmp_path):
    with pytest.raises(DescriptionError) as failure:
        output_files.check_outputs(
            {
                "-o": ("a/b.nc", (".nc",)),
                "--plot": (str(tmp_path), (".png",)),
                "--animate": (None, ()),
            }
        )
    assert [problem.field for problem in failure.value.problems] == ["-o", "--plot"]


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


def test_tips_stand_beside_the_numbered_nodes():
    named = robot_facts.named_nodes(["a/0", "a/1", "b/0"], np.arange(9.0).reshape(3, 3))
    assert (
        named["a/tip"] == named["a/1"] == [3, 4, 5] and named["b/tip"] == named["b/0"]
    )


def test_damping_of_links_and_friction_of_joints_both_count():
    robot = Robot.load("double-pendulum")
    bare = robot.replace({"damping": None})
    assert robot_facts.has_damping(robot) and not robot_facts.has_damping(bare)
    assert robot_facts.has_damping(
        bare.replace({"links.upper.joint.friction.viscous": 0.1})
    )
    assert robot_facts.has_damping(bare.replace({"links.upper.damping.ratio": 0.01}))
