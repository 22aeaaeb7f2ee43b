"""Flexible slider-crank and four-bar beside Exudyn: mid-span deflections of their links under a driven crank.

Exudyn closes the loops by Lagrange multipliers and its planar beams are geometrically exact (`GE`); both programs run
from rest with the crank led along the same spline, without damping. A deflection is the distance of a link's middle
from the line between its pins. `--reference` runs Exudyn and writes the key points that the tests read,
`tests/data/closed_chains_exudyn.csv`; without it the picture is drawn from lissom's runs and that file.

In the slow cases first order is enough. In the fast ones inertia loads the links axially to some percent of their
buckling load, which bends them more and is second order: finite rotations with geometric stiffening have it, and the
picture shows what leaving it out costs.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

ROOT = Path(__file__).parents[2]
POINTS = ROOT / "tests" / "data" / "closed_chains_exudyn.csv"
FIGURES = ROOT / "docs" / "figures"
KNOTS = 31
RPM = 2 * np.pi / 60
# Shear-flexible linear elements of Exudyn per link: converged to some 0.1 %.
ELEMENTS = 32


class Manoeuvre(NamedTuple):
    """How the crank is driven, and with which step Exudyn follows."""

    speed: float  # [rad/s]
    ramp: float  # time to come up to it [s]
    t_end: float  # [s]
    step: float  # [s]


# Slow: small displacements; fast: where axial loads change the bending by more than first order knows.
CASES = {
    "slider-crank": Manoeuvre(40.0, 0.15, 0.35, 1e-4),
    "four-bar": Manoeuvre(6.0, 0.4, 1.2, 2e-4),
    "slider-crank, fast": Manoeuvre(125.0, 0.05, 0.12, 2e-5),
    "four-bar, fast": Manoeuvre(340 * RPM, 0.1, 0.25, 1e-4),
}
FINITE = {"formulation": "nonlinear", "basis": "nodal", "stiffening": "geometric"}
FIRST_ORDER = {"formulation": "erls-fem"}
LINKS = {"slider-crank": ("rod",), "four-bar": ("coupler", "follower")}


def robot_of(name: str) -> str:
    """Name of the library's robot of a case."""
    return name.partition(",")[0]


def links_of(name: str) -> tuple[str, ...]:
    """Flexible links whose deflection is looked at."""
    return LINKS[robot_of(name)]


def crank_motion(case: Manoeuvre) -> tuple[np.ndarray, np.ndarray]:
    """Knots [s] and angles [rad] of a crank that comes up to its speed smoothly."""
    # The spline comes to rest at its end: after the run.
    t = np.linspace(0.0, 1.3 * case.t_end, KNOTS)
    s = np.minimum(t / case.ramp, 1.0)
    # Smoothstep in speed, 10 s^3 - 15 s^4 + 6 s^5, integrated.
    rise = case.ramp * case.speed * (2.5 * s**4 - 3 * s**5 + s**6)
    steady = case.speed * np.maximum(t - case.ramp, 0.0)
    return t, rise + steady


def deflection(first, middle, last) -> np.ndarray:
    """Distance of the middle from the line between the ends, to the left positive; arrays (t, 2)."""
    chord = last - first
    along = chord / np.linalg.norm(chord, axis=1)[:, None]
    away = middle - first
    return along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]


# --- Exudyn --------------------------------------------------------------------------------------------------------


class BeamSection(NamedTuple):
    """Section and material of a row of beams."""

    A: float  # [m^2]
    I: float  # [m^4]
    E: float  # [Pa]
    rho: float  # [kg/m^3]
    shear: float  # shear stiffness over E A: shear factor / (2 (1 + nu))


