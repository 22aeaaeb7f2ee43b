"""Links of several bodies: the same robot where it bends little, geometrically exact beams where it bends far."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.solve.channels import output_named

DATA = Path(__file__).parents[1] / "data"


def split(robot, segments, elements):
    """Every link of a robot in segments."""
    changes = {
        "links.*.beam.elements": elements,
        "links.*.beam.segments": segments,
    }
    return ls.Robot.load(robot).replace(changes)


@pytest.fixture(scope="module")
def pendulums():
    """The double pendulum in two bodies per link, and in one."""
    whole = split("double-pendulum", None, 2)
    parts = split("double-pendulum", 2, 2)
    return [ls.Model(robot, "nonlinear", basis="nodal") for robot in (parts, whole)]


def test_a_link_in_segments_vibrates_as_a_whole_one(pendulums):
    found = []
    for model in pendulums:
        # Weight acts at second order too, and that is where segments know more.
        weightless = model.replace({"gravity": [0, 0, 0]})
        at_rest = weightless.at([0.3, -0.7])
        found.append(ls.modes(weightless, at_rest, locked=True, count=8))
    parts, whole = found
    assert_allclose(parts.frequency_hz, whole.frequency_hz, rtol=1e-8)
    # Shares are those of the user's links.
    assert set(parts.share) == set(whole.share)
    assert_allclose(parts.share["upper"], whole.share["upper"], atol=1e-6)


def test_a_link_in_segments_has_the_names_of_a_whole_one(pendulums):
    parts, whole = pendulums
    assert len(parts.bodies) == 4 and len(whole.bodies) == 2
    assert parts.node_names == whole.node_names
    assert parts.link_names == whole.link_names
    assert parts.coordinate_names[6] == "upper:2/1.x"
    rigid = [model.at([0.3, -0.7]) for model in pendulums]
    for node in ("upper/1", "upper/tip", "lower/1", "lower/tip"):
        assert_allclose(parts.position(rigid[0], node), whole.position(rigid[1], node))
    for name in ("lower/element1.mz", "upper.reaction.fx", "upper/1.px"):
        assert output_named(parts, name).name == name
    with pytest.raises(ValueError, match="link 'lower' has 0 to 1"):
        output_named(parts, "lower/element2.mz")


@pytest.mark.slow
def test_section_forces_of_segments_are_those_of_the_whole_link(pendulums):
    moments = []
    for model in pendulums:
        state = model.static([0.2, 0.4])
        channel = output_named(model, "lower/element1.mz")
        motion = model.formulation.motion(state.x, 0 * state.x, 0 * state.x)
        moments.append(jnp.asarray(channel.row) @ motion.place.q[channel.index])
    # The weight bends both alike, to second order in a deflection of a few millimetres.
    assert moments[0] == pytest.approx(float(moments[1]), rel=1e-3)


@pytest.mark.slow
def test_a_soft_l_in_segments_follows_exact_beams_within_half_a_millimetre():
    # The tip moves by a third of a rod; the reference is known to 0.2 mm.
    expected = np.loadtxt(DATA / "l_shape_soft.csv", delimiter=",", skiprows=3)
    robot = split("l-shape", 2, 4).replace({"links.*.beam.material.E": 9e9})
    model = ls.Model(robot, stiffening="geometric")
    run = ls.simulate(model, model.at([0.0]), t_end=1.0, output_dt=0.05)
    for node, columns in (("beam/4", slice(1, 4)), ("beam/tip", slice(4, 7))):
        apart = np.linalg.norm(run.position(node) - expected[:, columns], axis=1)
        assert apart.max() < 5e-4
