"""The slope of a result: how the sag of a rod changes with its Young's modulus and its length.

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
    model = ls.Model(
        robot.replace({"links.rod.beam.material.E": E, "links.rod.joint.dh.a": L})
    )
    return model.displacement(model.static([0.0]), "rod/tip")[2]


E, L = 7.0e10, 0.5
w, (dw_dE, dw_dL) = jax.value_and_grad(sag, argnums=(0, 1))(E, L)
print(
    f"sag {1e3 * w:.4f} mm;  E/w dw/dE = {E / w * dw_dE:.9f},  L/w dw/dL = {L / w * dw_dL:.9f}"
)
assert abs(E / w * dw_dE + 1) < 1e-7
assert abs(L / w * dw_dL - 4) < 1e-6
