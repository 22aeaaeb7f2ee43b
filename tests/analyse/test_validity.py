"""Warnings: closed forms for the numbers, and limits that are crossed by a little more than a little less."""

import json
import re

import equinox as eqx
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from lissom import Model, Robot, Scenario, linearize, run_scenario
from lissom.algebra.so3 import MOST_TURN
from lissom.analyse.validity.bending import bending_warnings
from lissom.analyse.validity.checks import (
    check,
    linear_model_warnings,
)
from lissom.analyse.validity.deformation import bent_bodies
from lissom.analyse.validity.description import robot_warnings, scenario_warnings
from lissom.analyse.validity.fibres import fibres, rectangle_shear
from lissom.analyse.validity.joints import (
    drive_warnings,
    joint_start_warnings,
    range_warnings,
)
from lissom.analyse.validity.motion import (
    energy_remedy,
    energy_warnings,
    speed_warnings,
)
from lissom.analyse.validity.strength import loaded_beams, strength_warnings
from lissom.analyse.validity.validity_warning import (
    ValidityWarning,
    warning_lines,
    worst_warning,
)
from lissom.describe import DescriptionError
from lissom.describe.section import Box, General, Rectangle, Tube, section_values

# A rod of steel that hangs out sideways, clamped by its joint, with a load at its tip.
E, G_STEEL = 2.1e11, 2.1e11 / 2.6
L, B, H = 0.7, 0.012, 0.02  # along y and z of the section
MASS, GRAVITY = 3.7, 9.81
ROD = {
    "lissom": 1,
    "name": "rod",
    "gravity": [0, 0, -GRAVITY],
    "links": [
        {
            "name": "rod",
            "joint": {"type": "revolute", "limits": {"position": [-3, 3], "torque": 9}},
            "beam": {
                "path": [[0, 0, 0], [L, 0, 0]],
                "section": {"shape": "rectangle", "y": B, "z": H},
                "material": {"E": E, "nu": 0.3, "density": 30, "yield": 2.5e8},
                "elements": 2,
            },
        }
    ],
    "payload": {"mass": MASS},
}
rod = Robot.from_dict(ROD)
model = Model(rod, "erls-fem")
BEAM = rod.links[0].beam
assert BEAM is not None
WEIGHT = BEAM.material.density * GRAVITY * B * H  # [N/m]


def checks_of(found) -> list[str]:
    return [warning.check for warning in found]


def changed(changes) -> Robot:
    return rod.replace(changes)


# --- data ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("E", {"links.*.beam.material.E": 70}),
        ("E", {"links.*.beam.material.E": 2.1e14}),
        ("density", {"links.*.beam.material.density": 7.85}),
        ("yield stress", {"links.*.beam.material.yield": 250}),
        ("length", {"links.*.beam.path": [[0, 0, 0], [700, 0, 0]]}),
        ("slenderness", {"links.*.beam.section.z": 0.71}),
        ("inertia", {"payload.inertia": [0.1, 0.1, 0.203]}),
        ("inertia", {"links.*.masses": [{"mass": 1, "inertia": [0, 0, 0.1]}]}),
        ("axis", {"links.*.joint.axis": [1e-200, 0, 2e-200]}),
        ("axis", {"links.*.joint.axis": [1e200, 0, 2e200]}),
        ("units", {"links.*.joint.limits.position": ["-1 m", "1 m"]}),
        ("units", {"links.*.joint.limits.torque": "9 N"}),
    ],
)
def test_data_that_hardly_any_robot_has_raises_one_warning(check, changes):
    assert checks_of(robot_warnings(changed(changes))) == [check]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"links.*.beam.section.z": 0.69},
        {"payload.inertia": [0.1, 0.1, 0.2]},
        {"links.*.joint.axis": [0, 0, 3]},
        {"links.*.joint.limits.position": ["-90 deg", "90 deg"]},
        {"links.*.joint.limits.torque": "9 N m"},
    ],
)
def test_ordinary_data_raise_no_warning(changes):
    assert not robot_warnings(changed(changes))


def test_a_plane_needs_one_moment_of_inertia():
    planar = {"planar": True, "gravity": [0, 0, 0], "payload.inertia": [0, 0, 0.1]}
    assert not robot_warnings(changed(planar))


