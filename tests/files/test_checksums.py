"""Damaged files: bits that flip on a disk are noticed, or change nothing."""

import json
import logging
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import lissom as ls
from jaxnative import code_cache
from lissom.analyse.linear.state_space import OperatingPoint
from lissom.analyse.polynomials.mode_polynomials import ModePolynomials
from lissom.analyse.polynomials.piecewise_polynomial import PiecewisePolynomial
from lissom.bodies.fe.array_files import read_array_file, write_array_file
from lissom.bodies.fe.elements import elements_of
from lissom.bodies.fe.reduced_link import load_link
from lissom.bodies.fe.solid import load_mesh
from lissom.commands.cli import main
from lissom.files import result_check
from lissom.files.array_file import ArrayFileError, check_file, read_arrays
from lissom.files.description_files import library_folder
from lissom.files.digest_frame import FrameError, framed, unframed
from lissom.files.hdf5_checksum import MARK, has_checksum, with_checksum
from lissom.runs.run import Run
from lissom.runs.run_table import RunTable
from lissom.studies.store import ChunkStore

SEED = 31
DATA = Path(__file__).parents[1] / "data" / "fe"


def flipped(data: bytes, count: int, random: np.random.Generator) -> bytes:
    """Bytes with some bits turned over; half of them near the ends, where formats keep their tables."""
    found = bytearray(data)
    for _ in range(count):
        edge = min(600, len(found))
        places = (
            random.integers(len(found)),
            random.integers(len(found)),
            random.integers(edge),
            len(found) - 1 - random.integers(edge),
        )
        found[random.choice(places)] ^= 1 << random.integers(8)
    return bytes(found)


# --- kinds of files ----------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """A kind of file: its name, how one is written, and all that is read of it."""

    name: str
    write: Callable[[Path], Any]
    read: Callable[[Path], Any]


