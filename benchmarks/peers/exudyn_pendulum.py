"""Flexible pendulums in Exudyn (extra `peers`): floating frames with Craig-Bampton modes, and exact beams.

Joints turn about z, and the frames of all links are parallel to the world's where they read zero.

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
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from lissom.algebra.se3 import rigid_shape
from lissom.bodies.body import Body
from lissom.bodies.link_body import body_of
from lissom.describe.link_geometry import parent_of
from lissom.describe.robot import Robot
from lissom.describe.section import section_values
from lissom.kinematics.chain import GROUND

ARM = 0.01  # [m] reach of the cross that measures the tip's rotation
OUTPUT_DT = 1e-3  # [s]

# Relative and absolute tolerances of the peer's Newton iteration; the tight ones are for references. Exact beams stall
# with those and keep the others.
NEWTON = (1e-6, 1e-7)
TIGHT_NEWTON = (1e-8, 1e-10)


def exudyn() -> Any:
    """The package, in its build without range checks, silent.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    if "exudyn" not in sys.modules:
        sys.exudynFast = True  # type: ignore[attr-defined]
    # It greets on stdout, which may be somebody's JSON.
    with redirect_stdout(io.StringIO()):
        program = import_module("exudyn")
    program.config.printToConsole = False
    return program


@dataclass
class PeerModel:
    """An assembled system and the sensors on the tips of its links."""

    container: Any  # keeps the system alive
    system: Any
    sensors: tuple[Any, ...]
    tight: tuple[float, float] = NEWTON  # that its references can be solved with
    solver: str = "GeneralizedAlpha"

    def run(
        self, t_end: float, step: float, radius: float, *, tight: bool = False
    ) -> np.ndarray:
        """Path of the last tip (time, 3) by generalised alpha with a fixed step, every millisecond (or longer step)."""
        newton = self.tight if tight else NEWTON
        settings = solver_settings(t_end, step, radius, newton)
        kind = getattr(exudyn().DynamicSolverType, self.solver)
        if not self.system.SolveDynamic(settings, solverType=kind):
            raise RuntimeError(
                f"Exudyn did not reach t = {t_end} s with a step of {step} s"
            )
        return self.path(len(self.sensors) - 1)

    def path(self, link: int) -> np.ndarray:
        """Path of the tip of a link (time, 3) in the last run."""
        return np.array(self.system.GetSensorStoredData(self.sensors[link]))[:, 1:4]


class Workbench(NamedTuple):
    """What a model of the peer is put together with."""

    program: Any
    item: Any  # the module with all its items
    container: Any
    system: Any
    ground: Any

    def frame_of_ground(self) -> Any:
        """A marker on the ground at the origin."""
        return self.system.AddMarker(self.item.MarkerBodyRigid(bodyNumber=self.ground))

    def frame_of_node(self, number: Any) -> Any:
        """A marker on a node with position and rotation."""
        return self.system.AddMarker(self.item.MarkerNodeRigid(nodeNumber=number))

    def revolute(self, before: Any, after: Any) -> None:
        """A joint about z between two markers."""
        joint = self.item.ObjectJointRevoluteZ(markerNumbers=[before, after])
        self.system.AddObject(joint)


def workbench() -> Workbench:
    """An empty system with its ground."""
    program = exudyn()
    item = import_module("exudyn.itemInterface")
    container = program.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(item.ObjectGround())
    return Workbench(program, item, container, system, ground)


def floating_frames(robot: Robot, inner_modes: int) -> PeerModel:
    """Links as floating frames clamped at their joints: six constraint modes of the tip, `inner_modes` more."""
    bench = workbench()
    item = bench.item
    # Marker and place of each tip, those of the ground for links that stand on it.
    tips = {GROUND: (bench.frame_of_ground(), np.zeros(3))}
    sensors = []
    for i in range(len(robot.links)):
        parent = parent_of(robot.links, i)
        before, start = tips[GROUND if parent is None else parent]
        mesh = point_mesh(body_of(robot, i))
        modes = craig_bampton(mesh.body, inner_modes)
        info = floating_frame(bench, mesh, modes, start, robot.gravity)
        bench.revolute(before, bench.frame_of_node(info["nRigidBody"]))
        body = info["oFFRFreducedOrder"]
        # The next joint sits on the seven points around the tip, each with the same weight.
        cross = item.MarkerSuperElementRigid(
            bodyNumber=body,
            meshNodeNumbers=mesh.cross,
            weightingFactors=[1 / 7] * 7,
        )
        tips[i] = (bench.system.AddMarker(cross), start + mesh.body.points[-1])
        sensor = item.SensorSuperElement(
            bodyNumber=body,
            meshNodeNumber=mesh.cross[0],
            storeInternal=True,
            outputVariableType=bench.program.OutputVariableType.Position,
        )
        sensors.append(bench.system.AddSensor(sensor))
    bench.system.Assemble()
    return PeerModel(bench.container, bench.system, tuple(sensors), TIGHT_NEWTON)


