"""A link of any shape: a solid bar of steel, meshed, checked, reduced, and put into a robot.

    f = 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A))         52.2 Hz, a cantilever 0.4 m long, 10 mm thick in its plane

The same three lines take a STEP file, or matrices of Nastran, Abaqus, CalculiX or Ansys. The mesh is made here, so that
the example runs without gmsh.
"""

import tempfile
from pathlib import Path

import numpy as np
import skfem

import lissom as ls
from lissom.bodies.fe.solid import EDGES, SolidMesh, save_mesh

L, width, height = 0.4, 0.03, 0.01
E, rho = 2.1e11, 7850.0  # the library's steel

# a mesh of 10-node tetrahedra: corners and middles of edges
corners = skfem.MeshTet.init_tensor(
    np.linspace(0, L, 17), np.linspace(0, height, 2), np.linspace(0, width, 3)
)
points = {tuple(p): k for k, p in enumerate(corners.p.T.round(12))}
tets = np.array(
    [
        [
            points.setdefault(
                tuple(corners.p[:, list(nodes)].mean(axis=1).round(12)), len(points)
            )
            for nodes in [[t[i]] for i in range(4)] + [[t[i], t[j]] for i, j in EDGES]
        ]
        for t in corners.t.T
    ]
)
X = np.array(list(points))
folder = Path(tempfile.mkdtemp())
save_mesh(
    SolidMesh(
        X, np.arange(1, len(X) + 1), tets, np.zeros((0, 6), int), np.zeros(0, int)
    ),
    folder / "bar.npz",
)

# check, reduce, save
made = ls.reduce_link(
    folder / "bar.npz", {"inner": "x=0", "tip": f"x={L}"}, material="steel", modes=12
)
print(made.report)
made.save(folder / "link.npz")

# into a robot
joint = {"type": "revolute", "axis": [0, 0, 1]}
robot = ls.Robot.from_dict(
    {
        "name": "bar",
        "links": [
            {"name": "bar", "joint": joint, "fe": {"file": str(folder / "link.npz")}}
        ],
    }
)
found = ls.modes(
    ls.Model(robot, "erls-cms", modes=12), locked=True, count=1
).frequency_hz[0]
expected = 1.8751**2 / (2 * np.pi * L**2) * np.sqrt(E * height**2 / 12 / rho)
print(
    f"first frequency of the solid bar {found:.2f} Hz, of a slender beam {expected:.2f} Hz"
)

assert made.passed
assert abs(expected - 52.2) < 0.1
assert abs(found / expected - 1) < 0.02
