"""An L-shaped link in few modes: its first frequency, and the bending moment that its weight leaves in it.

First frequency with the joint held: 10.905 Hz with all 24 coordinates, 10.909 Hz with six static shapes,
12.93 Hz with the lowest six of twelve free modes, as [Vidoni2015] drops them.

    M = m g (L/2 + L) = 8.61 N m                at the joint: two rods of m = 1.17 kg, L = 0.5 m
    M - w h^2 / 12 = 8.49 N m                   in its element, for w spreads along it: h = 0.25 m
"""

import numpy as np

import lissom as ls
from lissom.bodies.link_body import body_of

robot = ls.Robot.load("l-shape")
first = {}
for name, how in {
    "all 24": ls.Reduction(None),
    "six static shapes": ls.Reduction(6, "guyan"),
    "lowest six of twelve": ls.Reduction(6),
}.items():
    model = ls.Model(robot, "erls-cms", modes=how)
    first[name] = ls.modes(model, locked=True, count=1).frequency_hz[0]
    print(f"{name}: {first[name]:.3f} Hz")

model = ls.Model(robot, "erls-cms", modes=ls.Reduction(None), reference="tangent")
state = model.static(q=[0.0])
body = ls.reduced_body(body_of(robot, 0), ls.Reduction(None))
q = np.concatenate([np.zeros(6), state.elastic])  # the inner node stands still
moment = abs(
    ls.section_forces(body, q)[0, 0, 4]
)  # My at the inner end of the first element
print(
    f"bending moment at the joint {moment:.3f} N m, holding torque {abs(float(state.torque[0])):.3f} N m"
)

weight = 1.17 * 9.81
assert np.allclose(list(first.values()), [10.905, 10.909, 12.932], atol=2e-3)
assert abs(moment - (weight * 0.75 - weight / 0.5 * 0.25**2 / 12)) < 0.02
