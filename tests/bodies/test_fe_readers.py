"""Readers of finite-element files: one contract, whatever program wrote them."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from lissom.bodies.fe.array_files import write_array_file
from lissom.bodies.fe.elements import UNITS, FeError, elements_of, in_si
from lissom.bodies.fe.import_checks import check_elements, rigid_residuals
from lissom.bodies.fe.read import Reading, read_fe
from lissom.bodies.fe.solid import load_mesh, solid_elements

from .fe_decks import (
    DATA,
    DECK,
    STEEL,
    abaqus_lines,
    calculix_job,
    dmig,
    grid_cards,
    one_beam,
)


def same(fe, K, M, points) -> None:
    np.testing.assert_allclose(
        fe.K.toarray(), K, rtol=1e-9, atol=1e-9 * np.abs(K).max()
    )
    np.testing.assert_allclose(
        fe.M.toarray(), M, rtol=1e-9, atol=1e-12 * np.abs(M).max()
    )
    np.testing.assert_allclose(fe.points, points, atol=1e-12)


@pytest.mark.parametrize("ending", [".npz", ".h5"])
def test_own_files_give_back_what_was_written(ending, tmp_path):
    K, M, points = one_beam()
    fe = elements_of(K, M, points, labels=np.array([7, 3]))
    write_array_file(fe, tmp_path / f"link{ending}")
    again = read_fe(tmp_path / f"link{ending}")
    same(again, K, M, points)
    assert again.labels.tolist() == [7, 3]
    assert again.place.tolist() == fe.place.tolist()


def test_dense_matrices_need_no_names_for_their_rows(tmp_path):
    K, M, points = one_beam()
    np.savez(tmp_path / "link.npz", K=K, M=M, nodes=points)
    same(read_fe(tmp_path / "link.npz"), K, M, points)


def test_rows_by_component_are_put_in_order(tmp_path):
    K, M, points = one_beam()
    by_component = np.arange(12).reshape(2, 6).T.reshape(-1)
    np.savez(
        tmp_path / "link.npz",
        K=K[np.ix_(by_component, by_component)],
        M=M[np.ix_(by_component, by_component)],
        nodes=points,
    )
    fe = read_fe(tmp_path / "link.npz", Reading(order="by-component"))
    assert rigid_residuals(fe).max() < 1e-12
    np.testing.assert_allclose(
        fe.rigid.T @ fe.M @ fe.rigid,
        elements_of(K, M, points).rigid.T @ M @ elements_of(K, M, points).rigid,
    )


def test_one_triangle_is_mirrored_when_asked(tmp_path):
    K, M, points = one_beam()
    np.savez(tmp_path / "link.npz", K=np.tril(K), M=np.triu(M), nodes=points)
    same(read_fe(tmp_path / "link.npz", Reading(mirror=True)), K, M, points)


def test_dofs_without_stiffness_and_mass_are_left_out():
    K, M, points = one_beam()
    wide = np.zeros((18, 18))
    wide[:12, :12] = K
    heavy = np.zeros((18, 18))
    heavy[:12, :12] = M
    fe = elements_of(wide, heavy, np.concatenate([points, [[9.0, 9.0, 9.0]]]))
    assert fe.size == 12 and len(fe.points) == 2


@pytest.mark.parametrize("units", UNITS)
def test_every_system_of_units_gives_the_same_link_in_si(units):
    K, M, points = one_beam()
    length, mass, time = UNITS[units]
    D = np.diag(np.tile([length] * 3 + [1.0] * 3, 2))  # u = length u'
    energy = mass * length**2 / time**2
    foreign = elements_of(
        D @ K @ D / energy, D @ M @ D / (mass * length**2), points / length
    )
    same(in_si(foreign, units), K, M, points)


# --- CalculiX, run here where it is installed ------------------------------------------------------------------------


def test_calculix_matrices_are_those_of_the_same_elements_assembled_here(tmp_path):
    fe = read_fe(calculix_job(tmp_path))
    here = solid_elements(load_mesh(DATA / "l-beam-coarse.npz"), STEEL)
    order = np.argsort(fe.labels), np.argsort(here.labels)
    rows = [f.place[o, :3].reshape(-1) for f, o in zip((fe, here), order, strict=True)]
    ours, theirs = (
        (f.K[r][:, r]).toarray() for f, r in zip((here, fe), rows, strict=True)
    )
    np.testing.assert_allclose(theirs, ours, atol=1e-9 * np.abs(ours).max())
    # four integration points: exact for what moves as a rigid body, not for every product of two quadratic functions
    ours, theirs = (f.rigid.T @ f.M @ f.rigid for f in (here, fe))
    np.testing.assert_allclose(theirs, ours, atol=1e-9 * np.abs(ours).max())
    assert set(fe.sets) >= {"inner", "tip"}
    assert fe.surface is not None and 4 * len(fe.surface) == len(here.surface)


def test_calculix_files_must_be_together(tmp_path):
    job = calculix_job(tmp_path)
    job.with_suffix(".dof").unlink()
    with pytest.raises(FeError, match=r"\.dof must lie beside it"):
        read_fe(job)


# --- Nastran ----------------------------------------------------------------------------------------------------------


def test_a_nastran_superelement_floats_freely_once_its_local_axes_are_turned():
    fe = read_fe(
        DATA / "inboard.op4", Reading(nodes=DATA / "inboard.pch", units="mm-kg-s")
    )
    assert len(fe.points) == 4 and len(fe.generalised) == 8 and fe.size == 32
    assert fe.labels.tolist() == [3, 11, 19, 27]
    assert rigid_residuals(fe).max() < 1e-6
    np.testing.assert_allclose(fe.points[0], [0.6, 0.0, 0.3])
    report = {line.name: line.verdict for line in check_elements(fe)}
    assert report["rigid modes"] == "pass" and report["mass"] == "pass"


def test_text_and_binary_op4_files_hold_the_same_link(tmp_path):
    from pyyeti.nastran import op4

    K, M, points = one_beam()
    bulk = tmp_path / "beam.bdf"
    bulk.write_text(grid_cards([11, 12], points))
    for name, options in (
        ("b.op4", {"binary": True}),
        ("t.op4", {"binary": False}),
        ("s.op4", {"binary": False, "sparse": "bigmat"}),
    ):
        op4.write(str(tmp_path / name), {"kgg": K, "mgg": M}, **options)
        fe = read_fe(tmp_path / name, Reading(nodes=bulk))
        same(fe, K, M, points)
        assert fe.labels.tolist() == [11, 12]


def test_dmig_entries_of_a_punch_file_are_mirrored_and_named(tmp_path):
    K, M, points = one_beam()
    grids = grid_cards([11, 12], points)
    (tmp_path / "beam.pch").write_text(
        dmig("KAAX", K, [11, 12]) + dmig("MAAX", M, [11, 12]) + grids
    )
    same(read_fe(tmp_path / "beam.pch"), K, M, points)


def test_op4_without_coordinates_says_what_to_give(tmp_path):
    with pytest.raises(FeError, match="--nodes"):
        read_fe(DATA / "inboard.op4")


# --- Abaqus: files written by the manual's formats -------------------------------------------------------------------


@pytest.mark.parametrize("form", ["MATRIX INPUT", "LABELS", "COORDINATE"])
def test_abaqus_matrices_in_all_three_formats(form, tmp_path):
    K, M, points = one_beam()
    (tmp_path / "job_STIF1.mtx").write_text(abaqus_lines(K, form))
    (tmp_path / "job_MASS1.mtx").write_text(abaqus_lines(M, form))
    (tmp_path / "job.inp").write_text(DECK)
    fe = read_fe(tmp_path / "job_STIF1.mtx", Reading(nodes=tmp_path / "job.inp"))
    order = np.argsort(fe.labels)
    assert fe.labels[order].tolist() == [5, 12]
    rows = fe.place[order].reshape(-1)
    np.testing.assert_allclose(fe.K.toarray()[np.ix_(rows, rows)], K, rtol=1e-12)
    np.testing.assert_allclose(fe.M.toarray()[np.ix_(rows, rows)], M, rtol=1e-12)
    np.testing.assert_allclose(fe.points[order], points)
    assert fe.labels[fe.sets["end"]].tolist() == [12]


def test_abaqus_matrices_with_supports_are_refused(tmp_path):
    K, M, _ = one_beam()
    K[0, 0] = 1e36
    (tmp_path / "job_STIF1.mtx").write_text(abaqus_lines(K, "LABELS"))
    (tmp_path / "job_MASS1.mtx").write_text(abaqus_lines(M, "LABELS"))
    (tmp_path / "job.inp").write_text(DECK)
    with pytest.raises(FeError, match="constrained by boundary conditions"):
        read_fe(tmp_path / "job_STIF1.mtx", Reading(nodes=tmp_path / "job.inp"))


# --- Ansys: the example that comes with the reader --------------------------------------------------------------------


def test_an_ansys_full_file_vibrates_as_the_cantilever_that_it_holds():
    """The beam of bricks of the package's examples, 21 nodes clamped: 63 dofs are gone, and the report says so."""
    from ansys.mapdl.reader import examples

    fe = read_fe(examples.fullfile, Reading(nodes=Path(examples.rstfile)))
    assert fe.size == 900 and any("are constrained" in note for note in fe.notes)
    lines = {line.name: line for line in check_elements(fe)}
    assert (
        lines["rigid modes"].verdict == "fail"
        and "supports" in lines["rigid modes"].fix
    )
    lowest = np.sqrt(eigsh(fe.K, k=2, M=fe.M, sigma=0.0)[0]) / (2 * np.pi)
    assert lowest[0] == pytest.approx(
        lowest[1], rel=1e-6
    )  # a square section bends alike in both planes
    # titanium in inches, E = 16.9e6 psi, 4.1408e-4 lbf s^2/in^4, 1 x 1 x 5: shear takes some 2 % off the slender beam
    slender = 1.8751**2 / (2 * np.pi * 5.0**2) * np.sqrt(16.9e6 / 12 / 4.1408e-4)
    assert 0.96 * slender < lowest[0] < slender