class Mechanism:
    """An Exudyn system with what both mechanisms are made of: rows of beams, led coordinates, pins."""

    def __init__(self, t_end: float):
        import exudyn
        import exudyn.itemInterface as item

        self.exu = exudyn
        self.item = item
        self.t_end = t_end
        # The container owns the system: it must live as long.
        self.container = exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        ground = self.system.AddNode(
            item.NodePointGround(referenceCoordinates=[0, 0, 0])
        )
        self.ground = self._coordinate_marker(ground, 0)

    def add_beams(self, start, end, section: BeamSection) -> list:
        """Nodes of a row of geometrically exact planar beams, straight between two points at t = 0."""
        start = np.asarray(start)
        chord = np.asarray(end) - start
        angle = np.arctan2(chord[1], chord[0])
        length = float(np.linalg.norm(chord))
        nodes = []
        for s in np.linspace(0.0, 1.0, ELEMENTS + 1):
            place = start + s * chord
            node = self.item.NodeRigidBody2D(referenceCoordinates=[*place, angle])
            nodes.append(self.system.AddNode(node))
        for k in range(ELEMENTS):
            beam = self.item.ObjectBeamGeometricallyExact2D(
                nodeNumbers=nodes[k : k + 2],
                length=length / ELEMENTS,
                massPerLength=section.rho * section.A,
                crossSectionInertia=section.rho * section.I,
                bendingStiffness=section.E * section.I,
                axialStiffness=section.E * section.A,
                shearStiffness=section.shear * section.E * section.A,
            )
            self.system.AddObject(beam)
        return nodes

    def lead(self, node, coordinate: int, function) -> None:
        """Lead a coordinate of a node along a function of time, from where it is at t = 0."""
        start = function(0.0)

        def offset(mbs, t, itemNumber, lOffset):
            return float(function(min(t, self.t_end)) - start)

        marker = self._coordinate_marker(node, coordinate)
        constraint = self.item.CoordinateConstraint(
            markerNumbers=[self.ground, marker], offset=0.0, offsetUserFunction=offset
        )
        self.system.AddObject(constraint)

    def pin(self, a, b) -> None:
        """Join two nodes by a pin."""
        markers = []
        for node in (a, b):
            marker = self.item.MarkerNodePosition(nodeNumber=node)
            markers.append(self.system.AddMarker(marker))
        self.system.AddObject(self.item.RevoluteJoint2D(markerNumbers=markers))

    def add_mass(self, node, mass: float) -> None:
        """A point mass on a node."""
        body = self.item.ObjectRigidBody2D(mass=mass, inertia=0.0, nodeNumber=node)
        self.system.AddObject(body)

    def place(self, node) -> np.ndarray:
        """Where a node is now, in the plane."""
        position = self.exu.OutputVariableType.Position
        return np.asarray(self.system.GetNodeOutput(node, position))[:2]

    def solve(self, step: float) -> None:
        """Run Exudyn to the end of the manoeuvre."""
        settings = self.exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = int(round(self.t_end / step))
        settings.timeIntegration.endTime = self.t_end
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.newton.relativeTolerance = 1e-6
        # The run starts at rest: what is left there is round-off of stiff axial forces.
        settings.timeIntegration.newton.absoluteTolerance = 1e-6
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        self.system.SolveDynamic(settings)

    def _coordinate_marker(self, node, coordinate: int):
        marker = self.item.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate)
        return self.system.AddMarker(marker)


def standstill(t: float) -> float:
    """A coordinate that does not move."""
    return 0.0


def slider_crank(mechanism: Mechanism, crank) -> list[list]:
    """Nodes of the rod, its inner end led on the crank's circle, its outer end with the slider on the x axis."""
    d = 0.006
    A = np.pi * d**2 / 4
    I = np.pi * d**4 / 64
    section = BeamSection(A, I, E=2e11, rho=7870, shear=1 / 2.6 * 0.9)
    rod = mechanism.add_beams([0.15, 0], [0.45, 0], section)
    mechanism.lead(rod[0], 0, lambda t: 0.15 * np.cos(crank(t)))
    mechanism.lead(rod[0], 1, lambda t: 0.15 * np.sin(crank(t)))
    mechanism.lead(rod[-1], 1, standstill)
    mechanism.add_mass(rod[-1], 0.033)
    return [rod]


