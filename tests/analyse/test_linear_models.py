"""What a linear model is good for: short responses, files, other libraries, reduction, sequences, refusals."""

import dataclasses
import functools

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.io
import scipy.linalg
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import control
import lissom as ls
from helpers import compiled_once, observed_order
from lissom.analyse.linear.linear_sequence import motion_of
from lissom.analyse.linear.linearize import operating_point
from lissom.solve.balance import balanced_point
from lissom.solve.channels import UnknownNameError
from lissom.solve.inputs import Loads, PolynomialPiece
from lissom.solve.problem import MotionProblem

Q, QD, QDD = [0.3, 0.7], [1.5, -2.0], [4.0, 3.0]
OUTPUTS = ["upper.encoder", "lower/tip.ay", "lower/tip.px"]


@functools.cache
def pendulum():
    return ls.Model("double-pendulum", "erls-fem")


@functools.cache
def resting(*outputs):
    return ls.linearize(pendulum(), Q, outputs=outputs or OUTPUTS)


@functools.cache
def held():
    """Closed loop, so that every motion dies out."""
    return ls.linearize(
        pendulum(), Q, outputs=OUTPUTS, kp=[300.0, 100.0], kd=[6.0, 2.0]
    )


@compiled_once
def rate(f, s, tau):
    """What the simulation integrates: rates of the states under constant torques."""
    problem, n = (
        MotionProblem(f, Loads(torque=PolynomialPiece(jnp.zeros(()), tau[None]))),
        f.size,
    )
    return jnp.concatenate([s[n:], problem.acceleration(0.0, s[:n], s[n:])])


def test_linear_and_nonlinear_responses_converge_at_first_order():
    # From the same disturbed start: their difference, relative to the disturbance, falls with its first power.
    model, lin, t_end = pendulum(), resting(), 0.02
    point = operating_point(model, Q)
    f, n = model.formulation, model.formulation.size
    base = np.concatenate([point.x, point.xd])
    direction = np.concatenate(
        [[0.4, -0.3], np.zeros(n - 2), [3.0, -5.0], np.zeros(n - 2)]
    )
    errors = []
    for size in (0.08, 0.04, 0.02):
        start = base + size * direction
        run = solve_ivp(
            lambda t, s: np.asarray(rate(f, jnp.asarray(s), point.tau)),
            (0.0, t_end),
            start,
            method="Radau",
            jac=lin.A,
            rtol=1e-9,
            atol=1e-12,
        )
        linear = scipy.linalg.expm(lin.A * t_end) @ (size * direction)
        errors.append(np.abs(run.y[:, -1] - base - linear)[:2].max() / size)
    assert_allclose(observed_order(errors), 1.0, atol=0.15)


def test_a_controller_gets_the_same_numbers_under_the_same_names():
    lin = resting()
    system = lin.to_control()
    assert system.input_labels == ["upper_torque", "lower_torque"]
    assert system.output_labels == ["upper_encoder", "lower/tip_ay", "lower/tip_px"]
    assert system.state_labels[0] == "upper" and len(system.state_labels) == len(lin.A)
    assert np.array_equal(system.A, lin.A) and np.array_equal(system.D, lin.D)
    f = np.array([1.0, 9.0, 60.0])
    ours = ls.frequency_response(lin, "upper", "lower/tip.ay", f).response
    assert_allclose(ours, system(2j * np.pi * f)[1, 0], rtol=1e-8)


@pytest.mark.parametrize("ending", [".npz", ".mat"])
def test_files_keep_every_digit_and_every_name(ending, tmp_path):
    lin, path = resting(), tmp_path / f"model{ending}"
    lin.save(path)
    back = ls.LinearModel.load(path)
    for name in "ABCD":
        assert np.array_equal(getattr(back, name), getattr(lin, name))
    for name in ("M", "C", "K", "F"):
        assert np.array_equal(getattr(back.matrices, name), getattr(lin.matrices, name))
    assert (back.state_names, back.input_names, back.output_names) == (
        lin.state_names,
        lin.input_names,
        lin.output_names,
    )
    assert (
        np.array_equal(back.operating.torque, lin.operating.torque)
        and back.operating.robot == "double-pendulum"
    )


