"""A linear model of a rod: what a force at its tip does, slowly and at resonance.

    y / f = L^3 / (3 E I)                                         0.0833 mm/N at rest
    f_1 = (1.875104 / L)^2 sqrt(E I / (rho A)) / (2 pi)           32.64 Hz

The joint is locked; the state-space model has a force on the tip as its input and
the tip's position and acceleration as its outputs.
"""

import numpy as np

import lissom as ls

L, E, rho, y, z = 0.5, 2.0e11, 7840.0, 0.03, 0.01
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
model = ls.Model(
    ls.Robot.from_dict({"name": "rod", "gravity": [0, 0, 0], "links": [link]})
)

lin = ls.linearize(
    model,
    [0.0],
    inputs=["rod/tip.fz"],
    outputs=["rod/tip.pz", "rod/tip.az"],
    locked=True,
)
slow = ls.frequency_response(lin, "rod/tip.fz", "rod/tip.pz", [0.0]).magnitude[0]
response = ls.frequency_response(
    lin, "rod/tip.fz", "rod/tip.az", np.linspace(20.0, 50.0, 3001)
)
peak = response.frequency_hz[response.magnitude.argmax()]

A, I = y * z, y * z**3 / 12
exact_slow = L**3 / (3 * E * I)
exact_peak = (1.8751040687 / L) ** 2 * np.sqrt(E * I / (rho * A)) / (2 * np.pi)
print(f"deflection {1e3 * slow:.4f} mm/N, exact {1e3 * exact_slow:.4f} mm/N")
print(f"resonance {peak:.2f} Hz, natural frequency {exact_peak:.2f} Hz")
assert abs(slow / exact_slow - 1) < 1e-6
assert abs(peak / exact_peak - 1) < 1e-3
print("to python-control:", lin.to_control().output_labels)
