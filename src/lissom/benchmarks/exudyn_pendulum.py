"""The flexible double pendulum in Exudyn (extra `peers`): floating frames with Craig-Bampton modes, and exact beams.

The floating-frame bodies get the very matrices of our own links. Exudyn's reduced bodies are made of mesh points with
three displacements and a mass each, so every inertia station becomes four points at the radii of gyration: their mass,
first and second moments, and hence the consistent mass matrix with rotary inertia, are those of the station. Points
without mass carry the joints (a cross around the tip), and gravity: the program's own mass-proportional load turns the
body about its undeformed centre of mass, a force on the deformed one is exact.
"""

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from ..algebra.se3 import rigid_shape
from ..bodies.body import Body
from ..bodies.link_body import body_of
from ..describe.robot import Robot
from ..describe.section import section_values

ARM = 0.01  # [m] reach of the cross that measures the tip's rotation
OUTPUT_DT = 1e-3  # [s]
NEWTON = (1e-6, 1e-7)  # relative, absolute
TIGHT_NEWTON = (
    1e-8,
    1e-10,
)  # for references; exact beams stall with them and keep the others


def exudyn() -> Any:
    """The package, in its build without range checks, silent.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    if "exudyn" not in sys.modules:
        sys.exudynFast = True  # type: ignore[attr-defined]
    with redirect_stdout(
        io.StringIO()
    ):  # it greets on stdout, which may be somebody's JSON
        program = import_module("exudyn")
    program.config.printToConsole = False
    return program


@dataclass
class PeerModel:
    """An assembled system and the sensor on its tip."""

    container: Any  # keeps the system alive
    system: Any
    sensor: Any
    tight: tuple[float, float] = (
        NEWTON  # tolerances that its references can be solved with
    )

    def run(
        self, t_end: float, step: float, radius: float, *, tight: bool = False
    ) -> np.ndarray:
        """Path of the tip (time, 3) by generalised alpha with a fixed step, every millisecond (or longer step)."""
        newton = self.tight if tight else NEWTON
        if not self.system.SolveDynamic(_settings(t_end, step, radius, newton)):
            raise RuntimeError(
                f"Exudyn did not reach t = {t_end} s with a step of {step} s"
            )
        return np.array(self.system.GetSensorStoredData(self.sensor))[:, 1:4]


def floating_frames(robot: Robot, inner_modes: int) -> PeerModel:
    """Both links as floating frames clamped at their joints: six constraint modes of the tip, `inner_modes` more."""
    exu, item, container, system, ground = _empty()
    before, start = _marker(system, item, ground, node=False), np.zeros(3)
    tip = -1
    for i in range(len(robot.links)):
        mesh = mesh_of(body_of(robot, i))
        info = _floating_frame(
            system,
            item,
            mesh,
            craig_bampton(mesh.body, inner_modes),
            start,
            robot.gravity,
        )
        own = _marker(system, item, info["nRigidBody"], node=True)
        system.AddObject(item.ObjectJointRevoluteZ(markerNumbers=[before, own]))
        cross = dict(
            bodyNumber=info["oFFRFreducedOrder"],
            meshNodeNumbers=mesh.cross,
            weightingFactors=[1 / 7] * 7,
        )
        before = system.AddMarker(item.MarkerSuperElementRigid(**cross))
        start = start + mesh.body.points[-1]
        seen = dict(
            bodyNumber=info["oFFRFreducedOrder"],
            meshNodeNumber=mesh.cross[0],
            storeInternal=True,
        )
        tip = system.AddSensor(
            item.SensorSuperElement(
                outputVariableType=exu.OutputVariableType.Position, **seen
            )
        )
    system.Assemble()
    return PeerModel(container, system, tip, TIGHT_NEWTON)


def exact_beams(robot: Robot) -> PeerModel:
    """Both links of geometrically exact beam elements: large rotations and strains, shear, rotary inertia."""
    exu, item, container, system, ground = _empty()
    before, start, tip = _marker(system, item, ground, node=False), np.zeros(3), -1
    for i in range(len(robot.links)):
        nodes = _exact_link(exu, system, item, robot, i, start)
        own = _marker(system, item, nodes[0], node=True)
        system.AddObject(item.ObjectJointRevoluteZ(markerNumbers=[before, own]))
        before, start = (
            _marker(system, item, nodes[-1], node=True),
            start + body_of(robot, i).points[-1],
        )
        position = exu.OutputVariableType.Position
        tip = system.AddSensor(
            item.SensorNode(
                nodeNumber=nodes[-1], outputVariableType=position, storeInternal=True
            )
        )
    system.Assemble()
    return PeerModel(container, system, tip)


# --- a link as points with mass ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mesh:
    """Points of a link: where they are, their masses, and how they move with the nodal displacements."""

    body: Body
    points: np.ndarray  # (p, 3)
    masses: np.ndarray  # (p,)
    shapes: np.ndarray  # (p, 3, c)
    cross: list[int]  # the tip and six points around it
    centre: int  # a point that moves as the centre of mass does


def mesh_of(body: Body) -> Mesh:
    """Four massive points for every station, a massless cross at the tip, a massless centre of mass."""
    stations = [_station_points(body, s) for s in range(len(body.station_inertia))]
    points, shapes = (np.concatenate([part[k] for part in stations]) for k in (0, 1))
    masses = np.concatenate([part[2] for part in stations])
    arms = ARM * np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
    share = masses / masses.sum()
    points = np.concatenate([points, body.points[-1] + arms, (share @ points)[None]])
    around = _moved(np.asarray(body.node_shape)[-1], arms)
    shapes = np.concatenate(
        [shapes, around, np.einsum("p,pic->ic", share, shapes)[None]]
    )
    first = len(masses)
    return Mesh(
        body,
        points,
        np.concatenate([masses, np.zeros(8)]),
        shapes,
        list(range(first, first + 7)),
        first + 7,
    )


def _station_points(body: Body, s: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, shapes and masses of the four points of a station."""
    inertia, B = np.asarray(body.station_inertia)[s], np.asarray(body.station_rigid)[s]
    mass, rotary = inertia[0, 0], inertia[3:, 3:]
    moments, axes = np.linalg.eigh(
        0.5 * np.trace(rotary) * np.eye(3) - rotary
    )  # second moments of the mass
    first, second = (np.sqrt(max(moments[k], 0.0) / mass) * axes[:, k] for k in (1, 2))
    offsets = np.array([a * first + b * second for a in (1, -1) for b in (1, -1)])
    position = np.array([B[1, 5], B[2, 3], B[0, 4]])  # B = [[I, -X x], [0, I]]
    return (
        position + offsets,
        _moved(np.asarray(body.station_shape)[s], offsets),
        np.full(4, mass / 4),
    )