def test_octave_reads_the_names_as_cells(tmp_path):
    resting().save(tmp_path / "model.mat")
    cells = scipy.io.loadmat(tmp_path / "model.mat")["input_names"]
    assert [str(cell[0]) for cell in cells.ravel()] == ["upper.torque", "lower.torque"]


def test_sampling_with_held_inputs_is_the_matrix_exponential():
    lin, dt = held(), 1e-4
    A = scipy.linalg.expm(lin.A * dt)
    stepped = lin.discretize(dt)
    assert_allclose(stepped.A, A, rtol=1e-9, atol=1e-9 * np.abs(A).max())
    with pytest.raises(ValueError, match="already discrete"):
        stepped.discretize(dt)
    with pytest.raises(ValueError, match="method must be one of zoh"):
        lin.discretize(dt, "guess")


def test_poles_of_a_sampled_model_that_are_rounding_are_counted_not_listed():
    # A value that is handed on three times: its poles are zero.
    lin = held().discretize(1e-3)
    handed_on = dataclasses.replace(
        lin,
        A=scipy.linalg.block_diag(lin.A, np.eye(3, k=-1)),
        B=np.pad(lin.B, ((0, 3), (0, 0))),
        C=np.pad(lin.C, ((0, 0), (0, 3))),
        state_names=(*lin.state_names, "d1", "d2", "d3"),
    )
    before, after = lin.summary(), handed_on.summary()
    # The fastest bending is over after a step too.
    counts = [int(dict(shown.facts)["poles at zero"]) for shown in (before, after)]
    assert counts[1] == counts[0] + 3
    assert after.rows == before.rows


def test_states_that_nothing_moves_or_sees_leave_the_minimal_model():
    # In-plane torques and outputs: bending out of the plane and torsion take no part.
    lin = resting("lower/tip.ay")
    small = lin.minimal()
    assert 0 < len(small.A) < len(lin.A)
    f = np.array([0.7, 5.0, 30.0, 150.0])
    for name in lin.input_names:
        whole, less = (
            ls.frequency_response(m, name, "lower/tip.ay", f).response
            for m in (lin, small)
        )
        assert_allclose(less, whole, rtol=1e-6)


def test_balanced_truncation_keeps_its_error_bound_and_what_does_not_die_out():
    lin = held()
    small = lin.balanced(10)
    assert small.A.shape == (10, 10)
    f = np.geomspace(0.01, 1e4, 60)
    for i in lin.input_names:
        for o in lin.output_names:
            error = (
                ls.frequency_response(lin, i, o, f).response
                - ls.frequency_response(small, i, o, f).response
            )
            assert np.abs(error).max() <= small.record["error_bound"] * (1 + 1e-6)
    free = resting().balanced(12)

    def lasting(m):
        return np.sort(m.poles[m.poles.real > -1e-3].real)

    assert_allclose(lasting(free), lasting(resting()), atol=1e-5)


def test_balanced_truncation_refuses_to_drop_motions_that_last():
    with pytest.raises(ValueError, match=r"states belong to motions that do not decay"):
        resting().balanced(1)


def test_a_set_point_moves_the_encoder_by_what_the_stiffness_says():
    # At rest: K dx = F dr; a stiff controller moves the encoder by the set-point, less what gravity changes.
    lin = ls.linearize(
        pendulum(),
        Q,
        inputs=["upper.setpoint"],
        outputs=["upper.encoder", "upper.torque"],
        kp=1e5,
        kd=1e3,
    )
    gain = lin.D - lin.C @ np.linalg.solve(lin.A, lin.B)
    assert_allclose(gain[0, 0], 1.0, rtol=1e-3)
    with pytest.raises(UnknownNameError, match="needs a controller"):
        ls.linearize(pendulum(), Q, inputs=["upper.setpoint"])