def exact_beams(robot: Robot) -> PeerModel:
    """Both links of geometrically exact beam elements: large rotations and strains, shear, rotary inertia."""
    bench = workbench()
    before = bench.frame_of_ground()
    start = np.zeros(3)
    sensors = []
    for i in range(len(robot.links)):
        points = start + np.asarray(body_of(robot, i).points)
        nodes = _exact_link(bench, robot, i, points)
        bench.revolute(before, bench.frame_of_node(nodes[0]))
        before = bench.frame_of_node(nodes[-1])
        start = points[-1]
        sensor = bench.item.SensorNode(
            nodeNumber=nodes[-1],
            outputVariableType=bench.program.OutputVariableType.Position,
            storeInternal=True,
        )
        sensors.append(bench.system.AddSensor(sensor))
    bench.system.Assemble()
    return PeerModel(bench.container, bench.system, tuple(sensors))


# --- a link as points with mass ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PointMesh:
    """Points of a link: where they are, their masses, and how they move with the nodal displacements."""

    body: Body
    points: np.ndarray  # (p, 3)
    masses: np.ndarray  # (p,)
    shapes: np.ndarray  # (p, 3, c)
    cross: list[int]  # the tip and six points around it
    centre: int  # a point that moves as the centre of mass does


def point_mesh(body: Body) -> PointMesh:
    """Four massive points for every station, a massless cross at the tip, a massless centre of mass."""
    stations = [_station_points(body, s) for s in range(len(body.station_inertia))]
    points = np.concatenate([station.points for station in stations])
    shapes = np.concatenate([station.shapes for station in stations])
    masses = np.concatenate([station.masses for station in stations])
    share = masses / masses.sum()
    centre = share @ points
    centre_shape = np.einsum("p,pic->ic", share, shapes)
    # The tip itself, and one point to either side of it along each axis.
    directions = [np.zeros((1, 3)), np.eye(3), -np.eye(3)]
    arms = ARM * np.concatenate(directions)
    cross = body.points[-1] + arms
    cross_shapes = _moved(np.asarray(body.node_shape)[-1], arms)
    first = len(masses)
    return PointMesh(
        body=body,
        points=np.concatenate([points, cross, centre[None]]),
        masses=np.concatenate([masses, np.zeros(8)]),
        shapes=np.concatenate([shapes, cross_shapes, centre_shape[None]]),
        cross=list(range(first, first + 7)),
        centre=first + 7,
    )


class _Station(NamedTuple):
    """The points that stand for one inertia station."""

    points: np.ndarray
    shapes: np.ndarray
    masses: np.ndarray


def _station_points(body: Body, s: int) -> _Station:
    """Four points at the radii of gyration of a station."""
    inertia = np.asarray(body.station_inertia)[s]
    mass = inertia[0, 0]
    rotary = inertia[3:, 3:]
    # Second moments of the mass: the inertia tensor J is tr(S) I - S, and tr(J) = 2 tr(S).
    second_moments = 0.5 * np.trace(rotary) * np.eye(3) - rotary
    moments, axes = np.linalg.eigh(second_moments)
    # A slender station has none along the beam, the smallest one: the points lie in the section.
    radii = np.sqrt(np.maximum(moments, 0.0) / mass)
    first = radii[1] * axes[:, 1]
    second = radii[2] * axes[:, 2]
    corners = (first + second, first - second, -first + second, -first - second)
    offsets = np.array(corners)
    # Where the station is, out of its rigid shape B = [[I, -X x], [0, I]].
    B = np.asarray(body.station_rigid)[s]
    position = np.array([B[1, 5], B[2, 3], B[0, 4]])
    shapes = _moved(np.asarray(body.station_shape)[s], offsets)
    return _Station(position + offsets, shapes, np.full(4, mass / 4))


