"""Monte Carlo of E, damping and payload: the share of rods that sag less than specified.

w = (rho A L / 8 + m / 3) g L^3 / (E I)    E ~ N(210, 10.5) GPa, m ~ N(1, 0.1) kg    w < 0.68 mm: about 60 %
"""

import numpy as np

import lissom as ls

L, D, rho = 0.6, 0.02, 7850.0  # length and diameter [m], density [kg/m^3]
LIMIT = 0.68e-3  # [m]

rod = {
    "name": "rod",
    "damping": {"alpha": 0.0, "beta": 1e-4},
    "links": [
        {
            "name": "rod",
            "joint": {"type": "revolute", "dh": {"a": L}},
            "beam": {
                "section": {"shape": "circle", "diameter": D},
                "material": {"E": 210e9, "nu": 0.3, "density": rho},
                "elements": 1,
            },
        }
    ],
    "payload": {"mass": 1.0},
}

sweep = ls.sweep(
    {
        "analysis": "static",
        "scenario": rod,
        "over": {
            "links.rod.beam.material.E": {
                "normal": ["210 GPa", "10.5 GPa"],
                "label": "E",
            },
            "payload.mass": {"normal": [1.0, 0.1], "label": "payload"},
            "damping.beta": {"uniform": [0.5e-4, 2e-4], "label": "beta"},
        },
        "sampling": "sobol",
        "samples": 256,
        "seed": 1,
        "metrics": ["sag"],
        "specification": {"sag": {"below": LIMIT}},
    }
)
print(sweep)
found = sweep.yields()[0]
print(found)

# The closed form on the same samples, run by run.
E, m = sweep.data["E"].values, sweep.data["payload"].values
A, I = np.pi * D**2 / 4, np.pi * D**4 / 64
sag = (rho * A * L / 8 + m / 3) * 9.81 * L**3 / (E * I)
assert np.allclose(sweep.data["sag"].values, sag, rtol=1e-6)
assert found.part == np.mean(sag < LIMIT)
# The true yield, from a million samples of the closed form, lies within the confidence interval.
rng = np.random.default_rng(0)
E, m = rng.normal(210e9, 10.5e9, 10**6), rng.normal(1.0, 0.1, 10**6)
sag = (rho * A * L / 8 + m / 3) * 9.81 * L**3 / (E * I)
assert found.low < np.mean(sag < LIMIT) < found.high
