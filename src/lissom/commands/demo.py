"""A flexible arm simulated from its library entry to its animation: what `make demo` runs."""

import sys
from pathlib import Path

import numpy as np

from ..analyse.modes.modal import Modes, modes
from ..compiled_code import keep_compiled_code
from ..describe.scenario import Scenario
from ..runs.run import Run
from ..runs.simulation import run_scenario
from ..runs.start import start_scenario
from ..show.figure import draw_robot
from ..show.scene import scene_from_json
from ..solve.model import Model

ROBOT = "anthropomorphic"


def demo(folder: Path) -> Run:
    """Simulate the library's arm and leave results, pictures and animation in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    scenario = Scenario.load(ROBOT)
    model = Model.of_scenario(scenario)
    print(
        f"Simulating {ROBOT!r} for {scenario.t_end:g} s; the first time, most of the wait is compiling ...",
        flush=True,
    )
    # The frequencies that one hears: those about the pose in which the run starts.
    state = start_scenario(scenario, model).state
    locked_modes = modes(model, state, locked=True, count=3)
    run = run_scenario(scenario, model=model)
    run.save(folder / "run.nc")
    run.plot(folder / "run.png")
    run.animate(folder / "robot.html")
    # Drawn from the result, so that the picture shows what the run started from.
    start = run.data.isel(time=0)
    draw_robot(
        scene_from_json(run.data.attrs["scene"]),
        start.position.values,
        start.frame.values,
        folder / "robot.png",
    )
    print(summary(model, locked_modes, run))
    return run


def summary(model: Model, locked_modes: Modes, run: Run) -> str:
    """The run in a few lines."""
    lines = {
        "robot": _robot_line(model),
        "vibration": _vibration_line(locked_modes),
        "motion": _motion_line(model, run),
        "energy": _energy_line(run),
        "solver": _solver_line(run),
    }
    return "\n".join(f"  {name:<10} {text}" for name, text in lines.items())


def _robot_line(model: Model) -> str:
    links = len(model.link_names)
    elastic = model.formulation.n_elastic
    return f"{links} flexible links, {model.n_joints} joints, {elastic} elastic coordinates; {model.modelled}"


def _vibration_line(locked_modes: Modes) -> str:
    frequencies = ", ".join(f"{hz:.2f}" for hz in locked_modes.frequency_hz)
    return f"{frequencies} Hz with the joints held"


def _motion_line(model: Model, run: Run) -> str:
    data = run.data
    displacement = np.linalg.norm(data.position - data.erls_position, axis=-1)
    swing = np.degrees(np.ptp(run.q[:, 0]))
    return (
        f"{run.t[-1]:g} s; joint {model.joint_names[0]!r} swings {swing:.1f} deg; "
        f"nodes move up to {1e3 * displacement.max():.1f} mm from the rigid arm"
    )


def _energy_line(run: Run) -> str:
    kinds = ["kinetic", "strain", "gravity", "input", "dissipated"]
    energies = run.data.energy.sel(kind=kinds)
    exchanged = np.ptp(energies.values, axis=0).max()
    residual = np.abs(run.energy("residual")).max()
    return f"balance closes to {residual:.1e} J; {exchanged:.1f} J change hands"


def _solver_line(run: Run) -> str:
    facts = run.data.attrs
    return (
        f"{facts['method']}, {facts['steps']} steps; compiled in {facts['wall_compile_s']:.1f} s, "
        f"run in {facts['wall_run_s']:.2f} s"
    )


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
