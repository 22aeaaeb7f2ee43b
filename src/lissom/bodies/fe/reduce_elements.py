"""From finite elements with interfaces to few modes: one factorisation serves the reduction and its check."""

from dataclasses import dataclass

import numpy as np

from ...algebra.sparse import NotPositiveDefiniteError, cholesky
from ...describe.reduction_names import InterfaceMethod
from ...types import Real
from ..reduce.component_modes import (
    FreeLink,
    Progress,
    craig_bampton,
    free_interface,
    report_progress,
    split_dofs,
    submatrix,
)
from ..reduce.free_modes import (
    FreeModes,
    Truncation,
    assurance,
    free_modes,
    truncate_modes,
)
from ..reduce.lowest_modes import Solve, lowest_modes, symmetric
from .coupling import CoupledElements
from .elements import FeError, FiniteElements, Sparse
from .interface import Interface
from .second_order import SecondOrder, second_order

MODES = 18  # elastic modes where nothing else is said: 24 with the six rigid ones
CHECKED = 10  # modes of the full model that the reduced one is held against
MOST = 2000  # largest number of modes below a frequency limit
FIRST_TRIAL = 10  # modes computed first to find how many lie below a frequency


@dataclass(frozen=True)
class FeReduction:
    """Size of a reduced link: a number of elastic modes, or all fixed-interface modes below a frequency."""

    method: InterfaceMethod = "craig-bampton"
    modes: int | None = None
    below_hz: float | None = None
    # modes of the full model computed for the report; 0 for none
    checked: int = CHECKED

    @property
    def count(self) -> int | None:
        """Elastic modes to keep: as given, the default, or (None) as many as a frequency limit needs."""
        if self.modes is None and self.below_hz is None:
            return MODES
        return self.modes


@dataclass(frozen=True)
class ModeComparison:
    """Modes of the full model beside those of the reduced one: the free link, or held at its inner node."""

    full_hz: np.ndarray
    reduced_hz: np.ndarray
    mac: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """Relative error of the reduced frequencies."""
        return self.reduced_hz / self.full_hz - 1


@dataclass(frozen=True)
class ReducedModes:
    """Modes of a link over the dofs of its coupled finite elements."""

    modes: FreeModes
    record: Truncation
    reduction: FeReduction
    free: ModeComparison | None = None
    held: ModeComparison | None = None
    # of the modes, where the elements are known
    second_order: SecondOrder | None = None


@dataclass(frozen=True)
class InterfaceSolver:
    """The factorised stiffness between the interfaces, and what follows from it without another factorisation."""

    fe: FiniteElements
    interface: np.ndarray  # dofs of all interface nodes
    held: np.ndarray  # dofs of the inner node
    inner: np.ndarray  # all other dofs than `interface`
    solve: Solve  # K_ii^-1
    constraint: np.ndarray  # Psi = -K_ii^-1 K_ib

    def without_held(self) -> Solve:
        """Inverse of K without the dofs of the inner node: K_ii^-1 and the flexibility of the other interface nodes."""
        every = np.arange(self.fe.size)
        free = np.setdiff1d(every, self.held)
        is_held = np.isin(self.interface, self.held)
        others = np.flatnonzero(~is_held)
        t = self.interface[others]
        Psi = self.constraint[:, others]
        # S = K_tt - K_ti K_ii^-1 K_it, the condensed stiffness of the other interface nodes.
        K_ti = submatrix(self.fe.K, t, self.inner)
        K_tt = submatrix(self.fe.K, t, t).toarray()
        S = K_tt + K_ti @ Psi
        flexibility = np.zeros((0, 0))
        if len(t):
            flexibility = np.linalg.inv(symmetric(S))
        at_t = np.searchsorted(free, t)
        at_i = np.searchsorted(free, self.inner)

        def solve(load: np.ndarray) -> np.ndarray:
            x = np.zeros_like(load, dtype=float)
            inside = load[at_i]
            on_interface = load[at_t] + Psi.T @ inside
            x_t = flexibility @ on_interface
            x[at_t] = x_t
            x[at_i] = self.solve(inside) + Psi @ x_t
            return x

        return solve

    def free_link(self) -> FreeLink:
        """The free link; its six inner dofs are held where an inverse is needed."""
        fe = self.fe
        solve = self.without_held()
        return FreeLink.of(fe.K, fe.M, fe.rigid, self.held, solve)


def interface_solver(
    fe: FiniteElements, interface: Interface, progress: Progress | None = None
) -> InterfaceSolver:
    """The solver of a link.

    Raises:
        FeError: parts of the link can move while its interfaces are held; a dof that does is named.
    """
    b, i = split_dofs(fe.size, interface.dofs(fe))
    K_ii = submatrix(fe.K, i, i)
    try:
        solve = cholesky(K_ii, fe.dof_points[i], progress)
    except NotPositiveDefiniteError as failure:
        raise FeError(
            f"stiffness: singular at {fe.dof_name(int(i[failure.unknown]))} while the "
            "interfaces are held. That dof, or a part of the mesh around it, is not "
            "connected: remove it, or connect it (merge coincident nodes)"
        ) from None
    K_ib = submatrix(fe.K, i, b).toarray()
    return InterfaceSolver(
        fe=fe,
        interface=b,
        held=interface.inner_dofs(fe),
        inner=i,
        solve=solve,
        constraint=-solve(K_ib),
    )


