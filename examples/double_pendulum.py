"""The library's double pendulum in a horizontal plane: static sag and natural frequencies.

K u = f,    K phi = omega^2 M phi       (joints locked straight, gravity perpendicular to the plane of motion)

sag of elbow and tip   -2.0429, -5.4478 mm
frequencies             8.348, 20.490, 66.068, 80.485 Hz     (one element per link; links undeformed by gravity)
"""

import numpy as np

import lissom as ls

robot = ls.Robot.load("double-pendulum")
flat = ls.Model(robot.replace({"gravity": [0, 0, -9.81]}))

state = flat.static(q=[0.0, 0.0])
elbow = 1e3 * flat.displacement(state, "upper/tip")
tip = 1e3 * flat.displacement(state, "lower/tip")
print(f"sag: elbow {elbow[2]:.4f} mm, tip {tip[2]:.4f} mm")
print("holding torques [N m]", np.round(state.torque, 6))

undeformed = flat.at([0.0, 0.0])
modes = ls.modes(flat, undeformed, locked=True, count=4)
for k, frequency in enumerate(modes.frequency_hz):
    print(f"mode {k + 1}: {frequency:8.3f} Hz, damping {modes.damping_ratio[k]:.3f}")
    for link, share in modes.share.items():
        if share[k] > 0.005:
            print(f"    {100 * share[k]:3.0f} % of the kinetic energy in {link}")

assert np.allclose([elbow[2], tip[2]], [-2.0429, -5.4478], atol=1e-3)
assert np.allclose(modes.frequency_hz, [8.348, 20.490, 66.068, 80.485], rtol=1e-3)