def _moved(shape: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Displacement (p, 3, c) of points at `offsets` from where displacement and rotation are shape (6, c)."""
    return np.stack([(rigid_shape(offset) @ shape)[:3] for offset in offsets])


def craig_bampton(body: Body, inner_modes: int) -> np.ndarray:
    """Columns (c, 6 + inner_modes) over all nodal displacements, inner node clamped, diagonal in mass and stiffness.

    Constraint modes of the tip's six displacements, and the lowest modes with the tip held too [CraigBampton1968].
    """
    K, M = np.asarray(body.stiffness), np.asarray(body.mass_matrix)
    c = len(K)
    tip, inside = slice(c - 6, c), slice(6, c - 6)
    basis = np.zeros((c, 6 + inner_modes))
    basis[tip, :6] = np.eye(6)
    basis[inside, :6] = -np.linalg.solve(K[inside, inside], K[inside, tip])
    basis[inside, 6:] = scipy.linalg.eigh(K[inside, inside], M[inside, inside])[1][
        :, :inner_modes
    ]
    _, mix = scipy.linalg.eigh(basis.T @ K @ basis, basis.T @ M @ basis)
    return basis @ mix


# --- items of the peer ---------------------------------------------------------------------------------------------


def _empty() -> tuple[Any, Any, Any, Any, Any]:
    """The program, its items, a container, an empty system in it, and the ground."""
    exu, item = exudyn(), import_module("exudyn.itemInterface")
    container = exu.SystemContainer()
    system = container.AddSystem()
    return exu, item, container, system, system.AddObject(item.ObjectGround())


def _marker(system, item, number: Any, node: bool) -> Any:
    """A frame on the ground or on a node."""
    if node:
        return system.AddMarker(item.MarkerNodeRigid(nodeNumber=number))
    return system.AddMarker(item.MarkerBodyRigid(bodyNumber=number))


def _floating_frame(
    system,
    item,
    mesh: Mesh,
    modes: np.ndarray,
    start: np.ndarray,
    gravity: Sequence[float],
) -> dict:
    finite_elements = import_module("exudyn.FEM")
    size = 3 * len(mesh.points)
    fem = finite_elements.FEMinterface()
    fem.nodes = {"Position": mesh.points}
    fem.massMatrix = scipy.sparse.diags(np.repeat(mesh.masses, 3)).tocsr()
    fem.stiffnessMatrix = scipy.sparse.csr_matrix(
        (size, size)
    )  # the reduced one is put in below
    fem.modeBasis = {
        "matrix": mesh.shapes.reshape(size, -1) @ modes,
        "type": "HCBmodes",
    }
    reduced = finite_elements.ObjectFFRFreducedOrderInterface(fem)
    stiffness = modes.T @ np.asarray(mesh.body.stiffness) @ modes
    reduced.stiffnessMatrixReduced = np.diag(np.diag(stiffness))
    info = reduced.AddObjectFFRFreducedOrder(
        system, positionRef=list(start), rotationMatrixRef=np.eye(3)
    )
    at = dict(
        bodyNumber=info["oFFRFreducedOrder"],
        meshNodeNumbers=[mesh.centre],
        weightingFactors=[1.0],
    )
    weight = mesh.masses.sum() * np.asarray(gravity, dtype=float)
    marker = system.AddMarker(item.MarkerSuperElementPosition(**at))
    system.AddLoad(item.Force(markerNumber=marker, loadVector=list(weight)))
    return info


def _exact_link(
    exu, system, item, robot: Robot, i: int, start: np.ndarray
) -> list[Any]:
    """Nodes of one straight link along x."""
    beam: Any = robot.links[i].beam
    s: Any = section_values(beam.section, beam.material.nu)
    E, G, rho = beam.material.E, beam.material.shear_modulus, beam.material.density
    values = exu.BeamSection()
    values.massPerLength = rho * s.area
    values.inertia = rho * np.diag(
        [s.polar_moment, s.second_moment_y, s.second_moment_z]
    )
    shear = s.shear_factor_y * G * s.area, s.shear_factor_z * G * s.area
    bending = G * s.torsion_constant, E * s.second_moment_y, E * s.second_moment_z
    values.stiffnessMatrix = np.diag([E * s.area, *shear, *bending])
    points = start + np.asarray(body_of(robot, i).points)
    still = [1.0, 0.0, 0.0, 0.0]  # Euler parameters: section axes are the link's
    nodes = [
        system.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[*point, *still]))
        for point in points
    ]
    for k in range(len(nodes) - 1):
        length = float(np.linalg.norm(points[k + 1] - points[k]))
        pair = dict(
            nodeNumbers=[nodes[k], nodes[k + 1]], length=length, sectionData=values
        )
        element = system.AddObject(item.ObjectBeamGeometricallyExact(**pair))
        weight = system.AddMarker(item.MarkerBodyMass(bodyNumber=element))
        system.AddLoad(
            item.LoadMassProportional(
                markerNumber=weight, loadVector=list(robot.gravity)
            )
        )
    return nodes


def _settings(
    t_end: float, step: float, radius: float, newton: tuple[float, float]
) -> Any:
    """Generalised alpha, index 3, modified Newton, one thread, dense solver: the fastest for these sizes."""
    exu = exudyn()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = max(OUTPUT_DT, step)
    time = settings.timeIntegration
    time.endTime, time.numberOfSteps, time.verboseMode = (
        t_end,
        int(round(t_end / step)),
        0,
    )
    time.newton.useModifiedNewton = True
    time.newton.relativeTolerance, time.newton.absoluteTolerance = newton
    time.generalizedAlpha.spectralRadius = radius
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    settings.parallel.numberOfThreads = 1
    return settings
