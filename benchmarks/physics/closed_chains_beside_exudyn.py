"""Flexible slider-crank and four-bar beside Exudyn: mid-span deflections of their links under a driven crank.

Exudyn closes the loops by Lagrange multipliers and its planar beams are geometrically exact (`GE`); both programs run
from rest with the crank led along the same spline, without damping. A deflection is the distance of a link's middle
from the line between its pins. `--reference` runs Exudyn and writes the key points that the tests read,
`tests/data/closed_chains_exudyn.csv`; without it the picture is drawn from lissom's runs and that file.

The slow cases are the comparison: there first order is enough. In the fast ones inertia loads the links axially to some
percent of their buckling load, which bends them more and is second order: the picture shows what leaving it out costs.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

ROOT = Path(__file__).parents[2]
POINTS = ROOT / "tests" / "data" / "closed_chains_exudyn.csv"
FIGURES = ROOT / "docs" / "figures"
KNOTS = 31


def crank_motion(
    speed: float, ramp: float, t_end: float
) -> tuple[np.ndarray, np.ndarray]:
    """Knots and angles of a crank that comes up to `speed` [rad/s] smoothly in `ramp` seconds."""
    t = np.linspace(
        0.0, 1.3 * t_end, KNOTS
    )  # the spline comes to rest at its end: after the run
    s = np.minimum(t / ramp, 1.0)
    # smoothstep in speed, 10 s^3 - 15 s^4 + 6 s^5, integrated
    angle = ramp * speed * (2.5 * s**4 - 3 * s**5 + s**6) + speed * np.maximum(
        t - ramp, 0.0
    )
    return t, angle


RPM = 2 * np.pi / 60
CASES = {  # slow: small displacements; fast: where axial loads change the bending by more than first order knows
    "slider-crank": {"speed": 40.0, "ramp": 0.15, "t_end": 0.35, "step": 1e-4},
    "four-bar": {"speed": 6.0, "ramp": 0.4, "t_end": 1.2, "step": 2e-4},
    "slider-crank, fast": {"speed": 125.0, "ramp": 0.05, "t_end": 0.12, "step": 2e-5},
    "four-bar, fast": {"speed": 340 * RPM, "ramp": 0.1, "t_end": 0.25, "step": 1e-4},
}
LINKS = {"slider-crank": ("rod",), "four-bar": ("coupler", "follower")}
ELEMENTS = (
    32  # shear-flexible linear elements of Exudyn per link: converged to some 0.1 %
)


class Beam:
    """A row of Exudyn's geometrically exact planar beams, straight between two points at t = 0."""

    def __init__(self, exu, mbs, start, end, A, I, E, rho, shear):
        from exudyn.itemInterface import NodeRigidBody2D, ObjectBeamGeometricallyExact2D

        start, end = np.asarray(start), np.asarray(end)
        angle, self.length = (
            np.arctan2(*(end - start)[::-1]),
            float(np.linalg.norm(end - start)),
        )
        self.nodes = []
        for s in np.linspace(0.0, 1.0, ELEMENTS + 1):
            place = start + s * (end - start)
            self.nodes.append(
                mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[*place, angle]))
            )
        for a, b in zip(self.nodes[:-1], self.nodes[1:], strict=True):
            mbs.AddObject(
                ObjectBeamGeometricallyExact2D(
                    nodeNumbers=[a, b],
                    length=self.length / ELEMENTS,
                    massPerLength=rho * A,
                    crossSectionInertia=rho * I,
                    bendingStiffness=E * I,
                    axialStiffness=E * A,
                    shearStiffness=shear * E * A,
                )
            )


def deflection(first, middle, last):
    """Distance of the middle from the line between the ends, to the left positive; arrays (t, 2)."""
    along = last - first
    along = along / np.linalg.norm(along, axis=1)[:, None]
    away = middle - first
    return along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]


