"""A second start of a command compiles and imports nothing that it can do without, and gives the right numbers."""

import json
import os
import re
import subprocess
import sys

import pytest

from shell_commands import REED

PROGRAM = "import sys, lissom_command; sys.exit(lissom_command.main())"
FORMULATIONS = {
    "lissom.dynamics.dual_screw",
    "lissom.dynamics.erls",
    "lissom.dynamics.nonlinear",
    "lissom.dynamics.truncated",
    "lissom.dynamics.world_axes",
}
CHANGES = {
    "another number": "links.rod.beam.material.E=9e10",
    "another length": "links.rod.joint.dh.a=0.5",
    "a mass that was zero": "payload.mass=0.2",
    "another structure": "links.rod.beam.elements=2",
}


def start(folder, *words):
    line = [sys.executable, "-X", "importtime", "-c", PROGRAM, "simulate", *words]
    environment = os.environ | {"LISSOM_CACHE": str(folder)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    done = subprocess.run(
        [*line, "--t-end", "0.02", "--json"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    modules = set(re.findall(r"\| +([\w.]+)", done.stderr))
    return json.loads(done.stdout), modules


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """A folder with the machine code of a reed, and the reed."""
    folder = tmp_path_factory.mktemp("cache")
    file = folder / "reed.yaml"
    file.write_text(REED)
    start(folder, file)
    return folder, file


@pytest.mark.slow
def test_a_second_start_compiles_nothing_and_imports_no_large_package(seen, tmp_path):
    folder, file = seen
    answer, modules = start(folder, file, "-o", tmp_path / "reed.nc")
    assert answer["cache"]["misses"] == 0 and answer["cache"]["hits"] > 0
    # Of SciPy the modes of a link need linear algebra, and nothing needs the rest.
    assert modules.isdisjoint({"scipy.signal", "scipy.optimize", "scipy.interpolate"})
    assert modules.isdisjoint({"pandas", "xarray", "matplotlib", "control"})
    # Nor what equinox and JAX bring along, nor what reads a file or translates a function for the first time.
    assert modules.isdisjoint({"equinox.nn._mlp", "equinox.internal._noinline"})
    assert modules.isdisjoint({"jax._src.pallas.core", "jax._src.scipy.linalg"})
    assert "ruamel.yaml" not in modules
    assert modules.isdisjoint({"jaxnative.translate", "jaxnative.program"})
    # Of the formulations, the one of this run.
    used = {name for name in modules if name in FORMULATIONS}
    assert used == {"lissom.dynamics.nonlinear"}
    # XLA keeps its programs beside the folder of machine code: none was needed.
    # `last-sweep` says when the folder was last kept within its bounds.
    names = {entry.name for entry in folder.iterdir()}
    assert names <= {"native", "reed.yaml", "last-sweep"}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_robot_gets_its_own_numbers(seen, change):
    folder, file = seen
    cached, _ = start(folder, file, "--set", change)
    alone, _ = start("off", file, "--set", change)
    plain, _ = start(folder, file)
    for name in ("q", "qd", "energy", "position"):
        assert cached[name] == alone[name]
    assert cached["energy"] != plain["energy"]


@pytest.mark.slow
def test_other_numbers_compile_nothing(seen):
    folder, file = seen
    for change in ("another number", "another length"):
        answer, _ = start(folder, file, "--set", CHANGES[change])
        assert answer["cache"]["misses"] == 0