def _moved(shape: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Displacement (p, 3, c) of points at `offsets` from where displacement and rotation are shape (6, c)."""
    return np.stack([(rigid_shape(offset) @ shape)[:3] for offset in offsets])


def craig_bampton(body: Body, inner_modes: int) -> np.ndarray:
    """Columns (c, 6 + inner_modes) over all nodal displacements, inner node clamped, diagonal in mass and stiffness.

    Constraint modes of the tip's six displacements, and the lowest modes with the tip held too [CraigBampton1968].
    """
    K = np.asarray(body.stiffness)
    M = np.asarray(body.mass_matrix)
    c = len(K)
    tip = slice(c - 6, c)
    inside = slice(6, c - 6)
    K_ii = K[inside, inside]
    # A link of one element has nothing inside.
    inner_modes = min(inner_modes, len(K_ii))
    basis = np.zeros((c, 6 + inner_modes))
    basis[tip, :6] = np.eye(6)
    if inner_modes:
        _, inner = scipy.linalg.eigh(K_ii, M[inside, inside])
        basis[inside, :6] = -np.linalg.solve(K_ii, K[inside, tip])
        basis[inside, 6:] = inner[:, :inner_modes]
    # The modes of the reduced link make both its matrices diagonal, as the peer is fastest with.
    _, mix = scipy.linalg.eigh(basis.T @ K @ basis, basis.T @ M @ basis)
    return basis @ mix


# --- items of the peer ---------------------------------------------------------------------------------------------


def floating_frame(
    bench: Workbench,
    mesh: PointMesh,
    modes: np.ndarray,
    start: np.ndarray,
    gravity: Sequence[float],
    rotation: np.ndarray = np.eye(3),  # noqa: B008 (never written to)
    angles: str = "RotationEulerParameters",
) -> dict:
    """A link as a floating frame at `start`, turned by `rotation`, under gravity; `angles` name the frame's own."""
    finite_elements = import_module("exudyn.FEM")
    size = 3 * len(mesh.points)
    fem = finite_elements.FEMinterface()
    fem.nodes = {"Position": mesh.points}
    fem.massMatrix = scipy.sparse.diags(np.repeat(mesh.masses, 3)).tocsr()
    # The points know nothing of the beam between them: the reduced stiffness is put in below.
    fem.stiffnessMatrix = scipy.sparse.csr_matrix((size, size))
    basis = mesh.shapes.reshape(size, -1) @ modes
    fem.modeBasis = {"matrix": basis, "type": "HCBmodes"}
    reduced = finite_elements.ObjectFFRFreducedOrderInterface(
        fem, rigidBodyNodeType=f"NodeType.{angles}"
    )
    stiffness = modes.T @ np.asarray(mesh.body.stiffness) @ modes
    reduced.stiffnessMatrixReduced = np.diag(np.diag(stiffness))
    info = reduced.AddObjectFFRFreducedOrder(
        bench.system, positionRef=list(start), rotationMatrixRef=rotation
    )
    centre = bench.item.MarkerSuperElementPosition(
        bodyNumber=info["oFFRFreducedOrder"],
        meshNodeNumbers=[mesh.centre],
        weightingFactors=[1.0],
    )
    marker = bench.system.AddMarker(centre)
    weight = mesh.masses.sum() * np.asarray(gravity, dtype=float)
    load = bench.item.Force(markerNumber=marker, loadVector=list(weight))
    bench.system.AddLoad(load)
    return info


def _exact_link(
    bench: Workbench, robot: Robot, i: int, points: np.ndarray
) -> list[Any]:
    """Nodes of one straight link along x."""
    item = bench.item
    section = _beam_section(bench.program, robot, i)
    # Euler parameters without rotation: section axes are the link's.
    still = [1.0, 0.0, 0.0, 0.0]
    nodes = []
    for point in points:
        node = item.NodeRigidBodyEP(referenceCoordinates=[*point, *still])
        nodes.append(bench.system.AddNode(node))
    for k in range(len(nodes) - 1):
        beam = item.ObjectBeamGeometricallyExact(
            nodeNumbers=[nodes[k], nodes[k + 1]],
            length=float(np.linalg.norm(points[k + 1] - points[k])),
            sectionData=section,
        )
        element = bench.system.AddObject(beam)
        marker = bench.system.AddMarker(item.MarkerBodyMass(bodyNumber=element))
        weight = item.LoadMassProportional(
            markerNumber=marker, loadVector=list(robot.gravity)
        )
        bench.system.AddLoad(weight)
    return nodes


def _beam_section(program: Any, robot: Robot, i: int) -> Any:
    """Inertia and stiffness of the section of link i."""
    beam: Any = robot.links[i].beam
    s: Any = section_values(beam.section, beam.material.nu)
    E = beam.material.E
    G = beam.material.shear_modulus
    rho = beam.material.density
    section = program.BeamSection()
    section.massPerLength = rho * s.area
    moments = [s.polar_moment, s.second_moment_y, s.second_moment_z]
    section.inertia = rho * np.diag(moments)
    stiffness = [
        E * s.area,
        s.shear_factor_y * G * s.area,
        s.shear_factor_z * G * s.area,
        G * s.torsion_constant,
        E * s.second_moment_y,
        E * s.second_moment_z,
    ]
    section.stiffnessMatrix = np.diag(stiffness)
    return section


def solver_settings(
    t_end: float, step: float, radius: float, newton: tuple[float, float]
) -> Any:
    """Generalised alpha, index 3, modified Newton, one thread, dense solver: the fastest for these sizes."""
    exu = exudyn()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = max(OUTPUT_DT, step)
    time = settings.timeIntegration
    time.endTime = t_end
    time.numberOfSteps = int(round(t_end / step))
    time.verboseMode = 0
    time.newton.useModifiedNewton = True
    time.newton.relativeTolerance = newton[0]
    time.newton.absoluteTolerance = newton[1]
    time.generalizedAlpha.spectralRadius = radius
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    settings.parallel.numberOfThreads = 1
    return settings