def test_an_axis_of_any_length_gives_the_same_robot():
    short = Model(changed({"links.*.joint.axis": [0, 3e-200, 4e-200]}), "erls-fem")
    plain = Model(changed({"links.*.joint.axis": [0, 0.6, 0.8]}), "erls-fem")
    poses = [m.fkine([0.4]) for m in (short, plain)]
    assert np.allclose(*poses, rtol=0, atol=1e-15)


def test_units_of_the_other_kind_of_joint_raise_a_warning_in_a_scenario():
    scenario = Scenario(robot=rod)
    right = scenario.replace({"initial.q": ["10 deg"]})
    wrong = scenario.replace({"initial.q": ["10 mm"]})
    assert not scenario_warnings(right)
    (warning,) = scenario_warnings(wrong)
    assert (
        warning.check == "units"
        and warning.about == "joint rod"
        and warning.value == 0.01
    )
    # A file that is written and read again holds plain numbers.
    assert Scenario.from_dict(json.loads(json.dumps(wrong.to_dict()))).initial.q == (
        0.01,
    )


def test_gains_with_units_of_the_other_kind_of_joint_raise_a_warning():
    reference = {"t": [0.0], "value": [[0.1]]}
    law = {"type": "pd", "kp": ["60 N m/rad"], "kd": [3], "reference": reference}
    right = Scenario.from_dict({"robot": rod.to_dict(), "controller": law})
    assert right.controller.kp == (60.0,) and not scenario_warnings(right)
    for wrong in ({"kp": ["60 N/m"]}, {"kd": ["2 kN s/m"]}):
        (warning,) = scenario_warnings(
            right.replace({f"controller.{key}": value for key, value in wrong.items()})
        )
        assert (warning.check, warning.about) == ("units", "joint rod")
    gains = {"kp": ["0.2 kNm/rad"], "ki": ["40 N m/rad/s"], "kd": ["3 Nm s/rad"]}
    pid = {"type": "pid", "sample": "2 ms", "gains": gains, "reference": reference}
    whole = Scenario.from_dict({"robot": rod.to_dict(), "controller": pid}).controller
    assert [whole.gains.kp, whole.gains.ki, whole.gains.kd] == [(200,), (40,), (3,)]
    with pytest.raises(DescriptionError, match="kp.*'kg' is not a unit"):
        right.replace({"controller.kp": ["60 kg"]})


def test_library_materials_know_their_yield_stress():
    steel = changed({"links.*.beam.material": "steel"})
    assert steel.links[0].beam.material.yield_stress == 2.5e8
    assert steel.to_dict()["links"][0]["beam"]["material"]["yield"] == 2.5e8
    assert Robot.from_dict(steel.to_dict()) == steel


# --- bent links ----------------------------------------------------------------------------------------------------


def bodies_of(model: Model, state):
    return bent_bodies(model, np.asarray(model.poses(state).body)[None])


def sag_and_slope(EI: float) -> tuple[float, float]:
    """Tip of a cantilever under its weight and a load at its tip."""
    P = MASS * GRAVITY
    sag = P * L**3 / (3 * EI) + WEIGHT * L**4 / (8 * EI)
    slope = P * L**2 / (2 * EI) + WEIGHT * L**3 / (6 * EI)
    return sag, slope


def test_deflection_and_rotation_are_those_of_a_cantilever():
    EI = E * B * H**3 / 12
    (bent,) = bodies_of(model, model.static([0.3]))
    sag, slope = sag_and_slope(EI)
    # In the axes of the link, turned by 0.3 rad about the vertical.
    assert np.allclose(bent.displacement[:3, -1, 0], [0, 0, -sag], atol=1e-12)
    assert bent.turn[-1, 0] == pytest.approx(slope, rel=1e-9)
    assert bent.length == pytest.approx(L)


@pytest.mark.parametrize(("share", "raises_warning"), [(0.099, False), (0.101, True)])
def test_a_tenth_of_the_length_is_where_deflection_raises_a_warning(
    share, raises_warning
):
    EI = E * B * H**3 / 12
    sag, _ = sag_and_slope(EI)
    soft = Model(
        changed({"links.*.beam.material.E": E * sag / (share * L)}), "erls-fem"
    )
    found = check(soft, soft.static([0.3]))
    assert ("deflection" in checks_of(found)) is raises_warning
    for warning in found:
        if warning.check == "deflection":
            assert warning.value == pytest.approx(share, rel=1e-9)
            assert "nonlinear" in warning.remedy and "segments" in warning.remedy


