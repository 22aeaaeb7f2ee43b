"""Serial arms of flexible links in Exudyn (extra `peers`): floating frames with Craig-Bampton modes, any revolute axes.

Links, joints and loads are those of `exudyn_pendulum`; here the links may be bent, the joints turn about any axis, a
torque drives the first joint, and Rayleigh damping acts. In a floating frame `alpha` damps what a link moves against
its own frame: with `beta` alone the peer and we mean the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from lissom.bodies.link_body import body_of
from lissom.describe.robot import Robot
from lissom.solve.model import Model

from .exudyn_pendulum import (
    NEWTON,
    PointMesh,
    Workbench,
    craig_bampton,
    floating_frame,
    point_mesh,
    solver_settings,
    workbench,
)

Torque = Callable[[float], float]


@dataclass
class PeerArm:
    """An assembled arm and the sensors on its nodes."""

    container: Any  # keeps the system alive
    system: Any
    sensors: dict[str, Any]

    def run(
        self, t_end: float, step: float, radius: float = 0.9
    ) -> dict[str, np.ndarray]:
        """Time, and the path (time, 3) of every node, by generalised alpha with a fixed step."""
        settings = solver_settings(t_end, step, radius, NEWTON)
        if not self.system.SolveDynamic(settings):
            raise RuntimeError(
                f"Exudyn did not reach t = {t_end} s with a step of {step} s"
            )
        paths = {}
        for name, sensor in self.sensors.items():
            data = np.array(self.system.GetSensorStoredData(sensor))
            paths["time"] = data[:, 0]
            paths[name] = data[:, 1:4]
        return paths


def floating_arm(
    robot: Robot, q: Any, inner_modes: int = 6, torque: Torque | None = None
) -> PeerArm:
    """The arm at the joint coordinates q, at rest, its links undeformed; `torque` drives the first joint."""
    bench = workbench()
    R, p = link_frames(robot, q)
    seat = bench.frame_of_ground()
    seat_R = np.eye(3)
    sensors: dict[str, Any] = {}
    for i, link in enumerate(robot.links):
        # Joints by Denavit and Hartenberg name no axis: it is z.
        axis = np.asarray(link.joint.axis or (0.0, 0.0, 1.0), dtype=float)
        mesh = _with_nodes(point_mesh(body_of(robot, i)))
        modes = craig_bampton(mesh.body, inner_modes)
        info = floating_frame(bench, mesh, modes, p[i], robot.gravity, R[i])
        _damp(bench, robot, mesh, modes, info)
        frame = bench.frame_of_node(info["nRigidBody"])
        if i == 0 and torque is not None:
            _drive(bench, frame, axis, torque)
        _hinge(bench, seat, frame, seat_R.T @ R[i], axis)
        # The next joint sits on the tip of this link.
        body = info["oFFRFreducedOrder"]
        seat = tip_marker(bench, body, mesh)
        seat_R = R[i]
        sensors |= _node_sensors(bench, body, mesh, link.name)
    bench.system.Assemble()
    return PeerArm(bench.container, bench.system, sensors)


def link_frames(robot: Robot, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rotations and origins of the link frames at the joint coordinates q."""
    model = Model(robot, "erls-fem")
    place = model.formulation.configuration(jnp.asarray(model.at(q).x))
    return np.asarray(place.R), np.asarray(place.p)


def _hinge(
    bench: Workbench, seat: Any, frame: Any, turned: np.ndarray, axis: np.ndarray
) -> None:
    """A revolute joint about an axis of the outer link, whose frame stands `turned` against the seat's."""
    z = _z_along(axis)
    joint = bench.item.ObjectJointRevoluteZ(
        markerNumbers=[seat, frame], rotationMarker0=turned @ z, rotationMarker1=z
    )
    bench.system.AddObject(joint)


def _z_along(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z is the axis."""
    z = axis / np.linalg.norm(axis)
    helper = np.eye(3)[np.argmin(np.abs(z))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _with_nodes(mesh: PointMesh) -> PointMesh:
    """The mesh with a massless point at every node, after all others."""
    body = mesh.body
    shapes = np.asarray(body.node_shape)[:, :3]
    count = len(body.points)
    return replace(
        mesh,
        points=np.concatenate([mesh.points, np.asarray(body.points)]),
        masses=np.concatenate([mesh.masses, np.zeros(count)]),
        shapes=np.concatenate([mesh.shapes, shapes]),
    )


def tip_marker(
    bench: Workbench,
    body: Any,
    mesh: PointMesh,
    turned: np.ndarray = np.eye(3),  # noqa: B008 (never written to)
) -> Any:
    """A frame on the seven points around the tip, each with the same weight, `turned` against the link's."""
    cross = bench.item.MarkerSuperElementRigid(
        bodyNumber=body,
        meshNodeNumbers=mesh.cross,
        weightingFactors=[1 / 7] * 7,
        localHT=bench.program.HT(rotation=turned, translation=[0.0, 0.0, 0.0]),
    )
    return bench.system.AddMarker(cross)


def _node_sensors(
    bench: Workbench, body: Any, mesh: PointMesh, link: str
) -> dict[str, Any]:
    count = len(mesh.body.points)
    first = len(mesh.points) - count
    sensors = {}
    for k in range(count):
        sensor = bench.item.SensorSuperElement(
            bodyNumber=body,
            meshNodeNumber=first + k,
            storeInternal=True,
            outputVariableType=bench.program.OutputVariableType.Position,
        )
        sensors[f"{link}/{k}"] = bench.system.AddSensor(sensor)
    return sensors


def _damp(
    bench: Workbench, robot: Robot, mesh: PointMesh, modes: np.ndarray, info: dict
) -> None:
    """Rayleigh damping over the modes: alpha on the mass as the link's own frame sees it, beta on the stiffness."""
    damping = robot.damping
    if damping is None:
        return
    K = modes.T @ np.asarray(mesh.body.stiffness) @ modes
    M = modes.T @ np.asarray(mesh.body.mass_matrix) @ modes
    alpha = float(damping.alpha or 0.0)
    beta = float(damping.beta or 0.0)
    exu = bench.program
    matrix = exu.MatrixContainer(alpha * M + beta * K)
    bench.system.SetObjectParameter(
        info["oFFRFreducedOrder"], "dampingMatrixReduced", matrix
    )


def _drive(bench: Workbench, frame: Any, axis: np.ndarray, torque: Torque) -> None:
    """A torque about the axis of the first joint."""

    def vector(system, t, load):
        return (torque(t) * axis).tolist()

    load = bench.item.Torque(
        markerNumber=frame,
        loadVector=axis.tolist(),
        bodyFixed=True,
        loadVectorUserFunction=vector,
    )
    bench.system.AddLoad(load)
