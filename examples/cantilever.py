"""A rod clamped at one end: its sag and its lowest frequency.

    w = rho A g L^4 / (8 E I)                                    -0.3605 mm at the tip
    f = (1.875104 / L)^2 sqrt(E I / (rho A)) / (2 pi)             32.64 Hz

The sag is exact for any mesh; the frequency is off by 3e-5 with four elements,
and its error falls with their fourth power.
"""

import numpy as np

import lissom as ls

L = 0.5  # length [m]
y = 0.03  # width [m]
z = 0.01  # height [m], along gravity
E = 2.0e11  # Young's modulus [Pa]
rho = 7840.0  # density [kg/m^3]

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
# The joint is held at q: the rod is a cantilever.
state = model.static(q=[0.0])
sag = model.displacement(state, "rod/tip")[2]
modes = ls.modes(model, state, locked=True, count=1)
frequency = modes.frequency_hz[0]

A = y * z
I = y * z**3 / 12
exact_sag = -rho * A * 9.81 * L**4 / (8 * E * I)
exact_omega = (1.8751040687 / L) ** 2 * np.sqrt(E * I / (rho * A))
exact_frequency = exact_omega / (2 * np.pi)
print(f"sag {1e3 * sag:.4f} mm, exact {1e3 * exact_sag:.4f} mm")
print(f"frequency {frequency:.4f} Hz, exact {exact_frequency:.4f} Hz")
assert abs(sag / exact_sag - 1) < 1e-8
assert abs(frequency / exact_frequency - 1) < 5e-5
