"""A linear model of a rod: response to a force at its tip, at rest and at resonance.

    y / f = L^3 / (3 E I)                                         0.0833 mm/N at rest
    f_1 = (1.875104 / L)^2 sqrt(E I / (rho A)) / (2 pi)           32.64 Hz

The joint is locked; the state-space model has a force on the tip as its input and
the tip's position and acceleration as its outputs.
"""

import numpy as np

import lissom as ls

L = 0.5  # length [m]
y = 0.03  # width [m]
z = 0.01  # height [m]
E = 2.0e11  # Young's modulus [Pa]
rho = 7840.0  # density [kg/m^3]

beam = {
    "path": [[0, 0, 0], [L, 0, 0]],
    "section": {"shape": "rectangle", "y": y, "z": z},
    "material": {"E": E, "nu": 0.3, "density": rho},
    "elements": 4,
}
link = {
    "name": "rod",
    "joint": {"type": "revolute"},
    "beam": beam,
    "damping": {"ratio": 0.01},
}
robot = ls.Robot.from_dict({"name": "rod", "gravity": [0, 0, 0], "links": [link]})
linear = ls.linearize(
    ls.Model(robot),
    [0.0],
    inputs=["rod/tip.fz"],
    outputs=["rod/tip.pz", "rod/tip.az"],
    locked=True,
)

at_rest = ls.frequency_response(linear, "rod/tip.fz", "rod/tip.pz", [0.0])
deflection = at_rest.magnitude[0]
frequencies = np.linspace(20.0, 50.0, 3001)
response = ls.frequency_response(linear, "rod/tip.fz", "rod/tip.az", frequencies)
resonance = frequencies[response.magnitude.argmax()]

A = y * z
I = y * z**3 / 12
exact_deflection = L**3 / (3 * E * I)
exact_omega = (1.8751040687 / L) ** 2 * np.sqrt(E * I / (rho * A))
exact_frequency = exact_omega / (2 * np.pi)
print(f"deflection {1e3 * deflection:.4f} mm/N, exact {1e3 * exact_deflection:.4f}")
print(f"resonance {resonance:.2f} Hz, natural frequency {exact_frequency:.2f} Hz")
print("to python-control:", linear.to_control().output_labels)
assert abs(deflection / exact_deflection - 1) < 1e-6
assert abs(resonance / exact_frequency - 1) < 1e-3