# --- what is not readable ---------------------------------------------------------------------------------------------


def test_unknown_endings_are_refused_with_the_known_ones(tmp_path):
    (tmp_path / "x.odb").write_text("")
    with pytest.raises(FeError, match=r"\.odb are not known.*\.op4.*\.step"):
        read_fe(tmp_path / "x.odb")


@pytest.mark.parametrize("ending", [".npz", ".h5", ".op4", ".pch", ".sti", ".full"])
def test_broken_files_are_refused_in_words(ending, tmp_path):
    (tmp_path / f"x{ending}").write_bytes(b"\x00not a file of that kind\n" * 20)
    for other in ("x.mas", "x.dof", "x.inp"):
        (tmp_path / other).write_text("1.1\n*NODE\n1,0,0,0\n")
    with pytest.raises(FeError, match="x"):
        read_fe(tmp_path / f"x{ending}", Reading(nodes=tmp_path / "x.inp"))


@pytest.mark.parametrize(
    ("broken", "other"), [("job.inp", "job_STIF1"), ("job_MASS1.mtx", "job_STIF1")]
)
def test_of_several_files_the_broken_one_is_named(tmp_path, broken, other):
    K, M, _ = one_beam()
    texts = {
        "job_STIF1.mtx": abaqus_lines(K, "LABELS"),
        "job_MASS1.mtx": abaqus_lines(M, "LABELS"),
        "job.inp": DECK,
    }
    texts[broken] = texts[broken].replace("12", "twelve")
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(FeError, match=f"{broken}: is not a readable") as failure:
        read_fe(tmp_path / "job_STIF1.mtx", Reading(nodes=tmp_path / "job.inp"))
    assert other not in str(failure.value)


