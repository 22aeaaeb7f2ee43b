"""An L-shaped link in few modes: its first frequency, and the bending moment from its weight.

First frequency with the joint locked: 10.905 Hz with all 24 coordinates, 10.909 Hz with six static shapes,
12.93 Hz with the lowest six of twelve free modes, as [Vidoni2015] truncates them.

    M = m g (L/2 + L) = 8.61 N m                at the joint: two rods of m = 1.17 kg, L = 0.5 m
    M - w h^2 / 12 = 8.49 N m                   in the element at the joint, since w is distributed: h = 0.25 m
"""

import numpy as np

import lissom as ls
from lissom.bodies.link_body import body_of

robot = ls.Robot.load("l-shape")


def first_frequency(reduction):
    """Lowest frequency [Hz] with the joint held."""
    model = ls.Model(robot, "erls-cms", modes=reduction)
    return ls.modes(model, locked=True, count=1).frequency_hz[0]


every_coordinate = first_frequency(ls.Reduction(None))
static_shapes = first_frequency(ls.Reduction(6))
lowest_modes = first_frequency(ls.Reduction(6, ranking="free"))
print(f"all 24: {every_coordinate:.3f} Hz")
print(f"six static shapes: {static_shapes:.3f} Hz")
print(f"lowest six of twelve: {lowest_modes:.3f} Hz")

model = ls.Model(robot, "erls-cms", modes=ls.Reduction(None), reference="tangent")
state = model.static(q=[0.0])
body = ls.reduced_body(body_of(robot, 0), ls.Reduction(None))
# The first six coordinates are those of the inner node, which does not move.
q = np.concatenate([np.zeros(6), state.elastic])
forces = ls.section_forces(body, q)
# First element, its inner end, fifth of (N, Vy, Vz, T, My, Mz).
moment = abs(forces[0, 0, 4])
torque = abs(float(state.torque[0]))
print(f"bending moment at the joint {moment:.3f} N m, holding torque {torque:.3f} N m")

weight = 1.17 * 9.81
expected_moment = weight * 0.75 - weight / 0.5 * 0.25**2 / 12
assert abs(every_coordinate - 10.905) < 2e-3
assert abs(static_shapes - 10.909) < 2e-3
assert abs(lowest_modes - 12.932) < 2e-3
assert abs(moment - expected_moment) < 0.02
