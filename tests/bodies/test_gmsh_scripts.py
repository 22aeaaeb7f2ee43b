"""Scripts and meshes of gmsh, run by gmsh itself; collected where it can be loaded (`conftest.py`)."""

import json
import subprocess

import gmsh
import numpy as np
import pytest

from lissom.bodies.fe.elements import FeError
from lissom.bodies.fe.gmsh_child import PROGRAM
from lissom.bodies.fe.solid import mesh_of, solid_elements
from lissom.commands import cli
from lissom.files.description_files import library_folder
from lissom.worker_process import ORPHANED, REQUEST, send

from .fe_decks import DATA, STEEL


def test_the_same_command_leaves_its_trace_when_the_script_is_trusted(capsys, tmp_path):
    trace = tmp_path / "trace"
    file = tmp_path / "trusted.geo"
    file.write_text(f'SystemCall "touch {trace}";\n')
    ends = ("--material", "steel", "--inner", "x=0", "--tip", "x=1")
    code = cli.main(["reduce", str(file), *ends, "--trust-scripts"])
    err = capsys.readouterr().err
    assert code == 2 and "holds no volume" in err
    assert trace.exists()


def test_settings_of_gmsh_in_the_home_folder_are_not_run(tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    (tmp_path / ".gmshrc").write_text(f'SystemCall "touch {trace}";\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    mesh_of(library_folder() / "solid-arm.geo", 0.02, trust_scripts=True)
    assert not trace.exists()


def test_a_script_that_does_not_end_is_stopped(tmp_path):
    file = tmp_path / "endless.geo"
    file.write_text(
        "For i In {0:1}\n i = 0;\nEndFor\nFor i In {0:1e15}\n a = i;\nEndFor"
    )
    with pytest.raises(FeError, match="took longer than 2 s .*--max-wall"):
        mesh_of(file, trust_scripts=True, max_wall=2.0)


@pytest.mark.parametrize("version", [2.2, 4.1])
def test_meshes_as_gmsh_writes_them_are_the_part_that_was_meshed(tmp_path, version):
    text = (DATA / "l-beam.geo").read_text().replace("along = {30", "along = {6")
    (tmp_path / "l.geo").write_text(text)
    gmsh.initialize(interruptible=False, readConfigFiles=False)
    files = []
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.open(str(tmp_path / "l.geo"))
        gmsh.model.mesh.generate(3)
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        for order in (1, 2):
            gmsh.model.mesh.setOrder(order)
            for binary in (0, 1):
                gmsh.option.setNumber("Mesh.Binary", binary)
                files.append(tmp_path / f"{order}-{binary}.msh")
                gmsh.write(str(files[-1]))
    finally:
        gmsh.finalize()
    for file in files:
        mesh = mesh_of(file)
        fe = solid_elements(mesh, STEEL)
        # Two rods of 30 mm x 10 mm; 7800 kg/m^3.
        assert fe.rigid_inertia[0, 0] == pytest.approx(2.34, rel=1e-12)
        assert {name: len(nodes) for name, nodes in mesh.sets.items()} == {
            "inner": 45,
            "tip": 45,
        }
        np.testing.assert_allclose(mesh.points[mesh.sets["tip"], 1], 0.5)


def test_gmsh_ends_with_the_process_that_started_it(tmp_path):
    """The child watches the pipe from its parent; a parent that is killed closes it."""
    file = tmp_path / "endless.geo"
    file.write_text("For i In {0:1e15}\n a = i;\nEndFor")
    request = {
        "source": str(file),
        "ending": ".geo",
        "size": None,
        "mesh": str(tmp_path / "m.msh"),
        "bytes": 2**33,
    }
    child = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE)
    send(child.stdin, REQUEST, json.dumps(request).encode())
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=1.0)
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=10.0) == ORPHANED
