"""Spin-up of a cantilever: linear theory, stiffened theory, and exact beams of another program (extra `peers`).

[KaneRyanBanerjee1987]: a hub takes a beam from rest to 6 rad/s in 15 s, faster than the beam's first frequency at rest.
Linear theory lets the tip run away; a theory that knows centrifugal stiffening lets it lag and come back.
"""

from typing import NamedTuple

import numpy as np

from lissom import Scenario, SimulationError
from lissom.bench.cases import Case
from lissom.show.axes import PALETTE

from ..peers.exudyn_pendulum import exudyn
from .figures import chart, heading, keep

T = 15.0  # duration of the spin-up [s]
RATE = 6.0  # reached then [rad/s]
LENGTH = 10.0  # of the beam [m]
# The beam of [SimoVuQuoc1986].
EA = 2.8e7  # [N]
GA = 1.0e7  # [N]
EI = 1.4e4  # [N m^2]
LINE_MASS = 1.2  # [kg/m]
LINE_INERTIA = 6e-4  # [kg m]
ELEMENTS = 16


class TipMotion(NamedTuple):
    """Displacement of the tip in the axes of the hub."""

    t: np.ndarray  # [s]
    stretch: np.ndarray  # along the undeformed beam [m]
    deflection: np.ndarray  # across it [m]


def hub_angle(t: float) -> float:
    """Angle of the hub [rad]: its rate grows as R/T (t - T/(2 pi) sin(2 pi t/T)) and stays R after T."""
    if t >= T:
        return RATE * t - RATE * T / 2
    wave = (T / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / T) - 1)
    return RATE / T * (t**2 / 2 + wave)


def in_hub_axes(t: np.ndarray, angle: np.ndarray, tip: np.ndarray) -> TipMotion:
    """The tip's place in the world seen from the hub."""
    c = np.cos(angle)
    s = np.sin(angle)
    x = tip[:, 0]
    y = tip[:, 1]
    return TipMotion(t, c * x + s * y - LENGTH, c * y - s * x)


def our_motion(stiffening: str, t_end: float) -> TipMotion:
    """Our run; the linear one ends where it fails or leaves the picture."""
    changes = {"stiffening": stiffening, "t_end": t_end}
    case = Case(Scenario.load("spin-up").replace(changes))
    try:
        run = case.run()
    except SimulationError as failure:
        run = failure.run
    return in_hub_axes(run.t, run.q[:, 0], run.position("blade/tip"))


# --- the same by geometrically exact plane beams -------------------------------------------------------------------


def exact_motion(t_end: float = 20.0, step: float = 2e-3) -> TipMotion:
    """Motion of the tip by geometrically exact beams (Exudyn)."""
    exu = exudyn()
    # The container owns the system: it must live as long as the run.
    container = exu.SystemContainer()
    system = container.AddSystem()
    nodes = add_beam(system)
    lead_hub(system, nodes[0])
    sensor = add_tip_sensor(exu, system, nodes[-1])
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(t_end / step)
    settings.timeIntegration.endTime = t_end
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.verboseMode = 0
    settings.displayComputationTime = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 0.01
    if not system.SolveDynamic(settings):
        raise RuntimeError("the exact beams did not converge")
    data = np.asarray(system.GetSensorStoredData(sensor))
    t = data[:, 0]
    angle = np.array([hub_angle(time) for time in t])
    return in_hub_axes(t, angle, data[:, 1:3])


def add_beam(system) -> list:
    """Nodes of the beam along x, with its elements between them."""
    import exudyn.itemInterface as item

    nodes = []
    for k in range(ELEMENTS + 1):
        place = [LENGTH * k / ELEMENTS, 0, 0]
        node = item.NodeRigidBody2D(referenceCoordinates=place)
        nodes.append(system.AddNode(node))
    for k in range(ELEMENTS):
        beam = item.ObjectBeamGeometricallyExact2D(
            nodeNumbers=nodes[k : k + 2],
            physicsLength=LENGTH / ELEMENTS,
            physicsMassPerLength=LINE_MASS,
            physicsCrossSectionInertia=LINE_INERTIA,
            physicsBendingStiffness=EI,
            physicsAxialStiffness=EA,
            physicsShearStiffness=GA,
        )
        system.AddObject(beam)
    return nodes


def lead_hub(system, node) -> None:
    """Hold the place of the inner node, and turn it as the hub turns."""
    import exudyn.itemInterface as item

    ground_node = system.AddNode(item.NodePointGround())
    ground = system.AddMarker(
        item.MarkerNodeCoordinate(nodeNumber=ground_node, coordinate=0)
    )
    # Coordinates of a plane node: x, y, angle.
    leads = {0: {}, 1: {}, 2: {"offsetUserFunction": lambda mbs, t, i, l: hub_angle(t)}}
    for coordinate, lead in leads.items():
        marker = system.AddMarker(
            item.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate)
        )
        system.AddObject(
            item.ObjectConnectorCoordinate(markerNumbers=[ground, marker], **lead)
        )


def add_tip_sensor(exu, system, node):
    """Sensor that keeps the path of the tip."""
    import exudyn.itemInterface as item

    sensor = item.SensorNode(
        nodeNumber=node,
        storeInternal=True,
        outputVariableType=exu.OutputVariableType.Position,
    )
    return system.AddSensor(sensor)


# --- figure and numbers --------------------------------------------------------------------------------------------


def main() -> None:
    """Run all theories, draw the figure, write the numbers."""
    linear = our_motion("none", 9.0)
    stiffened = our_motion("geometric", 20.0)
    exact = exact_motion()
    figure, axes = chart(8.4, 4.6)
    axes.plot(
        exact.t,
        exact.deflection,
        color="#9AA5B1",
        lw=4,
        label="exact beams (Exudyn)",
    )
    axes.plot(
        stiffened.t,
        stiffened.deflection,
        color=PALETTE[0],
        lw=1.4,
        label="nonlinear, stiffening: geometric",
    )
    axes.plot(
        linear.t,
        linear.deflection,
        "--",
        color=PALETTE[1],
        lw=1.4,
        label="nonlinear, stiffening: none",
    )
    axes.set_xlabel("time [s]")
    axes.set_ylabel("deflection of the tip across the beam [m]")
    axes.set_ylim(-1.6, 0.25)
    heading(axes, "Spin-up of a cantilever to 6 rad/s in 15 s")
    axes.legend(frameon=False, fontsize=9)
    numbers = {
        "stiffened": summary(stiffened),
        "exact_beams": summary(exact),
        "gap_m": gap(stiffened, exact),
    }
    keep("spin-up", numbers, figure)


def summary(motion: TipMotion) -> dict:
    """Largest lag, its time, and what is left after the spin-up."""
    k = int(np.argmin(motion.deflection))
    late = motion.t > T
    return {
        "largest_lag_m": motion.deflection[k],
        "at_s": motion.t[k],
        "left_m": np.abs(motion.deflection[late]).max(),
        "stretch_m": motion.stretch[late].mean(),
    }


def gap(motion: TipMotion, exact: TipMotion) -> float:
    """Largest difference of the deflections."""
    deflection = np.interp(exact.t, motion.t, motion.deflection)
    return float(np.abs(deflection - exact.deflection).max())


if __name__ == "__main__":
    main()