def test_numbers_whose_products_are_none_are_refused(tmp_path):
    K, M, points = one_beam()
    M[0, 0] = 1e308
    np.savez(tmp_path / "link.npz", K=K, M=M, nodes=points)
    with pytest.raises(FeError, match="link.npz: holds numbers beyond 1e"):
        read_fe(tmp_path / "link.npz")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e30, 5.5])
def test_numbers_of_nodes_that_are_not_whole_are_refused(tmp_path, wrong):
    K, M, points = one_beam()
    labels = np.array([5.0, wrong])
    np.savez(tmp_path / "link.npz", K=K, M=M, nodes=points, labels=labels)
    with pytest.raises(FeError, match="link.npz: labels: "):
        read_fe(tmp_path / "link.npz")


def test_sizes_that_do_not_fit_the_nodes_are_refused(tmp_path):
    K, M, points = one_beam()
    np.savez(
        tmp_path / "link.npz", K=K, M=M, nodes=np.concatenate([points, points + 1])
    )
    assert (
        read_fe(tmp_path / "link.npz").size == 12
    )  # four nodes with three dofs each would fit
    np.savez(
        tmp_path / "link.npz", K=K, M=M, nodes=np.concatenate([points, points[:1] + 1])
    )
    with pytest.raises(FeError, match="12 rows for 3 nodes"):
        read_fe(tmp_path / "link.npz")


def test_sparse_matrices_stay_sparse():
    fe = solid_elements(load_mesh(DATA / "l-beam-coarse.npz"), STEEL)
    assert sp.issparse(fe.K) and fe.K.nnz < 0.05 * fe.size**2
