"""The gallery: pictures, what they show and what makes them.

python docs/_site/gallery.py                 makes all of them again, in docs/figures
python docs/_site/gallery.py mode-map hero   makes these

Some need the extras `peers` and `fe`, some need Chromium, and the slowest take some minutes.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "figures"
TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
NAMED_BLOCK = re.compile(r"`([\w-]+\.yaml)`[^`]*?```yaml\n(.*?)^```", re.S | re.M)
PROGRAM = [sys.executable, "-m", "lissom.commands.cli"]


class Picture(NamedTuple):
    """A file of docs/figures without its ending, what it shows, and the command that makes it."""

    name: str
    title: str
    text: str
    command: str


PICTURES = (
    Picture(
        "hero",
        "An arm in motion",
        "The anthropomorphic arm in its animation, one HTML file: the deformation is scaled by five.",
        "python -m benchmarks.physics.pictures",
    ),
    Picture(
        "run",
        "A run in one figure",
        "Joints, torques, tips and energies of the same motion, with the residual of the energy balance.",
        "python -m benchmarks.physics.pictures",
    ),
    Picture(
        "mode-map",
        "Frequencies over a joint angle",
        "Modes of the double pendulum over its elbow angle. A mode keeps its number where curves cross.",
        "lissom mode-map double-pendulum --over lower=-2.5:2.5:41 --locked --plot mode-map.png",
    ),
    Picture(
        "mode-heat-map",
        "Frequencies over the workspace",
        "The anthropomorphic arm over two joints and, below, over the positions that its tip reaches.",
        "lissom mode-map anthropomorphic --over upper=0.1:1.4:10 --over fore=-2.2:-0.2:10 "
        "--locked --plot mode-heat-map.png",
    ),
    Picture(
        "control-double-pendulum",
        "Seven controllers on one motion",
        "Elastic displacement and torque of the double pendulum: with a position loop the link vibrates after the "
        "stop, with a shaped reference it does not.",
        "lissom control compare double-pendulum --plot control-double-pendulum.png",
    ),
    Picture(
        "tutorial-controllers",
        "The arm of the tutorial, tuned",
        "Three position loops on the arm of the tutorial: slow, fast, and with a shaped reference.",
        "lissom control compare study.yaml --plot tutorial-controllers.png",
    ),
    Picture(
        "tutorial-map",
        "The same arm over its elbow",
        "The frequencies are lowest with the arm stretched.",
        "lissom mode-map arm.yaml --over fore=-2:2:41 --locked --count 2 --plot tutorial-map.png",
    ),
    Picture(
        "tutorial-lift",
        "The same arm lifting",
        "The torques of a motion of a quarter of a second, and the residual vibration of the tip.",
        "lissom simulate lift.yaml --plot tutorial-lift.png",
    ),
    Picture(
        "fe-robot",
        "Links from finite elements",
        "The robot `solid-arm`: two links of arbitrary shape, meshed, reduced to a few modes, and drawn from their "
        "meshes.",
        "lissom show solid-arm -o fe-robot.png",
    ),
    Picture(
        "ur5",
        "A real arm",
        "A UR5 from the manufacturer's URDF file: masses and inertias are kept, upper arm and forearm bend, the covers "
        "are only for the picture.",
        "lissom show ur5 --q 0,-1.2,1.4,0,0,0 -o ur5.png",
    ),
    Picture(
        "four-bar-340rpm",
        "A flexible four-bar at 340 rpm",
        "Mid-span deflections of coupler and follower over the crank angle, from rest to steady state.",
        "python -m benchmarks.physics.four_bar_340rpm",
    ),
    Picture(
        "closed-chains-beside-exudyn",
        "Closed chains compared with another program",
        "Mid-span deflections and those of geometrically exact beams (circles), with stiffening and without.",
        "python -m benchmarks.physics.closed_chains_beside_exudyn",
    ),
    Picture(
        "spin-up",
        "A beam that spins up",
        "In linear theory the deflection grows without bound. The real beam lags and comes back.",
        "python -m benchmarks.physics.spin_up",
    ),
    Picture(
        "parametric-eigenpairs",
        "Modes as polynomials",
        "Frequencies, damping and shapes along a path: polynomials of order 4 compared with LAPACK.",
        "python -m benchmarks.physics.parametric_eigenpairs",
    ),
    Picture(
        "cibicik-arm-9-xz",
        "Figures of a paper, from our runs",
        "Elastic displacements of the four-dof arm of [Cibicik2021] during its slew.",
        "python -m benchmarks.physics.cibicik_arm",
    ),
    Picture(
        "work-precision",
        "What accuracy costs",
        "Error against work for three step methods.",
        "python -m benchmarks.physics.work_precision",
    ),
    Picture(
        "beside-exudyn",
        "Cost against error, compared with Exudyn",
        "Processor seconds per simulated second against the error.",
        "python -m benchmarks.speed.beside_exudyn peers.json",
    ),
)


def pictures() -> str:
    """All pictures as Markdown, each with the command that makes it."""
    return "\n\n".join(
        f"## {picture.title}\n\n{picture.text}\n\n"
        f"![{picture.title}](/figures/{picture.name}.png)\n\n"
        f"```text\n{picture.command}\n```"
        for picture in PICTURES
    )


def write_tutorial_files(folder: Path) -> None:
    for page in TUTORIAL:
        for name, text in NAMED_BLOCK.findall(page.read_text(encoding="utf-8")):
            (folder / name).write_text(text, encoding="utf-8")


def make(picture: Picture) -> None:
    """One picture, by its command."""
    program, *words = shlex.split(picture.command)
    if program == "python":
        subprocess.run([sys.executable, *words], cwd=ROOT, check=True)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tutorial_files(folder)
        subprocess.run([*PROGRAM, *words], cwd=folder, check=True)
        made = folder / f"{picture.name}.png"
        (FIGURES / made.name).write_bytes(made.read_bytes())


if __name__ == "__main__":
    wanted = sys.argv[1:] or [picture.name for picture in PICTURES]
    for picture in PICTURES:
        if picture.name in wanted:
            print(picture.name, flush=True)
            make(picture)
