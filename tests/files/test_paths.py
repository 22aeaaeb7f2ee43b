"""Dotted paths: values put into robots and scenarios."""

import jax
import jax.numpy as jnp
import pytest

from lissom.describe import DescriptionError, Robot, Scenario, parse_assignment


def test_a_value_is_replaced_by_link_name_and_the_original_stays():
    robot = Robot.load("double-pendulum")
    changed = robot.replace({"links.lower.beam.material.E": 9e9, "payload.mass": 0.3})
    assert changed.links[1].beam.material.E == 9e9
    assert changed.payload.mass == 0.3
    assert robot.links[1].beam.material.E == 2e11 and robot.payload is None


def test_links_are_reached_by_number_and_all_at_once():
    robot = Robot.load("double-pendulum")
    assert robot.replace({"links.1.beam.elements": 7}).links[1].beam.elements == 7
    assert [
        link.beam.elements for link in robot.replace({"links.*.beam.elements": 5}).links
    ] == [5, 5]


def test_a_rigid_body_is_swapped_for_a_beam():
    robot = Robot.load("anthropomorphic").replace(
        {
            "links.upper.beam": None,
            "links.upper.rigid": {"mass": 1.5, "com": [0.2, 0, 0]},
        }
    )
    assert robot.links[1].beam is None and robot.links[1].rigid.mass == 1.5


@pytest.mark.parametrize(
    "path, value, message",
    [
        (
            "links.uper.beam.elements",
            3,
            "no item 'uper' in the list, did you mean 'upper'?",
        ),
        ("links.7.beam.elements", 3, "no item '7' in the list"),
        ("links.upper.beam.materal.E", 3, "unknown key, did you mean 'material'?"),
        ("links.upper.beam.material.E", -3, "must be positive [Pa], steel has 2.1e11"),
        (
            "links.upper.beam.material.E.x",
            3,
            "there is nothing below links.upper.beam.material.E",
        ),
        ("paylod.mass", 3, "did you mean 'payload'?"),
        ("links.upper.name", "lower", "already has this name"),
    ],
)
def test_an_unknown_path_or_a_bad_value_is_refused(path, value, message):
    with pytest.raises(DescriptionError) as caught:
        Robot.load("double-pendulum").replace({path: value})
    assert message in str(caught.value)


def test_a_scenario_path_is_looked_up_in_the_scenario_and_then_in_the_robot():
    scenario = Scenario.load("double-pendulum").replace(
        {
            "t_end": 0.5,
            "gravity": [0, 0, -9.81],
            "robot.links.upper.beam.material.E": 9e9,
            "solver.rtol": 1e-9,
        }
    )
    assert (scenario.t_end, scenario.robot.gravity, scenario.solver.rtol) == (
        0.5,
        (0.0, 0.0, -9.81),
        1e-9,
    )
    assert scenario.robot.links[0].beam.material.E == 9e9


def test_a_path_into_neither_scenario_nor_robot_is_refused_with_the_nearest():
    with pytest.raises(
        DescriptionError,
        match="gravty: no such key in the scenario or its robot, did you mean 'gravity'",
    ):
        Scenario.load("double-pendulum").replace({"gravty": [0, 0, 0]})


def test_traced_values_pass_through_later_replacements():
    robot = Robot.load("double-pendulum")

    def product(E, density):
        first = robot.replace({"links.upper.beam.material.E": E})
        material = first.replace(
            {
                "links.upper.beam.material.density": density,
                "links.lower.beam.elements": 2,
            }
        )
        return (
            material.links[0].beam.material.E * material.links[0].beam.material.density
        )

    assert jax.grad(product, argnums=(0, 1))(3.0, 5.0) == (5.0, 3.0)
    assert jax.vmap(product)(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])).tolist() == [
        3.0,
        8.0,
    ]


def test_a_concrete_jax_array_is_saved_as_a_number(tmp_path):
    robot = Robot.load("double-pendulum").replace(
        {"links.upper.beam.material.E": jnp.asarray(9e9)}
    )
    robot.save(tmp_path / "r.yaml")
    assert Robot.load(tmp_path / "r.yaml").links[0].beam.material.E == pytest.approx(
        9e9, rel=1e-6
    )


@pytest.mark.parametrize(
    "text, path, value",
    [
        ("t_end=0.5", "t_end", 0.5),
        (
            "robot.links.upper.beam.material.E=9e9",
            "robot.links.upper.beam.material.E",
            9e9,
        ),
        ("gravity=[0,0,-9.81]", "gravity", [0, 0, -9.81]),
        ("payload={mass: 1}", "payload", {"mass": 1}),
        ("robot.payload=null", "robot.payload", None),
    ],
)
def test_a_command_line_assignment_is_a_path_and_a_yaml_value(text, path, value):
    assert parse_assignment(text) == (path, value)


@pytest.mark.parametrize("text", ["t_end", "=3", "gravity=[0,"])
def test_a_broken_assignment_is_refused(text):
    with pytest.raises(DescriptionError):
        parse_assignment(text)
