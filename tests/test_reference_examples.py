"""What the generated pages of reference show: examples of docstrings and of help texts, run as they are written."""

import doctest
import importlib
import re
import shlex
import shutil
from pathlib import Path

import pytest

import lissom as ls
from lissom.commands import cli
from page_blocks import blocks

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
pytestmark = pytest.mark.slow

# Commands that are not run here, and why.
NOT_RUN = {
    "lissom studio my-robots": "it serves pages until it is stopped; tests/studio does so",
    "lissom bench double-pendulum": "it measures for minutes; tests/benchmarks runs its parts",
    "lissom bench physics -o physics.md": "it measures for minutes; tests/benchmarks runs its parts",
    "lissom reduce job.sti --inner hub --tip flange -o link.npz --plot report.png": (
        "a job of CalculiX; tests/bodies reads one"
    ),
}
URDF = """<robot name="arm">
  <link name="base_link"/>
  <link name="upper_arm_link">
    <inertial><origin xyz="0.25 0 0"/><mass value="8"/>
      <inertia ixx="0.02" iyy="0.3" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tool0"/>
  <joint name="lift" type="revolute"><parent link="base_link"/><child link="upper_arm_link"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="90" velocity="3"/></joint>
  <joint name="flange" type="fixed"><parent link="upper_arm_link"/><child link="tool0"/><origin xyz="0.5 0 0"/></joint>
</robot>"""
REFERENCE = (
    "reference: {t: [0, 0.2], value: [[0, 0], [0.3, -0.2]], interpolation: quintic}"
)
LAWS = {
    "pid.yaml": f"type: pid\nsample: 1 ms\ngains: {{bandwidth: 20}}\n{REFERENCE}\n",
    "lqg.yaml": f"""type: lqg
sample: 1 ms
sensors: [upper.encoder, lower.encoder, upper/element0.kz, lower/element0.kz]
tolerances: {{position: [2], torque: [20], energy: 1000}}
noise: {{torque: [1], drift: [0.001], sensors: [1e-5, 1e-5, 1e-3, 1e-3]}}
fastest: 1000
{REFERENCE}
""",
}


def modules_with_examples() -> list[str]:
    files = [file for file in SOURCES.rglob("*.py") if ">>>" in file.read_text()]
    return sorted(
        ".".join(file.relative_to(SOURCES).with_suffix("").parts) for file in files
    )


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_of_docstrings_give_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0
    assert done.failed == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    import gmsh

    monkeypatch.chdir(tmp_path)
    for name, text in {**LAWS, "robot.urdf": URDF}.items():
        (tmp_path / name).write_text(text)
    for name in ("robot.yaml", "arm.yaml"):
        ls.Robot.load("double-pendulum").save(name)
    control = ROOT / "docs" / "tutorial" / "5-control.md"
    study = next(
        block for block in blocks(control, "yaml") if "controllers" in block.text
    )
    arm = blocks(ROOT / "docs" / "tutorial" / "1-first-robot.md", "yaml")[0]
    (tmp_path / "study.yaml").write_text(
        study.text.replace("arm.yaml", "of-study.yaml")
    )
    (tmp_path / "of-study.yaml").write_text(arm.text)
    gmsh.initialize()
    gmsh.model.occ.addBox(0, -10, -15, 300, 20, 30)
    gmsh.model.occ.synchronize()
    gmsh.write("bracket.step")
    gmsh.finalize()
    return tmp_path


def commands(monkeypatch) -> list[str]:
    """Commands of the generated page, in its order."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    text = importlib.import_module("command_reference").commands()
    return re.findall(r"^\$ (.*)$", text, re.MULTILINE)


def test_examples_of_help_texts_run(folder, monkeypatch, capfd):
    lines = commands(monkeypatch)
    assert set(NOT_RUN) <= set(lines)
    for line in [line for line in lines if line not in NOT_RUN]:
        for name in ("a.nc", "b.nc"):
            if (folder / "run.nc").exists():
                shutil.copy(folder / "run.nc", folder / name)
        code = cli.main(shlex.split(line)[1:])
        said = "".join(capfd.readouterr())
        assert code == 0, f"{line}: exit code {code}\n{said}"