def four_bar(mechanism: Mechanism, crank) -> list[list]:
    """Nodes of coupler and follower; the crank is flexible too, and led at its root."""
    E = 7.1016e10
    rho = 2714.47
    shear = 5 / 6 / 2.66
    thick = BeamSection(1.0774e-4, 1.6154e-10, E, rho, shear)
    thin = BeamSection(4.0645e-5, 8.6743e-12, E, rho, shear)
    B = np.array([0.10795, 0.0])
    D = np.array([0.254, 0.0])
    C = meeting_point(B, D, 0.2794, 0.27051)
    crank_nodes = mechanism.add_beams([0, 0], B, thick)
    coupler = mechanism.add_beams(B, C, thin)
    follower = mechanism.add_beams(C, D, thin)
    for coordinate in (0, 1):
        mechanism.lead(crank_nodes[0], coordinate, standstill)
        mechanism.lead(follower[-1], coordinate, standstill)
    mechanism.lead(crank_nodes[0], 2, crank)
    mechanism.pin(crank_nodes[-1], coupler[0])
    mechanism.pin(coupler[-1], follower[0])
    return [coupler, follower]


def meeting_point(B, D, a: float, b: float) -> np.ndarray:
    """Point at distance a from B and b from D, to the left of the way from B to D."""
    r = np.linalg.norm(D - B)
    e = (D - B) / r
    normal = np.array([-e[1], e[0]])
    along = (a**2 - b**2 + r**2) / (2 * r)
    across = np.sqrt(a**2 - along**2)
    return B + along * e + across * normal


