"""Motions planned within limits: closed forms of their times, and limits that hold."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import fsolve

import lissom as ls
from lissom.analyse.validity.description import scenario_warnings
from lissom.control.design_error import DesignError
from lissom.control.laws import law_of
from lissom.control.minimum_time import fewest_steps, least_effort, minimum_time
from lissom.control.optional_package import optional_package
from lissom.control.path_timing import through_points, torques_along
from lissom.control.slow_model import zero_order_hold
from lissom.control.time_optimal import time_optimal
from lissom.describe.controllers import CONTROLLERS

MASS, CENTRE, ABOUT_CENTRE = 1.3, 0.17, 2.1e-2
J = ABOUT_CENTRE + MASS * CENTRE**2  # [kg m^2] about the axis
ROWS = [[0.0, 0.3], [1.2, -0.4], [0.7, 0.9]]


def arm(links=1, gravity=0.0):
    """Rigid links on parallel axes."""
    joint = {"type": "revolute", "axis": [0, 0, 1]}
    body = {
        "mass": MASS,
        "com": [CENTRE, 0, 0],
        "inertia": [0.011, 0.017, ABOUT_CENTRE],
        "tip": [0.4, 0, 0],
    }
    parts = []
    for k in range(links):
        origin = {"xyz": [0.4 if k else 0.0, 0, 0]}
        part = {"name": f"link{k}", "joint": joint | {"origin": origin}, "rigid": body}
        parts.append(part)
    data = {"name": "arm", "gravity": [0, -gravity, 0], "links": parts}
    return ls.Model(ls.Robot.from_dict(data), "erls-fem")


def sampled(reference, count=4000):
    times = jnp.linspace(0.0, reference.breakpoints[-1], count)
    kinds = (reference.value, reference.rate, reference.acceleration)
    return times, *(np.asarray(jax.vmap(kind)(times)) for kind in kinds)


# --- limits of jerk ------------------------------------------------------------------------------------------------


def test_a_long_time_optimal_move_takes_the_seven_phases_of_its_closed_form():
    way, v, a, j = 3.0, 1.1, 4.0, 30.0
    reference = time_optimal([[0.2], [0.2 + way]], v, a, j)
    assert reference.breakpoints[-1] == pytest.approx(way / v + v / a + a / j)
    _, _, speed, acceleration = sampled(reference)
    assert speed.max() == pytest.approx(v, rel=1e-9)
    assert acceleration.max() == pytest.approx(a, rel=1e-9)


def test_time_optimal_motions_rest_at_every_row_and_keep_all_limits():
    limits = {"speed": [1.0, 2.0], "acceleration": 5.0, "jerk": [40.0, 60.0]}
    reference = time_optimal(ROWS, **limits)
    times, place, speed, acceleration = sampled(reference)
    jerk = np.diff(acceleration, axis=0) / np.diff(times)[:, None]
    for found, limit in zip((speed, acceleration, jerk), limits.values(), strict=True):
        assert np.all(np.abs(found) <= np.asarray(limit) * (1 + 1e-6))
    resting = np.abs(speed).max(axis=1) < 5e-3
    for row in ROWS:
        assert np.abs(place[resting] - row).max(axis=1).min() < 1e-5
    assert_allclose(place[-1], ROWS[-1], atol=1e-12)


# --- limits of torque ----------------------------------------------------------------------------------------------


def test_two_points_and_one_joint_take_the_time_of_full_torque_and_full_brake():
    way, tau = 0.8, 0.3
    found = through_points(arm(), [[0.1], [0.1 + way]], torque=tau)
    assert found.reference.breakpoints[-1] == pytest.approx(2 * np.sqrt(way * J / tau))
    assert found.torque_share == pytest.approx(1.0, abs=1e-6)


def test_a_path_through_points_keeps_the_torques_and_uses_one_of_them_fully():
    model = arm(links=2, gravity=9.81)
    limit = np.array([14.0, 5.0])
    found = through_points(model, ROWS, torque=limit)
    _, place, _, _ = sampled(found.reference)
    for row in ROWS:
        assert np.linalg.norm(place - row, axis=1).min() < 2e-3
    share = np.abs(torques_along(model, found.reference)) / limit
    assert share.max() <= 1 + 1e-9
    # One motor is at its limit at all times, but for the room between two points of the path.
    assert np.quantile(share.max(axis=1), 0.1) > 0.9


def test_a_path_that_the_motors_cannot_hold_is_refused():
    with pytest.raises(DesignError, match="no motion through these points satisfies"):
        through_points(arm(gravity=9.81), [[0.0], [0.3]], torque=0.1)


# --- minimum time --------------------------------------------------------------------------------------------------


def two_masses():
    """Two unit masses and a unit spring, pushed at the first one: the benchmark of time-optimal slews."""
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2:, :2] = [[-1, 1], [1, -1]]
    B = np.zeros((4, 1))
    B[2] = 1.0
    return A, B


def bang_bang_time():
    """Three switches, symmetric about the middle: the closed-form conditions of [SinghVadali1994]."""

    def residual(times):
        first, half = times
        switches = np.array([0, first, half, 2 * half - first, 2 * half])
        signs = np.array([1, -2, 2, -2, 1])
        omega = np.sqrt(2)
        # The oscillator is still, and the centre of the masses has moved by one.
        still = np.sum(signs * np.cos(omega * (switches - half)))
        moved = np.sum(signs * (2 * half - switches) ** 2) / 2 / 2
        return [still, moved - 1.0]

    first, half = fsolve(residual, [1.0, 2.1])
    return 2 * half


def test_minimum_time_of_the_two_mass_slew_is_that_of_its_closed_form():
    exact = bang_bang_time()
    assert exact == pytest.approx(4.2178, abs=1e-4)
    A, B = two_masses()
    step = 0.03
    stepped = zero_order_hold(A, B, step)
    end = np.array([1.0, 1.0, 0.0, 0.0])

    def effort_of(steps):
        return least_effort(*stepped, np.zeros(4), end, np.ones(1), steps)

    found = fewest_steps(effort_of, 0, 300)
    assert found is not None
    steps, effort = found
    assert exact <= steps * step + 1e-9 <= exact + 2 * step
    assert np.mean(np.abs(effort.torque) > 0.99 * effort.share) > 0.9


def test_minimum_time_of_a_rigid_joint_is_full_torque_and_full_brake():
    way, tau, sample = 0.8, 0.3, 1e-3
    found = minimum_time(arm(), [0.1], [0.1 + way], tau, sample=sample)
    exact = 2 * np.sqrt(way * J / tau)
    assert exact <= found.duration + 1e-9 <= exact + 2 * found.step
    nominal = found.nominal
    assert_allclose(nominal.reference.value(0.0), [0.1], atol=1e-9)
    assert_allclose(nominal.reference.value(9.0), [0.1 + way], atol=1e-9)
    assert np.abs(found.torque).max() <= tau * (1 + 1e-9)
    # Its own acceleration is the torque over the inertia.
    t = 0.3 * found.duration
    pushed = nominal.torque.value(t) / J
    assert_allclose(nominal.reference.acceleration(t), pushed, rtol=1e-6)


@pytest.mark.slow
def test_a_bending_arm_comes_to_rest_in_minimum_time():
    """On the full nonlinear arm, open loop: what is left is what a turning arm changes, little in a small move."""
    model = ls.Model("de-luca-siciliano", modes=2)
    start, end, limit = np.array([0.0, 0.3]), np.array([0.05, 0.275]), [0.25, 0.125]
    found = minimum_time(model, start, end, limit, sample=1e-3)
    torque = found.nominal.torque
    run = ls.simulate(
        model,
        model.static(start),
        t_end=found.duration + 2.0,
        output_dt=0.01,
        torque=lambda t, state: torque.value(t),
    )
    after = run.t > found.duration
    encoder = run.data["encoder"].values
    assert np.abs(encoder[after] - end).max() < 0.1 * np.abs(end - start).max()
    energy = run.energy("kinetic") + run.energy("strain")
    assert energy[after].max() < 2e-3 * energy.max()


# --- in files ------------------------------------------------------------------------------------------------------

MOTIONS = {
    "time-optimal": {"speed": [1.0], "acceleration": [5.0], "jerk": [40.0]},
    "via-points": {"torque": [0.3]},
    "minimum-time": {"torque": [0.3]},
}


def pid(**reference):
    value = [[0.1], [0.9]]
    data = {
        "type": "pid",
        "gains": {"kp": [3.0], "kd": [0.5]},
        "reference": {"value": value} | reference,
    }
    return CONTROLLERS["pid"].model_validate(data)


@pytest.mark.parametrize("kind", MOTIONS)
def test_a_scenario_names_the_kind_of_its_motion(kind):
    law = law_of(arm(), pid(type=kind, **MOTIONS[kind]))
    reference = law.nominal.reference
    assert_allclose(reference.value(0.0), [0.1], atol=1e-9)
    assert_allclose(reference.value(9.0), [0.9], atol=1e-9)
    assert_allclose(law.nominal.torque.value(9.0), [0.0], atol=1e-9)


def line(start, target):
    """Joint control of two links along a line of their tip."""
    data = {
        "type": "pid",
        "gains": {"kp": [3.0], "kd": [0.5]},
        "reference": {"type": "tip-line", "t": [0.0, 0.4]}
        | {"start": start, "target": target},
    }
    return CONTROLLERS["pid"].model_validate(data)


@pytest.mark.slow
def test_a_scenario_leads_the_tip_along_a_line():
    """A quintic is half way in half the time, and never beside the line."""
    model = arm(2)
    start = np.array([0.4, 0.9])
    first = np.asarray(model.fkine(start))[:3, 3]
    target = first + [-0.2, 0.1, 0.0]
    reference = law_of(model, line(start, target)).nominal.reference
    assert_allclose(reference.value(0.0), start, atol=1e-9)
    for t, share in ((0.2, 0.5), (0.4, 1.0), (9.0, 1.0)):
        tip = np.asarray(model.fkine(np.asarray(reference.value(t))))[:3, 3]
        assert_allclose(tip, first + share * (target - first), atol=1e-7)
    with pytest.raises(DesignError, match="reference: .*reach"):
        law_of(model, line(start, [5.0, 0.0, 0.0]))


@pytest.mark.parametrize(
    "reference, message",
    [
        ({"type": "fast"}, "must be one of time-optimal, via-points, minimum-time"),
        ({"type": "time-optimal", "speed": [1.0]}, "missing"),
        ({"type": "tip-line", "t": [0.4, 0.4]}, "missing"),
        ({"type": "via-points"}, "give a limit: torque or acceleration"),
        ({"type": "minimum-time", "torque": [-1.0]}, "must be positive"),
        (MOTIONS["via-points"] | {"type": "via-points", "value": [[0.1]]}, "two rows"),
        (
            MOTIONS["minimum-time"]
            | {"type": "minimum-time", "value": [[0.1], [0.2], [0.3]]},
            "two rows",
        ),
    ],
)
def test_motions_that_cannot_be_are_refused(reference, message):
    with pytest.raises(ValueError, match=message):
        pid(**reference)


def test_a_missing_package_is_named_with_what_to_install(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(DesignError, match=r"ruckig: pip install 'lissom\[control\]'"):
        optional_package("ruckig", "a time-optimal motion")


def test_a_scenario_that_follows_a_line_of_the_tip_has_warnings_to_ask_for():
    line = {"t": [0.0, 0.5], "start": [0.0, 0.0], "target": [1.2, 0.5, 0.0]}
    line["type"] = "tip-line"
    pid = {"type": "pid", "gains": {"bandwidth": 5}, "reference": line}
    scenario = ls.Scenario.from_dict({"robot": "double-pendulum", "controller": pid})
    # Its rows are places, not joint coordinates: no unit of a joint is asked of them.
    assert "units" not in [warning.check for warning in scenario_warnings(scenario)]
