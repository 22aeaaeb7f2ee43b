"""Runs on both back ends are the same runs, for every robot of the library."""

import logging

import numpy as np
import pytest

import lissom as ls
from lissom.describe.files import library_names
from lissom.describe.scenario import Scenario

SHORT = 0.02  # [s]


def run_of(name, backend, **changes):
    """A short run of a library scenario."""
    scenario = Scenario.load(name)
    solver = scenario.solver.model_copy(update={"backend": backend, **changes})
    short = scenario.model_copy(update={"t_end": SHORT, "solver": solver})
    return ls.run_scenario(short)


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_runs_agree(name, caplog):
    caplog.set_level(logging.INFO, "lissom.native")
    native = run_of(name, "native")
    assert not caplog.records
    xla = run_of(name, "xla")
    assert native.data.attrs["steps"] == xla.data.attrs["steps"]
    for quantity in ("q", "position", "torque", "energy"):
        value, wanted = native.data[quantity].values, xla.data[quantity].values
        scale = np.nanmax(np.abs(wanted)) + 1e-9
        np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-9 * scale)


def test_an_unknown_backend_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="one of auto, native, xla"):
        ls.simulate(ls.Model("simple-pendulum"), solver={"backend": "fortran"})
