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


def arm_tips(script, share, formulation):
    """Where the tips hang with held joints under a share of the weight (arm, 3)."""
    robot = script.tree()
    weight = [share * part for part in robot.gravity]
    model = ls.Model(robot.replace({"gravity": weight}), formulation, basis="nodal")
    state = model.static(model.at().q)
    tips = [model.position(state, f"{arm}/tip") for arm in script.ARMS]
    return np.stack([np.asarray(tip) for tip in tips])


@pytest.mark.slow
def test_dual_screws_of_the_tree_part_from_finite_rotations_by_the_cube_of_the_load(
    script,
):
    # The work of weight is right to first order in the deflection: what is left is weight times deflection squared.
    apart = []
    for share in (4.0, 2.0):
        finite = arm_tips(script, share, "nonlinear")
        first_order = arm_tips(script, share, "dual-screw")
        apart.append(np.abs(finite - first_order).max())
    # Far above the rounding of an equilibrium, far below a deflection of 1.4 mm.
    assert 1e-9 < apart[0] < 1e-8
    assert apart[0] / apart[1] == pytest.approx(8.0, rel=0.02)
