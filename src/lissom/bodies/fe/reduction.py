"""From finite elements with interfaces to few modes: one factorisation serves the reduction and its check."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...algebra.sparse import NotPositiveDefiniteError, Progress, cholesky
from ..reduce.basis import craig_bampton, free_interface, part, split
from ..reduce.eigen import Solve, lowest_modes
from ..reduce.modes import FreeModes, Record, free_modes, truncated
from .coupling import Coupled
from .elements import FeError, FiniteElements, Sparse
from .interface import Interface

Method = Literal["craig-bampton", "guyan", "rubin"]
METHODS: tuple[Method, ...] = ("craig-bampton", "guyan", "rubin")
MODES = 18  # elastic modes where nothing else is said: 24 with the six rigid ones
CHECKED = 10  # modes of the full model that the reduced one is held against
MOST = 2000  # modes that a frequency limit may ask for


@dataclass(frozen=True)
class Wanted:
    """How a link is reduced: to so many elastic modes, or to all fixed-interface modes below a frequency."""

    method: Method = "craig-bampton"
    modes: int | None = None
    below_hz: float | None = None
    checked: int = (
        CHECKED  # modes of the full model computed for the report; 0 for none
    )


@dataclass(frozen=True)
class Check:
    """Modes of the full model beside those of the reduced one: the free link, or held at its inner node."""

    full_hz: np.ndarray
    reduced_hz: np.ndarray
    mac: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """Relative error of the reduced frequencies."""
        return self.reduced_hz / self.full_hz - 1


@dataclass(frozen=True)
class Reduced:
    """Modes of a link over the dofs of its coupled finite elements."""

    modes: FreeModes
    record: Record
    wanted: Wanted
    free: Check | None = None
    held: Check | None = None


@dataclass(frozen=True)
class Solver:
    """The factorised stiffness between the interfaces, and what follows from it without another factorisation."""

    fe: FiniteElements
    interface: np.ndarray  # dofs of all interface nodes
    held: np.ndarray  # dofs of the inner node
    inner: np.ndarray  # all other dofs than `interface`
    solve: Solve  # K_ii^-1
    constraint: np.ndarray  # Psi = -K_ii^-1 K_ib

    def without_held(self) -> Solve:
        """Inverse of K without the dofs of the inner node: K_ii^-1 and the flexibility of the other interface nodes."""
        free = np.setdiff1d(np.arange(self.fe.size), self.held)
        loose = np.flatnonzero(~np.isin(self.interface, self.held))
        t, Psi = self.interface[loose], self.constraint[:, loose]
        S = part(self.fe.K, t, t).toarray() + part(self.fe.K, t, self.inner) @ Psi
        at_t, at_i = np.searchsorted(free, t), np.searchsorted(free, self.inner)
        inverse = np.linalg.inv((S + S.T) / 2) if len(t) else np.zeros((0, 0))

        def solve(load: np.ndarray) -> np.ndarray:
            x = np.zeros_like(load, dtype=float)
            x[at_t] = inverse @ (load[at_t] + Psi.T @ load[at_i])
            x[at_i] = self.solve(load[at_i]) + Psi @ x[at_t]
            return x

        return solve


def factorised(
    fe: FiniteElements, interface: Interface, progress: Progress | None = None
) -> Solver:
    """The solver of a link.

    Raises:
        FeError: parts of the link can move while its interfaces are held; a dof that does is named.
    """
    b, i = split(fe.size, interface.dofs(fe))
    K_ii = part(fe.K, i, i)
    try:
        solve = cholesky(K_ii, fe.dof_points[i], progress)
    except NotPositiveDefiniteError as failure:
        raise FeError(
            f"stiffness: singular at {fe.dof_name(int(i[failure.unknown]))} while the interfaces are held. That dof, "
            "or a part of the mesh around it, is joined to nothing: remove it, or join it (merge coincident nodes)"
        ) from None
    return Solver(
        fe, b, interface.held(fe), i, solve, -solve(part(fe.K, i, b).toarray())
    )


def reduced(
    link: Coupled,
    interface: Interface,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> Reduced:
    """Modes of a link, six rigid ones first and clean, and how well they fit the full model."""
    wanted = wanted or Wanted()
    solver = factorised(link.fe, interface, progress)
    modes, record = _modes(solver, wanted, progress)
    say = progress or (lambda text, share: None)
    if not wanted.checked:
        return Reduced(modes, record, wanted)
    say("checking the free modes", 0.0)
    free = _checked_free(solver, modes, wanted.checked)
    say("checking the modes held at the inner node", 0.5)
    held = _checked_held(solver, modes, wanted.checked)
    say("checking the modes held at the inner node", 1.0)
    return Reduced(modes, record, wanted, free, held)


def _modes(
    solver: Solver, wanted: Wanted, progress: Progress | None
) -> tuple[FreeModes, Record]:
    fe = solver.fe
    own = len(solver.interface) - 6  # elastic motions of the interface itself
    count = (
        wanted.modes
        if wanted.modes is not None or wanted.below_hz is not None
        else MODES
    )
    if wanted.method == "guyan":
        basis = craig_bampton(fe.K, fe.M, solver.interface, 0, solve=solver.solve)
        return truncated(
            free_modes(fe.K, fe.M, fe.rigid, solver.held, basis), wanted.modes
        )
    if wanted.method == "rubin":
        normal = _needed(solver, wanted, max((count or 0) - len(solver.interface), 1))
        basis = free_interface(
            fe.K,
            fe.M,
            fe.rigid,
            solver.interface,
            normal,
            held=solver.held.tolist(),
            solve=solver.without_held(),
            progress=progress,
        )
        return truncated(free_modes(fe.K, fe.M, fe.rigid, solver.held, basis), count)
    normal = _needed(solver, wanted, max((count or 0) - own, 0))
    basis = craig_bampton(
        fe.K, fe.M, solver.interface, normal, solve=solver.solve, progress=progress
    )
    return truncated(free_modes(fe.K, fe.M, fe.rigid, solver.held, basis), count)


def _needed(solver: Solver, wanted: Wanted, count: int) -> int:
    """Fixed-interface modes to take: as counted, or all below the wanted frequency."""
    if wanted.below_hz is None:
        return min(count, len(solver.inner))
    K, M = (part(A, solver.inner, solver.inner) for A in (solver.fe.K, solver.fe.M))
    tried = 10
    while True:
        tried = min(tried, len(solver.inner))
        hz = np.sqrt(lowest_modes(K, M, tried, solver.solve)[0]) / (2 * np.pi)
        if (
            len(hz) < tried
            or hz[-1] >= wanted.below_hz
            or tried >= min(MOST, len(solver.inner))
        ):
            return int((hz < wanted.below_hz).sum())
        tried *= 2


def _checked_free(solver: Solver, modes: FreeModes, count: int) -> Check:
    fe = solver.fe
    y = np.setdiff1d(np.arange(fe.size), solver.held)
    count = min(count, modes.shapes.shape[1])
    M_B = fe.M @ fe.rigid
    M_rr = fe.rigid.T @ M_B
    omega2, inside = lowest_modes(
        part(fe.K, y, y),
        floating_mass(fe.M, M_B, M_rr, y),
        count,
        solver.without_held(),
    )
    full = np.zeros((fe.size, inside.shape[1]))
    full[y] = inside
    full -= fe.rigid @ np.linalg.solve(M_rr, M_B.T @ full)
    return _compared(
        np.sqrt(omega2) / (2 * np.pi), full, modes.frequency_hz, modes.shapes, fe.M
    )


def _checked_held(solver: Solver, modes: FreeModes, count: int) -> Check:
    fe = solver.fe
    y = np.setdiff1d(np.arange(fe.size), solver.held)
    M = part(fe.M, y, y)
    omega2, full = lowest_modes(
        part(fe.K, y, y), M, min(count, modes.shapes.shape[1]), solver.without_held()
    )
    own2, v = held_modes(modes, fe.M)
    return _compared(
        np.sqrt(omega2) / (2 * np.pi),
        full,
        np.sqrt(own2) / (2 * np.pi),
        (modes.clamped @ v)[y],
        M,
    )


def held_modes(modes: FreeModes, M: Sparse) -> tuple[np.ndarray, np.ndarray]:
    """omega^2 and coordinates of the reduced link's modes with its inner node held."""
    from scipy.linalg import eigh

    return eigh(np.diag(modes.omega**2), modes.clamped.T @ (M @ modes.clamped))


def _compared(full_hz, full, reduced_hz, shapes, M) -> Check:
    """Each full mode beside the reduced mode most like it."""
    cross = (full.T @ (M @ shapes)) ** 2
    one, two = (np.einsum("nk,nk->k", a, M @ a) for a in (full, shapes))
    mac = cross / np.outer(one, two)
    best = mac.argmax(axis=1)
    return Check(full_hz, np.asarray(reduced_hz)[best], mac[np.arange(len(best)), best])


def floating_mass(M: Sparse, M_B: np.ndarray, M_rr: np.ndarray, y: np.ndarray) -> Any:
    """Mass over the dofs y of a link that floats as they bend it: M - M B (B^T M B)^-1 B^T M, as an operator."""
    from scipy.sparse.linalg import LinearOperator

    M_yy, M_yr = part(M, y, y), M_B[y]
    taken = np.linalg.solve(M_rr, M_yr.T)

    def product(u):
        return M_yy @ u - M_yr @ (taken @ u)

    operator: Any = LinearOperator  # its keywords are not typed
    return operator((len(y), len(y)), matvec=product, matmat=product, dtype=float)
