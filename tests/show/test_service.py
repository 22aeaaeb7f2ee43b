"""Requests without a command line: sources, joint values, output checks, answers that JSON can carry."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from lissom.compiled_code import HIT, MISS, CompiledCode, cache_folder
from lissom.describe import DescriptionError, Robot
from lissom.services import request, service


def test_library_robot_stands_alone_and_a_library_scenario_brings_its_choices():
    assert request.robot_of("double-pendulum").reference is None
    assert (
        request.robot_of("anthropomorphic-b").reference
        == request.scenario_of("anthropomorphic-b").reference
    )
    assert request.scenario_of("double-pendulum").reference == {
        "zeroed": ["upper/tip.y", "lower/0.rz"]
    }


def test_settings_of_a_robot_reach_gravity_and_links():
    changed = request.robot_of(
        "double-pendulum", ["gravity=[0,0,-9.81]", "links.upper.beam.material.E=9e9"]
    ).robot
    assert changed.gravity == (0, 0, -9.81) and changed.links[0].beam.material.E == 9e9


def test_options_without_a_value_change_nothing():
    plain = request.scenario_of("double-pendulum")
    assert (
        request.scenario_of(
            "double-pendulum", (), service.Choices().options() | {"t_end": None}
        )
        == plain
    )


@pytest.mark.parametrize(
    "text, degrees, expected",
    [
        ("0,1.57", False, (0, 1.57)),
        ("-30,90", True, (-np.pi / 6, np.pi / 2)),
        ("[0.5, 90 deg]", False, (0.5, np.pi / 2)),
        ("1 rad,90", True, (1, np.pi / 2)),  # a written unit wins over --deg
    ],
)
def test_joint_values_are_read_in_radians(text, degrees, expected):
    robot = Robot.load("double-pendulum")
    assert request.joint_values(robot, "--q", text, degrees=degrees) == pytest.approx(
        expected
    )


def test_degrees_leave_prismatic_joints_in_metres():
    robot = Robot.load("double-pendulum").replace(
        {"links.lower.joint.type": "prismatic"}
    )
    assert request.joint_values(
        robot, "--q", "180,0.25", degrees=True
    ) == pytest.approx((np.pi, 0.25))
    assert request.joint_values(robot, "--q", "0,30 mm") == pytest.approx((0, 0.03))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("tangent", "tangent"),
        (None, None),
        ("zeroed: upper/tip.y, lower/0.rz", {"zeroed": ["upper/tip.y", "lower/0.rz"]}),
    ],
)
def test_reference_is_written_as_in_a_scenario(text, expected):
    assert request.reference_of(text) == expected


def test_a_write_protected_result_is_not_replaced(tmp_path, monkeypatch):
    file = tmp_path / "out.nc"
    file.write_text("precious")
    monkeypatch.setattr(request.os, "access", lambda path, mode: False)
    assert "write-protected" in request.output_problem(file, (".nc",))


def test_checking_an_output_leaves_nothing_behind(tmp_path):
    assert request.output_problem(tmp_path / "out.nc", (".nc",)) is None
    assert list(tmp_path.iterdir()) == []


def test_all_outputs_are_checked_together(tmp_path):
    with pytest.raises(DescriptionError) as failure:
        request.check_outputs(
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
    text = json.dumps(service.plain(answer), allow_nan=False)
    assert json.loads(text) == {
        "a": [1.0, None],
        "b": None,
        "c": [3, None, True],
        "d": 2.5,
    }


def test_tips_stand_beside_the_numbered_nodes():
    named = service.named_nodes(["a/0", "a/1", "b/0"], np.arange(9.0).reshape(3, 3))
    assert (
        named["a/tip"] == named["a/1"] == [3, 4, 5] and named["b/tip"] == named["b/0"]
    )


def test_damping_of_links_and_friction_of_joints_both_count():
    robot = Robot.load("double-pendulum")
    bare = robot.replace({"damping": None})
    assert service._has_damping(robot) and not service._has_damping(bare)
    assert service._has_damping(
        bare.replace({"links.upper.joint.friction.viscous": 0.1})
    )
    assert service._has_damping(bare.replace({"links.upper.damping.ratio": 0.01}))


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("LISSOM_CACHE", "off")
    assert cache_folder() is None
    monkeypatch.setenv("LISSOM_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("LISSOM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "lissom"


def test_compiled_code_is_counted_and_told(tmp_path):
    code = CompiledCode(tmp_path)
    for event in (HIT, HIT, "/jax/something/else"):
        code.count(event)
    assert str(code) == "compiled code: 2 from cache, 0 new" and code.reused
    code.count(MISS)
    assert not code.reused and code.report()["misses"] == 1
