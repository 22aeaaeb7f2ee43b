"""A robot of your own, written in code or in YAML: an L-shaped arm that carries a weight at its end.

    w = F (a^3 + b^3) / (3 E I) + F a b^2 / (G J)          5.384 mm under 0.5 kg, above its own sag

Bending of both legs and torsion of the first; J is the Saint-Venant constant of the section.
"""

import tempfile
from pathlib import Path

import numpy as np

import lissom as ls

YAML = """
lissom: 1
name: elbow
links:
  - name: arm
    joint: {type: revolute, axis: [0, 0, 1]}
    beam:
      path: [[0, 0, 0], [400 mm, 0, 0], [400 mm, 300 mm, 0]]
      section: {shape: circle, diameter: 12 mm}
      material: {E: 70 GPa, nu: 0.33, density: 2.7 g/cm^3}
      elements: 2
payload: {mass: 0.5}
"""
file = Path(tempfile.mkdtemp()) / "elbow.yaml"
file.write_text(YAML)
robot = ls.Robot.load(file)
robot.save(file)  # what is saved loads as an equal robot
assert ls.Robot.load(file) == robot


def sag(payload):
    """Height of the tip [m] against the rigid arm."""
    model = ls.Model(robot.replace({"payload.mass": payload}))
    state = model.static([0.0])
    return float(model.displacement(state, "arm/tip")[2])


measured = sag(0.5) - sag(0.0)

a = 0.4  # first leg [m]
b = 0.3  # second leg [m]
d = 0.012  # diameter [m]
E = 70e9
G = E / (2 * (1 + 0.33))
I = np.pi * d**4 / 64
J = np.pi * d**4 / 32
F = 0.5 * 9.81
bending = F * (a**3 + b**3) / (3 * E * I)
torsion = F * a * b**2 / (G * J)
expected = -(bending + torsion)
print(f"the weight lowers the tip by {1e3 * measured:.4f} mm")
print(f"bending and torsion together: {1e3 * expected:.4f} mm")
assert abs(measured / expected - 1) < 1e-8
