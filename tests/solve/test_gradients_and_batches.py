"""Derivatives and batches through whole analyses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from helpers import compiled_once, robot_named
from lissom import Model
from lissom.types import RESULTS
from runs import double_pendulum

NAMES = (
    "links.upper.beam.material.E",
    "links.upper.beam.material.density",
    "links.upper.joint.dh.a",
)
VALUES = np.array([2e11, 7840.0, 0.5])


def sag(values):
    """z of the tip of the double pendulum held straight under -z gravity."""
    changes = dict(zip(NAMES, values, strict=True))
    robot = (
        robot_named("double-pendulum")
        .replace({"gravity": [0.0, 0.0, -9.81]})
        .replace(changes)
    )
    model = Model(robot, "erls-fem")
    return model.position(model.static(jnp.zeros(2)), "lower/tip")[2]


def test_gradient_of_a_static_sag_matches_finite_differences():
    # Central differences of fourth order with a step of 1e-3: truncation 1e-11, cancellation 1e-12 / 1e-3.
    both = compiled_once(
        jax.value_and_grad(
            lambda scale: sag([s * v for s, v in zip(scale, VALUES, strict=True)])
        )
    )
    value, gradient = both(jnp.ones(3))
    assert abs(value + 5.4478e-3) < 1e-7
    for k in range(3):

        def at(h, k=k):
            return float(both(jnp.ones(3).at[k].add(h))[0])

        h = 1e-3
        difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        assert abs(gradient[k] / difference - 1) < 1e-6, NAMES[k]


@pytest.mark.slow
def test_a_batch_of_payloads_gives_what_single_runs_give():
    # The same arithmetic in another order: batched products differ by round-off, which a step-size decision can turn
    # into another step sequence; then results agree to the tolerance of the run: 1e-8, summed over some hundred
    # steps. A thousand runs side by side also show that none of them waits for another.
    model = Model(
        double_pendulum().robot.replace({"payload": {"mass": 0.0}}), "erls-fem"
    )
    start = double_pendulum().at([0.0, 0.0])

    def run(mass):
        loaded = model.replace({"payload.mass": mass})
        return ls.rollout(
            loaded,
            start,
            t_end=0.02,
            output_dt=0.004,
            solver={"rtol": 1e-7, "atol": 1e-9},
        )

    masses = jnp.linspace(0.0, 2.0, 1000)
    batch = compiled_once(jax.vmap(run))(masses)
    assert np.all(batch.result == RESULTS.successful)
    single = compiled_once(run)
    for k in (0, 170, 420, 630, 999):
        np.testing.assert_allclose(batch.x[k], single(masses[k]).x, atol=2e-7)
    assert np.abs(batch.x[999] - batch.x[0]).max() > 1e-5
