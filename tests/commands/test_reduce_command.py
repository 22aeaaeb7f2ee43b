"""`lissom reduce` as a user meets it: a link, a report, a page, and exit codes."""

import json
from pathlib import Path

import numpy as np
import pytest

from lissom.bodies.beam import LineInertia, Rigidity, element_mass, element_stiffness
from lissom.commands import cli
from lissom.describe import Robot

MESH = Path(__file__).parents[1] / "data" / "fe" / "l-beam-coarse.npz"
FACES = ("--interface", "inner=inner,tip=tip", "--material", "steel")


@pytest.fixture
def lissom(capsys):
    """Runs a command line: exit code, stdout, stderr."""

    def run(*words):
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def beam(tmp_path):
    """One beam element as a file of matrices."""
    rigidity = Rigidity(
        *(np.array(value) for value in (1.4e7, 1e9, 1e9, 120.0, 150.0, 340.0))
    )
    line = LineInertia(*(np.array(value) for value in (0.54, 4e-5, 0.0, 0.0)))
    K, M = element_stiffness(rigidity, 0.4, 0.0, 0.0), element_mass(line, 0.4, 0.0, 0.0)
    np.savez(
        tmp_path / "beam.npz",
        K=K,
        M=M,
        nodes=np.array([[0, 0, 0], [0.4, 0, 0]]),
        labels=np.array([1, 57]),
    )
    return tmp_path / "beam.npz"


def test_a_mesh_becomes_a_link_a_report_and_a_page(lissom, tmp_path):
    link, report, page = (
        tmp_path / name for name in ("link.npz", "report.json", "page.png")
    )
    code, out, _ = lissom(
        "reduce", MESH, *FACES, "-o", link, "--report", report, "--plot", page
    )
    assert code == 0 and "all checks passed" in out and "MAC" in out
    lines = {line["name"]: line for line in json.loads(report.read_text())["lines"]}
    assert lines["mass"]["values"]["mass"] == pytest.approx(
        2.355, rel=1e-9
    )  # 7850 kg/m^3
    assert page.read_bytes()[:4] == b"\x89PNG"
    robot = {
        "name": "r",
        "links": [
            {"name": "a", "joint": {"type": "revolute"}, "fe": {"file": str(link)}}
        ],
    }
    assert Robot.from_dict(robot).outline.nodes == {"a": 11}


def test_node_numbers_name_the_interface_of_matrices(lissom, beam, tmp_path):
    code, out, _ = lissom(
        "reduce",
        beam,
        "--interface",
        "inner=1,tip=57",
        "--modes",
        6,
        "-o",
        tmp_path / "b.npz",
        "--json",
    )
    answer = json.loads(out)
    assert (
        code == 0
        and answer["report"]["passed"]
        and answer["files"] == {"link": str(tmp_path / "b.npz")}
    )


def test_a_failed_check_exits_with_1_and_writes_no_link(lissom, beam, tmp_path):
    code, out, _ = lissom(
        "reduce", beam, "--interface", "inner=1,tip=58", "-o", tmp_path / "b.npz"
    )
    assert (
        code == 1
        and "interface tip: node 58 is not in the mesh" in out
        and "1 check failed" in out
    )
    assert not (tmp_path / "b.npz").exists()
    code, out, _ = lissom(
        "reduce", beam, "--interface", "inner=1,tip=57", "--mass", 9, "--json"
    )
    assert code == 1 and not json.loads(out)["report"]["passed"]


@pytest.mark.parametrize(
    "words, message",
    [
        (("--interface", "inner=1"), "tip missing"),
        (("--interface", "1,57"), "must be name=node"),
        (("--interface", "inner=1,tip=57", "--units", "furlong"), "units: furlong"),
        (("--interface", "inner=1,tip=57", "--method", "magic"), "method: magic"),
        (
            ("--interface", "inner=1,tip=57", "--modes", "3", "--frequency", "50"),
            "not both",
        ),
        (("--interface", "inner=1,tip=57", "-o", "link.txt"), "must end in .npz"),
        (("--interface", "inner=1,tip=57", "--mesh-size", "big"), "--mesh-size"),
    ],
)
def test_bad_requests_exit_with_2_and_say_why(words, message, lissom, beam):
    code, _, err = lissom("reduce", beam, *words)
    assert code == 2 and message in err


def test_a_mesh_without_a_material_and_a_missing_file_exit_with_2(lissom, tmp_path):
    code, _, err = lissom("reduce", MESH, "--inner", "inner", "--tip", "tip")
    assert code == 2 and "needs a material" in err
    file = tmp_path / "none.op4"
    words = ("reduce", file, "--inner", "1", "--tip", "2")
    code, _, err = lissom(*words)
    assert code == 2 and err == f"error: {file}: no such file\n"
    _, out, _ = lissom(*words, "--json")
    (problem,) = json.loads(out)["error"]["errors"]
    assert problem["file"] == str(file) and problem["message"] == "no such file"