def test_stress_in_the_outer_fibre_is_that_of_bending():
    # The elements leave w h^2 / 12 out of the moment at the joint, with h half the length.
    moment = MASS * GRAVITY * L + WEIGHT * (L**2 / 2 - (L / 2) ** 2 / 12)
    stress = moment * (H / 2) / (B * H**3 / 12)
    below = Model(changed({"links.*.beam.material.yield": 1.001 * stress}), "erls-fem")
    above = Model(changed({"links.*.beam.material.yield": 0.999 * stress}), "erls-fem")
    assert "yield" not in checks_of(check(below, below.static([0.3])))
    (warning,) = [d for d in check(above, above.static([0.3])) if d.check == "yield"]
    assert warning.value == pytest.approx(stress, rel=1e-9)


def test_an_upright_column_raises_a_warning_from_a_fifth_of_its_buckling_load_on():
    EI = E * H * B**3 / 12
    euler = np.pi**2 * EI / (4 * L**2)
    upright = {"gravity": [-GRAVITY, 0, 0], "links.*.beam.material.density": 20}
    own = 20 * B * H * L * GRAVITY
    # The element at the joint carries the load and three quarters of the weight, on its average.
    for share, expected in ((0.199, []), (0.201, ["axial load"])):
        load = (share * euler - 0.75 * own) / GRAVITY
        column = Model(changed(upright | {"payload.mass": load}), "erls-fem")
        found = check(column, column.static([0.0]))
        assert checks_of(found) == expected


@pytest.mark.parametrize("formulation", ["erls-cms", "nonlinear"])
def test_bodies_are_bent_as_far_as_their_nodes_stand_from_the_inner_one(formulation):
    bendable = Model(rod, formulation, modes=6)
    rng = np.random.default_rng(3)
    elastic = 1e-4 * rng.standard_normal(bendable.formulation.n_elastic)
    state = eqx.tree_at(lambda s: s.elastic, bendable.at([1.2]), elastic)
    (bent,) = bodies_of(bendable, state)
    poses = bendable.poses(state)
    R, p, phi = (
        np.asarray(a)[0] for a in (poses.frame, poses.position, poses.rotation)
    )
    X = np.asarray(bendable.bodies[0].points)
    if formulation == "nonlinear":
        nodes = Rotation.from_rotvec(phi.copy())
        turned = (nodes * nodes[0].inv()).as_rotvec() @ R
        moved = (p - p[0]) @ R - (X - X[0])
    else:
        turned = (phi - phi[0]) @ R
        moved = (p - p[0]) @ R - (X - X[0]) - np.cross(phi[0] @ R, X - X[0])
    expected = np.concatenate([moved, turned], axis=1).T
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(bent.displacement[..., 0], expected, atol=1e-13)


def unbent(model: Model) -> np.ndarray:
    """Coordinates of the only body of a model, at one time."""
    return np.zeros((1, 1, model.bodies[0].coordinates))


def test_a_link_at_rest_has_no_stress():
    assert not list(strength_warnings(model, bent_bodies(model, unbent(model))))


# --- sections ------------------------------------------------------------------------------------------------------


def test_a_twisted_square_has_the_tabulated_shear():
    # [TimoshenkoGoodier1970] section 109, table: k = 0.675 for a square, 0.930 for 1:2, 0.999 for 1:4 (of 2 a G theta).
    for ratio, k in ((1, 0.675), (2, 0.930), (4, 0.997)):
        assert rectangle_shear(0.03, 0.03 * ratio) / 0.03 == pytest.approx(k, abs=1e-3)


def test_a_thin_tube_and_a_thin_box_shear_as_bredt_says():
    tube = fibres(Tube(shape="tube", outer=0.04, inner=0.036), 0.3)
    assert tube.shear == tube.y == 0.02 and tube.is_round
    box = Box(shape="box", y=0.05, z=0.03, wall=0.001)
    values = section_values(box, 0.3)
    torque = 7.0
    flow = torque / (2 * 0.049 * 0.029)
    twist = torque / (G_STEEL * values.torsion_constant)
    assert G_STEEL * twist * fibres(box, 0.3).shear == pytest.approx(flow / 0.001)


def test_a_section_known_by_its_values_is_at_least_as_thick_as_its_radius_of_gyration():
    rectangle = Rectangle(shape="rectangle", y=0.02, z=0.05)
    v = section_values(rectangle, 0.3)
    general = General(
        shape="general",
        A=v.area,
        Iy=v.second_moment_y,
        Iz=v.second_moment_z,
        J=v.torsion_constant,
    )
    known, lower = fibres(rectangle, 0.3), fibres(general, 0.3)
    assert lower.y < known.y and lower.z < known.z and lower.shear == 0.0


