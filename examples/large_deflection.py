"""A leaf spring under a weight that bends it by a third of its length: large deflection by one keyword.

    P L^2 / (E I) = 1:  the tip sags by 0.3017 L and shifts axially by 0.0564 L        [Mattiasson1981], table 2

Linear bending gives 0.3333 L and no axial shift.
"""

import lissom as ls

L = 0.4  # [m]
E = 2.0e11  # [Pa]
thickness = 0.001  # [m]
width = 0.02  # [m]
bending = E * width * thickness**3 / 12
weight = bending / L**2

spring = {
    "name": "spring",
    "joint": {"type": "revolute", "axis": [0, 1, 0]},
    "beam": {
        "path": [[0, 0, 0], [L, 0, 0]],
        "section": {"shape": "rectangle", "y": width, "z": thickness},
        "up": [0, 0, 1],
        # Almost massless: the weight at the tip is the load.
        "material": {"E": E, "nu": 0.3, "density": 1e-3},
    },
}
robot = ls.Robot.from_dict(
    {"name": "spring", "links": [spring], "payload": {"mass": weight / 9.81}}
)


def tip_under_load(robot, stiffening="none"):
    """How far the tip sinks and comes nearer, in lengths."""
    model = ls.Model(robot, stiffening=stiffening)
    x, _, z = model.displacement(model.static(q=[0.0]), "spring/tip")
    return -float(z) / L, -float(x) / L


linear = tip_under_load(robot)
split = robot.replace({"links.spring.beam.segments": 4})
sunk, nearer = tip_under_load(split, "geometric")
print(f"one body: {linear[0]:.4f} L down, {linear[1]:.4f} L nearer")
print(f"four segments: {sunk:.4f} L down, {nearer:.4f} L nearer")

assert abs(linear[0] - 1 / 3) < 1e-3
assert abs(sunk - 0.30172) < 2e-3
assert abs(nearer - 0.05643) < 2e-3
