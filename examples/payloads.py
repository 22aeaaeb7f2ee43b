"""A hundred payloads in one call: the sag of a rod under each of them.

w(m) = (rho A L / 8 + m / 3) g L^3 / (E I)         m = 0 .. 2 kg
"""

import jax
import jax.numpy as jnp
import numpy as np

import lissom as ls

L = 0.6  # length [m]
D = 0.02  # diameter [m]
E = 2.1e11  # Young's modulus [Pa]
rho = 7850.0  # density [kg/m^3]

robot = ls.Robot.from_dict(
    {
        "name": "rod",
        "links": [
            {
                "name": "rod",
                "joint": {"type": "revolute", "dh": {"a": L}},
                "beam": {
                    "section": {"shape": "circle", "diameter": D},
                    "material": {"E": E, "nu": 0.3, "density": rho},
                    "elements": 1,
                },
            }
        ],
        "payload": {"mass": 1.0},
    }
)


def sag(mass):
    """Tip deflection [m] under a payload [kg]."""
    model = ls.Model(robot.replace({"payload.mass": mass}))
    state = model.static([0.0])
    return model.displacement(state, "rod/tip")[2]


masses = jnp.linspace(0.0, 2.0, 100)
sags = jax.vmap(sag)(masses)
print(f"sag {1e3 * sags[0]:.4f} mm without payload, {1e3 * sags[-1]:.4f} mm with 2 kg")

A = np.pi * D**2 / 4
I = np.pi * D**4 / 64
exact = -(rho * A * L / 8 + masses / 3) * 9.81 * L**3 / (E * I)
assert np.allclose(sags, exact, rtol=1e-8)
