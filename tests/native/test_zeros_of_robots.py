"""Every kind of number of a robot may be zero first and another one later: machine code follows."""

import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from jaxnative.compilation import CompiledAhead
from jaxnative.compiled import NativeAhead
from lissom.dynamics import engine
from solve.test_every_number import PLACES

# A robot without these is none, or its parts do not meet.
NEVER_ZERO = (
    "material",
    "section",
    "path",
    "joint.axis",
    "ratio",
    "width",
    "limits",
    "dh.a",
    "dh.d",
    "origin.xyz",
    "beam.up",
)


def residual(f, x, xd, xdd):
    """What is left over in the equations of motion, friction and damping included."""
    motion = f.motion(x, xd, xdd)
    torque = jnp.zeros(f.n_encoders)
    drive = engine.on_joints(f, torque)
    return engine.needed_force(f, motion, drive)


under_xla = CompiledAhead(residual)
CHANGING = [
    place for place in PLACES if not any(word in place[1] for word in NEVER_ZERO)
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "path", "field", "value"),
    CHANGING,
    ids=[f"{place[0].name}-{place[1]}" for place in CHANGING],
)
def test_a_number_turns_from_zero_to_another_one(robot, path, field, value):
    without = robot.replace({path: (0.0 * np.asarray(value)).tolist()})
    native = NativeAhead(residual, lambda f, *_: f, quick=True)
    for described in (without, robot):
        f = ls.Model(described, "erls-fem").formulation
        rng = np.random.default_rng(5)
        motion = [rng.normal(size=f.size) * scale for scale in (0.1, 1.0, 1.0)]
        value_now = native(f, *motion)
        wanted = under_xla(f, *motion)
        assert isinstance(value_now, np.ndarray)
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(value_now, wanted, rtol=0, atol=1e-12 * scale)
