"""Cost against the number of finite-element dofs: reducing grows with the mesh, simulating does not.

    python benchmarks/speed/cost_of_fe_dofs.py

Each case runs in a process of its own, so that its peak memory is its own. Processor time is plotted, one thread with
OMP_NUM_THREADS=1: it does not depend on what else the machine does. Writes docs/figures/fe-cost.json and .png.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIGURE = ROOT / "docs" / "figures" / "fe-cost"
CASES = {  # edge of the tetrahedra [m]: the arm of the library (slender), and a block that fills up when factorised
    "arm": (0.02, 0.012, 0.009, 0.0068, 0.0055),
    "block": (0.03, 0.02, 0.0145, 0.011, 0.0088),
}
BLOCK = 'SetFactory("OpenCASCADE");\nBox(1) = {0, -0.05, -0.05, 0.3, 0.1, 0.1};\n'


def one(kind: str, size: float, folder: Path) -> dict:
    """One case, measured in this process."""
    import lissom as ls

    geometry, inner, tip = (
        ROOT / "src" / "lissom" / "robots" / "solid-arm.geo",
        "inner@0,0,0",
        "tip@0.35,0,0",
    )
    if kind == "block":
        geometry, inner, tip = folder / "block.geo", "x=0", "x=0.3"
        geometry.write_text(BLOCK)
    begin, cpu = time.perf_counter(), time.process_time()
    made = ls.reduce_link(
        geometry, {"inner": inner, "tip": tip}, material="aluminium", mesh_size=size
    )
    reduced, busy = time.perf_counter() - begin, time.process_time() - cpu
    made.save(folder / "link.npz")
    answer = {
        "kind": kind,
        "size_m": size,
        "dofs": made.report["contents"].values["dofs"],
        "modes": len(made.link.frequency_hz),
        "reduce_s": reduced,
        "reduce_cpu_s": busy,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }
    link = {
        "name": "link",
        "joint": {"type": "revolute", "axis": [0, 0, 1]},
        "fe": {"file": str(folder / "link.npz")},
    }
    robot = ls.Robot.from_dict(
        {"name": "pendulum", "gravity": [0, -9.81, 0], "links": [link]}
    )
    model = ls.Model(robot, "erls-cms", modes=12)
    ls.simulate(model, t_end=0.01)
    runs = [ls.simulate(model, t_end=0.25).data.attrs for _ in range(3)]
    return answer | {
        "run_s": min(float(r["wall_run_s"]) for r in runs),
        "steps": int(runs[0]["steps"]),
    }


def figure(cases: list[dict]) -> None:
    """The picture of the cases."""
    from lissom.show.axes import PALETTE, finish, new_figure

    page = new_figure(12, 4.2)
    panels = page.subplots(1, 3)
    for k, kind in enumerate(CASES):
        mine = [case for case in cases if case["kind"] == kind]
        for axes, key in zip(panels, ("reduce_cpu_s", "peak_gb", "run_s"), strict=True):
            axes.loglog(
                [c["dofs"] for c in mine],
                [c[key] for c in mine],
                marker="o",
                color=PALETTE[k],
                label=kind,
            )
    titles = (
        "reduce and check, 18 modes: processor time [s]",
        "peak memory [GB]",
        "simulate 0.25 s, 12 modes [s]",
    )
    limits = (120.0, 4.0, None)
    for axes, title, limit in zip(panels, titles, limits, strict=True):
        axes.set_title(title, loc="left", fontsize=11)
        axes.set_xlabel("finite-element dofs")
        axes.grid(alpha=0.3, which="both")
        if limit is not None:
            axes.axhline(limit, color="#B3261E", ls="--", lw=1)
    panels[2].set_ylim(
        min(c["run_s"] for c in cases) / 10, max(c["run_s"] for c in cases) * 10
    )
    panels[0].legend(frameon=False)
    finish(page, FIGURE.with_suffix(".png"))


def main() -> None:
    """All cases, or one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=3)
    parser.add_argument(
        "--draw", action="store_true", help="draw what was measured before"
    )
    options = parser.parse_args()
    if options.one:
        kind, size, folder = options.one
        print(json.dumps(one(kind, float(size), Path(folder))))
        return
    if options.draw:
        return figure(json.loads(FIGURE.with_suffix(".json").read_text()))
    import tempfile

    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, sizes in CASES.items():
            for size in sizes:
                line = [sys.executable, __file__, "--one", kind, str(size), folder]
                answer = subprocess.run(
                    line, check=True, capture_output=True, text=True
                ).stdout.splitlines()[-1]
                cases.append(json.loads(answer))
                print(cases[-1], flush=True)
    FIGURE.with_suffix(".json").write_text(json.dumps(cases, indent=2) + "\n")
    figure(cases)


if __name__ == "__main__":
    main()