def arrays_of(result: Any) -> Any:
    """All numbers and texts of a result as plain data that compares."""
    if isinstance(result, np.ndarray | jax.Array):
        array = np.asarray(result)
        return array.shape, array.dtype.kind, array.tolist()
    if hasattr(result, "tocoo"):
        return arrays_of(result.toarray())
    if isinstance(result, xr.Dataset):
        numbers = {name: arrays_of(result[name].values) for name in result.variables}
        return numbers, {name: repr(value) for name, value in result.attrs.items()}
    if isinstance(result, dict):
        return {key: arrays_of(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [arrays_of(value) for value in result]
    if hasattr(result, "__dict__"):
        return {key: arrays_of(value) for key, value in vars(result).items()}
    return repr(result)


TIME = np.linspace(0.0, 1.0, 40)
TABLE = RunTable(
    {
        "q": (("time", "joint"), np.outer(TIME, [1.0, 2.0]), {"units": "rad or m"}),
        "position": (("time", "node"), np.outer(TIME, [3.0, 4.0]), {"units": "m"}),
    },
    {
        "time": ("time", TIME, {"units": "s"}),
        "joint": ["upper", "lower"],
        "node": ["upper/0", "upper/1"],
        "link": ["upper", "lower"],
    },
    {"name": "arm", "steps": 12, "scenario": json.dumps({"robot": "arm"})},
)


def dataset_of(path: Path) -> Any:
    return arrays_of(Run.load(path).data)


def fe_elements() -> Any:
    random = np.random.default_rng(4)
    half = random.normal(size=(12, 12))
    points = np.array([[0.0, 0, 0], [0.3, 0.1, 0]])
    return elements_of(half @ half.T, np.eye(12), points, np.array([5, 12]))


def linear_model() -> ls.LinearModel:
    one = np.array([0.3])
    point = OperatingPoint(
        robot="arm",
        formulation="nonlinear",
        q=one,
        qd=one + 1,
        qdd=one + 2,
        elastic=one + 3,
        encoder=one + 4,
        torque=one + 5,
        outputs=one + 6,
        joints=("bar",),
        independent=("bar",),
    )
    A = np.array([[0.0, 1.0], [-7.5, -0.3]])
    B, C, D = A[:, 1:], A[:1], one[:, None]
    return ls.LinearModel(A, B, C, D, ("q", "qd"), ("bar",), ("bar.encoder",), point)


def polynomials() -> ModePolynomials:
    p = PiecewisePolynomial(
        parameters=("m",),
        order=1,
        centre=np.array([[0.5]]),
        low=np.array([[0.0]]),
        high=np.array([[1.0]]),
        coefficients=np.arange(1.0, 7.0).reshape(1, 2, 3) * (1 + 1j),
    )
    return ModePolynomials(p, 1, ("a",), {"checked": "no"})


def state() -> ls.State:
    two = jnp.array([0.3, -0.1])
    return ls.State(two, two + 1, two * 3, two - 7, two * 5, two + 11, torque=two)


def study_record(path: Path) -> None:
    record = {"lissom": "0.3.0", "fingerprint": "f00", "runs": 7, "chunk": 3}
    record |= {"study": {"over": {"payload.mass": [0.0, 1.5]}}, "scenario": {"a": 1.25}}
    ChunkStore(path.parent).record(record)


MARKED = b"lissom test 1\n"
KINDS = (
    Kind("run.nc", lambda path: Run(TABLE).save(path), dataset_of),
    Kind("again.nc", lambda path: Run(TABLE.dataset()).save(path), dataset_of),
    Kind("fe.h5", lambda path: write_array_file(fe_elements(), path), read_array_file),
    Kind("fe.npz", lambda path: write_array_file(fe_elements(), path), read_array_file),
    Kind("mesh.npz", lambda p: shutil.copy(DATA / "l-beam-coarse.npz", p), load_mesh),
    Kind(
        "link.npz",
        lambda path: shutil.copy(library_folder() / "solid-arm.npz", path),
        load_link,
    ),
    Kind("state.npz", lambda path: state().save(path), ls.State.load),
    Kind("model.npz", lambda p: linear_model().save(p), ls.LinearModel.load),
    Kind("model.mat", lambda p: linear_model().save(p), ls.LinearModel.load),
    Kind("modes.npz", lambda p: polynomials().save(p), ModePolynomials.load),
    Kind(
        "some.checkpoint",
        lambda path: path.write_bytes(framed(MARKED, bytes(range(256)))),
        lambda path: unframed(MARKED, path.read_bytes(), "test"),
    ),
    Kind("study.json", study_record, lambda p: ChunkStore(p.parent).record_of_study()),
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> dict[str, tuple[bytes, Any]]:
    """Bytes and content of a file of each kind."""
    folder = tmp_path_factory.mktemp("originals")
    found = {}
    for kind in KINDS:
        path = folder / kind.name
        kind.write(path)
        found[kind.name] = path.read_bytes(), arrays_of(kind.read(path))
    return found


def check_flips(kind: Kind, original: tuple[bytes, Any], times: int, folder: Path):
    """Damaged files are refused with their reason, or read as the whole one is."""
    data, content = original
    random = np.random.default_rng([SEED, times, *kind.name.encode()])
    refusals = 0
    for count in random.choice([1, 1, 3, 30], size=times):
        path = folder / kind.name
        path.write_bytes(flipped(data, count, random))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = kind.read(path)
        except ValueError as refusal:
            assert str(refusal)
            refusals += 1
        else:
            assert arrays_of(read) == content
    assert refusals > 0.5 * times


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_flipped_bits_are_noticed_or_change_nothing(kind, originals, tmp_path):
    check_flips(kind, originals[kind.name], 20, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_many_flipped_bits_are_noticed_or_change_nothing(kind, originals, tmp_path):
    check_flips(kind, originals[kind.name], 2000, tmp_path)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_bits_all_over_a_result_count(libver, tmp_path):
    # The versions of the head differ in where the contents end: 0 with `earliest`, 3 with `latest`.
    with h5py.File(tmp_path / "own.nc", "w", libver=libver) as file:
        file["q"] = np.arange(5.0)
    data = with_checksum((tmp_path / "own.nc").read_bytes())
    assert data[8] == (0 if libver == "earliest" else 3)
    path = tmp_path / "run.nc"
    path.write_bytes(data)
    check_file(path)
    for k in range(0, 8 * len(data), 331):
        damaged = bytearray(data)
        damaged[k // 8] ^= 1 << k % 8
        path.write_bytes(damaged)
        with pytest.raises(ArrayFileError):
            check_file(path)


def test_a_result_that_lost_its_end_is_refused_unless_nothing_but_the_checksum_is_gone(
    tmp_path,
):
    path = Run(TABLE).save(tmp_path / "run.nc")
    data = path.read_bytes()
    end = data.rindex(MARK)
    for length in (end - 8, end + 1, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(ArrayFileError):
            Run.load(path)
    path.write_bytes(data[:end])
    xr.testing.assert_identical(Run.load(path).data, TABLE.dataset())


# --- what other programs see -------------------------------------------------------------------------------------


def test_other_programs_read_a_result_as_they_did(tmp_path):
    (tmp_path / "bare.nc").write_bytes(TABLE.netcdf())
    Run(TABLE).save(tmp_path / "run.nc")
    bare, own = (xr.load_dataset(tmp_path / name) for name in ("bare.nc", "run.nc"))
    xr.testing.assert_identical(bare, own)


def test_a_result_that_another_program_changed_is_read(tmp_path):
    path = Run(TABLE).save(tmp_path / "run.nc")
    with h5py.File(path, "a") as file:
        file.attrs["remark"] = "measured on Monday"
    assert not has_checksum(path)
    assert Run.load(path).facts["remark"] == "measured on Monday"


def test_a_matlab_file_is_read_by_others_and_theirs_by_us(tmp_path):
    import scipy.io

    model = linear_model()
    path = model.save(tmp_path / "model.mat")
    np.testing.assert_array_equal(scipy.io.loadmat(path)["A"], model.A)
    arrays = {name: model.A for name in "ab"}
    scipy.io.savemat(tmp_path / "other.mat", arrays)
    assert set(read_arrays(tmp_path / "other.mat")) == {"a", "b"}


def test_a_result_without_a_checksum_is_read_with_one_note(tmp_path, caplog):
    path = tmp_path / "old.nc"
    path.write_bytes(TABLE.netcdf())
    result_check._note_missing.cache_clear()
    with caplog.at_level(logging.WARNING, "lissom"):
        Run.load(path)
        again = Run.load(path)
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: {result_check.NO_CHECKSUM}"
    ]
    caplog.clear()
    Run.load(again.save(tmp_path / "new.nc"))
    assert not caplog.records


# --- commands ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_file(tmp_path_factory) -> Path:
    scenario = ls.Scenario.load("simple-pendulum").replace({"t_end": 0.02})
    return ls.run_scenario(scenario).save(tmp_path_factory.mktemp("run") / "good.nc")


COMMANDS = {
    "compare": "compare good.nc bad.nc --plot out.png",
    "plot": "plot bad.nc -o out.png",
    "simulate": "simulate bad.nc -o out.nc",
    "start": "simulate simple-pendulum --start bad.nc --t-end 0.03 -o out.nc",
    "modes": "modes bad.nc --count 1",
    "matrices": "matrices bad.nc --time 0.01 -o out.npz",
    "mode-map": "mode-map simple-pendulum --along bad.nc --count 1 -o out.nc",
}


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_commands_refuse_a_damaged_result_with_one_message(
    line, run_file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    good = run_file.read_bytes()
    Path("good.nc").write_bytes(good)
    random = np.random.default_rng(5)
    middle = bytearray(good)
    for place in random.integers(100, len(good) - 100, 30):
        middle[place] ^= 1 << random.integers(8)
    Path("bad.nc").write_bytes(middle)
    assert main(line.split()) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors == [
        "error: bad.nc: is damaged: its checksum does not match its contents"
    ]
    assert sorted(path.name for path in Path().iterdir()) == ["bad.nc", "good.nc"]


def test_a_damaged_checkpoint_is_refused_with_one_message(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    mark = b"lissom checkpoint 1\n"
    content = bytearray(framed(mark, b"state of a run"))
    content[-3] ^= 16
    Path("out.nc.checkpoint").write_bytes(content)
    line = "simulate simple-pendulum --t-end 0.01 -o out.nc --resume"
    assert main(line.split()) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors == [
        "error: out.nc.checkpoint: is damaged: its checksum does not match its contents. "
        "Remove it, or run without resuming"
    ]
    assert not Path("out.nc").exists()


def test_a_damaged_entry_of_the_cache_is_not_found(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)
    code_cache.keep("key", bytes(range(200)))
    data = (tmp_path / "key").read_bytes()
    random = np.random.default_rng(7)
    for count in [1] * 60 + [30] * 20:
        (tmp_path / "key").write_bytes(flipped(data, count, random))
        assert code_cache.find("key") is None


def test_a_frame_of_another_kind_is_named():
    with pytest.raises(FrameError, match="is not a checkpoint of this version"):
        unframed(b"lissom checkpoint 1\n", b"PK\x03\x04", "checkpoint")
