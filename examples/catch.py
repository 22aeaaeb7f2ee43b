"""A rod let go from horizontal and caught by a spring and a damper at its joint, a law written as a plain function.

    tau = -kp q - kd qd;    at rest    -kp q = m g (L / 2) cos q        q = -0.01442 rad

Writes catch.html, the animation.
"""

import numpy as np

import lissom as ls

kp, kd = 200.0, 12.0
model = ls.Model("simple-pendulum")
run = ls.simulate(
    model,
    t_end=1.5,
    output_dt=0.01,
    torque=lambda t, state: -kp * state.encoder - kd * state.encoder_d,
)
run.animate("catch.html")

mass, L = 7840 * 0.01 * 0.03 * 0.5, 0.5
rest = 0.0
for _ in range(20):
    rest = -mass * 9.81 * L / 2 * np.cos(rest) / kp
reached = float(run.data.encoder[-1, 0])
print(f"rests at {reached:.5f} rad, expected {rest:.5f} rad; animation in catch.html")
print(
    f"work of the joint {run.energy('input')[-1]:.4f} J, energy residual {abs(run.energy('residual')).max():.1e} J"
)
assert abs(reached - rest) < 1e-5
