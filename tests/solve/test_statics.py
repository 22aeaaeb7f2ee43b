"""Equilibrium: closed forms of beams, sag of the double pendulum, holding torques, hanging free."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from helpers import compiled_once, model_named, relative
from lissom.analyse.linear.linearize import operating_point
from lissom.commands import cli
from lissom.describe import DescriptionError
from lissom.dynamics import engine
from lissom.solve.model import EquilibriumError
from lissom.solve.static import EnergyModel, descend_held
from runs import double_pendulum

E, RHO, WIDTH, DEPTH, LENGTH = 6.9e10, 2710.0, 0.023, 0.011, 0.73
G = 9.81


def cantilever(gravity, payload=0.3, elements=3):
    """A bar along x on a revolute joint about z, section WIDTH along y and DEPTH along z."""
    beam = {
        "path": [[0, 0, 0], [LENGTH, 0, 0]],
        "section": {"shape": "rectangle", "y": WIDTH, "z": DEPTH},
        "material": {"E": E, "nu": 0.33, "density": RHO},
        "elements": elements,
    }
    link = {
        "name": "bar",
        "joint": {"type": "revolute", "origin": {}, "axis": [0, 0, 1]},
        "beam": beam,
    }
    robot = {
        "name": "cantilever",
        "gravity": gravity,
        "links": [link],
        "payload": {"mass": payload},
    }
    return ls.Model(ls.Robot.from_dict(robot), "erls-fem")


@pytest.mark.parametrize(
    "axis, inertia",
    [(1, DEPTH * WIDTH**3 / 12), (2, WIDTH * DEPTH**3 / 12)],
    ids=["y", "z"],
)
def test_a_held_link_sags_like_a_cantilever(axis, inertia):
    # Euler-Bernoulli with consistent loads is exact at the nodes: w = w0 L^4 / (8 E I) + F L^3 / (3 E I).
    gravity = [0.0, 0.0, 0.0]
    gravity[axis] = -G
    model = cantilever(gravity)
    state = model.static([0.0])
    weight, force = RHO * WIDTH * DEPTH * G, 0.3 * G
    sag = (weight * LENGTH**4 / 8 + force * LENGTH**3 / 3) / (E * inertia)
    assert_allclose(model.displacement(state, "bar/tip")[axis], -sag, rtol=1e-9)
    moment = weight * LENGTH**2 / 2 + force * LENGTH if axis == 1 else 0.0
    assert_allclose(state.torque, [moment], rtol=1e-9, atol=1e-9)


def test_the_double_pendulum_sags_out_of_its_plane_as_tabulated():
    # Straight chain of cantilevers under -z gravity: elbow -2.0429, tip -5.4478 mm, closed form, exact with one
    # element per link.
    model = ls.Model(
        double_pendulum().robot.replace({"gravity": [0, 0, -9.81]}), "erls-fem"
    )
    state = model.static([0.0, 0.0])
    assert_allclose(
        1e3 * model.displacement(state, "upper/tip"), [0, 0, -2.0429], atol=1e-4
    )
    assert_allclose(
        1e3 * model.displacement(state, "lower/tip"), [0, 0, -5.4478], atol=1e-4
    )
    assert_allclose(state.torque, 0, atol=1e-9)


@compiled_once
def slopes(f, x):
    def potential(x):
        return engine.strain_energy(f, f.configuration(x)) + engine.gravity_energy(
            f, f.configuration(x)
        )

    return jax.grad(potential)(x), jax.jacfwd(lambda x: f.configuration(x).encoder)(x)


@pytest.mark.parametrize(
    "reference", ["tangent", pytest.param("zeroed", marks=pytest.mark.slow)]
)
def test_holding_torques_are_the_slope_of_the_potential_along_the_encoders(reference):
    model, q = model_named("mixed", reference), [0.7, 0.15, -1.1]
    state = model.static(q)
    pull, encoder_slope = slopes(model.formulation, state.x)
    assert_allclose(state.encoder, q, atol=1e-10)
    assert np.abs(state.elastic).max() > 1e-5
    assert relative(np.asarray(encoder_slope).T @ np.asarray(state.torque), pull) < 1e-7


def test_a_robot_with_free_joints_hangs_down():
    model = double_pendulum()
    state = model.static([-1.2, 0.3], free=True)
    assert_allclose(state.q, [-np.pi / 2, 0.0], atol=1e-8)
    # The bars are stretched by their weight: rho g L^2 / (2 E) each, and the upper one by the lower one's weight.
    stretch = 7840 * 9.81 * 0.5**2 / 2e11 * (0.5 + 0.5 + 1.0)
    assert_allclose(model.position(state, "lower/tip"), [0, -1 - stretch, 0], atol=1e-9)


def test_a_free_joint_settles_where_its_torque_is_held():
    model, tau = cantilever([0.0, -G, 0.0]), 1.9
    state = model.static([-1.0], torque=[tau], free=True)
    held = model.static(state.encoder)
    assert_allclose(held.torque, [tau], rtol=1e-7)
    assert_allclose(state.elastic, held.elastic, atol=1e-9)


def test_an_error_says_which_zeroed_displacements_define_no_erls():
    model = ls.Model(
        double_pendulum().robot,
        "erls-fem",
        reference={"zeroed": ["upper/tip.z", "lower/0.rz"]},
    )
    with pytest.raises(
        ValueError, match=r"reference\.zeroed: upper/tip\.z, lower/0\.rz"
    ):
        model.static([0.1, 0.2])


def test_quasi_static_inverse_dynamics_of_a_stiff_arm_is_the_rigid_one():
    # The bar about its joint, rigid to 1e-6 at 1e6 times the stiffness: tau = J qdd + m g c cos q.
    model = cantilever([0.0, -G, 0.0])
    stiff = ls.Model(
        model.robot.replace({"links.bar.beam.material.E": 1e6 * E}), "erls-fem"
    )
    mass, q, qdd = RHO * WIDTH * DEPTH * LENGTH, 0.6, 2.3
    inertia = mass * LENGTH**2 / 3 + 0.3 * LENGTH**2
    expected = inertia * qdd + (mass / 2 + 0.3) * LENGTH * G * np.cos(q)
    assert_allclose(
        stiff.inverse_dynamics([q], [1.7], jnp.array([qdd])), [expected], rtol=1e-6
    )


def test_downhill_is_found_where_newton_climbs():
    # V = y^2 / 8 + cos y, its top at y = 0.1, and a coordinate that is held at 0.3: y^* / 4 = sin y^*.
    def hill_at(x):
        _, y = x
        return EnergyModel(
            energy=energy_at(x),
            force=np.array([0.0, y / 4 - np.sin(y)]),
            stiffness=np.diag([0.0, 0.25 - np.cos(y)]),
            strain_stiffness=np.diag([1.0, 0.25]),
            gap=x[:1] - 0.3,
            encoders=np.array([[1.0, 0.0]]),
        )

    def energy_at(x):
        return x[1] ** 2 / 8 + np.cos(x[1])

    for start in (0.1, 0.0, 30.0):
        begin = np.array([0.0, start])
        held, y = descend_held(hill_at, energy_at, begin, scales=np.ones(2))
        assert_allclose(held, 0.3)
        assert_allclose(y / 4, np.sin(y), atol=1e-9)
        assert 0.25 > np.cos(y)


@pytest.mark.slow
def test_links_as_soft_as_gum_find_an_equilibrium_that_raises_warnings(capsys):
    line = ["static", "double-pendulum", "--set", "gravity=[0,0,-9.81]"]
    line += ["--set", "links.*.beam.material.E=2e7"]
    assert cli.main(line) == 0
    said = capsys.readouterr().err
    assert "it bends by 20.9 m, 4172 % of the 0.5 m of one body" in said
    assert cli.main([*line, "--strict"]) == 1


@pytest.mark.slow
def test_links_as_soft_as_gum_are_linearised_where_they_hang_at_rest():
    soft = {"gravity": [0, 0, -9.81], "links.*.beam.material.E": 2e7}
    model = ls.Model(ls.Robot.load("double-pendulum").replace(soft))
    q = [0.3, 0.2]
    resting = model.static(q)
    point = operating_point(model, q)
    assert_allclose(point.x, resting.x, atol=1e-8)
    # The first joint turns about the vertical, and carries nothing but the rounding of what the second one does.
    assert_allclose(point.tau, resting.torque, rtol=1e-8, atol=1e-14)
    assert_allclose(resting.torque[0], 0.0, atol=1e-14)
    assert np.isfinite(ls.linearize(model, q).A).all()


@pytest.mark.slow
def test_a_link_a_billion_times_too_soft_is_refused_in_words():
    # 70 Pa, a forgotten GPa: the inertia of links bent by many turns is no longer definite.
    robot = ls.Robot.load("double-pendulum")
    soft = robot.replace({"links.*.beam.material.E": 70.0})
    with pytest.raises(EquilibriumError, match="no equilibrium found") as refusal:
        ls.Model(soft).static([0.0, 0.0])
    assert "nan" not in str(refusal.value)


@pytest.mark.parametrize("value", [1e-310, 1e-300, 1e-200, 1e101])
@pytest.mark.parametrize(
    "key, unit",
    [
        ("material.E", "Pa"),
        ("material.density", "kg/m^3"),
        ("section.y", "m"),
    ],
)
def test_numbers_whose_products_vanish_or_overflow_are_refused_by_every_door(
    key, unit, value, capsys
):
    if key == "section.y" and value > 1.0:
        pytest.skip("a side has a bound of its own")
    path = f"links.*.beam.{key}"
    accepted = f"must lie between 1e-100 and 1e+100 [{unit}]"
    assert cli.main(["static", "double-pendulum", "--set", f"{path}={value}"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert f"{key}: {value:g}: {accepted}" in "\n".join(lines)
    with pytest.raises(DescriptionError) as refusal:
        ls.Robot.load("double-pendulum").replace({path: value})
    assert accepted in str(refusal.value)


def test_masses_further_apart_than_numbers_have_digits_are_refused_by_the_link():
    robot = ls.Robot.load("simple-pendulum")
    light = robot.replace(
        {"links.*.beam.material.density": 1e-20, "payload": {"mass": 1e6}}
    )
    with pytest.raises(DescriptionError, match="links.rod: its modes cannot be comp"):
        ls.Model(light)