def reference(name: str, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and mid-span deflections (t, link) by Exudyn."""
    import exudyn as exu
    from exudyn.itemInterface import (
        CoordinateConstraint,
        MarkerNodeCoordinate,
        MarkerNodePosition,
        NodePointGround,
        ObjectRigidBody2D,
        RevoluteJoint2D,
    )

    case = CASES[name]
    t, angle = crank_motion(case["speed"], case["ramp"], case["t_end"])
    spline = CubicSpline(t, angle, bc_type="clamped")
    SC = exu.SystemContainer()
    mbs = SC.AddSystem()
    ground = mbs.AddNode(NodePointGround(referenceCoordinates=[0, 0, 0]))
    fixed = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))

    def lead(node, coordinate, function):
        marker = mbs.AddMarker(
            MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate)
        )
        start = function(0.0)
        mbs.AddObject(
            CoordinateConstraint(
                markerNumbers=[fixed, marker],
                offset=0.0,
                offsetUserFunction=lambda mbs, t, item, offset: float(
                    function(min(t, case["t_end"])) - start
                ),
            )
        )

    def pin(a, b):
        markers = [
            mbs.AddMarker(MarkerNodePosition(nodeNumber=node)) for node in (a, b)
        ]
        mbs.AddObject(RevoluteJoint2D(markerNumbers=markers))

    if name.startswith("slider-crank"):
        d = 0.006
        A, I = np.pi * d**2 / 4, np.pi * d**4 / 64
        rod = Beam(exu, mbs, [0.15, 0], [0.45, 0], A, I, 2e11, 7870, 1 / 2.6 * 0.9)
        lead(rod.nodes[0], 0, lambda t: 0.15 * np.cos(spline(t)))
        lead(rod.nodes[0], 1, lambda t: 0.15 * np.sin(spline(t)))
        lead(rod.nodes[-1], 1, lambda t: 0.0)
        mbs.AddObject(
            ObjectRigidBody2D(mass=0.033, inertia=0.0, nodeNumber=rod.nodes[-1])
        )
        beams = [rod]
    else:
        E, rho = 7.1016e10, 2714.47
        B, C, D = (
            np.array([0.10795, 0.0]),
            np.array([0.19771139, 0.26458884]),
            np.array([0.254, 0.0]),
        )
        C = _meeting(B, D, 0.2794, 0.27051)
        crank = Beam(exu, mbs, [0, 0], B, 1.0774e-4, 1.6154e-10, E, rho, 5 / 6 / 2.66)
        coupler = Beam(exu, mbs, B, C, 4.0645e-5, 8.6743e-12, E, rho, 5 / 6 / 2.66)
        follower = Beam(exu, mbs, C, D, 4.0645e-5, 8.6743e-12, E, rho, 5 / 6 / 2.66)
        for coordinate in (0, 1):
            lead(crank.nodes[0], coordinate, lambda t: 0.0)
            lead(follower.nodes[-1], coordinate, lambda t: 0.0)
        lead(crank.nodes[0], 2, spline)
        pin(crank.nodes[-1], coupler.nodes[0])
        pin(coupler.nodes[-1], follower.nodes[0])
        beams = [coupler, follower]
    mbs.Assemble()
    history: list[list[np.ndarray]] = []

    def remember(mbs, t):
        ends = [[b.nodes[0], b.nodes[ELEMENTS // 2], b.nodes[-1]] for b in beams]
        place = [
            mbs.GetNodeOutput(n, exu.OutputVariableType.Position)[:2]
            for row in ends
            for n in row
        ]
        history.append([np.array([t]), np.concatenate(place)])
        return True

    mbs.SetPreStepUserFunction(remember)
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = int(round(case["t_end"] / step))
    settings.timeIntegration.endTime = case["t_end"]
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.newton.absoluteTolerance = (
        1e-6  # the run starts at rest: round-off of stiff axial forces
    )
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    mbs.SolveDynamic(settings)
    times = np.array([row[0][0] for row in history])
    place = np.array([row[1] for row in history]).reshape(len(times), len(beams), 3, 2)
    bent = np.stack(
        [deflection(*(place[:, k, i] for i in range(3))) for k in range(len(beams))],
        axis=1,
    )
    return times, bent


def _meeting(B, D, a, b):
    """Point at distance a from B and b from D, to the left of the way from B to D."""
    r = np.linalg.norm(D - B)
    e = (D - B) / r
    along = (a**2 - b**2 + r**2) / (2 * r)
    return B + along * e + np.sqrt(a**2 - along**2) * np.array([-e[1], e[0]])


def write_reference() -> None:
    """Key points of both mechanisms, every 2 ms, and how far half the step moves them."""
    rows = []
    for name, case in CASES.items():
        (t, bent), (t_fine, fine) = (
            reference(name, h) for h in (case["step"], case["step"] / 2)
        )
        at = np.linspace(0.0, case["t_end"], 61)[:-1]
        coarse, sharp = (
            np.stack([np.interp(at, s, b[:, k]) for k in range(b.shape[1])], 1)
            for s, b in ((t, bent), (t_fine, fine))
        )
        for k, link in enumerate(links_of(name)):
            peak = np.abs(sharp[:, k]).max()
            print(
                f"{name} {link}: peak {1e3 * peak:.4f} mm; half the step moves it by "
                f"{np.abs(coarse - sharp)[:, k].max() / peak:.1e} of that"
            )
            rows += [
                (name.replace(", ", "-"), link, f"{a:.6f}", f"{w:.8e}")
                for a, w in zip(at, sharp[:, k], strict=True)
            ]
    lines = [
        "# Exudyn 1.13, geometrically exact planar beams, Lagrange multipliers; see benchmarks/physics",
        "case,link,t,deflection",
    ]
    POINTS.write_text("\n".join([*lines, *(",".join(row) for row in rows)]) + "\n")


def key_points(name: str, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and deflections of the reference."""
    rows = [line.split(",") for line in POINTS.read_text().splitlines()[2:]]
    wanted = (name.replace(", ", "-"), link)
    values = np.array(
        [[float(t), float(w)] for case, of, t, w in rows if (case, of) == wanted]
    )
    return values[:, 0], values[:, 1]


def links_of(name: str) -> tuple[str, ...]:
    """Flexible links whose deflection is looked at."""
    return LINKS[name.partition(",")[0]]


def ours(name: str):
    """Times and mid-span deflections (t, link) by lissom."""
    import lissom as ls
    from lissom.solve.inputs import Inputs, Spline

    case = CASES[name]
    robot = ls.Robot.load(name.partition(",")[0])
    changes = {"damping": None} if robot.damping is not None else {}
    changes |= {
        f"links.{link.name}.damping": None
        for link in robot.links
        if link.damping is not None
    }
    model = ls.Model(robot.replace(changes))
    t, angle = crank_motion(case["speed"], case["ramp"], case["t_end"])
    inputs = Inputs(model.n_joints, motion=[(0, Spline(t, angle))])
    options = {
        "t_end": case["t_end"],
        "output_dt": case["t_end"] / 600,
        "solver": {"rtol": 1e-8, "atol": 1e-10},
    }
    run = ls.simulate(model, model.at([0.0]), inputs=inputs, **options)
    facts = run.data.attrs
    print(f"{name}: {facts['steps']} steps, {facts['wall_run_s']:.1f} s", flush=True)
    middle = {
        link.name: link.beam.elements // 2
        for link in robot.links
        if link.beam is not None
    }
    spots = [
        [run.position(f"{n}/{k}")[:, :2] for k in (0, middle[n], "tip")]
        for n in links_of(name)
    ]
    return run.t, np.stack([deflection(*spot) for spot in spots], axis=1)


def draw() -> None:
    """The picture, and the largest differences against the peak."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")
    record = {}
    for panel, name in zip(panels.flat, CASES, strict=True):
        own_t, own = ours(name)
        for k, link in enumerate(links_of(name)):
            t, w = key_points(name, link)
            panel.plot(
                1e3 * t,
                1e3 * w,
                "o",
                ms=3,
                mfc="none",
                color=f"C{k}",
                label=f"{link}, Exudyn",
            )
            panel.plot(
                1e3 * own_t,
                1e3 * own[:, k],
                lw=1,
                color=f"C{k}",
                label=f"{link}, lissom",
            )
            off = np.abs(np.interp(t, own_t, own[:, k]) - w).max() / np.abs(w).max()
            record[f"{name}: {link}"] = {
                "peak_mm": 1e3 * float(np.abs(w).max()),
                "difference": float(off),
            }
        speed = CASES[name]["speed"]
        panel.set(
            title=f"{name}: {speed:.3g} rad/s",
            xlabel="t [ms]",
            ylabel="mid-span deflection [mm]",
        )
        panel.legend(fontsize=7)
    figure.savefig(FIGURES / "closed-chains-beside-exudyn.png", dpi=130)
    (FIGURES / "closed-chains-beside-exudyn.json").write_text(
        json.dumps(record, indent=2) + "\n"
    )
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--reference", action="store_true", help="run Exudyn and write the key points"
    )
    if parser.parse_args().reference:
        write_reference()
    else:
        draw()
