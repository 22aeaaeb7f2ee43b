"""The L-shaped mechanism and the four-dof arm in Exudyn (extra `peers`), each in the form that runs fastest.

Measured over models, frames and integrators of Exudyn 1.13.6. The L-shape: three angles in its frame, five of the six
coordinates of the frame held by constraints, trapezoidal rule. The arm: Euler parameters, revolute joints with springs
and dampers, generalised alpha; the trapezoidal rule with joints on flexible bodies goes to another motion there.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lissom.bodies.link_body import body_of
from lissom.describe.robot import Robot

from .exudyn_arm import link_frames, tip_marker
from .exudyn_pendulum import (
    NEWTON,
    TIGHT_NEWTON,
    PeerModel,
    Workbench,
    craig_bampton,
    exudyn,
    floating_frame,
    point_mesh,
    solver_settings,
    workbench,
)

ABOUT_Y = 4  # the free coordinate of the frame: x, y, z, then three angles


def l_shape(robot: Robot, inner_modes: int) -> PeerModel:
    """The one link of the L-shaped mechanism, let go at rest, undeformed."""
    bench = workbench()
    item, system = bench.item, bench.system
    mesh = point_mesh(body_of(robot, 0))
    modes = craig_bampton(mesh.body, inner_modes)
    info = floating_frame(
        bench, mesh, modes, np.zeros(3), robot.gravity, angles="RotationRxyz"
    )
    ground = system.AddNode(item.NodePointGround())
    held = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for coordinate in range(6):
        if coordinate == ABOUT_Y:
            continue
        own = item.MarkerNodeCoordinate(
            nodeNumber=info["nRigidBody"], coordinate=coordinate
        )
        markers = [held, system.AddMarker(own)]
        system.AddObject(item.CoordinateConstraint(markerNumbers=markers))
    sensor = _position(bench, info["oFFRFreducedOrder"], mesh.cross[0])
    system.Assemble()
    sensors = (sensor,)
    return PeerModel(
        bench.container, system, sensors, TIGHT_NEWTON, "TrapezoidalIndex2"
    )


def _position(bench: Workbench, body: Any, point: int) -> Any:
    sensor = bench.item.SensorSuperElement(
        bodyNumber=body,
        meshNodeNumber=point,
        storeInternal=True,
        outputVariableType=bench.program.OutputVariableType.Position,
    )
    return bench.system.AddSensor(sensor)


@dataclass
class PeerArmUnderControl:
    """The arm with a spring and a damper at each joint: they are its control law."""

    container: Any  # keeps the system alive
    system: Any
    springs: list[Any]
    sensor: Any  # at the tip
    # From when on, and which angles the springs pull to.
    set_points: list[tuple[float, np.ndarray]]

    def run(
        self, t_end: float, step: float, radius: float, *, tight: bool = False
    ) -> np.ndarray:
        """Path of the tip (time, 3) every millisecond (or longer step); the run is split where set-points change."""
        newton = TIGHT_NEWTON if tight else NEWTON
        starts = [t for t, _ in self.set_points]
        ends = [*starts[1:], t_end]
        paths = []
        for (start, angles), end in zip(self.set_points, ends, strict=True):
            for spring, angle in zip(self.springs, angles, strict=True):
                self.system.SetObjectParameter(spring, "offset", angle)
            settings = solver_settings(end, step, radius, newton)
            settings.timeIntegration.startTime = start
            settings.timeIntegration.numberOfSteps = int(round((end - start) / step))
            kind = exudyn().DynamicSolverType.GeneralizedAlpha
            done = self.system.SolveDynamic(
                settings, solverType=kind, updateInitialValues=True
            )
            if not done:
                raise RuntimeError(f"Exudyn did not reach t = {end} s")
            data = np.array(self.system.GetSensorStoredData(self.sensor))
            paths.append(data[:, 1:4] if start == 0.0 else data[1:, 1:4])
        return np.concatenate(paths)


def arm_under_control(robot: Robot, law: Any, inner_modes: int) -> PeerArmUnderControl:
    """An arm of rigid and flexible links under a PD law whose reference jumps, at rest at the first set-point."""
    bench = workbench()
    angles = np.asarray(law.reference.value, dtype=float)
    R, p = link_frames(robot, angles[0])
    R_zero, _ = link_frames(robot, np.zeros(len(robot.links)))
    seat: Any = None
    springs: list[Any] = []
    sensor: Any = None
    for i, link in enumerate(robot.links):
        # The joint's own axes on the link before it, as they stand where the joint reads zero.
        turned = R_zero[i] if i == 0 else R_zero[i - 1].T @ R_zero[i]
        before = _ground(bench, turned) if i == 0 else seat(turned)
        if link.rigid is not None:
            frame, seat, sensor = _rigid_link(bench, robot, i, R[i], p[i])
        else:
            frame, seat, sensor = _flexible_link(
                bench, robot, i, R[i], p[i], inner_modes
            )
        bench.revolute(before, frame)
        spring = bench.item.TorsionalSpringDamper(
            markerNumbers=[before, frame],
            stiffness=float(law.kp[i]),
            damping=float(law.kd[i]),
            offset=float(angles[0, i]),
        )
        springs.append(bench.system.AddObject(spring))
    bench.system.Assemble()
    times = np.asarray(law.reference.t, dtype=float).tolist()
    set_points = list(zip(times, angles, strict=True))
    return PeerArmUnderControl(
        bench.container, bench.system, springs, sensor, set_points
    )


def _ground(bench: Workbench, turned: np.ndarray) -> Any:
    place = bench.program.HT(rotation=turned, translation=[0.0, 0.0, 0.0])
    marker = bench.item.MarkerBodyRigid(bodyNumber=bench.ground, localHT=place)
    return bench.system.AddMarker(marker)


def _rigid_link(bench: Workbench, robot: Robot, i: int, R: np.ndarray, p: np.ndarray):
    """Marker of the link's frame, what makes a seat for the next joint, and a sensor at the tip."""
    item, system = bench.item, bench.system
    rigid: Any = robot.links[i].rigid
    utilities = __import__("exudyn.rigidBodyUtilities", fromlist=["*"])
    turn = utilities.RotationMatrix2EulerParameters(R)
    node = system.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[*p, *turn]))
    centre = np.asarray(rigid.com, dtype=float)
    own = np.diag(np.asarray(rigid.inertia, dtype=float)[:3])
    # About the frame's origin, as the program wants it.
    J = own + rigid.mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    body = system.AddObject(
        item.ObjectRigidBody(
            nodeNumber=node,
            mass=rigid.mass,
            centerOfMass=centre.tolist(),
            inertia=[J[0, 0], J[1, 1], J[2, 2], J[1, 2], J[0, 2], J[0, 1]],
        )
    )
    mass = system.AddMarker(item.MarkerBodyMass(bodyNumber=body))
    weight = item.LoadMassProportional(
        markerNumber=mass, loadVector=list(robot.gravity)
    )
    system.AddLoad(weight)
    tip = np.asarray(rigid.tip, dtype=float).tolist()

    def seat(turned: np.ndarray) -> Any:
        place = bench.program.HT(rotation=turned, translation=tip)
        return system.AddMarker(item.MarkerBodyRigid(bodyNumber=body, localHT=place))

    sensor = item.SensorBody(
        bodyNumber=body,
        localPosition=tip,
        storeInternal=True,
        outputVariableType=bench.program.OutputVariableType.Position,
    )
    return bench.frame_of_node(node), seat, system.AddSensor(sensor)


def _flexible_link(
    bench: Workbench,
    robot: Robot,
    i: int,
    R: np.ndarray,
    p: np.ndarray,
    inner_modes: int,
):
    mesh = point_mesh(body_of(robot, i))
    modes = craig_bampton(mesh.body, inner_modes)
    info = floating_frame(bench, mesh, modes, p, robot.gravity, R)
    body = info["oFFRFreducedOrder"]

    def seat(turned: np.ndarray) -> Any:
        return tip_marker(bench, body, mesh, turned)

    sensor = _position(bench, body, mesh.cross[0])
    return bench.frame_of_node(info["nRigidBody"]), seat, sensor
