"""Reduction of a link: what each basis keeps exactly, orthonormal modes, truncation, dense and sparse alike."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose

from lissom.bodies.body import measured_from_inner_node, with_mass
from lissom.bodies.reduce import lowest_modes
from lissom.bodies.reduce.component_modes import craig_bampton, free_interface, guyan
from lissom.bodies.reduce.free_modes import (
    Excitation,
    assurance,
    energy_shares,
    free_modes,
    truncate_modes,
)
from lissom.bodies.reduce.reduced_body import Reduction, reduce_body, reduced_body

from .helpers import ALL_BODIES, BENT, beam, frequencies, rectangle

LINK = with_mass(
    beam(BENT, up=(0.2, -0.4, 1.0), elements=3),
    4,
    0.4,
    (2e-4, 3e-4, 5e-4),
    (0.01, 0.02, 0.03),
)
N = LINK.coordinates  # 60 dofs
TIP = np.arange(N - 6, N)
ENDS = np.concatenate([np.arange(6), TIP])
METHODS = ("craig-bampton", "guyan", "free-interface", "modal")


def exact_frequencies(body=LINK):
    """Elastic frequencies of the free link [rad/s]."""
    return frequencies(body.stiffness, body.mass_matrix)[6:]


def static_answer(body, load):
    """Displacement of the tip, inner node clamped, under a load on the tip."""
    U = body.node_shape[-1][:, 6:]
    return U @ np.linalg.solve(body.stiffness[6:, 6:], U.T @ load)


def sparse(body=LINK):
    return scipy.sparse.csc_matrix(body.stiffness), scipy.sparse.csc_matrix(
        body.mass_matrix
    )


def test_constraint_modes_move_one_interface_dof_and_need_no_force_inside():
    T = craig_bampton(LINK.stiffness, LINK.mass_matrix, ENDS, 3)
    inside = np.arange(6, N - 6)
    assert_allclose(T[ENDS][:, :12], np.eye(12))
    forces = LINK.stiffness[inside] @ T[:, :12]
    assert np.abs(forces).max() < 1e-10 * np.abs(LINK.stiffness).max()
    assert_allclose(T[ENDS][:, 12:], 0)


def test_fixed_interface_modes_are_those_of_the_link_held_at_both_ends():
    T = craig_bampton(LINK.stiffness, LINK.mass_matrix, ENDS, 3)
    inside = np.arange(6, N - 6)
    held = [A[np.ix_(inside, inside)] for A in (LINK.stiffness, LINK.mass_matrix)]
    omega2 = np.diag(T[:, 12:].T @ LINK.stiffness @ T[:, 12:])
    assert_allclose(np.sqrt(omega2), frequencies(*held)[:3], rtol=1e-8)


@pytest.mark.parametrize("interface", [(0, -1), (0, 4), (0, 3, -1), (0,)])
def test_modes_are_orthonormal_and_the_rigid_ones_clean_for_any_interface(interface):
    dofs = np.concatenate([np.arange(6) + 6 * (node % 10) for node in interface])
    T = craig_bampton(LINK.stiffness, LINK.mass_matrix, dofs, 5)
    modes = free_modes(LINK.stiffness, LINK.mass_matrix, LINK.rigid, range(6), T)
    U = modes.basis
    assert U.shape[1] == len(dofs) + 5
    assert_allclose(U.T @ LINK.mass_matrix @ U, np.eye(U.shape[1]), atol=1e-9)
    expected = np.diag(np.concatenate([np.zeros(6), modes.omega**2]))
    assert_allclose(
        U.T @ LINK.stiffness @ U, expected, atol=1e-9 * modes.omega.max() ** 2
    )
    # Clean: the rigid modes are rigid shapes to the last digit, not near-zero eigenvectors.
    assert (
        np.abs(LINK.stiffness @ modes.rigid).max()
        < 1e-13 * np.abs(LINK.stiffness).max()
    )
    assert (
        np.linalg.matrix_rank(
            np.concatenate([modes.rigid, LINK.rigid], axis=1), tol=1e-9
        )
        == 6
    )


@pytest.mark.parametrize("method", METHODS[:1] + METHODS[2:])
def test_all_modes_kept_equals_unreduced(method):
    reduced, record = reduce_body(LINK, Reduction(None, method))
    assert reduced.coordinates == N and record.kept.all()
    assert_allclose(2 * np.pi * record.frequency_hz, exact_frequencies(), rtol=1e-7)
    load = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    whole = measured_from_inner_node(LINK)
    assert_allclose(static_answer(reduced, load), static_answer(whole, load), rtol=1e-8)


@pytest.mark.parametrize(
    "method, tolerance",
    [("craig-bampton", 0.02), ("free-interface", 1e-4), ("modal", 1e-7)],
)
def test_the_lowest_frequencies_of_a_reduced_link_are_those_of_the_whole(
    method, tolerance
):
    record = reduce_body(LINK, Reduction(12, method, ranking="free"))[1]
    found = 2 * np.pi * record.frequency_hz[:6]
    assert np.all(
        found >= exact_frequencies()[:6] * (1 - 1e-9)
    )  # a reduced link is never softer
    assert_allclose(found, exact_frequencies()[:6], rtol=tolerance)


@pytest.mark.parametrize("method", ["craig-bampton", "guyan", "free-interface"])
def test_an_exact_interface_answers_static_loads_on_it_exactly(method):
    load = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    modes = {"craig-bampton": 8, "guyan": 6, "free-interface": 14}[method]
    reduced = reduced_body(LINK, Reduction(modes, method, ranking="interface"))
    assert reduced.coordinates == 6 + modes
    whole = static_answer(measured_from_inner_node(LINK), load)
    assert_allclose(static_answer(reduced, load), whole, rtol=1e-8)
    cut = method if method != "guyan" else "modal"
    dropped = reduced_body(LINK, Reduction(6, cut, ranking="free"))
    assert (
        np.abs(static_answer(dropped, load) / whole - 1).max() > 1e-3
    )  # what truncation costs instead


def test_guyan_is_craig_bampton_without_normal_modes():
    assert_allclose(
        guyan(LINK.stiffness, LINK.mass_matrix, ENDS),
        craig_bampton(LINK.stiffness, LINK.mass_matrix, ENDS, 0),
    )


def test_sparse_and_dense_matrices_give_the_same_reduction(monkeypatch):
    monkeypatch.setattr(
        lowest_modes, "SMALL", 10
    )  # the iterative path, on a small link
    K, M = sparse()
    told = []
    T = craig_bampton(
        K, M, ENDS, 7, progress=lambda what, share: told.append((what, share))
    )
    found = free_modes(K, M, LINK.rigid, range(6), T)
    dense = free_modes(
        LINK.stiffness,
        LINK.mass_matrix,
        LINK.rigid,
        range(6),
        craig_bampton(LINK.stiffness, LINK.mass_matrix, ENDS, 7),
    )
    assert_allclose(found.omega, dense.omega, rtol=1e-8)
    assert_allclose(
        np.diag(assurance(found.shapes, dense.shapes, LINK.mass_matrix)), 1, atol=1e-8
    )
    assert told[-1][1] == 1.0 and [share for _, share in told] == sorted(
        share for _, share in told
    )
    R = free_interface(K, M, LINK.rigid, ENDS, 7, held=range(6))
    Rd = free_interface(
        LINK.stiffness, LINK.mass_matrix, LINK.rigid, ENDS, 7, held=range(6)
    )
    found, dense = (
        free_modes(LINK.stiffness, LINK.mass_matrix, LINK.rigid, range(6), basis)
        for basis in (R, Rd)
    )
    assert_allclose(found.omega, dense.omega, rtol=1e-7)


def test_a_solver_of_ones_own_is_used():
    K, M = sparse()
    inside = np.arange(6, N - 6)
    calls = []

    def solve(load):
        calls.append(load.shape)
        return np.linalg.solve(LINK.stiffness[np.ix_(inside, inside)], load)

    T = craig_bampton(K, M, ENDS, 0, solve=solve)
    assert calls and T.shape == (N, 12)


def test_residual_attachment_modes_complete_the_static_flexibility_of_a_free_link():
    # Rubin: with any number of free modes, the answer to a self-balanced interface load is exact.
    basis = free_interface(
        LINK.stiffness, LINK.mass_matrix, LINK.rigid, ENDS, 3, held=range(6)
    )
    load = np.zeros(N)
    load[TIP[:3]] = (1.0, -2.0, 0.5)
    load[:6] = -(LINK.rigid[TIP[:3]].T @ load[TIP[:3]])[
        :6
    ]  # balanced at the inner node
    exact = np.zeros(N)
    exact[6:] = np.linalg.solve(LINK.stiffness[6:, 6:], load[6:])
    W = basis[:, 6:]
    found = W @ np.linalg.lstsq(W.T @ LINK.stiffness @ W, W.T @ load, rcond=None)[0]

    def strain(u):
        return LINK.stiffness @ u

    assert_allclose(
        strain(found), strain(exact), atol=1e-7 * np.abs(strain(exact)).max()
    )


def test_truncation_by_frequency_keeps_what_lies_below():
    reduced, record = reduce_body(LINK, Reduction(None, below_hz=400.0))
    assert np.array_equal(record.kept, record.frequency_hz < 400.0)
    assert reduced.coordinates - 6 == record.kept.sum() > 2


def test_ranking_by_excitation_keeps_the_modes_that_the_load_drives():
    modes = free_modes(LINK.stiffness, LINK.mass_matrix, LINK.rigid, range(6))
    force = np.zeros((N, 1))
    force[TIP[2]] = 1.0
    band = (0.9 * modes.frequency_hz[3], 1.1 * modes.frequency_hz[3])
    excitation = Excitation(force, band, 0.01)
    shares = energy_shares(modes, excitation)
    assert shares.sum() == pytest.approx(1)
    assert shares.argmax() == 3  # the one in resonance
    kept, record = truncate_modes(modes, 4, excitation=excitation)
    assert record.kept[3] and record.kept.sum() == 4
    assert record.energy[record.kept].min() >= record.energy[~record.kept].max()
    assert np.all(np.diff(kept.omega) > 0)
    with pytest.raises(ValueError, match="number of modes"):
        truncate_modes(modes, excitation=excitation)
    with pytest.raises(ValueError, match="band"):
        energy_shares(modes, Excitation(force, (3.0, 1.0)))


def test_energy_of_a_mode_is_that_of_a_damped_oscillator():
    # Mean energy at one frequency: 1/4 (omega^2 + Omega^2) |phi^T f|^2 / |omega^2 - Omega^2 + 2 i zeta omega Omega|^2.
    modes = free_modes(LINK.stiffness, LINK.mass_matrix, LINK.rigid, range(6))
    force = np.random.default_rng(3).normal(size=(N, 2))
    f = 137.0
    W = 2 * np.pi * f
    shares = energy_shares(
        modes, Excitation(force, (f * (1 - 1e-6), f * (1 + 1e-6)), 0.03)
    )
    w = modes.omega
    amplitude = (
        np.sum((modes.shapes.T @ force) ** 2, axis=1)
        / np.abs(w**2 - W**2 + 2j * 0.03 * w * W) ** 2
    )
    energy = 0.25 * (w**2 + W**2) * amplitude
    assert_allclose(shares, energy / energy.sum(), rtol=1e-5)


def test_a_reduced_link_keeps_mass_centre_inertia_and_moves_all_its_nodes():
    reduced = reduced_body(LINK, Reduction(12))
    assert reduced.names == tuple(f"mode.{k}" for k in range(1, 13))
    assert_allclose(reduced.rigid_inertia, LINK.rigid_inertia)
    assert reduced.node_shape.shape == (10, 6, 18)
    q = np.random.default_rng(0).normal(size=18) * 1e-3
    nodal = (reduced.node_shape @ q).reshape(
        -1
    )  # displacements and rotations of every node
    energy = 0.5 * q @ reduced.stiffness @ q
    assert energy == pytest.approx(0.5 * nodal @ LINK.stiffness @ nodal, rel=1e-9)
    assert 0.5 * q @ reduced.mass_matrix @ q == pytest.approx(
        0.5 * nodal @ LINK.mass_matrix @ nodal, rel=1e-9
    )


def test_no_mode_is_a_rigid_link_and_a_rigid_link_stays_one():
    rigid = reduced_body(LINK, Reduction(0))
    assert rigid.coordinates == 6 and rigid.names == ()
    assert_allclose(rigid.rigid_inertia, LINK.rigid_inertia)
    assert reduced_body(ALL_BODIES["rigid"], Reduction(12)).coordinates == 6


def test_a_modal_body_keeps_its_first_modes_where_free_ones_are_asked_for():
    whole = reduced_body(LINK, Reduction(12))
    again = reduced_body(whole, Reduction(5, ranking="free"))
    assert again.names == whole.names[:5]
    assert_allclose(again.stiffness[6:, 6:], whole.stiffness[6:11, 6:11])


def test_a_modal_body_reduced_once_more_answers_loads_on_its_tip_as_before():
    load = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    whole = reduced_body(LINK, Reduction(18, ranking="free"))
    again = reduced_body(whole, Reduction(9))
    assert again.coordinates == 6 + 9
    assert_allclose(static_answer(again, load), static_answer(whole, load), rtol=1e-8)


def test_fewer_modes_than_the_tip_has_motions_are_the_softest_of_its_static_deflections():
    # The tip of the clamped link within the span of its six static deflections: K psi = omega^2 M psi.
    six = reduced_body(LINK, Reduction(6))
    expected = frequencies(six.stiffness[6:, 6:], six.mass_matrix[6:, 6:])
    for count in (1, 3, 5):
        fewer = reduced_body(LINK, Reduction(count))
        found = frequencies(fewer.stiffness[6:, 6:], fewer.mass_matrix[6:, 6:])
        assert_allclose(found, expected[:count], rtol=1e-7)


def test_few_modes_of_a_clamped_link_have_its_lowest_frequencies():
    # Today's default against the lowest modes of the free link, which are 10 % and more off with six modes.
    whole = measured_from_inner_node(LINK)
    exact = frequencies(whole.stiffness[6:, 6:], whole.mass_matrix[6:, 6:])[:2]

    def error(reduction):
        body = reduced_body(LINK, reduction)
        found = frequencies(body.stiffness[6:, 6:], body.mass_matrix[6:, 6:])[:2]
        return np.abs(found / exact - 1).max()

    assert error(Reduction(6)) < 0.01 < 0.1 < error(Reduction(6, ranking="free"))


def test_point_masses_leave_no_motion_without_mass():
    # Ten nodes, one of them the inner one: 30 translations less six rigid motions have mass.
    points = beam(BENT, elements=3, mass="lumped-points")
    assert np.linalg.matrix_rank(points.mass_matrix) == 30
    reduced, record = reduce_body(points, Reduction(None))
    assert reduced.coordinates - 6 == 24 and np.isfinite(record.frequency_hz).all()
    # Static condensation of the massless rotations gives the same frequencies.
    move = np.concatenate([np.arange(3) + 6 * k for k in range(10)])
    T = craig_bampton(points.stiffness, points.mass_matrix, move, 0)
    condensed = frequencies(T.T @ points.stiffness @ T, T.T @ points.mass_matrix @ T)[
        6:
    ]
    assert_allclose(2 * np.pi * record.frequency_hz, condensed, rtol=1e-6)


def test_an_interface_that_leaves_the_link_loose_is_refused():
    with pytest.raises(ValueError, match="must prevent every rigid motion"):
        craig_bampton(LINK.stiffness, LINK.mass_matrix, [0, 1, 2], 0)
    with pytest.raises(ValueError, match="different numbers from 0 to 59"):
        craig_bampton(LINK.stiffness, LINK.mass_matrix, [0, 1, 99], 0)
    with pytest.raises(ValueError, match="interface node 12 is not in the link"):
        reduced_body(LINK, Reduction(12, interface=(0, 12)))
    with pytest.raises(ValueError, match="method must be"):
        reduced_body(LINK, Reduction(12, "serep"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sides", [(0.03, 0.012), (0.02, 0.02)]
)  # the second, a square bar, has double modes
def test_frequencies_of_a_reduced_link_are_differentiable(sides):
    straight = ((0, 0, 0), (0.5, 0, 0))

    def lowest(swell):
        # Tapered as the link swells, so that its modes change their shape.
        def law(s):
            return rectangle(*(side * (1 + (swell - 1) * s) for side in sides))

        reduced = reduced_body(beam(straight, law, elements=2), Reduction(8))
        K, M = reduced.stiffness[6:, 6:], reduced.mass_matrix
        M_p = M[6:, 6:] - M[6:, :6] @ jnp.linalg.solve(M[:6, :6], M[:6, 6:])
        return jnp.trace(
            jnp.linalg.solve(M_p, K)
        )  # sum of omega^2: depends on the span alone

    quick = {"compiler_options": {"xla_backend_optimization_level": 0}}
    value, slope = jax.jit(jax.value_and_grad(lowest), **quick)(jnp.asarray(1.0))
    compiled = jax.jit(lowest, **quick)
    h = 1e-5
    difference = (compiled(jnp.asarray(1 + h)) - compiled(jnp.asarray(1 - h))) / (2 * h)
    assert slope == pytest.approx(float(difference), rel=1e-5)
    plain = reduce_body(beam(straight, rectangle(*sides), elements=2), Reduction(8))[1]
    assert value == pytest.approx(
        np.sum((2 * np.pi * plain.frequency_hz[plain.kept]) ** 2), rel=1e-6
    )


def test_frequency_form_of_the_eigenproblem_agrees_with_the_textbook_one():
    K, M = LINK.stiffness[6:, 6:], LINK.mass_matrix[6:, 6:]
    omega2, Phi = lowest_modes.lowest_modes(K, M, 10)
    assert_allclose(np.sqrt(omega2), frequencies(K, M)[:10], rtol=1e-9)
    assert_allclose(Phi.T @ M @ Phi, np.eye(10), atol=1e-9)
    assert scipy.linalg.norm(K @ Phi - M @ Phi * omega2) < 1e-9 * scipy.linalg.norm(
        K @ Phi
    )


@pytest.mark.parametrize("traced", [np.asarray, jnp.asarray])
def test_modes_of_similar_links_have_the_same_sign(traced):
    # LAPACK leaves the sign of a mode open, and two links that differ in the fifth digit get it differently.
    link = beam(elements=2)
    K, M = link.stiffness[6:, 6:], link.mass_matrix[6:, 6:]
    factors = 1.0 + 1e-5 * np.arange(-10, 11)
    modes = [lowest_modes.lowest_modes(traced(E * K), traced(M), 9)[1] for E in factors]
    for one, following in zip(modes, modes[1:], strict=False):
        likeness = np.sum(np.asarray(one * following), axis=0)
        assert np.all(likeness > 0)
