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


# A link of finite elements has the mesh that it has.
OF_BEAMS = [name for name in library_names() if name != "solid-arm"]
CASES = [
    *((name, None) for name in library_names()),
    *((name, 10) for name in OF_BEAMS),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "elements"), CASES)
def test_six_locked_frequencies_are_within_half_a_per_cent_of_all_modes(name, elements):
    robot = ls.Robot.load(name)
    if elements:
        beams = [link.name for link in robot.links if link.beam is not None]
        assert beams
        finer = {f"links.{link}.beam.elements": elements for link in beams}
        robot = robot.replace(finer)
    exact = lowest_frequencies(robot, "all")
    found = lowest_frequencies(robot, None)
    jax.clear_caches()
    np.testing.assert_allclose(found, exact, rtol=5e-3)
    # Fewer coordinates cannot make a link softer.
    assert np.all(found > exact * (1 - 1e-6))