def reduce_elements(
    link: CoupledElements,
    interface: Interface,
    reduction: FeReduction | None = None,
    progress: Progress | None = None,
) -> ReducedModes:
    """Modes of a link, six rigid ones first and clean, and how well they fit the full model.

    Raises:
        FeError: the link has no modes, because stiffness or mass is missing.
    """
    try:
        return _reduced_modes(link, interface, reduction or FeReduction(), progress)
    except np.linalg.LinAlgError as failure:
        message = (
            f"the link has no modes ({failure}). It needs stiffness, mass, and inertia "
            "about every axis, and its interfaces must constrain it"
        )
        raise FeError(message) from None


def _reduced_modes(
    link: CoupledElements,
    interface: Interface,
    reduction: FeReduction,
    progress: Progress | None,
) -> ReducedModes:
    solver = interface_solver(link.fe, interface, progress)
    fe = link.fe
    basis = _basis(solver, reduction, progress)
    modes = free_modes(fe.K, fe.M, fe.rigid, solver.held, basis)
    # Guyan's reduction has no more than the motions of its interface: all are kept unless fewer are requested.
    count = reduction.modes if reduction.method == "guyan" else reduction.count
    modes, record = truncate_modes(modes, count)
    shortening = second_order(
        link,
        modes,
        solver.held,
        fe.points[interface.nodes[0]],
        solver.without_held(),
        progress,
    )
    if not reduction.checked:
        return ReducedModes(modes, record, reduction, second_order=shortening)
    full_link = solver.free_link()
    report_progress(progress, "checking the free modes", 0.0)
    free = _compare_free(full_link, modes, reduction.checked)
    report_progress(progress, "checking the modes clamped at the inner node", 0.5)
    held = _compare_held(full_link, modes, reduction.checked)
    report_progress(progress, "checking the modes clamped at the inner node", 1.0)
    return ReducedModes(modes, record, reduction, free, held, shortening)


def _basis(
    solver: InterfaceSolver, reduction: FeReduction, progress: Progress | None
) -> Real:
    """Motions that the modes are made of."""
    fe = solver.fe
    dofs = solver.interface
    count = reduction.count or 0
    if reduction.method == "guyan":
        return craig_bampton(fe.K, fe.M, dofs, 0, solve=solver.solve)
    if reduction.method == "free-interface":
        # One attachment mode for each interface dof; the modes beside them are at least one.
        normal = _normal_modes(solver, reduction, max(count - len(dofs), 1))
        return free_interface(
            fe.K,
            fe.M,
            fe.rigid,
            dofs,
            normal,
            held=solver.held.tolist(),
            solve=solver.without_held(),
            progress=progress,
        )
    # Six motions of the interface are rigid: the others are elastic modes of the link.
    own = len(dofs) - 6
    normal = _normal_modes(solver, reduction, max(count - own, 0))
    return craig_bampton(
        fe.K, fe.M, dofs, normal, solve=solver.solve, progress=progress
    )


def _normal_modes(solver: InterfaceSolver, reduction: FeReduction, count: int) -> int:
    """Fixed-interface modes to take: as counted, or all below the wanted frequency."""
    inner = solver.inner
    if reduction.below_hz is None:
        return min(count, len(inner))
    K = submatrix(solver.fe.K, inner, inner)
    M = submatrix(solver.fe.M, inner, inner)
    most = min(MOST, len(inner))
    trial = FIRST_TRIAL
    while True:
        trial = min(trial, len(inner))
        omega2, _ = lowest_modes(K, M, trial, solver.solve)
        hz = _hertz(omega2)
        no_more = len(hz) < trial or trial >= most
        if no_more or hz[-1] >= reduction.below_hz:
            return int((hz < reduction.below_hz).sum())
        trial *= 2


def _compare_free(link: FreeLink, modes: FreeModes, count: int) -> ModeComparison:
    count = min(count, modes.shapes.shape[1])
    omega2, full = link.lowest_modes(count)
    hz = np.asarray(modes.frequency_hz)
    return _comparison(_hertz(omega2), full, hz, modes.shapes, link.M)


def _compare_held(link: FreeLink, modes: FreeModes, count: int) -> ModeComparison:
    count = min(count, modes.shapes.shape[1])
    y = link.others
    M_yy = submatrix(link.M, y, y)
    omega2, full = lowest_modes(link.K, M_yy, count, link.solve)
    reduced_omega2, v = held_modes(modes, link.M)
    shapes = (modes.clamped @ v)[y]
    return _comparison(_hertz(omega2), full, _hertz(reduced_omega2), shapes, M_yy)


def held_modes(modes: FreeModes, M: Sparse) -> tuple[Real, Real]:
    """omega^2 and coordinates of the reduced link's modes with its inner node held."""
    omega = np.asarray(modes.omega)
    K_reduced = np.diag(omega**2)
    M_reduced = modes.clamped.T @ (M @ modes.clamped)
    return lowest_modes(K_reduced, M_reduced, len(omega))


def _comparison(
    full_hz: np.ndarray,
    full: Real,
    reduced_hz: np.ndarray,
    shapes: Real,
    M: Sparse,
) -> ModeComparison:
    """Each full mode with the reduced mode of the highest MAC."""
    mac = assurance(np.asarray(full), np.asarray(shapes), M)
    best = mac.argmax(axis=1)
    return ModeComparison(full_hz, reduced_hz[best], mac.max(axis=1))


def _hertz(omega2: Real) -> np.ndarray:
    omega = np.sqrt(np.asarray(omega2))
    return omega / (2 * np.pi)
