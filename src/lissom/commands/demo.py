"""A flexible arm simulated from its library entry to its animation: what `make demo` runs."""

import sys
from pathlib import Path

import numpy as np

from ..analyse.modes.modal import Modes, modes
from ..compiled_code import keep_compiled_code
from ..describe.scenario import Scenario
from ..show.figure import draw_robot
from ..show.run import Run, initial_state, inputs_of, simulate
from ..show.scene import scene_from_json
from ..solve.model import Model

ROBOT = "anthropomorphic"


def demo(folder: Path) -> Run:
    """Simulate the library's arm and leave results, pictures and animation in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    scenario = Scenario.load(ROBOT)
    model = Model(scenario.robot, reference=scenario.reference)
    print(
        f"Simulating {ROBOT!r} for {scenario.t_end:g} s; the first time, most of the wait is compiling ...",
        flush=True,
    )
    state = initial_state(model, scenario)
    heard = modes(model, state, locked=True, count=3)
    run = simulate(
        model,
        state,
        t_end=scenario.t_end,
        output_dt=scenario.output_dt,
        inputs=inputs_of(model, scenario),
        solver=scenario.solver,
        scenario=scenario.to_dict(),
    )
    run.save(folder / "run.nc")
    run.plot(folder / "run.png")
    run.animate(folder / "robot.html")
    start = run.data.isel(time=0)
    draw_robot(
        scene_from_json(run.data.attrs["scene"]),
        start.position.values,
        start.frame.values,
        folder / "robot.png",
    )
    print(summary(model, heard, run))
    return run


def summary(model: Model, heard: Modes, run: Run) -> str:
    """The run in a few lines."""
    data, facts = run.data, run.data.attrs
    bent = 1e3 * np.linalg.norm(data.position - data.erls_position, axis=-1).max()
    energies = data.energy.sel(
        kind=["kinetic", "strain", "gravity", "input", "dissipated"]
    )
    largest = np.ptp(energies.values, axis=0).max()
    balance = np.abs(run.energy("residual")).max()
    links, elastic = len(model.link_names), model.formulation.n_elastic
    swing = np.degrees(np.ptp(run.q[:, 0]))
    lines = {
        "robot": f"{links} flexible links, {model.n_joints} joints, {elastic} elastic coordinates",
        "vibration": ", ".join(f"{f:.2f}" for f in heard.frequency_hz)
        + " Hz with the joints held",
        "motion": f"{run.t[-1]:g} s; joint {model.joint_names[0]!r} swings {swing:.1f} deg; "
        f"nodes move up to {bent:.1f} mm from the rigid arm",
        "energy": f"balance closes to {balance:.1e} J; {largest:.1f} J change hands",
        "solver": f"{facts['method']}, {facts['steps']} steps; compiled in {facts['wall_compile_s']:.1f} s, "
        f"run in {facts['wall_run_s']:.2f} s",
    }
    return "\n".join(f"  {name:<10} {text}" for name, text in lines.items())


def main() -> None:
    """Run the demo into the folder named on the command line, and say what to open."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    kept = keep_compiled_code()
    demo(folder)
    print(f"  {kept}")
    print(f"\nOpen\n{guide(folder)}")


def guide(folder: Path) -> str:
    """The files of the demo and what they are for."""
    files = {
        "robot.html": "the animation, in any browser: play, scrub, turn, exaggerate",
        "run.png": "joints, torques, displacements, tip path, energies",
        "robot.png": "the robot with its frames and nodes",
        "run.nc": f"every number, for xarray; run it again with .venv/bin/lissom simulate {folder / 'run.nc'}",
    }
    return "\n".join(
        f"  {str(folder / name):<18} {text}" for name, text in files.items()
    )


if __name__ == "__main__":
    main()