# --- joints, speed and energy --------------------------------------------------------------------------------------


def test_an_angle_in_degrees_is_taken_for_many_turns():
    assert not list(joint_start_warnings(model, [3.0]))
    assert not list(joint_start_warnings(model, [9.0]))
    (warning,) = joint_start_warnings(model, [90.0])
    assert warning.check == "start" and "13.8 turns" in warning.message
    free = Model(changed({"links.*.joint.limits": None}), "erls-fem")
    assert not list(joint_start_warnings(free, [60.0]))
    assert checks_of(joint_start_warnings(free, [90.0])) == ["start"]


def test_a_joint_beyond_its_range_is_named_with_time_and_excess():
    t = np.linspace(0.0, 1.0, 11)
    inside = 3.0 * np.sin(2 * np.pi * t)[:, None]
    assert not list(range_warnings(model, inside, t))
    (warning,) = range_warnings(model, -3.5 * t[:, None], t)
    assert (
        warning.about == "joint rod" and warning.value == -3.5 and warning.limit == -3
    )
    assert "from 0.9 s on: 0.5 rad beyond -3 rad at 1 s" in warning.message


def test_a_joint_that_presses_its_end_stop_in_raises_no_warning():
    t = np.linspace(0.0, 1.0, 11)
    beyond = 3.001 * t[:, None]
    (warning,) = range_warnings(model, beyond, t)
    assert "stop: true" in warning.remedy
    held = Model(changed({"links.*.joint.limits.stop": True}), "erls-fem")
    assert not list(range_warnings(held, beyond, t))


def test_a_drive_that_would_need_more_than_it_has_raises_a_warning():
    assert not list(drive_warnings(model, np.array([[-9.0]])))
    (warning,) = drive_warnings(model, np.array([[2.0], [-9.5]]), np.array([0.0, 0.1]))
    assert warning.check == "drive" and "9.5 N m at 0.1 s" in warning.message
    huge = drive_warnings(model, np.array([[1e12]]))
    assert checks_of(huge) == ["drive", "torque"]


def test_a_tip_faster_than_machines_are_raises_a_warning():
    t = np.array([0.0, 0.01, 0.02])
    position = np.zeros((3, 2, 3))
    position[:, 1, 0] = [0.0, 0.5, 1.4]
    assert not list(speed_warnings(position, t, ("rod/0", "rod/1")))
    position[2, 1, 0] = 1.6
    (warning,) = speed_warnings(position, t, ("rod/0", "rod/1"))
    assert warning.about == "node rod/1" and warning.value == pytest.approx(110.0)
    assert not list(speed_warnings(position[:1], t[:1], ("rod/0", "rod/1")))


def test_energies_that_do_not_add_up_raise_a_warning():
    swing = np.zeros((3, 6))
    swing[:, 0] = [0.0, 2.0, 0.1]
    swing[:, 2] = [-1.0, -3.0, -1.1]
    assert not list(energy_warnings(swing))
    swing[1, 5] = 3e-3
    assert checks_of(energy_warnings(swing)) == ["energy balance"]
    swing[1, 5] = 0.0
    swing[:, 3:5] = [[0, 0], [2.5e4, 2.5e4], [5e4, 5e4]]
    assert checks_of(energy_warnings(swing)) == ["energy exchange"]
    assert not list(energy_warnings(np.zeros((3, 6))))


def remedy(formulation, method="radau", led=0, **choices):
    f = Model("simple-pendulum", formulation, **choices).formulation
    return energy_remedy(f, choices.get("terms", "consistent"), method, led, 2.0)


def test_what_helps_energies_is_what_the_run_does_not_do_already():
    assert remedy("nonlinear") == "Tighten solver.rtol"
    assert remedy("erls-fem") == "Tighten solver.rtol"
    assert "or use solver.method: radau" in remedy("nonlinear", "generalised-alpha")
    # Where the links are rigid, a tighter tolerance changes no step of a joint that follows a motion.
    led = remedy("nonlinear", led=1, modes=0)
    assert led.startswith("Set solver.max_step, 0.04 s") and "rtol" not in led
    assert "rtol" in remedy("nonlinear", led=1) and "max_step" in remedy(
        "nonlinear", led=1
    )
    assert "use formulation: nonlinear" in remedy("dual-screw")
    assert "consistent" in remedy("dual-screw", terms="published")


