"""The derivative of a result: how the sag of a rod changes with its Young's modulus and its length.

w = rho A g L^4 / (8 E I)      =>      E/w dw/dE = -1,    L/w dw/dL = 4
"""

import jax

import lissom as ls

robot = ls.Robot.from_dict(
    {
        "name": "rod",
        "links": [
            {
                "name": "rod",
                "joint": {"type": "revolute", "dh": {"a": 0.5}},
                "beam": {
                    "section": {"shape": "tube", "outer": "20 mm", "inner": "16 mm"},
                    "material": "aluminium",
                    "elements": 1,
                },
            }
        ],
    }
)


def sag(E, L):
    """Tip deflection [m] of the rod with another modulus and another length."""
    changed = robot.replace({"links.rod.beam.material.E": E, "links.rod.joint.dh.a": L})
    model = ls.Model(changed)
    state = model.static([0.0])
    return model.displacement(state, "rod/tip")[2]


E = 7.0e10
L = 0.5
w, (dw_dE, dw_dL) = jax.value_and_grad(sag, argnums=(0, 1))(E, L)
by_modulus = E / w * dw_dE
by_length = L / w * dw_dL
print(f"sag {1e3 * w:.4f} mm")
print(f"E/w dw/dE = {by_modulus:.9f},  L/w dw/dL = {by_length:.9f}")
assert abs(by_modulus + 1) < 1e-7
assert abs(by_length - 4) < 1e-6
