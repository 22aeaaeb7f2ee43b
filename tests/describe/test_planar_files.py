"""A planar robot moves in the x-y plane: whatever would leave it is refused by name."""

from copy import deepcopy

import pytest

from lissom.describe import DescriptionError, Robot, Scenario

PLANAR = {
    "lissom": 1,
    "name": "arm",
    "planar": True,
    "gravity": [0, -9.81, 0],
    "links": [
        {
            "name": "upper",
            "joint": {"type": "revolute", "dh": {"a": 0.5}},
            "beam": {
                "section": {"shape": "rectangle", "y": 0.03, "z": 0.01},
                "material": {"E": 2e11, "nu": 0.3, "density": 7840},
                "elements": 2,
            },
        },
        {
            "name": "lower",
            "joint": {
                "type": "prismatic",
                "origin": {"xyz": [0.5, 0, 0]},
                "axis": [1, 0, 0],
            },
            "rigid": {
                "mass": 1.2,
                "com": [0.1, 0, 0.3],
                "inertia": [1e-3, 2e-3, 2e-3],
                "tip": [0.2, 0, 0],
            },
        },
    ],
}


def refusals(path, value):
    data = deepcopy(PLANAR)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    here = data
    for step in steps:
        here = here[step] if isinstance(step, int) else here.setdefault(step, {})
    here[last] = value
    with pytest.raises(DescriptionError) as caught:
        Robot.from_dict(data)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "path, value, message",
    [
        (
            "gravity",
            [0, 0, -9.81],
            "gravity: [0.0, 0.0, -9.81]: a planar robot moves in the x-y plane",
        ),
        (
            "links.1.joint.origin.rpy",
            [0.2, 0, 0],
            "links.lower.joint.origin.rpy: tilts the z axis",
        ),
        (
            "links.1.joint.axis",
            [1, 0, 0.1],
            "a prismatic joint of a planar robot slides in the x-y plane",
        ),
        (
            "links.1.joint",
            {"type": "revolute", "axis": [0, 1, 0]},
            "turns about the z axis: [0, 0, 1] or [0, 0, -1]",
        ),
        (
            "links.0.joint.dh",
            {"a": 0.5, "d": 0.1},
            "links.upper.joint.dh.d: leaves the x-y plane",
        ),
        (
            "links.0.beam.path",
            [[0, 0, 0], [0.2, 0, 0.1], [0.5, 0, 0]],
            "links.upper.beam.path: leaves the x-y plane",
        ),
        (
            "links.0.beam.up",
            [0, 0.5, 1],
            "links.upper.beam.up: [0.0, 0.5, 1.0]: must be along z or in the x-y plane",
        ),
        (
            "loops",
            [{"link": "lower", "at": [1, 0, 0], "axis": [1, 0, 0]}],
            "loops.0.axis: [1.0, 0.0, 0.0]: a closing rev",
        ),
        (
            "loops",
            [{"link": "lower", "at": [1, 0, 0], "type": "prismatic"}],
            "slides in the x-y plane",
        ),
        (
            "loops",
            [{"link": "lower", "at": [1, 0, 0], "rpy": [0.1, 0, 0]}],
            "roll and pitch must be 0",
        ),
    ],
)
def test_what_leaves_the_plane_is_refused_by_name(path, value, message):
    assert any(message in found for found in refusals(path, value)), refusals(
        path, value
    )


def test_gravity_that_is_not_written_is_normal_to_the_plane_and_does_nothing():
    level = {key: value for key, value in PLANAR.items() if key != "gravity"}
    robot = Robot.from_dict(level)
    assert robot.planar and Robot.from_dict(robot.to_dict()) == robot


def test_a_planar_robot_has_no_displacement_out_of_its_plane_to_zero():
    zeroed = ["upper/tip.z", "lower/tip.x"]
    data = {
        "robot": PLANAR,
        "formulation": "erls-fem",
        "reference": {"zeroed": zeroed},
    }
    with pytest.raises(DescriptionError, match="component x, y or rz"):
        Scenario.from_dict(data)


def test_a_planar_robot_with_a_broken_link_reports_that_link_alone():
    data = deepcopy(PLANAR)
    data["links"][0]["joint"]["type"] = "ball"
    with pytest.raises(DescriptionError) as failure:
        Robot.from_dict(data)
    (problem,) = failure.value.problems
    assert problem.field.endswith("joint.type")
