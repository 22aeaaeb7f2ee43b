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

L = 0.4  # length [m]
height = 0.01  # [m], in the plane of bending
width = 0.03  # [m]
folder = Path(tempfile.mkdtemp())


def quadratic_mesh(corners):
    """A mesh of 10-node tetrahedra from one of 4-node tetrahedra: nodes at the corners, then amid the edges."""
    numbers = {}
    tets = []
    for tet in corners.t.T:
        points = [corners.p[:, node] for node in tet]
        points += [(points[i] + points[j]) / 2 for i, j in EDGES]
        nodes = []
        for point in points:
            # Neighbouring tetrahedra share nodes: the same point has the same number.
            place = tuple(point.round(12))
            nodes.append(numbers.setdefault(place, len(numbers)))
        tets.append(nodes)
    return SolidMesh(
        points=np.array(list(numbers)),
        labels=np.arange(1, len(numbers) + 1),
        tets=np.array(tets),
        triangles=np.zeros((0, 6), int),
        faces=np.zeros(0, int),
    )


corners = skfem.MeshTet.init_tensor(
    np.linspace(0, L, 17), np.linspace(0, height, 2), np.linspace(0, width, 3)
)
save_mesh(quadratic_mesh(corners), folder / "bar.npz")

# Check, reduce, save: the link is held at its two ends.
interface = {"inner": "x=0", "tip": f"x={L}"}
link = ls.reduce_link(folder / "bar.npz", interface, material="steel", modes=12)
print(link.report)
link.save(folder / "link.npz")

# Into a robot.
bar = {
    "name": "bar",
    "joint": {"type": "revolute", "axis": [0, 0, 1]},
    "fe": {"file": str(folder / "link.npz")},
}
robot = ls.Robot.from_dict({"name": "bar", "links": [bar]})
model = ls.Model(robot, "erls-cms", modes=12)
modes = ls.modes(model, locked=True, count=1)
frequency = modes.frequency_hz[0]

E = 2.1e11  # the library's steel
rho = 7850.0
expected = 1.8751**2 / (2 * np.pi * L**2) * np.sqrt(E * height**2 / 12 / rho)
print(f"first frequency of the solid bar {frequency:.2f} Hz")
print(f"first frequency of a slender beam {expected:.2f} Hz")
assert link.passed
assert abs(expected - 52.2) < 0.1
assert abs(frequency / expected - 1) < 0.02
