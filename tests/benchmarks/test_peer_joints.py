"""Why the four-dof arm differs from Exudyn's: its joints on bent links push in slightly wrong directions."""

import numpy as np
import pytest

from benchmarks.peers.comparison import arm_case
from benchmarks.peers.exudyn_fastest import arm_under_control
from benchmarks.peers.exudyn_pendulum import TIGHT_NEWTON, exudyn, solver_settings

MODES = slice(14, 22)  # of the upper link: after the frames of the base and of its own
STEP = 1e-6


class Constraints:
    """The conditions of the arm's joints in Exudyn over its coordinates, and what it takes for their derivatives."""

    def __init__(self):
        scenario = arm_case().scenario
        self.arm = arm_under_control(scenario.robot, scenario.controller, 2)
        self.data = self.arm.system.systemData
        settings = solver_settings(1e-3, 5e-4, 0.98, TIGHT_NEWTON)
        self.solver = exudyn().MainSolverImplicitSecondOrder()
        self.solver.InitializeSolver(self.arm.system, settings)
        self.undeformed = np.array(self.data.GetODE2Coordinates())
        self.count = len(self.data.GetAECoordinates())

    def value(self, q):
        self.data.SetODE2Coordinates(q.tolist())
        self.solver.ComputeAlgebraicEquations(self.arm.system, velocityLevel=False)
        return np.array(self.solver.GetSystemResidual())[-self.count :].copy()

    def given(self, q):
        """By the program, with respect to the modes of the upper link: reactions act along these."""
        self.data.SetODE2Coordinates(q.tolist())
        size = len(q) + self.count
        self.solver.SetSystemJacobian(np.zeros((size, size)))
        self.solver.ComputeJacobianAE(
            self.arm.system,
            scalarFactor_ODE2=1.0,
            scalarFactor_ODE2_t=1.0,
            velocityLevel=False,
        )
        return np.array(self.solver.GetSystemJacobian())[-self.count :, MODES]

    def differenced(self, q):
        columns = []
        for k in range(MODES.start, MODES.stop):
            step = STEP * np.eye(len(q))[k]
            change = self.value(q + step) - self.value(q - step)
            columns.append(change / (2 * STEP))
        return np.stack(columns, axis=1)

    def gap(self, bending):
        q = self.undeformed.copy()
        q[MODES] = bending
        return np.abs(self.given(q) - self.differenced(q))


@pytest.mark.slow
def test_the_peers_reactions_on_a_bent_link_are_off_to_first_order_in_its_bending():
    constraints = Constraints()
    rounding = 1e-7
    # Right where the link is straight, and along each mode alone: rotations about one axis.
    assert constraints.gap(np.zeros(8)).max() < rounding
    for k in range(8):
        assert constraints.gap(5e-3 * np.eye(8)[k])[:, k].max() < rounding
    # Wrong where rotations about several axes meet, twice as much for twice the bending.
    bending = np.random.default_rng(1).normal(size=8)
    little, twice = (constraints.gap(size * bending).max() for size in (1e-3, 2e-3))
    assert little > 0.1
    assert twice / little == pytest.approx(2.0, rel=0.05)
