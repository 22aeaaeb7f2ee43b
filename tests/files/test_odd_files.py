"""Files that a person would hardly write, and that ended badly once: each is taken or refused in words."""

import json

import numpy as np
import pytest
import xarray as xr

import lissom as ls
from lissom.bodies.fe.elements import FeError, elements_of
from lissom.bodies.fe.import_checks import check_elements
from lissom.bodies.fe.solid import SolidMesh, solid_elements
from lissom.describe import DescriptionError
from lissom.describe.material import library_material
from lissom.files.array_file import ArrayFileError
from lissom.files.description_files import library_folder
from lissom.files.fe_file import fe_nodes, read_link_arrays, stored_blocks
from lissom.runs.sources import scenario_of


def test_whole_numbers_in_a_reduced_link_are_real_numbers(tmp_path):
    with np.load(library_folder() / "solid-arm.npz") as file:
        arrays = dict(file)
    arrays["Y"] = np.zeros(arrays["Y"].shape, dtype=np.int8)
    np.savez(tmp_path / "link.npz", **arrays)
    read = read_link_arrays(tmp_path / "link.npz")
    assert read["Y"].dtype == float
    assert read["triangles"].dtype.kind in "iu"


@pytest.mark.parametrize("report", ["", "no JSON", "[1, 2]"])
def test_a_reduced_link_without_a_report_is_refused(tmp_path, report):
    with np.load(library_folder() / "solid-arm.npz") as file:
        arrays = dict(file) | {"report": np.array(report)}
    np.savez(tmp_path / "link.npz", **arrays)
    with pytest.raises(ArrayFileError, match="report"):
        read_link_arrays(tmp_path / "link.npz")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"nodes": np.zeros((0, 3)), "labels": np.array([1, 2])}, "no node"),
        ({"nodes": np.eye(3), "labels": np.array([1, 2])}, "2 entries for 3 nodes"),
        ({"nodes": np.eye(3), "labels": np.array(["a", "b", "c"])}, "numbers of"),
    ],
)
def test_labels_that_do_not_fit_the_nodes_are_refused(tmp_path, arrays, words):
    file = tmp_path / "mesh.npz"
    np.savez(file, **arrays)
    with pytest.raises(ArrayFileError, match=words):
        fe_nodes(file, {"inner": 1, "tip": 2})


def test_an_assembly_that_is_a_list_is_refused_at_its_key():
    data = ls.Robot.load("four-bar").to_dict()
    data["assembly"] = [{"link": "follower"}]
    with pytest.raises(DescriptionError, match="assembly"):
        ls.Robot.from_dict(data)


def test_what_is_wrong_in_a_result_names_its_file(tmp_path):
    scenario = {"robot": {"name": "arm", "links": [{"name": "a"}]}, "t_end": 1.0}
    attrs = {"scenario": json.dumps(scenario), "lissom": "0.2.0"}
    file = tmp_path / "run.nc"
    xr.Dataset({"q": ("time", [0.0])}, attrs=attrs).to_netcdf(file, engine="h5netcdf")
    with pytest.raises(DescriptionError) as refusal:
        scenario_of(str(file), {})
    assert all(str(p).startswith(str(file)) for p in refusal.value.problems)


def test_a_stiffness_beyond_all_numbers_is_reported_and_does_not_end_the_checks():
    K = 1e308 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    points = np.array([[0.0, 10, 10], [10.0, 10, 0]])
    whole = np.kron(K, np.eye(6))
    with np.errstate(all="ignore"):
        fe = elements_of(whole, np.eye(12), points)
        lines = {line.name: line for line in check_elements(fe)}
    assert lines["rigid modes"].verdict == "fail"


@pytest.mark.parametrize("kind", [["quintic"], {"a": 1}, 3, None])
def test_a_motion_whose_type_is_no_word_is_refused_at_its_key(kind):
    reference = {"type": kind, "t": [0.0, 1.0], "value": [[0.0], [1.0]]}
    controller = {"type": "pd", "kp": [1.0], "kd": [1.0], "reference": reference}
    data = {"robot": "simple-pendulum", "controller": controller}
    with pytest.raises(DescriptionError, match="reference"):
        ls.Scenario.from_dict(data)


def test_a_section_beyond_all_sizes_is_refused_at_its_side():
    robot = ls.Robot.load("simple-pendulum")
    with pytest.raises(DescriptionError, match=r"section\.z: 1e\+299"):
        robot.replace({"links.rod.beam.section.z": 1e299})


def test_a_volume_without_a_tetrahedron_is_refused():
    none = np.zeros((0, 6), dtype=int)
    tets = np.zeros((0, 10), dtype=int)
    mesh = SolidMesh(np.eye(3), np.arange(3), tets, none, none[:, 0], source="a.msh")
    with pytest.raises(FeError, match="a.msh: holds no tetrahedron"):
        solid_elements(mesh, library_material("steel"))


def test_half_of_a_symmetric_matrix_is_stored_and_the_whole_of_another(tmp_path):
    with np.load(library_folder() / "solid-arm.npz") as file:
        arrays = dict(file)
    c = len(arrays["mass"])
    assert arrays["Z"].shape == (3 * c * (3 * c + 1) // 2,)
    whole = read_link_arrays(library_folder() / "solid-arm.npz")["Z"]
    assert np.array_equal(whole, whole.transpose(1, 0, 3, 2))
    assert np.array_equal(stored_blocks(whole), arrays["Z"])
    other = whole + np.arange(c)
    assert stored_blocks(other) is other
    np.savez(tmp_path / "link.npz", **arrays | {"Z": arrays["Z"][:-1]})
    with pytest.raises(ArrayFileError, match="half of a symmetric matrix"):
        read_link_arrays(tmp_path / "link.npz")
