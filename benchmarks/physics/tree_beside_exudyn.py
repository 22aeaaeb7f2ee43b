"""A tree beside Exudyn: a flexible trunk that carries two flexible arms, let go under a weight that leans out of plane.

Exudyn's links are floating frames with the matrices of our own links; joints are Lagrange multipliers. Both programs
have finite elastic rotations between the links, so that they solve the same equations. `--reference` runs Exudyn and
writes the key points that the tests read, `tests/data/tree_exudyn.csv`; without it lissom's run is held against them.
Expected: paths of both arms' tips within 1e-4 m over 0.5 s.
"""

import argparse
from pathlib import Path

import numpy as np

import lissom as ls

ROOT = Path(__file__).parents[2]
POINTS = ROOT / "tests" / "data" / "tree_exudyn.csv"
T_END = 0.5  # [s]
EVERY = 20  # milliseconds between key points
STEP = 2e-5  # [s] of the peer
ARMS = ("left", "right")


def tree() -> ls.Robot:
    """A trunk on the ground, two arms on its tip; all joints about z, all frames parallel at the start."""
    tilt = np.pi / 6
    gravity = [0.0, -9.81 * np.cos(tilt), -9.81 * np.sin(tilt)]
    return ls.Robot.from_dict(
        {
            "lissom": 1,
            "name": "two-arms",
            "gravity": gravity,
            "links": [
                link("trunk", None, [0.4, 0.0, 0.0], [0.02, 0.012]),
                link("left", "trunk", [0.25, 0.2, 0.0], [0.008, 0.014]),
                link("right", "trunk", [0.1, -0.3, 0.0], [0.012, 0.007]),
            ],
        }
    )


def link(name: str, parent: str | None, tip: list[float], section: list[float]) -> dict:
    """A straight steel beam on a revolute joint."""
    y, z = section
    carried = {} if parent is None else {"parent": parent}
    return {
        "name": name,
        **carried,
        "joint": {"type": "revolute", "axis": [0, 0, 1]},
        "beam": {
            "path": [[0, 0, 0], tip],
            "section": {"shape": "rectangle", "y": y, "z": z},
            "up": [0, 0, 1],
            "material": {"E": 2e11, "nu": 0.3, "density": 7840},
            "elements": 2,
            "theory": "timoshenko",
        },
    }


def reference(step: float) -> np.ndarray:
    """Paths of the arms' tips (time, arm, 3) by Exudyn."""
    from ..peers.exudyn_pendulum import floating_frames

    # All the modes that two elements have.
    model = floating_frames(tree(), inner_modes=6)
    model.run(T_END, step, radius=1.0, tight=True)
    return np.stack([model.path(k) for k in (1, 2)], axis=1)


def write_reference() -> None:
    """Key points, and how far twice the step moves them."""
    fine = reference(STEP)[::EVERY]
    coarse = reference(2 * STEP)[::EVERY]
    print(f"twice the step moves the tips by {np.abs(fine - coarse).max():.1e} m")
    times = 1e-3 * EVERY * np.arange(len(fine))
    lines = [
        "# Exudyn 1.13, floating frames, all modes; see benchmarks/physics/tree_beside_exudyn.py",
        "arm,t,x,y,z",
    ]
    for k, arm in enumerate(ARMS):
        for t, place in zip(times, fine[:, k], strict=True):
            row = ",".join(f"{part:.9f}" for part in place)
            lines.append(f"{arm},{t:.3f},{row}")
    POINTS.write_text("\n".join(lines) + "\n")


def key_points(arm: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and places (t, 3) of an arm's tip by the peer."""
    rows = [line.split(",") for line in POINTS.read_text().splitlines()[2:]]
    values = np.array([row[1:] for row in rows if row[0] == arm], dtype=float)
    return values[:, 0], values[:, 1:]


def our_run() -> ls.Run:
    """The same motion by lissom."""
    model = ls.Model(tree(), "nonlinear", basis="nodal")
    solver = {"rtol": 1e-7, "atol": 1e-9}
    return ls.simulate(
        model, model.at(), solver=solver, t_end=T_END, output_dt=1e-3 * EVERY
    )


def differences() -> dict[str, float]:
    """Largest distance of each arm's tip from the peer's [m]."""
    run = our_run()
    found = {}
    for arm in ARMS:
        t, places = key_points(arm)
        ours = run.position(f"{arm}/tip")
        assert np.allclose(run.t[: len(t)], t)
        found[arm] = float(np.linalg.norm(ours[: len(t)] - places, axis=1).max())
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--reference", action="store_true", help="run Exudyn and write the key points"
    )
    if parser.parse_args().reference:
        write_reference()
    else:
        for arm, distance in differences().items():
            print(f"{arm}: {distance:.1e} m from Exudyn")
