"""Terms `published-planar` against the analytic model of [Palomba2019], Appendix A: every entry, random states."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from palomba import Data, Matrices, corrected, errata, lagrange, printed

from helpers import compiled_once
from lissom import Model
from lissom.dynamics import engine
from lissom.dynamics.formulation import Rates

ROUND = 1e-12  # relative to the entry, or to the diagonal entries of its row and column
DATA = Data(
    L1=0.4,
    L2=0.3,
    A=8e-5,
    J=0.02 * 0.004**3 / 12,
    E=70e9,
    rho=2700 * 8e-5,
    g=9.81,
    alpha=0.087,
    beta=2.1e-5,
)
RANDOM = np.random.default_rng(4)
CASES = RANDOM.uniform(0.3, 1.2, (3, 6)) * RANDOM.choice([-1, 1], (3, 6))


@compiled_once
def engine_parts(f, x, xd, tau):
    """M, K, the force without acceleration, its derivative in the speeds, and what torques do."""
    N = engine.rate_map(f, x)

    def force(xd):
        return engine.bias(f, x, xd)

    place = f.configuration(x)
    _, K = engine.structural_matrices(f, place, xd, N)
    still = force(jnp.zeros_like(x))
    pushed = Rates(jnp.zeros_like(place.q[:, :6]), jnp.zeros_like(place.q), tau)
    drive = still - engine.needed_force(f, engine.at_rest(f, x), pushed)
    alone = jnp.stack([force(xd.at[1 - j].set(0.0)) for j in range(2)])
    return (
        engine.inertia(f, place, N),
        K,
        still,
        jax.jacfwd(force)(xd),
        drive,
        alone,
        force(xd),
    )


def in_paper_coordinates(q, qd, u) -> Matrices:
    """The engine's matrices where nothing is bent, for the paper's coordinates: displacements from the rigid robot.

    The engine counts displacements along world axes from the inner node of their link, the paper from the rigid robot:
    nodes of the second link move with the elbow, which does not turn it.
    """
    model = Model(
        "planar-2r",
        "erls-fem",
        reference={"zeroed": ["upper/0.rz", "lower/0.rz"]},
        terms="published-planar",
    )
    f = model.formulation
    relative = np.array([[1.0, 0.0], [-1.0, 1.0]])  # joint angles from absolute ones
    from_rigid_robot = np.eye(21)
    for node in (4, 5, 6):
        from_rigid_robot[3 * node : 3 * node + 2, 9:11] = np.eye(2)
    S = np.zeros((23, 23))  # paper's rates from ours
    S[:21, 2:], S[21:, :2] = from_rigid_robot, np.linalg.inv(relative)
    x, xd = np.r_[relative @ q, np.zeros(21)], np.r_[relative @ qd, np.zeros(21)]
    M, K, still, slope, drive, _, _ = map(
        np.asarray, engine_parts(f, jnp.asarray(x), jnp.asarray(xd), jnp.asarray(u))
    )
    back = np.linalg.inv(S)
    C = back.T @ slope @ back
    for j in range(2):
        alone = np.zeros(2)
        alone[j] = qd[j]
        rate = jnp.asarray(np.r_[relative @ alone, np.zeros(21)])
        force = np.asarray(engine_parts(f, jnp.asarray(x), rate, jnp.asarray(u))[-1])
        C[:, 21 + j] = back.T @ (force - still) / qd[j]
    return Matrices(back.T @ K @ back, back.T @ M @ back, C, back.T @ (drive - still))


@functools.cache
def by_lagrange(*case) -> Matrices:
    q, qd, u = np.reshape(case, (3, 2))
    return lagrange(DATA, q, qd, u)


def scaled(name: str, value, reference: Matrices, qd):
    """Entries against the size that their rows and columns give them: no units."""
    size = np.sqrt(np.diag(reference.M))
    if name == "f":
        return value / (np.abs(reference.f).max() / size.max() * size)
    scale = np.outer(size, size)
    if name == "K":
        return value / (np.abs(reference.K).max() * scale / scale[:21, :21].max())
    return value / (
        scale
        if name == "M"
        else scale
        * (
            np.abs(qd).max()
            + np.abs(reference.C[:21, :21]).max() / size[:21].max() ** 2
        )
    )


def differences(one: Matrices, other: Matrices, qd):
    """Largest difference of each matrix, against the entry or its scale."""
    found = {}
    for name in ("K", "M", "C", "f"):
        a, b = (
            scaled(name, np.asarray(getattr(m, name)), other, qd) for m in (one, other)
        )
        found[name] = float(np.max(np.abs(a - b) / np.maximum(np.abs(b), 1.0)))
    return found


@pytest.fixture(params=range(len(CASES)), scope="module")
def case(request):
    values = CASES[request.param]
    return values[:2], values[2:4] * 4, values[4:]


def test_the_corrected_matrices_follow_from_lagranges_equations(case):
    q, qd, u = case
    assert (
        max(
            differences(
                corrected(DATA, q, qd, u), by_lagrange(*q, *qd, *u), qd
            ).values()
        )
        < ROUND
    )


def test_the_engine_has_the_corrected_matrices(case):
    q, qd, u = case
    assert (
        max(
            differences(
                in_paper_coordinates(q, qd, u), corrected(DATA, q, qd, u), qd
            ).values()
        )
        < ROUND
    )


def test_each_disputed_entry_is_decided_by_lagranges_equations(case):
    q, qd, u = case
    paper, exact = printed(DATA, q, qd, u), by_lagrange(*q, *qd, *u)
    damping = DATA.beta * exact.K
    damping[:, :21] += DATA.alpha * exact.M[:, :21]
    change = errata(DATA, q, qd)
    for at, value in change["K"].items():
        assert value == pytest.approx(exact.K[at], rel=ROUND)
        assert abs(paper.K[at] / exact.K[at] - 1) > 0.4
    for at, value in change["C"].items():
        rest = exact.C[at] - damping[at]
        assert value == pytest.approx(
            rest, rel=1e-9
        )  # what is left of a difference of larger numbers
        assert paper.C[at] - damping[at] == pytest.approx(
            -rest, rel=1e-9
        )  # the printed sign is the wrong one


def test_nothing_else_is_disputed(case):
    q, qd, u = case
    paper, right, change = (
        printed(DATA, q, qd, u),
        corrected(DATA, q, qd, u),
        errata(DATA, q, qd),
    )
    for name, listed in (
        ("K", set(change["K"])),
        ("C", set(change["K"]) | set(change["C"])),
        ("M", set()),
    ):
        differs = np.argwhere(getattr(paper, name) != getattr(right, name))
        assert {tuple(int(i) for i in at) for at in differs} == listed
