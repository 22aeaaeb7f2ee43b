"""A solid link swings as the beam that it is: the steel L of [Vidoni2015] as tetrahedra and as beam elements."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from helpers import robot_named
from lissom import Model, Robot, reduce_link
from lissom.describe.material import Material
from lissom.types import RESULTS, real
from runs import fallen

MESH = Path(__file__).parents[1] / "data" / "fe" / "l-beam.npz"


@pytest.fixture(scope="module")
def swings(tmp_path_factory):
    """Paths (t, 3) of both tips over one second and energies (t, 3), let go from horizontal, undeformed."""
    link = tmp_path_factory.mktemp("link") / "l-beam.npz"
    steel = Material(E=2e11, nu=0.33, density=7800.0)
    reduce_link(MESH, {"inner": "inner", "tip": "tip"}, material=steel, checked=0).save(
        link
    )
    joint = {"type": "revolute", "axis": [0, 1, 0]}
    solid = Robot.from_dict(
        {
            "name": "solid",
            "links": [{"name": "beam", "joint": joint, "fe": {"file": str(link)}}],
        }
    )
    times = jnp.linspace(0.0, 1.0, 101)
    found = {}
    for name, robot, modes in (
        ("solid", solid, 18),
        ("beam", robot_named("l-shape"), 12),
    ):
        model = Model(robot, "erls-cms", modes=modes)
        tips, energy, _, result, _ = fallen(
            model.formulation, model.at([0.0]).x, times, real(1e-7)
        )
        assert result == RESULTS.successful
        found[name] = np.asarray(tips)[:, 0], np.asarray(energy)
    return found


@pytest.mark.slow
def test_the_solid_l_beam_swings_within_two_millimetres_of_the_beam_model(swings):
    apart = np.linalg.norm(swings["solid"][0] - swings["beam"][0], axis=1)
    assert 1e-5 < apart.max() < 2e-3  # not the same model, but the same link


@pytest.mark.slow
def test_a_solid_link_keeps_its_energy(swings):
    energy = swings["solid"][1]
    assert np.ptp(energy.sum(axis=1)) < 1e-5 * np.ptp(energy[:, 2])
