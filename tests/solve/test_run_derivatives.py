"""Derivatives of whole runs, in both modes, against central differences on the same steps."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.solve.signals import Table
from lissom.types import RESULTS

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def rotor():
    body = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.02]}
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    joint["friction"] = {"viscous": 0.1}
    link = {"name": "arm", "joint": joint, "rigid": body | {"tip": [0.3, 0, 0]}}
    robot = {"name": "rotor", "gravity": [0, -9.81, 0], "links": [link]}
    return ls.Model(ls.Robot.from_dict(robot))


ROTOR = rotor()


def driven_rotor(p, **options):
    """The rotor under a law that encloses its gain; p scales mass, friction, gain and initial angle."""
    changes = {
        "links.arm.rigid.mass": p[0],
        "links.arm.joint.friction.viscous": 0.1 * p[1],
    }
    model = ROTOR.replace(changes)

    def law(t, state):
        return 5.0 * p[2] * (0.4 - state.encoder) - 0.3 * state.encoder_d

    start = ROTOR.at(jnp.stack([0.7 * p[3]]))
    return model, start, {"torque": law, "t_end": 0.5, **options}


def end_of(p, **options):
    model, start, options = driven_rotor(p, output_dt=0.1, **options)
    return ls.rollout(model, start, **options).x[-1, 0]


def central(function, p, h=1e-4):
    """Central differences of fourth order."""
    rows = h * np.eye(len(p))
    return np.array(
        [
            (
                8 * (function(p + d) - function(p - d))
                - function(p + 2 * d)
                + function(p - 2 * d)
            )
            / (12 * h)
            for d in rows
        ]
    )


def test_both_modes_agree_with_differences_on_the_recorded_steps():
    one = jnp.ones(4)
    model, start, options = driven_rotor(np.ones(4), solver=TIGHT)
    steps = jax.jit(lambda: ls.step_times(model, start, most_steps=256, **options))()
    on_steps = jax.jit(
        jax.value_and_grad(lambda p, s: end_of(p, solver=TIGHT, steps=s))
    )
    _, backwards = on_steps(one, steps)
    differences = central(lambda p: float(on_steps(p, steps)[0]), one)
    assert_allclose(backwards, differences, rtol=1e-6)
    forwards = jax.jit(jax.jacfwd(lambda p: end_of(p, solver=TIGHT)))(one)
    assert_allclose(forwards, differences, rtol=1e-5)


def test_steps_may_be_an_array_of_numpy_or_a_list():
    model, start, options = driven_rotor(np.ones(4))
    steps = np.linspace(0.0, options["t_end"], 5)
    for given in (steps, steps.tolist(), jnp.asarray(steps)):
        run = jax.eval_shape(
            lambda q, given=given: ls.rollout(model, start, steps=given, **options), 0.0
        )
        assert run.x.shape[1] == model.formulation.size


def test_a_run_that_needs_more_steps_than_it_may_take_says_so():
    model, start, options = driven_rotor(np.ones(4), solver=TIGHT)
    run = jax.jit(lambda: ls.rollout(model, start, most_steps=8, **options))()
    assert run.result == RESULTS.too_many_steps
    assert 0 < int(run.filled) < run.t.shape[0]


# --- flexible ------------------------------------------------------------------------------------------------------


def reed():
    robot = ls.Robot.load("simple-pendulum")
    changes = {"links.rod.beam.elements": 1, "damping": {"alpha": 0.5, "beta": 1e-3}}
    return ls.Model(robot.replace(changes | {"payload": {"mass": 0.3}}))


def driven_reed(p, rtol, t_end=0.2):
    """A damped reed with a payload under a PD law; p scales E, damping, payload, gain and initial angle."""
    model = reed().replace(
        {
            "links.rod.beam.material.E": 2e11 * p[0],
            "damping.beta": 1e-3 * p[1],
            "payload.mass": 0.3 * p[2],
        }
    )
    law = ls.PD(jnp.stack([20.0 * p[3]]), [1.0], Table([0.0], [[0.4]], after="hold"))
    start = reed().at(jnp.stack([0.7 * p[4]]))
    solver = {"rtol": rtol, "atol": 0.01 * rtol}
    return model, start, {"torque": law, "t_end": t_end, "solver": solver}


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-8])
def test_forward_derivatives_of_a_flexible_run_are_right_at_every_tolerance(rtol):
    # The steps of the run are taken again with other numbers, by iterations that converge to 1e-12: what is left is
    # the difference between the derivative of the run and the run of the differences.
    one = jnp.ones(5)
    model, start, options = driven_reed(np.ones(5), rtol)
    steps = jax.jit(lambda: ls.step_times(model, start, most_steps=512, **options))()
    tight = options["solver"] | {"rtol": 1e-12, "atol": 1e-14}

    def end_of(p, solver, steps=None):
        model, start, options = driven_reed(p, rtol)
        options = options | {"solver": solver, "steps": steps}
        return ls.rollout(model, start, output_dt=0.2, **options).x[-1]

    on_steps = jax.jit(lambda p: end_of(p, tight, steps))
    differences = central(lambda p: np.asarray(on_steps(p)), one).T
    forwards = jax.jit(jax.jacfwd(lambda p: end_of(p, options["solver"])))(one)
    scale = np.abs(differences).max(axis=0)
    assert np.all(np.abs(forwards - differences).max(axis=0) < 1e-5 * scale)


def pushed(p):
    """Options of a run of one second; p are twenty parameters of its torque, one for each piece of time."""
    t = jnp.linspace(0.0, 1.0, 20)

    def push(time, state):
        return jnp.stack([jnp.sum(p * jnp.exp(-((time - t) ** 2) / 0.002))])

    return {"torque": push, "t_end": 1.0}


def miss_of(model, p, **options):
    """How far such a run ends from where it should."""
    start = model.at([0.3])
    run = ls.rollout(model, start, output_dt=0.1, **pushed(p), **options)
    return jnp.sum((run.x[-1] - 0.1) ** 2)


@pytest.mark.slow
def test_twenty_slopes_of_a_second_agree_with_differences_on_the_recorded_steps():
    model = reed()
    p = 0.1 * jnp.cos(jnp.arange(20))
    start = model.at([0.3])
    steps = jax.jit(lambda p: ls.step_times(model, start, most_steps=512, **pushed(p)))(
        p
    )
    tight = {"rtol": 1e-12, "atol": 1e-14}
    on_steps = jax.jit(
        jax.value_and_grad(lambda p: miss_of(model, p, steps=steps, solver=tight))
    )
    slopes = on_steps(p)[1]
    directions = np.random.default_rng(3).standard_normal((3, 20))
    for along in directions:
        difference = central(lambda r, d=along: float(on_steps(p + r[0] * d)[0]), [0.0])
        assert_allclose(slopes @ along, difference[0], rtol=1e-6)


@pytest.mark.slow
def test_twenty_slopes_of_a_second_cost_at_most_ten_runs():
    model = reed()
    p = 0.1 * jnp.cos(jnp.arange(20))
    plain = jax.jit(lambda p: miss_of(model, p))
    slopes = jax.jit(jax.value_and_grad(lambda p: miss_of(model, p, most_steps=512)))
    assert_allclose(slopes(p)[0], plain(p), rtol=1e-4)

    def seconds(function):
        took = []
        for k in range(15):
            began = time.process_time()
            jax.block_until_ready(function(p * (1 + 1e-6 * k)))
            took.append(time.process_time() - began)
        # The least of several, of this process alone: what it takes where nothing else computes.
        return min(took)

    assert seconds(slopes) < 10 * seconds(plain)
