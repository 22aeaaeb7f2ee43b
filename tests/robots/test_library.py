"""The robots of the library: they load, they are the published ones, and they say where their values come from."""

import numpy as np
import pytest

from lissom import Model
from lissom.algebra.so3 import elementary
from lissom.describe import (
    DescriptionError,
    Robot,
    Scenario,
    library_file,
    library_material,
    library_names,
    library_scenarios,
    material_names,
    section_values,
)
from lissom.describe.geometry import joint_frame, node_names, tip

ROBOTS = (
    "anthropomorphic",
    "anthropomorphic-wrist",
    "dlr-arm",
    "double-pendulum",
    "l-shape",
    "l-shape-torque",
    "simple-pendulum",
    "spatial-double-pendulum",
)


def tip_position(robot, q):
    """Position of the last tip by multiplying out the chain; every joint of the library turns about its z axis."""
    R, p = np.eye(3), np.zeros(3)
    for i, angle in enumerate(q):
        turn, offset = joint_frame(robot, i)
        R, p = R @ turn @ elementary(2, angle), p + R @ offset
    return p + R @ tip(robot, len(q) - 1)


def test_the_library_holds_the_robots_of_the_papers():
    assert set(ROBOTS) <= set(library_names())


def test_the_planar_manipulator_has_the_coordinates_of_palomba_2019():
    model = Model("planar-2r", "erls-fem")
    assert model.robot.planar and len(model.coordinate_names) == 21
    assert model.coordinate_names[:3] == ("upper/1.x", "upper/1.y", "upper/1.rz")
    scenario = Scenario.load("planar-2r")
    ends = [
        [spline.value[k] for spline in scenario.inputs.motion.values()] for k in (0, -1)
    ]
    tips = [tip_position(model.robot, q) for q in ends]
    np.testing.assert_allclose(tips, [[0.25, -0.30, 0], [0.55, -0.30, 0]], atol=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_loads_under_its_own_name_and_has_a_scenario(name):
    assert Robot.load(name).name == name
    assert Scenario.load(name).robot == Robot.load(name)


@pytest.mark.parametrize(
    "name", [name for name in library_scenarios() if name.startswith(ROBOTS)]
)
def test_every_scenario_has_its_paper_s_formulation_and_start(name):
    scenario = Scenario.load(name)
    modal, released = name.startswith("l-shape"), name in ("l-shape", "l-shape-swing")
    assert 0.5 <= scenario.t_end <= 2
    assert scenario.formulation == ("erls-cms" if modal else "erls-fem")
    assert scenario.initial.elastic == ("zero" if released else "static")
    assert len(scenario.initial.q) == len(scenario.robot.joint_names)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_number_of_a_robot_cites_its_source_or_says_it_is_chosen(name):
    marks = ("chosen", "[Boscariol2012]", "[Vidoni2015]", "as above")
    lines = [
        line
        for line in library_file(name).read_text().splitlines()
        if ": {" in line or ": [" in line
    ]
    assert lines and all(any(mark in line for mark in marks) for line in lines)


@pytest.mark.parametrize(
    "name, elements, gravity",
    [
        ("simple-pendulum", [2], "y"),
        ("double-pendulum", [1, 1], "y"),
        ("spatial-double-pendulum", [2, 2], "y"),
        ("anthropomorphic", [2, 2, 2], "z"),
        ("anthropomorphic-wrist", [2, 2, 2, 2], "z"),
        ("dlr-arm", [2, 2, 2], "z"),
    ],
)
def test_elements_and_gravity_are_those_of_the_menu(
    name, elements, gravity
):  # [Boscariol2012] Figure 1
    robot = Robot.load(name)
    assert [
        link.beam.elements for link in robot.links if link.beam is not None
    ] == elements
    assert (
        robot.gravity["xyz".index(gravity)] == -9.81
        and sum(map(abs, robot.gravity)) == 9.81
    )


def test_the_double_pendulum_is_that_of_table_2():
    robot = Robot.load("double-pendulum")
    beam = robot.links[0].beam
    values = section_values(beam.section, beam.material.nu)
    assert beam.material.density * values.area * 0.5 == pytest.approx(1.176)
    stiffness = [
        b.material.E * section_values(b.section, 0.3).second_moment_y
        for b in (x.beam for x in robot.links)
    ]
    assert stiffness == pytest.approx([500, 4500])  # bending out of the plane of motion
    assert (robot.damping.alpha, robot.damping.beta) == (2, 0.0005)
    assert node_names(robot) == ("upper/0", "upper/1", "lower/0", "lower/1")


def test_the_double_pendulum_scenario_zeroes_the_dofs_of_equation_29():
    scenario = Scenario.load("double-pendulum")
    assert scenario.reference == {"zeroed": ["upper/tip.y", "lower/0.rz"]}
    assert set(scenario.inputs.torque) == {"upper"} and scenario.controller is None


def test_the_anthropomorphic_scenarios_differ_only_in_the_choice_of_the_erls():
    a, b, c = (Scenario.load(f"anthropomorphic{suffix}") for suffix in ("", "-b", "-c"))
    assert (
        a.replace({"reference": b.reference}) == b
        and a.replace({"reference": c.reference}) == c
    )
    assert [dof.partition(".")[0] for dof in b.reference["zeroed"]] == [
        "column/tip",
        "upper/0",
        "fore/tip",
    ]
    assert Scenario.load("anthropomorphic-free-fall").controller is None


@pytest.mark.parametrize(
    "name, q, position",
    [
        ("double-pendulum", [0.0, np.pi / 2], [0.5, 0.5, 0]),
        ("spatial-double-pendulum", [0.0, np.pi / 2], [0.5, 0, 0.5]),
        (
            "anthropomorphic",
            [0.0, 0.0, -np.pi / 3],
            [0.675, 0, 0.4 - 0.45 * np.sin(np.pi / 3)],
        ),
        ("anthropomorphic", [np.pi / 2, 0.0, 0.0], [0, 0.9, 0.4]),
        ("anthropomorphic-wrist", [0.0] * 6, [0.9, 0, 0.4]),
        ("anthropomorphic-wrist", [0.0, 0.0, 0.0, 0.3, 0.0, 0.8], [0.9, 0, 0.4]),
        ("dlr-arm", [0.0] * 4, [0, 0, 1.1]),
        ("dlr-arm", [0.4, 0.0, 1.1, 0.0], [0, 0, 1.1]),
    ],
)
def test_tips_are_where_the_drawing_puts_them(name, q, position):
    np.testing.assert_allclose(tip_position(Robot.load(name), q), position, atol=1e-12)


def test_rigid_links_of_no_length_carry_an_inertia():
    for name in ("anthropomorphic-wrist", "dlr-arm"):
        rigid = [
            link.rigid for link in Robot.load(name).links if link.rigid is not None
        ]
        assert rigid and all(body.mass > 0 and min(body.inertia) > 0 for body in rigid)


@pytest.mark.parametrize("name", material_names())
def test_every_material_is_plausible(name):
    material = library_material(name)
    assert (
        1e9 < material.E < 4e11
        and 0.2 < material.nu < 0.5
        and 1000 < material.density < 9000
    )


def test_the_new_arms_say_where_their_numbers_come_from():
    marks = ("chosen", "[Cibicik2021]", "[SimoVuQuoc1986]", "[KaneRyanBanerjee1987]")
    for name in ("cibicik-arm", "spin-up"):
        lines = [
            line
            for line in library_file(name).read_text().splitlines()
            if ": {" in line or ": [" in line
        ]
        assert lines and all(any(mark in line for mark in marks) for line in lines), (
            name
        )


def test_an_unknown_name_gets_the_nearest_ones():
    with pytest.raises(
        DescriptionError, match="dlr: is not in the library. Library: dlr-arm"
    ):
        library_file("dlr")
