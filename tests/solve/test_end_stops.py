"""Joints that run into their end stops, against the closed form of a mass on a spring and a damper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.describe import DescriptionError

MASS, CENTRE, ABOUT_CENTRE = 1.7, 0.21, 2.9e-2
J = ABOUT_CENTRE + MASS * CENTRE**2  # [kg m^2] about the axis
HIGH, SPEED, STIFFNESS = 0.3, 2.0, 4e3


def rotor(limits, gravity=0.0, formulation="erls-fem"):
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1], "limits": limits}
    inertia = [0.011, 0.017, ABOUT_CENTRE]
    body = {"mass": MASS, "com": [CENTRE, 0, 0], "inertia": inertia, "tip": [0.4, 0, 0]}
    links = [{"name": "arm", "joint": joint, "rigid": body}]
    robot = {"name": "rotor", "gravity": [0, -gravity, 0], "links": links}
    return ls.Model(ls.Robot.from_dict(robot), formulation)


def stopped(damping, **more):
    stop = {"stiffness": STIFFNESS, "damping": damping}
    return rotor({"position": [-1.0, HIGH], "stop": stop}, **more)


def run_into(model, speed=SPEED, method="auto", backend="auto"):
    options = {"rtol": 1e-8, "atol": 1e-10, "method": method, "backend": backend}
    start = model.at([0.0], [speed])
    return ls.simulate(model, start, t_end=0.4, output_dt=1e-3, solver=options)


def bounce(t, damping, inertia=J):
    """Angle of a rotor that meets its stop at HIGH / SPEED: free, pressed in, let go where spring and damper cancel."""
    omega = np.sqrt(STIFFNESS / inertia)
    decay = damping / (2 * inertia)
    ringing = np.sqrt(omega**2 - decay**2)
    # k d + c d' = 0 with d = e^(-a s) sin(w s): tan(w s) = -c w / (k - c a).
    phase = np.arctan2(damping * ringing, STIFFNESS - damping * decay)
    release = (np.pi - phase) / ringing
    since = t - HIGH / SPEED

    def pressed(s):
        wave = np.exp(-decay * s) * SPEED / ringing
        depth = wave * np.sin(ringing * s)
        return depth, wave * (
            ringing * np.cos(ringing * s) - decay * np.sin(ringing * s)
        )

    depth, back = pressed(release)
    inside = HIGH + pressed(np.clip(since, 0.0, release))[0]
    after = HIGH + depth + back * (since - release)
    return np.where(since < 0, SPEED * t, np.where(since < release, inside, after))


@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_a_joint_bounces_off_its_stop_like_a_mass_off_a_spring_and_a_damper(damping):
    # A contact found at the end of a step only would be off by the depth of half a step.
    run = run_into(stopped(damping))
    assert_allclose(run.q[:, 0], bounce(run.t, damping), atol=2e-7)
    energy = 0.5 * J * SPEED**2
    assert np.abs(run.energy("residual")).max() < 1e-6 * energy
    lost = run.energy("dissipated")
    assert np.all(np.diff(lost) > -1e-9 * energy)
    final = run.data["qd"].values[-1, 0]
    assert_allclose(lost[-1], energy - 0.5 * J * final**2, atol=1e-6 * energy)
    assert (damping > 0) == (abs(final) < 0.99 * SPEED)


def test_machine_code_runs_into_a_stop_as_xla_does(caplog):
    caplog.set_level("INFO", "jaxnative")
    native, xla = (
        run_into(stopped(3.0), backend=backend) for backend in ("native", "xla")
    )
    assert native.data.attrs["steps"] == xla.data.attrs["steps"]
    assert_allclose(native.q, xla.q, rtol=0, atol=1e-9)
    # Nothing had to be left to XLA.
    assert not caplog.records


def test_members_of_a_family_bounce_off_their_stop_each_in_its_own_way():
    inertias = np.array([1.0, 1.2, 1.5]) * ABOUT_CENTRE
    stop = stopped(3.0)
    family = ls.Family(stop, {"links.arm.rigid.inertia.2": inertias})
    tight = {"rtol": 1e-8, "atol": 1e-10, "backend": "native"}
    start = stop.at([0.0], [SPEED])
    runs = family.rollout(start, t_end=0.4, output_dt=1e-3, solver=tight)
    for path, about_centre in zip(np.asarray(runs.joints), inertias, strict=True):
        wanted = bounce(runs.t, 3.0, about_centre + MASS * CENTRE**2)
        assert_allclose(path[:, 0], wanted, atol=2e-7)


@pytest.mark.parametrize("method", ["radau", "generalised-alpha"])
def test_a_closed_chain_runs_into_a_stop_in_machine_code(method, caplog):
    caplog.set_level("INFO", "jaxnative")
    stop = {"position": [-0.5, 0.05], "stop": {"stiffness": STIFFNESS}}
    model = ls.Model("four-bar", "erls-fem").replace({"links.crank.joint.limits": stop})
    solver = {"backend": "native", "method": method, "rtol": 1e-5}
    run = ls.simulate(
        model, model.at(), t_end=0.08, output_dt=0.01, torque=[2.0], solver=solver
    )
    assert not caplog.records
    # The stop's spring carries what the motor gives, and whatever swings on top of it.
    deepest = run.q[:, 0].max() - 0.05
    assert 0.0 < deepest < 5e-3


def test_both_ends_stop_and_nothing_acts_in_between_or_without_a_stop():
    both = rotor({"position": [-0.1, HIGH], "stop": {"stiffness": STIFFNESS}})
    run = run_into(both)
    deepest = SPEED * np.sqrt(J / STIFFNESS)
    assert_allclose(run.q.max(), HIGH + deepest, atol=1e-4)
    assert_allclose(run.q.min(), -0.1 - deepest, atol=1e-4)
    free = run_into(rotor({"position": [-0.1, HIGH]}))
    assert_allclose(free.q[:, 0], SPEED * free.t, atol=1e-9)


def test_a_joint_comes_to_rest_on_its_stop():
    # It hangs at an angle where the stop's spring carries the weight: k d = m g c cos(q).
    limits = {"position": [-0.5, 1.0], "stop": {"stiffness": STIFFNESS}}
    model = rotor(limits, gravity=9.81)
    q = float(model.static([0.35], free=True).q[0])
    weight = MASS * 9.81 * CENTRE * np.cos(q)
    assert_allclose(STIFFNESS * (-0.5 - q), weight, rtol=1e-8)


def test_the_torque_limit_presses_a_stop_in_by_a_milliradian():
    model = rotor({"position": [-1.0, 0.5], "torque": 12.0, "stop": True})
    assert_allclose(model.formulation.joints.stops.stiffness, [12e3])
    off = rotor({"position": [-1.0, 0.5], "torque": 12.0, "stop": False})
    assert off.formulation.joints.stops is None


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"position": [-1, 1], "stop": {"stiffness": 0}}, "positive"),
        ({"torque": 5.0, "stop": True}, "needs the range"),
        ({"position": [-1, 1], "stop": True}, "needs its stiffness"),
        ({"position": [-1, 1], "stop": {"stiffness": 1, "damping": -1}}, "damping"),
    ],
)
def test_a_stop_without_what_it_needs_is_refused(limits, message):
    with pytest.raises(DescriptionError, match=message):
        rotor(limits)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["generalised-alpha", "dopri5"])
def test_every_method_steps_to_contacts(method):
    run = run_into(stopped(0.0), method=method)
    assert_allclose(run.q[:, 0], bounce(run.t, 0.0), atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["erls-cms", "nonlinear", "dual-screw"])
def test_stops_act_in_every_formulation(formulation):
    run = run_into(stopped(3.0, formulation=formulation))
    assert_allclose(run.q[:, 0], bounce(run.t, 3.0), atol=2e-7)
