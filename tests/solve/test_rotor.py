"""One rigid link turning about a fixed axis: tables, friction, limits, control and motion in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import lissom as ls
from helpers import relative
from lissom.describe.scenario import Solver
from lissom.solve.inputs import Inputs, Spline, Table
from lissom.solve.simulate import integrate, output_times
from lissom.types import RESULTS

MASS, CENTRE, ABOUT_CENTRE = 1.7, 0.21, 2.9e-2
J = ABOUT_CENTRE + MASS * CENTRE**2  # [kg m^2] about the axis
TIGHT = {"rtol": 1e-9, "atol": 1e-11}
POINTS = 7  # output times of every run here: compiled code depends on their number


def rotor(gravity=0.0, **joint):
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]} | joint
    inertia = [0.011, 0.017, ABOUT_CENTRE]
    body = {"mass": MASS, "com": [CENTRE, 0, 0], "inertia": inertia, "tip": [0.4, 0, 0]}
    robot = {
        "name": "rotor",
        "gravity": [0, -gravity, 0],
        "links": [{"name": "arm", "joint": joint, "rigid": body}],
    }
    return ls.Model(ls.Robot.from_dict(robot), "erls-fem")


def driven(model, table, times, speed=0.0, **solver):
    times = np.append(
        times, times[-1] * (1 + 0.1 * np.arange(1, POINTS + 1 - len(times)))
    )
    state, inputs = model.at([0.0], [speed]), Inputs(1, torque=[(0, table)])
    run = integrate(model, state, inputs, times, Solver(**TIGHT | solver))
    assert run.result == RESULTS.successful
    return np.asarray(run.x)[:, 0], np.asarray(run.xd)[:, 0], run


PULSES = Table([0.0, 0.1, 0.1, 0.23, 0.23], [0.7, 0.7, -0.4, -0.4, 0.0])
TIMES = np.array([0.0, 0.05, 0.1, 0.17, 0.23, 0.3, 0.4])


def angle_under_pulses(t):
    """Angle under +0.7, -0.4, 0 N m: integral of the speed, piece by piece."""
    angle, speed = 0.0, 0.0
    for start, end, torque in ((0.0, 0.1, 0.7), (0.1, 0.23, -0.4), (0.23, np.inf, 0.0)):
        part = np.clip(min(t, end) - start, 0.0, None)
        angle, speed = (
            angle + speed * part + 0.5 * torque / J * part**2,
            speed + torque / J * part,
        )
    return angle


@pytest.mark.parametrize("method", ["radau", "generalised-alpha", "dopri5"])
def test_jumps_of_a_table_are_stepped_to_exactly(method):
    # Constant acceleration between jumps is exact for every method: a jump smeared over one step of 1 ms would show
    # 1e-3.
    angle, _, _ = driven(rotor(), PULSES, TIMES, method=method)
    expected = [angle_under_pulses(t) for t in TIMES]
    assert_allclose(angle, expected, atol=1e-12)


def test_a_linear_table_ramps_and_a_held_one_steps():
    ramp, held = (
        Table([0.0, 0.2], [0.0, 0.6]),
        Table([0.0, 0.1, 0.2], [0.3, 0.8, 0.0], "hold"),
    )
    t = np.array([0.0, 0.1, 0.2, 0.3])
    angle, speed, _ = driven(rotor(), ramp, t)
    assert_allclose(speed[:3], 3.0 / J * t[:3] ** 2 / 2, atol=1e-12)
    assert_allclose(angle[:3], 3.0 / J * t[:3] ** 3 / 6, atol=1e-12)
    assert_allclose(speed[3], speed[2], atol=1e-12)  # zero after the last point
    _, speed, _ = driven(rotor(), held, t)
    assert_allclose(speed[:4], np.array([0.0, 0.03, 0.11, 0.11]) / J, atol=1e-12)


def test_torque_limits_cut_what_a_table_asks_for():
    _, speed, _ = driven(rotor(limits={"torque": 0.25}), PULSES, TIMES)
    assert_allclose(
        speed[[2, 4]], np.array([0.25 * 0.1, 0.25 * 0.1 - 0.25 * 0.13]) / J, atol=1e-12
    )


def test_coulomb_friction_stops_a_rotor_where_it_should():
    # omega^2 J / (2 tau_c); smoothing over `width` lets it creep on by about J width^2 log(...) / tau_c, far below
    # the bound.
    width, torque, speed = 1e-3, 0.8, 2.4
    model = rotor(friction={"coulomb": torque, "width": width})
    stop = J * speed / torque
    t = [0.0, 0.5 * stop, stop, 2.0 * stop]
    angle, rate, outcome = driven(model, Table([0.0], [0.0]), t, speed=speed)
    assert_allclose(rate[1], 0.5 * speed, rtol=1e-6)
    assert_allclose(angle[3], J * speed**2 / (2 * torque), atol=5 * width * stop)
    assert abs(rate[3]) < 1e-6
    lost = np.asarray(outcome.work)[3, 1]
    assert_allclose(lost, 0.5 * J * speed**2, rtol=1e-6)


def test_viscous_friction_slows_a_rotor_exponentially():
    c, speed, t = 0.13, 2.4, np.array([0.0, 0.3, 0.9])
    _, rate, _ = driven(
        rotor(friction={"viscous": c}), Table([0.0], [0.0]), t, speed=speed
    )
    assert_allclose(rate[:3], speed * np.exp(-c / J * t), rtol=1e-7)


def test_a_pd_loop_answers_a_step_like_a_spring_and_a_damper():
    kp, kd = 5.3, 0.41
    reference = Table([0.0, 0.1, 0.1], [[0.0], [0.0], [0.3]], after="hold")
    run = ls.simulate(
        rotor(),
        t_end=0.6,
        output_dt=0.1,
        torque=ls.PD([kp], [kd], reference),
        solver=TIGHT,
    )
    omega, sigma = np.sqrt(kp / J - (kd / (2 * J)) ** 2), kd / (2 * J)
    since = np.clip(run.t - 0.1, 0.0, None)
    # kd acts on the rate of a reference that is constant on each piece: the jump itself gives no kick.
    expected = 0.3 * (
        1
        - np.exp(-sigma * since)
        * (np.cos(omega * since) + sigma / omega * np.sin(omega * since))
    )
    assert_allclose(run.q[:, 0], expected, atol=1e-8)
    torque = run.data["torque"].values[:, 0]
    assert_allclose(torque[1], kp * 0.3, rtol=1e-9)  # a jump shows the value after it


def test_gravity_compensation_takes_the_weight_off_a_pd_loop():
    model, held = rotor(gravity=9.81), Table([0.0], [[0.4]], after="hold")
    kp, kd = [300.0], [40.0]
    for compensate, expected in ((model.formulation, 0.4), (None, None)):
        run = ls.simulate(
            model,
            model.at([0.4]),
            t_end=3.0,
            output_dt=0.5,
            torque=ls.PD(kp, kd, held, compensate),
            solver=TIGHT,
        )
        end = run.q[-1, 0]
        if expected is not None:
            assert end == pytest.approx(expected, abs=1e-9)
        else:  # the spring kp carries the weight
            assert kp[0] * (0.4 - end) == pytest.approx(
                MASS * 9.81 * CENTRE * np.cos(end), rel=1e-6
            )


def test_a_loop_that_blows_up_is_returned_incomplete_with_its_reason():
    away = ls.PD([-1e9], [-1e5], Table([0.0], [[0.1]], after="hold"))
    run = ls.simulate(rotor(), t_end=6.0, output_dt=1.0, torque=away, throw=False)
    assert (
        not run.complete and len(run.t) < POINTS and run.data.attrs["t_reached"] < 6.0
    )
    assert run.data.attrs["reason"]
    with pytest.raises(ls.SimulationError, match="stopped at t = "):
        ls.simulate(rotor(), t_end=6.0, output_dt=1.0, torque=away)


def test_too_many_steps_stop_a_run_and_keep_what_it_has():
    model = rotor()
    state, inputs = (
        model.at([0.0]),
        Inputs(1, torque=[(0, Table([0.0, 1.0], [0.0, 3.0]))]),
    )
    options = Solver(max_steps=4, max_step=0.01)
    run = integrate(model, state, inputs, output_times(0.06, 0.01), options)
    assert run.result == RESULTS.too_many_steps
    filled = int(run.filled)
    assert 0 < run.last.t < 0.06 and 0 < filled < POINTS
    assert np.all(np.isfinite(np.asarray(run.x)[:filled]))
    assert np.all(np.isnan(np.asarray(run.x)[filled:]))


def test_a_prescribed_motion_is_followed_and_its_torque_is_that_of_inverse_dynamics():
    points = ([0.0, 0.2, 0.5], [0.1, 0.7, -0.4])
    model = rotor(gravity=9.81, friction={"viscous": 0.13})
    run = ls.simulate(
        model,
        t_end=0.6,
        output_dt=0.1,
        inputs=Inputs(1, motion=[(0, Spline(*points))]),
        solver=TIGHT,
    )
    t = run.t
    inside = np.clip(t, 0.0, 0.5)
    spline = CubicSpline(*points, bc_type="clamped")
    angle, rate, acceleration = (spline(inside, nu) for nu in range(3))
    assert_allclose(run.q[:, 0], angle, atol=1e-9)
    smooth = (t > 0.01) & (t < 0.49)  # acceleration jumps at the ends
    expected = J * acceleration + 0.13 * rate + MASS * 9.81 * CENTRE * np.cos(angle)
    assert_allclose(run.data["torque"].values[smooth, 0], expected[smooth], rtol=1e-7)
    for k in np.flatnonzero(smooth):
        inverse = model.inverse_dynamics([angle[k]], [rate[k]], [acceleration[k]])
        assert relative(inverse, [expected[k]]) < 1e-9


def test_the_energy_audit_closes_under_torque_friction_and_gravity():
    model = rotor(
        gravity=9.81, friction={"viscous": 0.05, "coulomb": 0.1, "width": 0.1}
    )
    run = ls.simulate(
        model,
        t_end=0.48,
        output_dt=0.08,
        inputs=Inputs(1, torque=[(0, PULSES)]),
        solver=TIGHT,
    )
    largest = max(
        np.abs(run.energy(kind)).max()
        for kind in ("kinetic", "gravity", "input", "dissipated")
    )
    assert np.abs(run.energy("residual")).max() < 1e-8 * largest
    assert (
        np.all(np.diff(run.energy("dissipated")) >= 0)
        and run.energy("dissipated")[-1] > 0.01
    )
    torque = jnp.asarray(run.data["torque"].values[:, 0])
    assert_allclose(torque[run.t < 0.099], 0.7, atol=0)
