"""Spin-up of a cantilever: linear theory, stiffened theory, and exact beams of another program (extra `peers`).

[KaneRyanBanerjee1987]: a hub takes a beam from rest to 6 rad/s in 15 s, faster than the beam's first frequency at rest.
Linear theory lets the tip run away; a theory that knows centrifugal stiffening lets it lag and come back.
"""

import numpy as np
from figures import chart, heading, keep

from lissom import Scenario, SimulationError
from lissom.benchmarks.cases import Case
from lissom.benchmarks.exudyn_pendulum import exudyn
from lissom.show.axes import PALETTE

T, RATE, LENGTH = 15.0, 6.0, 10.0
EA, GA, EI, LINE_MASS, LINE_INERTIA = 2.8e7, 1.0e7, 1.4e4, 1.2, 6e-4  # [SimoVuQuoc1986]
ELEMENTS = 16


def turned(t: float) -> float:
    """Angle of the hub [rad]."""
    if t >= T:
        return RATE * t - RATE * T / 2
    return (
        RATE / T * (t**2 / 2 + (T / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / T) - 1))
    )


def in_hub_axes(angle: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """Displacement of the tip along and across the undeformed beam [m]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack(
        [c * tip[:, 0] + s * tip[:, 1] - LENGTH, c * tip[:, 1] - s * tip[:, 0]], axis=1
    )


def ours(stiffening: str, t_end: float):
    """Time and tip displacement of our run; the linear one ends where it fails or leaves the picture."""
    case = Case(
        Scenario.load("spin-up").replace({"stiffening": stiffening, "t_end": t_end})
    )
    try:
        run = case.run()
    except SimulationError as failure:
        run = failure.run
    return run.t, in_hub_axes(run.q[:, 0], run.position("blade/tip"))


def exact(t_end: float = 20.0, step: float = 2e-3):
    """The same by geometrically exact plane beams."""
    exu = exudyn()
    import exudyn.itemInterface as item
    import exudyn.utilities as tools

    container = exu.SystemContainer()
    system = container.AddSystem()
    nodes = [
        system.AddNode(
            item.NodeRigidBody2D(referenceCoordinates=[LENGTH * k / ELEMENTS, 0, 0])
        )
        for k in range(ELEMENTS + 1)
    ]
    for pair in zip(nodes[:-1], nodes[1:], strict=True):
        system.AddObject(
            item.ObjectBeamGeometricallyExact2D(
                nodeNumbers=list(pair),
                physicsLength=LENGTH / ELEMENTS,
                physicsMassPerLength=LINE_MASS,
                physicsCrossSectionInertia=LINE_INERTIA,
                physicsBendingStiffness=EI,
                physicsAxialStiffness=EA,
                physicsShearStiffness=GA,
            )
        )
    ground = system.AddMarker(
        item.MarkerNodeCoordinate(
            nodeNumber=system.AddNode(item.NodePointGround()), coordinate=0
        )
    )
    for coordinate in (0, 1, 2):
        marker = system.AddMarker(
            item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate)
        )
        offset = (
            {}
            if coordinate < 2
            else {"offsetUserFunction": lambda mbs, t, i, l: turned(t)}
        )
        system.AddObject(
            item.ObjectConnectorCoordinate(markerNumbers=[ground, marker], **offset)
        )
    sensor = system.AddSensor(
        item.SensorNode(
            nodeNumber=nodes[-1],
            storeInternal=True,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )
    system.Assemble()
    settings = (
        tools.SimulationSettings()
        if hasattr(tools, "SimulationSettings")
        else exu.SimulationSettings()
    )
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = (
        round(t_end / step),
        t_end,
    )
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.verboseMode = settings.displayComputationTime = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 0.01
    if not system.SolveDynamic(settings):
        raise RuntimeError("the exact beams did not converge")
    data = np.asarray(system.GetSensorStoredData(sensor))
    return data[:, 0], in_hub_axes(
        np.array([turned(t) for t in data[:, 0]]), data[:, 1:3]
    )


def main() -> None:
    """Runs, figure, numbers."""
    linear, stiff, peer = ours("none", 9.0), ours("geometric", 20.0), exact()
    figure, axes = chart(8.4, 4.6)
    axes.plot(*peer_curve(peer), color="#9AA5B1", lw=4, label="exact beams (Exudyn)")
    axes.plot(
        stiff[0],
        stiff[1][:, 1],
        color=PALETTE[0],
        lw=1.4,
        label="nonlinear, stiffening: geometric",
    )
    axes.plot(
        linear[0],
        linear[1][:, 1],
        "--",
        color=PALETTE[1],
        lw=1.4,
        label="nonlinear, stiffening: none",
    )
    axes.set(
        xlabel="time [s]",
        ylabel="deflection of the tip across the beam [m]",
        ylim=(-1.6, 0.25),
    )
    heading(axes, "Spin-up of a cantilever to 6 rad/s in 15 s")
    axes.legend(frameon=False, fontsize=9)
    keep(
        "spin-up",
        {
            "stiffened": summary(stiff),
            "exact_beams": summary(peer),
            "gap_m": gap(stiff, peer),
        },
        figure,
    )


def peer_curve(peer):
    """Time and deflection."""
    return peer[0], peer[1][:, 1]


def summary(run) -> dict:
    """Largest lag, its time, and what is left after the spin-up."""
    t, u = run
    k = int(np.argmin(u[:, 1]))
    late = t > T
    return {
        "largest_lag_m": u[k, 1],
        "at_s": t[k],
        "left_m": np.abs(u[late, 1]).max(),
        "stretch_m": u[late, 0].mean(),
    }


def gap(run, peer) -> float:
    """Largest difference of the deflections."""
    return float(np.abs(np.interp(peer[0], run[0], run[1][:, 1]) - peer[1][:, 1]).max())


if __name__ == "__main__":
    main()
