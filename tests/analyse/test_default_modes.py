"""The default reduction: the first frequencies of every library robot are those of all modes."""

import jax
import numpy as np
import pytest

import lissom as ls
from lissom.describe import library_names


def lowest_frequencies(robot, modes):
    model = ls.Model(robot, modes=modes)
    found = ls.modes(model, model.static(), locked=True, count=6)
    return np.asarray(found.frequency_hz)


@pytest.mark.slow
@pytest.mark.parametrize("elements", [None, 10])
@pytest.mark.parametrize("name", library_names())
def test_six_locked_frequencies_are_within_half_a_per_cent_of_all_modes(name, elements):
    robot = ls.Robot.load(name)
    beams = [link.name for link in robot.links if link.beam is not None]
    if elements and not beams:
        pytest.skip("a link of finite elements has the mesh that it has")
    if elements:
        robot = robot.replace(
            {f"links.{link}.beam.elements": elements for link in beams}
        )
    exact = lowest_frequencies(robot, "all")
    found = lowest_frequencies(robot, None)
    jax.clear_caches()
    np.testing.assert_allclose(found, exact, rtol=5e-3)
    # Fewer coordinates cannot make a link softer.
    assert np.all(found > exact * (1 - 1e-6))
