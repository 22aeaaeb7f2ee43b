"""Files from elsewhere: nothing in them is run, nothing outside of their folder is read, limits hold."""

import numpy as np
import pytest

from lissom.bodies.fe.deck import read_deck
from lissom.bodies.fe.elements import FeError
from lissom.bodies.fe.nastran import check_includes
from lissom.bodies.fe.reduced_link import load_link
from lissom.bodies.fe.solid import load_mesh, mesh_of, solid_elements
from lissom.commands import cli
from lissom.describe import DescriptionError, Robot
from lissom.files.description_files import library_folder

from .fe_decks import DATA, STEEL, WHOLE_MESH


def reduce(capsys, *words):
    """Exit code and error text of `lissom reduce` with faces and a material."""
    ends = ("--material", "steel", "--inner", "x=0", "--tip", "x=1")
    code = cli.main(["reduce", *(str(word) for word in words), *ends])
    return code, capsys.readouterr().err


# --- scripts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("evil.msh", ""),
        ("evil.msh", WHOLE_MESH),
        ("evil.geo", ""),
        ("evil.step", ""),
        ("evil.brep", ""),
        ("evil.iges", ""),
    ],
)
def test_a_file_with_commands_runs_nothing_and_says_why(capsys, tmp_path, name, before):
    trace = tmp_path / "trace"
    script = f'SystemCall "touch {trace}";\nPrintf("x") > "{trace}";\nOnelabRun("a", "touch {trace}");\n'
    file = tmp_path / name
    file.write_text(before + script)
    code, err = reduce(capsys, file)
    assert code == 2
    assert name in err and "nothing was run" in err
    assert not trace.exists()


# --- meshes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4.1 0 8", "9.9 0 8", "must be format 2.2 or 4.1"),
        ("$EndElements", "", "ends within \\$Elements"),
        ("$Nodes", "$Nonsense", "no such section"),
        ("1 1 2 3 4", "1 1 2 3 9", "node 9 is not in \\$Nodes"),
        ("3 1 4 1", "3 1 5 1", "ends before"),
        ("3 1 4 1", "3 1 77 1", "element kind 77"),
        ("3 1 0 4", "3 1 0 99999999999", "ends before"),
        ("0 0 0  1", "0 0 nan  1", "not finite"),
        ("3 1 4 1\n1 1 2 3 4", "2 1 2 1\n1 1 2 3", "no volume"),
        ("0 0 0  1", "0 zero 0  1", "broken .msh file"),
    ],
)
def test_broken_meshes_are_refused_in_words(tmp_path, old, new, message):
    file = tmp_path / "part.msh"
    assert old in WHOLE_MESH
    file.write_text(WHOLE_MESH.replace(old, new))
    with pytest.raises(FeError, match=message):
        mesh_of(file)


def test_a_tetrahedron_of_four_nodes_gets_its_middle_nodes(tmp_path):
    file = tmp_path / "one.msh"
    file.write_text(WHOLE_MESH)
    mesh = mesh_of(file)
    assert mesh.tets.shape == (1, 10) and len(mesh.points) == 10
    # A sixth of a cube of one metre.
    mass = solid_elements(mesh, STEEL).rigid_inertia[0, 0]
    assert mass == pytest.approx(7800 / 6, rel=1e-12)


# --- arrays ---------------------------------------------------------------------------------------------------------


def changed_link(tmp_path, **changes):
    """The link of the library's solid arm with some of its arrays changed."""
    with np.load(library_folder() / "solid-arm.npz") as file:
        arrays = {name: file[name] for name in file.files}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    np.savez(tmp_path / "link.npz", **arrays)
    return tmp_path / "link.npz"


def at_first(value):
    def change(array):
        array = array.copy()
        array.flat[1] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("points", at_first(np.nan), "points: holds numbers that are not finite"),
        ("shapes", lambda a: a[:, :5], "shapes: has the shape"),
        ("X", lambda a: a[:, :-1], "X: has the shape"),
        ("stiffness", lambda a: -a, "stiffness: must be positive semidefinite"),
        ("stiffness", at_first(1e9), "stiffness: must be symmetric"),
        ("mass", lambda a: -a, "mass: must be positive semidefinite"),
        ("triangles", at_first(10**6), "triangles: holds 1000000"),
        ("lissom_link", lambda a: np.array(9), "format 9"),
    ],
)
def test_a_link_that_no_part_has_is_refused_with_file_and_array(
    tmp_path, name, change, message
):
    path = changed_link(tmp_path, **{name: change})
    with pytest.raises(FeError, match=message):
        load_link(path)
    robot = {
        "name": "r",
        "links": [
            {"name": "arm", "joint": {"type": "revolute"}, "fe": {"file": str(path)}}
        ],
    }
    with pytest.raises(DescriptionError, match=message) as failure:
        Robot.from_dict(robot)
    assert failure.value.problems[0].field == "links.arm.fe.file"


def test_a_mesh_whose_elements_name_nodes_that_are_not_there_is_refused(tmp_path):
    with np.load(DATA / "l-beam-coarse.npz") as file:
        arrays = {name: file[name] for name in file.files}
    arrays["tets"] = arrays["tets"] + 10**6
    np.savez(tmp_path / "mesh.npz", **arrays)
    with pytest.raises(FeError, match="tets: holds 10"):
        load_mesh(tmp_path / "mesh.npz")


# --- files that name other files ------------------------------------------------------------------------------------


def test_included_files_lie_in_the_folder_of_the_deck(tmp_path):
    (tmp_path / "secret.inp").write_text("*NODE\n1, 0, 0, 0\n")
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "near.inp").write_text("*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n")
    (folder / "good.inp").write_text("*INCLUDE, INPUT=near.inp\n")
    (folder / "bad.inp").write_text("*INCLUDE, INPUT=../secret.inp\n")
    (folder / "bad.bdf").write_text("INCLUDE '../secret.inp'\n")
    assert len(read_deck(folder / "good.inp").labels) == 2
    with pytest.raises(FeError, match="outside of the folder"):
        read_deck(folder / "bad.inp")
    with pytest.raises(FeError, match="outside of the folder"):
        check_includes(folder / "bad.bdf")


def test_a_set_of_more_nodes_than_fit_into_the_memory_is_refused(tmp_path):
    file = tmp_path / "job.inp"
    file.write_text("*NODE\n1, 0, 0, 0\n*NSET, NSET=ALL, GENERATE\n1, 1000000000000\n")
    with pytest.raises(FeError, match="names more than"):
        read_deck(file)
