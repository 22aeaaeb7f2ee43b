"""Laws from scenario files: gains of passive joints are left out, and both ways to write a law are the same."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.control.laws import law_of
from lissom.control.nominal import on_actuated_joints
from lissom.control.pd import PDController
from lissom.runs.start import start_scenario
from lissom.solve.balance import of_independent

CONTROLLER = {
    "type": "pd",
    "kp": [30.0],
    "kd": [0.7],
    "reference": {"t": [0.0], "value": [[0.4]], "interpolation": "hold"},
    "sample": "2 ms",
}


def four_bar(**controller):
    """The library's four-bar, its crank controlled."""
    scenario = ls.Scenario.load("four-bar").to_dict()
    inputs = {"torque": {}, "wrench": [], "motion": {}}
    changes = {"inputs": inputs, "controller": CONTROLLER | controller}
    scenario |= changes | {"t_end": 0.004, "output_dt": 0.001}
    return ls.Scenario.from_dict(scenario)


def test_gains_of_passive_pins_are_left_out():
    model = start_scenario(four_bar()).model
    assert model.actuated_names == ("crank",)
    rows = {"t": [0.0], "value": [[0.4, 0.0, 0.0]], "interpolation": "hold"}
    every = {"kp": [30.0, 0.0, 0.0], "kd": [0.7, 0.0, 0.0], "reference": rows}
    short = law_of(model, PDController(**CONTROLLER))
    long = law_of(model, PDController(**CONTROLLER | every))
    for law in (short, long):
        assert_allclose(law.kp, [30.0])
        assert_allclose(law.kd, [0.7])
        assert_allclose(law.reference.value(0.1), [0.4])
        assert law.sample == 0.002


def test_a_sampled_law_of_a_scenario_holds_the_torque_of_the_crank():
    run = ls.run_scenario(four_bar())
    torque = run.data["torque"]
    crank = torque.sel(joint="crank").values
    start = run.data["encoder"].sel(joint="crank").values[0]
    assert_allclose(crank[:2], 30.0 * (0.4 - start), rtol=1e-12)
    assert crank[2] != crank[1] and crank[2] == crank[3]
    assert not np.any(torque.drop_sel(joint="crank"))


@pytest.mark.slow
def test_a_motor_on_a_coordinate_of_its_own_takes_its_force_as_it_is():
    """The least torques that do the work of given forces, as the pseudo-inverse of the joint map has them."""
    for name, force in (("four-bar", [0.7]), ("five-bar", [0.7, -0.4])):
        f = ls.Model(name).formulation
        q = jnp.asarray(f.mechanism.home, dtype=float)
        x = jnp.concatenate([of_independent(f, q), jnp.zeros(f.n_elastic)])
        G = np.asarray(f.mechanism.joint_map(x))[list(f.joints.actuated), : f.n_joints]
        wanted = np.linalg.pinv(G.T) @ force
        found = on_actuated_joints(f, x, jnp.asarray(force))
        assert_allclose(found, wanted, atol=1e-12)
