"""Velocities and accelerations of chosen nodes: against differences of positions, and against a closed form."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.solve.channels import (
    UnknownNameError,
    differentiated_paths,
    node_paths,
)

STEP = 1e-3
LENGTH = 0.7


def bar(name, at, length, mass):
    turning = {"type": "revolute", "origin": {"xyz": at}, "axis": [0.0, 0.0, 1.0]}
    body = {"mass": mass, "com": [length / 3, 0.0, 0.0], "inertia": [0.01, 0.02, 0.03]}
    return {"name": name, "joint": turning, "rigid": body | {"tip": [length, 0, 0]}}


ONE_BAR = {
    "name": "bar",
    "gravity": [0.0, -9.81, 0.0],
    "links": [bar("rod", [0, 0, 0], LENGTH, 1.3)],
}


MODEL = ls.Model(ls.Robot.from_dict(ONE_BAR))
OPTIONS = {
    "output_dt": STEP,
    "record": ["rod/tip"],
    "solver": {"rtol": 1e-9, "atol": 1e-11},
}


@pytest.fixture(scope="module")
def swing():
    return ls.simulate(MODEL, [0.4], t_end=0.3, **OPTIONS)


def test_a_rigid_bar_moves_as_its_angle_says(swing):
    """v = w L t, a = w' L t - w^2 L n, with the unit vectors n along the bar and t across it."""
    q, w = swing.q[:, 0], swing.values("qd")[:, 0]
    inertia = 0.03 + 1.3 * (LENGTH / 3) ** 2
    w_d = -9.81 * 1.3 * LENGTH / 3 * np.cos(q) / inertia
    along = np.stack([np.cos(q), np.sin(q), 0 * q], axis=1)
    across = np.stack([-np.sin(q), np.cos(q), 0 * q], axis=1)
    velocity = LENGTH * w[:, None] * across
    acceleration = LENGTH * (w_d[:, None] * across - w[:, None] ** 2 * along)
    # The equations of motion are solved to rounding; the state they start from is the same one.
    assert_allclose(swing.velocity("rod/tip"), velocity, atol=1e-12)
    assert_allclose(swing.acceleration("rod/tip"), acceleration, atol=1e-10)
    spin = swing.data["angular_acceleration"].sel(recorded="rod/tip", axis="z")
    assert_allclose(spin.values, w_d, atol=1e-10)


def test_two_halves_of_a_run_are_one_run(swing):
    first = ls.simulate(MODEL, [0.4], t_end=0.1, **OPTIONS)
    second = ls.simulate(MODEL, start=first, t_end=0.3, **OPTIONS)
    assert_allclose(second.t, swing.t[100:], rtol=1e-14)
    for name in ("q", "qd", "position", "velocity", "acceleration"):
        ours, theirs = second.values(name), swing.values(name)[100:]
        assert_allclose(ours, theirs, atol=1e-7 * np.abs(theirs).max(), err_msg=name)


@pytest.mark.parametrize(
    "start, message",
    [
        (lambda run: {"start": run}, r"t_end: 0.3: must lie after the start, 0.3 s"),
        (lambda run: {"start": run, "state": [0.1]}, r"start: Run: gives state and"),
        (lambda run: {"start": run.state()}, r"start: .*must be a Run"),
        (lambda run: {"t_start": -1}, r"t_start: -1: must be a number of seconds"),
        (lambda run: {"t_start": "now"}, r"t_start: now: must be a number of seconds"),
    ],
)
def test_a_start_that_is_none_is_refused(swing, start, message):
    with pytest.raises(ValueError, match=message):
        ls.simulate(MODEL, t_end=0.3, **start(swing), **OPTIONS)


def test_nodes_that_were_not_recorded_say_so(swing):
    with pytest.raises(UnknownNameError, match=r"rod/0: its velocity was not recorded"):
        swing.velocity("rod/0")
    with pytest.raises(UnknownNameError, match=r"no such node"):
        swing.acceleration("rod/9")
    with pytest.raises(ValueError, match=r"record: rood/tip: no link is called 'rood'"):
        ls.simulate(MODEL, t_end=0.1, record=["rood/tip"])


def test_a_file_holds_the_motion_of_chosen_nodes_alone(swing, tmp_path):
    read = ls.Run.load(swing.save(tmp_path / "run.nc"))
    assert read.data["velocity"].dims == ("time", "recorded", "axis")
    assert_allclose(read.velocity("rod/tip"), swing.velocity("rod/tip"), rtol=0)
    swing.to_csv(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert "acceleration.rod/1.y" in header
    plain = ls.simulate(MODEL, t_end=0.01, output_dt=0.01)
    assert "velocity" not in plain.names


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["nonlinear", "erls-cms", "dual-screw"])
def test_flexible_links_move_as_differences_of_their_positions_say(formulation):
    model = ls.Model("double-pendulum", formulation, modes=2)
    solver = {"rtol": 1e-9, "atol": 1e-12, "resolve": "everything"}
    h = 2e-5
    run = ls.simulate(
        model,
        model.static([0.4, 0.7]),
        t_end=0.01,
        output_dt=h,
        record=["lower/tip", "upper/1"],
        solver=solver,
    )
    for node in ("lower/tip", "upper/1"):
        p, v, a = run.position(node), run.velocity(node), run.acceleration(node)
        # Central differences of fourth order, for smooth motion under the step of 20 us.
        by_difference = (p[:-4] - 8 * p[1:-3] + 8 * p[3:-1] - p[4:]) / (12 * h)
        assert_allclose(v[2:-2], by_difference, atol=2e-6 * np.abs(v).max())
        by_difference = (v[:-4] - 8 * v[1:-3] + 8 * v[3:-1] - v[4:]) / (12 * h)
        assert_allclose(a[2:-2], by_difference, atol=2e-4 * np.abs(a).max())


@pytest.mark.parametrize("robot", ["double-pendulum", "four-bar", "ur5"])
def test_paths_from_twists_are_those_of_differentiated_positions(robot):
    f = ls.Model(robot, "nonlinear", basis="craig-bampton", modes=2).formulation
    rng = np.random.default_rng(3)
    elastic = 1e-3 * rng.standard_normal(f.n_elastic)
    x = np.concatenate([np.asarray(f.mechanism.home)[list(f.independent)], elastic])
    xd, xdd = rng.standard_normal((2, f.size))
    motion = f.motion(jnp.asarray(x), jnp.asarray(xd), jnp.asarray(xdd))
    assert f.exact_twists
    wanted = differentiated_paths(f, motion)
    for name, path in node_paths(f, motion).items():
        largest = np.abs(wanted[name]).max()
        assert_allclose(path, wanted[name], atol=1e-11 * largest, err_msg=name)
