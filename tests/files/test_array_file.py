"""Files of arrays: bombs, objects and links are refused by their headers."""

import h5py
import numpy as np
import pytest
import scipy.io

from lissom.describe import DescriptionError
from lissom.files.array_file import (
    ArrayFileError,
    array_names,
    check_arrays,
    check_file,
    check_semidefinite,
    read_arrays,
)
from lissom.imports.urdf import robot_from_urdf


def test_arrays_come_back_from_every_kind_of_file(tmp_path):
    a, names = np.arange(6.0).reshape(2, 3), np.array(["x", "y"])
    np.savez(tmp_path / "f.npz", a=a, names=names)
    scipy.io.savemat(tmp_path / "f.mat", {"a": a})
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["a"] = a
    for ending in ("npz", "mat", "h5"):
        arrays = read_arrays(tmp_path / f"f.{ending}")
        np.testing.assert_array_equal(arrays["a"], a)
    assert array_names(tmp_path / "f.npz") == ("a", "names")
    assert list(read_arrays(tmp_path / "f.npz", ("names", "other"))) == ["names"]


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, K=np.zeros(13_000_000), nodes=np.zeros((1, 3)))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ArrayFileError, match="K: unpacks to 104 MB") as failure:
        read_arrays(path)
    assert failure.value.field == "K"
    assert len(read_arrays(path, ("nodes",))["nodes"]) == 1


def test_a_dataset_that_is_huge_and_empty_is_refused(tmp_path):
    path = tmp_path / "bomb.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("K", shape=(10**6, 10**6), dtype="f8", chunks=(100, 100))
    with pytest.raises(ArrayFileError, match="K: unpacks to 8e"):
        read_arrays(path)


def test_objects_are_refused_and_not_unpickled(tmp_path):
    trace = tmp_path / "trace"

    class Evil:
        def __reduce__(self):
            return open, (str(trace), "w")

    np.savez(tmp_path / "evil.npz", K=np.array([Evil()], dtype=object))
    with pytest.raises(ArrayFileError, match="K: contains objects"):
        read_arrays(tmp_path / "evil.npz")
    assert not trace.exists()


def test_links_to_other_files_are_refused(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.arange(3.0)
    with h5py.File(tmp_path / "linked.h5", "w") as file:
        file["K"] = h5py.ExternalLink("other.h5", "/secret")
    with h5py.File(tmp_path / "raw.h5", "w") as file:
        file.create_dataset("K", (3,), "f8", external=[("other.h5", 0, 24)])
    for name in ("linked.h5", "raw.h5"):
        with pytest.raises(ArrayFileError, match="must be stored in the file itself"):
            check_file(tmp_path / name)


@pytest.mark.parametrize("ending", ["npz", "h5", "nc", "mat"])
@pytest.mark.parametrize("content", [b"", b"nothing of that kind", b"PK\x03\x04" * 9])
def test_broken_files_are_refused_with_their_name(tmp_path, ending, content):
    path = tmp_path / f"broken.{ending}"
    path.write_bytes(content)
    with pytest.raises(ArrayFileError, match=f"broken.{ending}"):
        read_arrays(path)


def test_letters_of_shapes_stand_for_one_number(tmp_path):
    arrays = {"K": np.zeros((3, 3)), "f": np.zeros(4)}
    with pytest.raises(ArrayFileError, match=r"f: has the shape \(4,\): must be \(3\)"):
        check_arrays("x.npz", arrays, {"K": ("n", "n"), "f": ("n",)})


@pytest.mark.parametrize(
    "column", [np.array(["x", "y"]), np.array([1j, 2.0]), np.array([True, False])]
)
def test_texts_complex_and_truth_values_are_refused_where_real_numbers_belong(column):
    arrays = {"K": np.eye(2), "f": column}
    with pytest.raises(ArrayFileError, match="f: holds .*: must be real numbers"):
        check_arrays("x.npz", arrays, {"K": ("n", "n"), "f": ("n",)})
    with pytest.raises(ArrayFileError, match="K: holds float64: must be texts"):
        check_arrays("x.npz", arrays, {"K": ("n", "n")}, texts=("K",))


def test_a_matrix_of_whole_numbers_without_a_sign_is_judged_as_its_numbers_are():
    check_semidefinite("x.npz", "K", np.array([[2, 1], [1, 2]], np.uint8), 1e-12)
    with pytest.raises(ArrayFileError, match="triangles differ by 1.0e"):
        lopsided = np.array([[2, 0], [1, 2]], np.uint8)
        check_semidefinite("x.npz", "K", lopsided, 1e-12)


def test_entities_of_a_urdf_file_are_refused(tmp_path):
    (tmp_path / "secret").write_text("0.5")
    path = tmp_path / "arm.urdf"
    path.write_text(
        f'<!DOCTYPE r [<!ENTITY m SYSTEM "file://{tmp_path}/secret">]>'
        '<robot name="r"><link name="a"><inertial><mass value="1"/></inertial></link></robot>'
    )
    with pytest.raises(DescriptionError, match="DOCTYPE"):
        robot_from_urdf(path)


def test_a_damaged_heap_of_texts_on_which_hdf5_would_never_stop_is_refused(tmp_path):
    path = tmp_path / "run.nc"
    with h5py.File(path, "w") as file:
        file["a"] = np.arange(3.0)
        file.attrs["scenario"] = "double-pendulum"
    check_file(path)
    content = bytearray(path.read_bytes())
    heap = content.index(b"GCOL")
    # One text of 15 bytes behind two heads of 16, then the room that is free: its size becomes zero.
    free = heap + 16 + 16 + 16
    assert content[free : free + 2] == b"\0\0"
    content[free + 8 : free + 16] = bytes(8)
    path.write_bytes(content)
    with pytest.raises(ArrayFileError, match=f"string heap at byte {heap}"):
        check_file(path)