LED_ROD = {
    "lissom": 1,
    "name": "led",
    "gravity": [0, -GRAVITY, 0],
    "links": [
        {
            "name": "rod",
            "joint": {"type": "revolute", "axis": [0, 0, 1]},
            "rigid": {
                "mass": 1.0,
                "com": [0.25, 0, 0],
                "inertia": [1e-3, 2e-2, 2e-2],
                "tip": [0.5, 0, 0],
            },
        }
    ],
}


@pytest.mark.slow
def test_the_advice_for_a_rigid_rod_that_is_led_helps():
    motion = {"rod": {"t": [0, 0.3, 0.7, 1.0], "value": [0, 1.0, 2.5, 3.0]}}
    scenario = Scenario.from_dict(
        {"robot": LED_ROD, "inputs": {"motion": motion}, "output_dt": 0.01}
    )
    (said,) = run_scenario(scenario).warnings
    step = re.findall(r"Set solver.max_step, (\S+) s", said)[0]
    assert "radau" not in said and "rtol" not in said
    # Tighter steps do not help, shorter ones do.
    assert run_scenario(scenario.replace({"solver.rtol": 1e-9})).warnings
    helped = run_scenario(scenario.replace({"solver.max_step": float(step)}))
    assert helped.warnings == () and helped.energy_residual < 1e-5


# --- the record ----------------------------------------------------------------------------------------------------


def test_a_warning_is_one_line_and_the_worst_speaks_for_all():
    few = ValidityWarning("E", "link a", "a\nfew", 80.0, 1e8, "do this")
    many = ValidityWarning("E", "link b", "many", 70.0, 1e8, "do this")
    assert worst_warning([few, many]) == (many,)
    assert worst_warning([]) == ()
    assert warning_lines([few]) == ("link a: a few. do this",)


@pytest.mark.slow
def test_a_linear_model_about_a_fast_motion_raises_a_warning():
    # The tip is L from the axis: 100 m/s at 143 rad/s.
    small = {"links.*.beam.material.density": 20, "payload.mass": 1e-6}
    light = Model(changed(small | {"gravity": [0, 0, 0]}), "erls-fem")
    for qd, expected in ((142.0, []), (144.0, ["speed"])):
        linear = linearize(light, [0.3], qd=[qd])
        assert checks_of(linear_model_warnings(light, linear)) == expected


def test_nodes_that_turned_beyond_any_rotation_raise_a_warning_and_are_not_fatal():
    model = Model(changed({}), "nonlinear")
    for lost in (np.nan, np.inf, 1e200):
        (bent,) = bent_bodies(model, np.full_like(unbent(model), lost))
        assert bent.turn.max() == MOST_TURN
        assert "rotation" in checks_of(bending_warnings(model, [bent]))


def test_what_rules_warnings_out_at_once_is_never_below_what_is_there():
    rng = np.random.default_rng(8)
    for name in ("erls-fem", "nonlinear"):
        model = Model(changed({}), name)
        shape = unbent(model).shape[1:]
        motion = 0.01 * rng.standard_normal((50, *shape))
        (bent,) = bent_bodies(model, motion)
        displacement, turn = bent.most_displacement_and_turn
        lengths = np.linalg.norm(bent.displacement[:3], axis=0)
        assert lengths.max() <= displacement
        assert bent.turn.max() <= turn
        (loaded,) = loaded_beams(model, [bent])
        assert (np.abs(loaded.strains) <= loaded.most_strains * (1 + 1e-12)).all()
        assert np.abs(loaded.axial).max() <= loaded.most_axial * (1 + 1e-12)


def test_a_link_that_one_coordinate_bends_is_judged_by_the_very_bound():
    # With a single coordinate the bound is what is there: no warning is ruled out beyond the limit.
    model = Model(changed({}), "erls-fem")
    motion = np.zeros((3, *unbent(model).shape[1:]))
    motion[:, 0, -5] = [0.0, 1.0, -2.0]
    (bent,) = bent_bodies(model, motion)
    displacement, turn = bent.most_displacement_and_turn
    lengths = np.linalg.norm(bent.displacement[:3], axis=0)
    assert displacement == pytest.approx(lengths.max(), rel=1e-12)
    assert turn == pytest.approx(bent.turn.max(), rel=1e-12)
    assert displacement > 0.0
