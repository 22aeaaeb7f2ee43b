"""The library's double pendulum lying flat: how it sags, and how it rings.

K u = f,    K phi = omega^2 M phi       (joints held straight, gravity across the plane of motion)

sag of elbow and tip   -2.0429, -5.4478 mm
frequencies             8.348, 20.490, 66.068, 80.485 Hz     (one element per link; links undeformed by gravity)
"""

import numpy as np

import lissom as ls

flat = ls.Model(ls.Robot.load("double-pendulum").replace({"gravity": [0, 0, -9.81]}))
state = flat.static(q=[0.0, 0.0])
sag = [
    1e3 * float(flat.displacement(state, node)[2])
    for node in ("upper/tip", "lower/tip")
]
print("sag [mm]     ", np.round(sag, 4))
print("holding [N m]", np.round(state.torque, 6))

rings = ls.modes(flat, flat.at([0.0, 0.0]), locked=True, count=4)
for k, f in enumerate(rings.frequency_hz):
    shares = ", ".join(
        f"{name} {100 * part[k]:.0f} %"
        for name, part in rings.share.items()
        if part[k] > 0.005
    )
    print(f"mode {k + 1}: {f:8.3f} Hz, damping {rings.damping_ratio[k]:.3f}, {shares}")

assert np.allclose(sag, [-2.0429, -5.4478], atol=1e-3)
assert np.allclose(rings.frequency_hz, [8.348, 20.490, 66.068, 80.485], rtol=1e-3)
