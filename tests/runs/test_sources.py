"""What a verb reads: robots and scenarios of the library, of files and as they are, with their changes."""

import pytest

from lissom.describe import DescriptionError, Robot
from lissom.runs import sources


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
