"""Cost against the number of finite-element dofs: reducing grows with the mesh, simulating does not.

    python -m benchmarks.speed.cost_of_fe_dofs

Each case runs in a process of its own, so that its peak memory is its own. Processor time is plotted, one thread with
OMP_NUM_THREADS=1: it does not depend on what else the machine does. Writes docs/figures/fe-cost.json and .png.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIGURE = ROOT / "docs" / "figures" / "fe-cost"
# Edge of the tetrahedra [m]: the arm of the library (slender), and a block that fills up when factorised.
CASES = {
    "arm": (0.02, 0.012, 0.009, 0.0068, 0.0055),
    "block": (0.03, 0.02, 0.0145, 0.011, 0.0088),
}
BLOCK = 'SetFactory("OpenCASCADE");\nBox(1) = {0, -0.05, -0.05, 0.3, 0.1, 0.1};\n'


# What each panel shows: number, title, and what must not be exceeded.
PANELS = (
    ("reduce_cpu_s", "reduce and check, 18 modes: processor time [s]", 120.0),
    ("peak_gb", "peak memory [GB]", 4.0),
    ("run_s", "simulate 0.25 s, 12 modes [s]", None),
)


def measure(kind: str, size: float, folder: Path) -> dict:
    """One case, measured in this process."""
    return measure_reduction(kind, size, folder) | measure_run(folder)


def measure_reduction(kind: str, size: float, folder: Path) -> dict:
    """Time and memory of meshing, reducing and checking; leaves the link in the folder."""
    import lissom as ls

    if kind == "block":
        geometry = folder / "block.geo"
        geometry.write_text(BLOCK)
        interface = {"inner": "x=0", "tip": "x=0.3"}
    else:
        geometry = ROOT / "src" / "lissom" / "robots" / "solid-arm.geo"
        interface = {"inner": "inner@0,0,0", "tip": "tip@0.35,0,0"}
    wall = time.perf_counter()
    cpu = time.process_time()
    link = ls.reduce_link(
        geometry,
        interface,
        material="aluminium",
        mesh_size=size,
        trust_scripts=True,
    )
    wall = time.perf_counter() - wall
    cpu = time.process_time() - cpu
    assert link.link is not None  # 18 modes requested
    link.save(folder / "link.npz")
    # Linux counts the peak of the memory in kB.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "kind": kind,
        "size_m": size,
        "dofs": link.report["contents"].values["dofs"],
        "modes": len(link.link.frequency_hz),
        "reduce_s": wall,
        "reduce_cpu_s": cpu,
        "peak_gb": peak / 1e6,
    }


def measure_run(folder: Path) -> dict:
    """Time of a swing of the link in the folder."""
    import lissom as ls

    link = {
        "name": "link",
        "joint": {"type": "revolute", "axis": [0, 0, 1]},
        "fe": {"file": str(folder / "link.npz")},
    }
    robot = ls.Robot.from_dict(
        {"name": "pendulum", "gravity": [0, -9.81, 0], "links": [link]}
    )
    model = ls.Model(robot, "erls-cms", modes=12)
    # A short run first: what it compiles is not timed.
    ls.simulate(model, t_end=0.01)
    runs = [ls.simulate(model, t_end=0.25).data.attrs for _ in range(3)]
    return {
        "run_s": min(float(facts["wall_run_s"]) for facts in runs),
        "steps": int(runs[0]["steps"]),
    }


def draw(cases: list[dict]) -> None:
    """The picture of the cases."""
    from lissom.show.axes import PALETTE, finish, new_figure

    figure = new_figure(12, 4.2)
    panels = figure.subplots(1, 3)
    for axes, (key, title, limit) in zip(panels, PANELS, strict=True):
        for k, kind in enumerate(CASES):
            rows = [case for case in cases if case["kind"] == kind]
            dofs = [row["dofs"] for row in rows]
            values = [row[key] for row in rows]
            axes.loglog(dofs, values, marker="o", color=PALETTE[k], label=kind)
        axes.set_title(title, loc="left", fontsize=11)
        axes.set_xlabel("finite-element dofs")
        axes.grid(alpha=0.3, which="both")
        if limit is not None:
            axes.axhline(limit, color="#B3261E", ls="--", lw=1)
    # The time of a run hardly changes: two decades show that it does not.
    times = [case["run_s"] for case in cases]
    panels[2].set_ylim(min(times) / 10, max(times) * 10)
    panels[0].legend(frameon=False)
    finish(figure, FIGURE.with_suffix(".png"))


def main() -> None:
    """Measure all cases, or one in this process; draw the figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=3)
    parser.add_argument(
        "--draw", action="store_true", help="draw what was measured before"
    )
    options = parser.parse_args()
    if options.one:
        kind, size, folder = options.one
        print(json.dumps(measure(kind, float(size), Path(folder))))
    elif options.draw:
        draw(json.loads(FIGURE.with_suffix(".json").read_text()))
    else:
        cases = measure_all()
        FIGURE.with_suffix(".json").write_text(json.dumps(cases, indent=2) + "\n")
        draw(cases)


def measure_all() -> list[dict]:
    """Every case, each in a process of its own."""
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, sizes in CASES.items():
            for size in sizes:
                command = [sys.executable, __file__, "--one", kind, str(size), folder]
                process = subprocess.run(
                    command, check=True, capture_output=True, text=True
                )
                # The checks print before it: the last line is the answer.
                answer = process.stdout.splitlines()[-1]
                cases.append(json.loads(answer))
                print(cases[-1], flush=True)
    return cases


if __name__ == "__main__":
    main()
