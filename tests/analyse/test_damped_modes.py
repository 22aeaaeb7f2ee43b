"""Damped modes: the quadratic eigenproblem, its right and left vectors, and what each mode is called."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.algebra.eigen import modal_assurance
from lissom.analyse.modes.complex_modes import quadratic_modes

ALPHA, BETA = 0.7, 1.9e-5


@functools.cache
def bar(square=False, gravity=(0.0, 0.0, 0.0)):
    """A uniform damped bar along x on a revolute joint about z; a square one bends alike in both planes."""
    beam = {
        "path": [[0, 0, 0], [0.73, 0, 0]],
        "section": {"shape": "rectangle", "y": 0.011 if square else 0.023, "z": 0.011},
        "material": {"E": 6.9e10, "nu": 0.33, "density": 2710.0},
        "elements": 2,
    }
    link = {
        "name": "bar",
        "joint": {"type": "revolute", "origin": {}, "axis": [0, 0, 1]},
        "beam": beam,
    }
    data = {
        "name": "bar",
        "gravity": list(gravity),
        "links": [link],
        "damping": {"alpha": ALPHA, "beta": BETA},
    }
    return ls.Model(ls.Robot.from_dict(data), "erls-fem")


def assert_biorthonormal(M, C, K, modes):
    """Residuals of both eigenproblems, and z_i^* B w_j = delta_ij, eq. (18)."""
    lam, phi, psi = modes.eigenvalue, modes.right, modes.left
    size = (
        np.linalg.norm(K)
        + np.abs(lam) * np.linalg.norm(C)
        + np.abs(lam) ** 2 * np.linalg.norm(M)
    )
    for A, B, D, value, vector in (
        (M, C, K, lam, phi),
        (M.T, C.T, K.T, lam.conj(), psi),
    ):
        left_over = np.linalg.norm(
            value**2 * (A @ vector) + value * (B @ vector) + D @ vector, axis=0
        )
        assert np.all(left_over < 1e-12 * size * np.linalg.norm(vector, axis=0))
    product = psi.conj().T @ C @ phi + (lam[:, None] + lam) * (psi.conj().T @ M @ phi)
    scale = np.sqrt(np.outer(np.abs(np.diag(product)), np.abs(np.diag(product))))
    assert_allclose(product / scale, np.eye(len(lam)), atol=1e-7)


def test_right_and_left_vectors_of_a_problem_without_symmetry_are_biorthonormal():
    random = np.random.default_rng(3)
    n = 9
    M, C, K = (random.normal(size=(n, n)) for _ in range(3))
    M, K = M @ M.T + n * np.eye(n), 1e4 * (K @ K.T) + 900 * random.normal(size=(n, n))
    modes = quadratic_modes(M, C, K)
    assert len(modes.eigenvalue) >= n
    assert_biorthonormal(M, C, K, modes)
    assert_allclose(
        np.einsum(
            "im,mij,jm->m",
            modes.left.conj(),
            2 * modes.eigenvalue[:, None, None] * M + C,
            modes.right,
        ),
        1.0,
        rtol=1e-8,
    )


def test_repeated_eigenvalues_keep_independent_biorthonormal_vectors():
    # A square bar bends with the same frequencies in both planes; locked, every bending mode is double.
    model = bar(square=True)
    found = ls.modes(model, model.at([0.0]), damped=True, locked=True, count=8)
    pairs = found.eigenvalue[:4].reshape(2, 2)
    assert_allclose(pairs[:, 0], pairs[:, 1], rtol=1e-9)
    lin = ls.linearize(model, [0.0], locked=True)
    M, C, K = lin.matrices[:3]
    modes = quadratic_modes(M, C, K, 8)
    assert_biorthonormal(M, C, K, modes)
    shapes = modes.right[:, :2].T
    own = modal_assurance(shapes[:, None], shapes[None], M)
    assert own[0, 1] < 1 - 1e-3


def test_rayleigh_damping_gives_the_eigenvalues_of_its_ratio():
    model = bar()
    undamped = ls.modes(model, model.at([0.0]), locked=True, count=6)
    damped = ls.modes(model, model.at([0.0]), locked=True, damped=True, count=6)
    omega = 2 * np.pi * undamped.frequency_hz
    zeta = ALPHA / (2 * omega) + BETA * omega / 2
    assert_allclose(
        damped.eigenvalue, -zeta * omega + 1j * omega * np.sqrt(1 - zeta**2), rtol=1e-8
    )
    assert_allclose(
        damped.damped_hz, undamped.frequency_hz * np.sqrt(1 - zeta**2), rtol=1e-8
    )
    assert set(damped.stability) == {"vibration"}


def test_a_free_bar_has_one_rigid_mode_and_its_name():
    model = bar()
    modes = ls.modes(model, model.at([0.0]), damped=True, count=5)
    assert modes.stability == (
        "rigid",
        "vibration",
        "vibration",
        "vibration",
        "vibration",
    )
    assert modes.frequency_hz[0] == 0.0 and np.isnan(modes.damping_ratio[0])
    assert_allclose(modes.share["joint bar"][0], 1.0, atol=1e-9)


def test_a_controller_makes_the_rigid_mode_a_vibration_with_its_stiffness_and_damping():
    # A soft controller on a stiff bar: J edd + kd ed + kp e = 0 with the inertia J of the rigid bar about the joint.
    model = bar()
    J = float(model.mass_matrix([0.0])[0, 0])
    kp, kd = 2.0 * J, 0.3 * J
    lowest = ls.modes(model, model.at([0.0]), damped=True, kp=kp, kd=kd, count=1)
    assert_allclose(lowest.eigenvalue[0], np.roots([J, kd, kp])[0], rtol=1e-4)
    assert lowest.strain["controller bar"][0] > 0.999
    undamped = ls.modes(model, model.at([0.0]), kp=kp, count=1)
    assert_allclose(undamped.frequency_hz[0], np.sqrt(kp / J) / (2 * np.pi), rtol=1e-4)
    assert undamped.stability == ("vibration",)
    stiff = ls.modes(model, model.at([0.0]), kp=1e9, count=4).frequency_hz
    assert_allclose(
        stiff,
        ls.modes(model, model.at([0.0]), locked=True, count=4).frequency_hz,
        rtol=1e-5,
    )
    overdamped = ls.modes(
        model, model.at([0.0]), damped=True, kp=kp, kd=10 * J, count=2
    )
    assert overdamped.stability == ("overdamped", "overdamped")


def test_a_bar_that_stands_up_falls_over():
    model = bar(gravity=(-9.81, 0.0, 0.0))
    modes = ls.modes(model, [0.0], damped=True, count=2)
    assert "unstable" in modes.stability
    growing = modes.eigenvalue[modes.stability.index("unstable")]
    assert growing.imag == 0.0
    assert_allclose(
        growing.real, np.sqrt(1.5 * 9.81 / 0.73), rtol=0.01
    )  # of the rigid bar


def test_modes_of_a_turning_robot_satisfy_its_own_eigenproblem():
    model = ls.Model("double-pendulum", "erls-fem")
    q, qd, qdd = [0.3, 0.7], [6.0, -9.0], [20.0, 5.0]
    modes = ls.modes(model, q, qd=qd, qdd=qdd, count=10)
    lin = ls.linearize(model, q, qd=qd, qdd=qdd)
    M, C, K = lin.matrices[:3]
    assert (
        np.abs(K - K.T).max() > 1e-6 * np.abs(K).max() or np.abs(C - C.T).max() > 1e-3
    )
    assert_biorthonormal(M, C, K, quadratic_modes(M, C, K, 10))
    poles = lin.poles
    for value in modes.eigenvalue:
        assert np.abs(poles - value).min() < 1e-6 * abs(value) + 1e-6


def test_shares_add_up_to_one():
    model = ls.Model("double-pendulum", "erls-fem")
    modes = ls.modes(
        model, [0.3, 0.7], damped=True, kp=[300.0, 200.0], kd=[3.0, 2.0], count=6
    )
    assert_allclose(sum(modes.share[name] for name in model.link_names), 1.0, atol=1e-9)
    assert_allclose(sum(modes.strain.values()), 1.0, atol=1e-9)
    assert all(
        np.all((row >= 0) & (row <= 1 + 1e-12))
        for row in (*modes.share.values(), *modes.strain.values())
    )


def test_gains_for_the_wrong_number_of_joints_are_refused():
    with pytest.raises(ValueError, match=r"kp must have 2 values.*upper, lower"):
        ls.modes(
            ls.Model("double-pendulum", "erls-fem"), [0.0, 0.0], kp=[1.0, 2.0, 3.0]
        )


def test_a_free_rigid_motion_leaves_the_other_vectors_clean():
    # Nothing turns the column back: its stiffness is rounding, which must not be taken for one.
    model = ls.Model("anthropomorphic", "erls-fem")
    here = dict(zip(model.joint_names, [0.3, 0.6, -1.1], strict=True))
    source = ls.parametric_modes(
        model, model.joint_names, at=here, order=0, above_hz=1.0
    ).source
    poses = np.random.default_rng(1).uniform(
        [0.1, 0.4, -1.3], [0.5, 0.8, -0.9], size=(20, 3)
    )
    for M, C, K in zip(*source.exact(poses), strict=True):
        modes = quadratic_modes(M, C, K)
        vibrates = np.array([kind == "vibration" for kind in modes.stability])
        assert "rigid" in modes.stability and vibrates.sum() > 2
        value, vector = modes.eigenvalue[vibrates], modes.right[:, vibrates]
        inertia = value**2 * (M @ vector)
        left_over = np.linalg.norm(inertia + value * (C @ vector) + K @ vector, axis=0)
        assert np.all(left_over < 1e-6 * np.linalg.norm(inertia, axis=0))
