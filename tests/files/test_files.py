"""Saving and loading are inverse; names, paths and kinds of files."""

import random

import pytest

from lissom.describe import (
    Robot,
    Scenario,
    kind_of_file,
    library_names,
    library_scenarios,
)
from lissom.files.document import parse_document


@pytest.mark.parametrize("name", library_names())
def test_a_saved_robot_reads_back_equal(name, tmp_path):
    robot = Robot.load(name)
    robot.save(tmp_path / "robot.yaml")
    assert Robot.load(tmp_path / "robot.yaml") == robot
    assert Robot.from_dict(robot.to_dict()) == robot


@pytest.mark.parametrize("name", library_scenarios())
def test_a_saved_scenario_reads_back_equal(name, tmp_path):
    scenario = Scenario.load(name)
    scenario.save(tmp_path / "scenario.yaml")
    assert Scenario.load(tmp_path / "scenario.yaml") == scenario
    assert Scenario.from_dict(scenario.to_dict()) == scenario


def random_section(rng):
    def side():
        return rng.uniform(1e-3, 0.1)

    outer = side()
    shapes = [
        {"shape": "rectangle", "y": side(), "z": side()},
        {"shape": "circle", "diameter": side()},
        {"shape": "tube", "outer": outer, "inner": outer * rng.random()},
        {
            "shape": "box",
            "y": outer,
            "z": outer * 1.1,
            "wall": outer * rng.uniform(0.01, 0.49),
        },
        {
            "shape": "general",
            "A": side(),
            "Iy": 1e-9 * side(),
            "Iz": 1e-15 * side(),
            "J": side(),
            "kappa_y": 0.5,
        },
        {
            "start": {"shape": "circle", "diameter": side()},
            "end": {"shape": "circle", "diameter": side()},
        },
    ]
    return rng.choice(shapes)


def random_changes(rng, robot):
    """A random variation of whatever the description can hold."""
    changes = {
        "gravity": [
            rng.gauss(0, 9.81),
            rng.gauss(0, 9.81),
            0.0 if robot.planar else rng.gauss(0, 9.81),
        ],
        "damping": rng.choice(
            [
                {"alpha": rng.random(), "beta": 1e-5 * rng.random()},
                {"ratio": rng.random()},
                None,
            ]
        ),
        "payload": {
            "mass": rng.random(),
            "inertia": [rng.random()] * 3,
            "offset": [rng.random(), 0, -1e-17],
        },
    }
    for link in robot.links:
        key = f"links.{link.name}"
        changes[f"{key}.joint.motor"] = {
            "inertia": 10 ** rng.uniform(-9, -3),
            "ratio": rng.uniform(1, 200),
        }
        changes[f"{key}.joint.friction"] = {
            "viscous": rng.random(),
            "coulomb": rng.random(),
        }
        position, torque = [-rng.random(), rng.random()], 1e3 * rng.random()
        changes[f"{key}.joint.limits"] = (
            {"position": position, "torque": torque}
            if link.joint.actuated
            else {"position": position}
        )
        if link.beam is not None:
            changes[f"{key}.beam.section"] = random_section(rng)
            changes[f"{key}.beam.material.E"] = 10 ** rng.uniform(8, 12)
            changes[f"{key}.beam.elements"] = rng.randint(1, 9)
            changes[f"{key}.beam.theory"] = rng.choice(
                ["euler-bernoulli", "timoshenko"]
            )
            changes[f"{key}.masses"] = [
                {"node": rng.choice([0, 1, "tip"]), "mass": rng.random()}
            ]
    return changes


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", library_names())
def test_any_variation_of_a_robot_reads_back_equal(name, seed, tmp_path):
    robot = Robot.load(name)
    varied = robot.replace(random_changes(random.Random(seed), robot))
    varied.save(tmp_path / "robot.yaml")
    assert Robot.load(tmp_path / "robot.yaml") == varied != robot


def test_unit_strings_come_back_as_si_numbers(tmp_path):
    robot = Robot.load("double-pendulum").replace(
        {"links.upper.beam.section.y": "30 mm", "payload.mass": "12 g"}
    )
    robot.save(tmp_path / "robot.yaml")
    text = (tmp_path / "robot.yaml").read_text()
    assert "0.03" in text and "mm" not in text
    assert Robot.load(tmp_path / "robot.yaml").payload.mass == 0.012


@pytest.mark.parametrize(
    "text, value",
    [
        ("2e11", 2e11),
        ("2.0e11", 2e11),
        ("1e-3", 1e-3),
        ("+1.5E+2", 150.0),
        (".5", 0.5),
        ("-7", -7),
        ("0x10", 16),
        ("0o17", 15),
        ("1_000", "1_000"),
        ("yes", "yes"),
        ("true", True),
        ("~", None),
        ("-.inf", float("-inf")),
        ("'2e11'", "2e11"),
        ("12:30", "12:30"),
    ],
)
def test_scalars_are_read_as_yaml_1_2(text, value):
    data = parse_document(f"x: {text}").data["x"]
    assert data == value and type(data) is type(value)


def test_aliases_repeat_what_they_name():
    document = parse_document("a: &m {E: 2e11}\nb:\n  - *m\n  - *m\n")
    assert document.data["b"] == [{"E": 2e11}, {"E": 2e11}]
    assert document.line(("b", 1, "E")) == 4


def test_a_scenario_finds_its_robot_beside_itself(tmp_path):
    Robot.load("simple-pendulum").save(tmp_path / "mine.yaml")
    (tmp_path / "run.yaml").write_text("robot: mine.yaml\nt_end: 0.25\n")
    scenario = Scenario.load(tmp_path / "run.yaml")
    assert scenario.robot == Robot.load("simple-pendulum") and scenario.t_end == 0.25


def test_a_bare_robot_file_is_a_second_under_gravity_from_rest(tmp_path):
    Robot.load("simple-pendulum").save(tmp_path / "mine.yaml")
    scenario = Scenario.load(tmp_path / "mine.yaml")
    assert (scenario.t_end, scenario.initial.q, scenario.inputs.torque) == (
        1.0,
        None,
        {},
    )


def test_files_tell_whether_they_hold_a_robot_or_a_scenario(tmp_path):
    Robot.load("simple-pendulum").save(tmp_path / "robot.yaml")
    Scenario.load("simple-pendulum").save(tmp_path / "scenario.yaml")
    assert kind_of_file(tmp_path / "robot.yaml") == "robot"
    assert kind_of_file(tmp_path / "scenario.yaml") == "scenario"
    assert kind_of_file("anthropomorphic-b") == "scenario"


def test_a_scenario_in_code_takes_a_library_name():
    assert Scenario(robot="simple-pendulum").robot.name == "simple-pendulum"
