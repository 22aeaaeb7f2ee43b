"""A rod clamped at one end: its sag and its lowest frequency.

    w = rho A g L^4 / (8 E I)                                    -0.3605 mm at the tip
    f = (1.875104 / L)^2 sqrt(E I / (rho A)) / (2 pi)             32.64 Hz

The sag is exact for any mesh; the frequency is off by 3e-5 with four elements,
and its error falls with their fourth power.
"""

import numpy as np

import lissom as ls

L, E, rho, y, z = 0.5, 2.0e11, 7840.0, 0.03, 0.01
robot = ls.Robot.from_dict(
    {
        "name": "rod",
        "links": [
            {
                "name": "rod",
                "joint": {"type": "revolute"},
                "beam": {
                    "path": [[0, 0, 0], [L, 0, 0]],
                    "section": {"shape": "rectangle", "y": y, "z": z},
                    "material": {"E": E, "nu": 0.3, "density": rho},
                },
            }
        ],
    }
)
model = ls.Model(robot)
state = model.static(q=[0.0])  # the joint is held: a cantilever
sag = float(model.displacement(state, "rod/tip")[2])
frequency = ls.modes(model, state, locked=True, count=1).frequency_hz[0]

A, I = y * z, y * z**3 / 12
exact_sag = -rho * A * 9.81 * L**4 / (8 * E * I)
exact_frequency = (1.8751040687 / L) ** 2 * np.sqrt(E * I / (rho * A)) / (2 * np.pi)
print(f"sag {1e3 * sag:.4f} mm, exact {1e3 * exact_sag:.4f} mm")
print(f"frequency {frequency:.4f} Hz, exact {exact_frequency:.4f} Hz")
assert abs(sag / exact_sag - 1) < 1e-8
assert abs(frequency / exact_frequency - 1) < 5e-5
