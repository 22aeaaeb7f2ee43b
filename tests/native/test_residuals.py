"""Residuals of robots are the same under XLA and as machine code."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative.compiled import NativeAhead, using
from lissom.bench.cases import Case
from lissom.bench.residual_times import _residual
from lissom.describe.scenario import Scenario
from lissom.types import host_whole

RANDOM = np.random.default_rng(11)


def residuals(robot, joints, count, x, xd):
    """The residual at a state, again and again."""

    def once(_, force):
        return _residual(
            robot, joints, jnp.asarray(0.1), x, xd, 0.3 * xd + x + 1e-30 * force
        )

    return jax.lax.fori_loop(0, count, once, jnp.zeros_like(x))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "changes"),
    [
        ("anthropomorphic", {}),
        ("cibicik-arm", {"formulation": "nonlinear", "modes": 12}),
        ("dlr-arm", {}),
        ("spatial-four-bar", {}),
        ("solid-arm", {}),
        ("l-shape", {}),
    ],
)
def test_residuals_of_robots_are_those_of_xla(scenario, changes):
    case = Case(Scenario.load(scenario).replace(changes))
    size = case.state.x.shape
    x = np.asarray(case.state.x) + 1e-3 * RANDOM.normal(size=size)
    xd = np.asarray(case.state.xd) + 0.1 * RANDOM.normal(size=size)
    forces = []
    for backend in ("native", "xla"):
        program = NativeAhead(residuals, lambda robot, *_: robot.formulation)
        with using(backend):
            forces.append(program(case.robot, case.state.q, host_whole(2), x, xd))
    found, expected = map(np.asarray, forces)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)