def reference(name: str, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and mid-span deflections (t, link) by Exudyn."""
    case = CASES[name]
    t, angle = crank_motion(case)
    crank = CubicSpline(t, angle, bc_type="clamped")
    mechanism = Mechanism(case.t_end)
    if robot_of(name) == "slider-crank":
        links = slider_crank(mechanism, crank)
    else:
        links = four_bar(mechanism, crank)
    mechanism.system.Assemble()
    times = []
    places = []

    def remember(mbs, t):
        for nodes in links:
            for node in (nodes[0], nodes[ELEMENTS // 2], nodes[-1]):
                places.append(mechanism.place(node))
        times.append(t)
        return True

    mechanism.system.SetPreStepUserFunction(remember)
    mechanism.solve(step)
    paths = np.array(places).reshape(len(times), len(links), 3, 2)
    deflections = []
    for k in range(len(links)):
        first, middle, last = (paths[:, k, i] for i in range(3))
        deflections.append(deflection(first, middle, last))
    return np.array(times), np.stack(deflections, axis=1)


# --- key points ----------------------------------------------------------------------------------------------------


def write_reference() -> None:
    """Sixty key points of each case, and how far half the step moves them."""
    lines = [
        "# Exudyn 1.13, geometrically exact planar beams, Lagrange multipliers; see benchmarks/physics",
        "case,link,t,deflection",
    ]
    for name, case in CASES.items():
        key_times = np.linspace(0.0, case.t_end, 61)[:-1]
        t, deflections = reference(name, case.step)
        t_fine, fine_deflections = reference(name, case.step / 2)
        for k, link in enumerate(links_of(name)):
            coarse = np.interp(key_times, t, deflections[:, k])
            fine = np.interp(key_times, t_fine, fine_deflections[:, k])
            peak = np.abs(fine).max()
            moved = np.abs(coarse - fine).max() / peak
            print(
                f"{name} {link}: peak {1e3 * peak:.4f} mm; half the step moves it by "
                f"{moved:.1e} of that"
            )
            for time, value in zip(key_times, fine, strict=True):
                lines.append(f"{name_in_file(name)},{link},{time:.6f},{value:.8e}")
    POINTS.write_text("\n".join(lines) + "\n")


def name_in_file(name: str) -> str:
    """Name of a case without the comma, which separates the columns."""
    return name.replace(", ", "-")


def key_points(name: str, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and deflections of the reference."""
    values = []
    for line in POINTS.read_text().splitlines()[2:]:
        case, of_link, t, w = line.split(",")
        if case == name_in_file(name) and of_link == link:
            values.append([float(t), float(w)])
    times, deflections = np.array(values).T
    return times, deflections


# --- lissom --------------------------------------------------------------------------------------------------------


def our_deflections(
    name: str, choices: dict[str, str]
) -> tuple[np.ndarray, np.ndarray]:
    """Times and mid-span deflections (t, link) by lissom."""
    import lissom as ls
    from lissom.solve.inputs import Inputs, Spline

    case = CASES[name]
    model = ls.Model(undamped_robot(name), **choices)
    t, angle = crank_motion(case)
    inputs = Inputs(model.n_joints, motion=[(0, Spline(t, angle))])
    run = ls.simulate(
        model,
        model.at([0.0]),
        inputs=inputs,
        t_end=case.t_end,
        output_dt=case.t_end / 600,
        solver={"rtol": 1e-8, "atol": 1e-10},
    )
    facts = run.data.attrs
    print(f"{name}: {facts['steps']} steps, {facts['wall_run_s']:.1f} s", flush=True)
    elements = {}
    for link in model.robot.links:
        if link.beam is not None:
            elements[link.name] = link.beam.elements
    deflections = []
    for link in links_of(name):
        first = run.position(f"{link}/0")[:, :2]
        middle = run.position(f"{link}/{elements[link] // 2}")[:, :2]
        last = run.position(f"{link}/tip")[:, :2]
        deflections.append(deflection(first, middle, last))
    return run.t, np.stack(deflections, axis=1)


def undamped_robot(name: str) -> Any:
    """The library's robot without damping, which Exudyn's has not either."""
    import lissom as ls

    robot = ls.Robot.load(robot_of(name))
    changes = {}
    if robot.damping is not None:
        changes["damping"] = None
    for link in robot.links:
        if link.damping is not None:
            changes[f"links.{link.name}.damping"] = None
    return robot.replace(changes)


def draw() -> None:
    """The picture, and the largest differences against the peak."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(12, 6), layout="constrained")
    record = {}
    for panel, name in zip(panels.flat, CASES, strict=True):
        t, deflections = our_deflections(name, FINITE)
        t_first, first_order = our_deflections(name, FIRST_ORDER)
        for k, link in enumerate(links_of(name)):
            key_times, key_values = key_points(name, link)
            panel.plot(
                1e3 * key_times,
                1e3 * key_values,
                "o",
                ms=3,
                mfc="none",
                color=f"C{k}",
                label=f"{link}, Exudyn",
            )
            panel.plot(
                1e3 * t,
                1e3 * deflections[:, k],
                lw=1,
                color=f"C{k}",
                label=f"{link}, lissom",
            )
            panel.plot(
                1e3 * t_first,
                1e3 * first_order[:, k],
                ":",
                lw=0.8,
                color=f"C{k}",
                label=f"{link}, first order",
            )
            peak = np.abs(key_values).max()
            ours = np.interp(key_times, t, deflections[:, k])
            first = np.interp(key_times, t_first, first_order[:, k])
            record[f"{name}: {link}"] = {
                "peak_mm": 1e3 * float(peak),
                "difference": float(np.abs(ours - key_values).max() / peak),
                "first_order": float(np.abs(first - key_values).max() / peak),
            }
        panel.set_title(f"{name}: {CASES[name].speed:.3g} rad/s")
        panel.set_xlabel("t [ms]")
        panel.set_ylabel("mid-span deflection [mm]")
        beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        panel.legend(fontsize=7, frameon=False, **beside)
    figure.savefig(FIGURES / "closed-chains-beside-exudyn.png", dpi=130)
    text = json.dumps(record, indent=2)
    (FIGURES / "closed-chains-beside-exudyn.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--reference", action="store_true", help="run Exudyn and write the key points"
    )
    if parser.parse_args().reference:
        write_reference()
    else:
        draw()
