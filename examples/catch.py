"""A rod released from horizontal and caught by a spring and a damper at its joint, a law written as a plain function.

    tau = -kp q - kd qd;    at rest    -kp q = m g (L / 2) cos q        q = -0.01442 rad

Writes catch.html, the animation.
"""

import numpy as np

import lissom as ls

kp = 200.0  # spring [N m/rad]
kd = 12.0  # damper [N m s/rad]


def torque(t, state):
    """Joint torque [N m] at a time and a state: what the encoder reads, and how fast it changes."""
    return -kp * state.encoder - kd * state.encoder_d


model = ls.Model("simple-pendulum")
run = ls.simulate(model, t_end=1.5, output_dt=0.01, torque=torque)
run.animate("catch.html")

L = 0.5
mass = 7840 * 0.01 * 0.03 * L
rest = 0.0
# -kp q = m g (L / 2) cos q, solved by fixed-point iteration.
for _ in range(20):
    rest = -mass * 9.81 * L / 2 * np.cos(rest) / kp
reached = float(run.data.encoder[-1, 0])
work = run.energy("input")[-1]
residual = abs(run.energy("residual")).max()
print(f"rests at {reached:.5f} rad, expected {rest:.5f} rad; animation in catch.html")
print(f"work of the joint {work:.4f} J, energy residual {residual:.1e} J")
assert abs(reached - rest) < 1e-5
