"""A trunk with two arms beside Exudyn: paths of the tips within 1e-4 m over half a second.

Key points by `benchmarks/physics/tree_beside_exudyn.py --reference`: Exudyn 1.13, floating frames with all modes,
joints by Lagrange multipliers; twice its step moves them by 5e-7 m.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import lissom as ls

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "physics" / "tree_beside_exudyn.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("tree_beside_exudyn", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_both_arms_of_a_tree_move_as_in_a_program_with_multipliers(script):
    assert max(script.differences().values()) < 5e-6
    # The arms bend by more than that in other directions than the one they fall in.
    for arm in script.ARMS:
        _, places = script.key_points(arm)
        assert np.ptp(places[:, 2]) > 5e-4


@pytest.mark.slow
def test_dual_screws_of_the_tree_are_first_order_away(script):
    model = ls.Model(script.tree(), "dual-screw", basis="nodal")
    times = {"t_end": 0.1, "output_dt": 0.02}
    run = ls.simulate(model, model.at(), solver={"rtol": 1e-7, "atol": 1e-9}, **times)
    for arm in script.ARMS:
        t, places = script.key_points(arm)
        count = len(run.t)
        assert np.abs(run.position(f"{arm}/tip") - places[:count]).max() < 1e-3