def test_a_joint_carries_the_weight_of_what_hangs_on_it():
    # At rest the reaction of the first joint is the weight of the robot and its drive's torque about the axis.
    model = pendulum()
    names = [f"upper.reaction.{c}" for c in ("fx", "fy", "fz", "mx", "my", "mz")]
    lin = ls.linearize(
        model,
        Q,
        outputs=[*names, "upper.torque", "lower/tip.py"],
        inputs=["lower/tip.fy", "upper.torque"],
    )
    force, value = (
        lin.operating.outputs,
        dict(zip(lin.output_names, lin.operating.outputs, strict=True)),
    )
    mass = sum(float(body.total_mass) for body in model.bodies)
    weight = -mass * np.asarray(model.robot.gravity)
    assert_allclose(force[:3], weight, rtol=1e-9, atol=1e-9)
    assert_allclose(value["upper.reaction.mz"], value["upper.torque"], rtol=1e-5)
    # Quasi-statically, a force at the tip is carried by the joint, with the arm to it.
    stiff = ls.linearize(model, Q, outputs=names, inputs=["lower/tip.fy"], locked=True)
    gain = (stiff.D - stiff.C @ np.linalg.solve(stiff.A, stiff.B))[:, 0]
    arm = np.asarray(model.position(model.static(Q), "lower/tip"))
    assert_allclose(gain[:3], [0.0, -1.0, 0.0], atol=1e-6)
    assert_allclose(gain[5], -arm[0], rtol=1e-3)


def test_the_bending_moment_of_a_loaded_link_is_force_times_arm():
    # A unit force across a locked bar: moment in the middle of an element, its arm to the tip; strain = M / E I.
    bar = ls.Model(
        ls.Robot.load("simple-pendulum").replace(
            {"gravity": [0, 0, 0], "links.rod.beam.elements": 2}
        ),
        "erls-fem",
    )
    outputs = [
        "rod/element0.mz",
        "rod/element1.mz",
        "rod/element0.kz",
        "rod/element0.vy",
    ]
    lin = ls.linearize(
        bar, [0.0], inputs=["rod/tip.fy@link"], outputs=outputs, locked=True
    )
    gain = (lin.D - lin.C @ np.linalg.solve(lin.A, lin.B))[:, 0]
    points = np.asarray(bar.bodies[0].points)
    length = float(np.linalg.norm(points[-1] - points[0]))
    body = bar.robot.links[0].beam
    assert_allclose(np.abs(gain[:2]), [0.75 * length, 0.25 * length], rtol=1e-6)
    assert_allclose(np.abs(gain[3]), 1.0, rtol=1e-6)
    I = {"rectangle": lambda s: s.z * s.y**3 / 12}.get(body.section.shape)
    if I is not None:
        assert_allclose(
            np.abs(gain[2]),
            0.75 * length / (body.material.E * I(body.section)),
            rtol=1e-6,
        )


def test_a_sequence_along_a_motion_has_the_model_of_every_instant():
    model = pendulum()
    t = np.linspace(0.0, 0.4, 5)
    q = np.stack([np.sin(2 * t), 0.5 * np.cos(3 * t)], axis=1)
    qd = np.stack([2 * np.cos(2 * t), -1.5 * np.sin(3 * t)], axis=1)
    qdd = np.stack([-4 * np.sin(2 * t), -4.5 * np.cos(3 * t)], axis=1)
    sequence = ls.linearize_along(model, (t, q, qd, qdd), outputs=OUTPUTS)
    one = ls.linearize(model, q[3], qd=qd[3], qdd=qdd[3], outputs=OUTPUTS)
    for name in "ABCD":
        there = getattr(one, name)
        assert_allclose(
            getattr(sequence, name)[3],
            there,
            rtol=1e-7,
            atol=1e-9 * np.abs(there).max(),
        )
    assert_allclose(
        sequence.at(0.25).A, 0.5 * (sequence.A[2] + sequence.A[3]), rtol=1e-9, atol=1e-3
    )


class Recording:
    """A motion that was recorded elsewhere."""

    def trajectory(self):
        t = np.linspace(0.0, 0.4, 9)
        return t, np.stack([t**2, t], axis=1)


def test_a_recorded_motion_is_followed_with_its_own_speeds():
    t, (q, qd, qdd) = motion_of(pendulum(), Recording())
    assert np.array_equal(q[:, 1], t)
    assert_allclose(qd, np.stack([2 * t, np.ones(9)], axis=1), atol=1e-12)
    assert_allclose(qdd, np.stack([np.full(9, 2.0), np.zeros(9)], axis=1), atol=1e-11)
    with pytest.raises(ValueError, match=r"must be \(t, q\).*or a Run"):
        motion_of(pendulum(), "a file")


def test_a_state_of_a_simulation_is_linearised_with_its_own_accelerations():
    model = pendulum()
    state = ls.State(
        *(
            jnp.asarray(v)
            for v in (Q, QD, np.full(12, 1e-5), np.full(12, 1e-3), Q, QD, [1.0, 2.0])
        )
    )
    point = operating_point(model, state)
    problem = MotionProblem(
        model.formulation, Loads(torque=PolynomialPiece(jnp.zeros(()), point.tau[None]))
    )
    assert_allclose(point.xdd, problem.acceleration(0.0, point.x, point.xd), rtol=1e-6)
    assert np.abs(np.asarray(point.xdd)).max() > 1.0


def test_the_balance_of_a_moving_point_is_that_of_inverse_dynamics():
    model = pendulum()
    point = balanced_point(
        model.formulation, *(jnp.asarray(part) for part in (Q, QD, QDD))
    )
    assert_allclose(point.tau, model.inverse_dynamics(Q, QD, QDD), rtol=1e-9)


def test_a_response_at_an_undamped_pole_is_infinite_not_an_error():
    rod = ls.Model("simple-pendulum", "erls-fem")
    lin = ls.linearize(rod, [0.0], outputs=["rod.encoder"])
    response = ls.frequency_response(lin, "rod", "rod.encoder", [0.0, 1.0])
    assert response.response.shape == (2,)


@pytest.mark.parametrize(
    "how,message",
    [
        ({"outputs": ["lower/tip.qx"]}, "no such output"),
        (
            {"outputs": ["middle/tip.ax"]},
            r"no link is called 'middle'.*Links: upper, lower",
        ),
        ({"outputs": ["lower/7.ax"]}, "no such node"),
        (
            {"outputs": ["lower/element9.mz"]},
            "no such element: link 'lower' has 0 to 0",
        ),
        ({"outputs": ["lower/tip.ax@tool"]}, "@tool is no frame"),
        (
            {"inputs": ["elbow.torque"]},
            r"no joint is called 'elbow'.*Joints: upper, lower",
        ),
        ({"inputs": ["lower/tip.fq"]}, "no such input"),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_those_that_do(how, message):
    with pytest.raises(UnknownNameError, match=message):
        ls.linearize(pendulum(), Q, **how)


def test_names_of_a_response_are_checked():
    with pytest.raises(
        UnknownNameError, match="the model has no such output; it has upper.encoder"
    ):
        ls.frequency_response(resting(), "upper", "lower.encoder")
    with pytest.raises(ValueError, match="is given twice"):
        ls.linearize(pendulum(), Q, outputs=["upper.encoder", "upper.encoder"])


def test_python_control_places_the_poles_of_a_reduced_model():
    small = held().balanced(4)
    wanted = [-20, -25, -30 + 5j, -30 - 5j]
    gain = control.place(small.A, small.B, wanted)
    assert_allclose(
        np.sort_complex(np.linalg.eigvals(small.A - small.B @ gain)),
        np.sort_complex(wanted),
        rtol=1e-6,
    )
