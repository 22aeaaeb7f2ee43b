"""Bases of a reduced link: the motions that are kept, before they are made orthonormal.

All functions take the matrices of a link, dense or sparse, and give their motions over all its dofs (n rows).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from ...types import Float, Real, namespace
from .lowest_modes import Matrix, Solve, inverse_of, is_sparse, lowest_modes, to_dense

Dofs = Sequence[int] | Int[np.ndarray, " b"]
# Callback: a text, and the share of that part that is done.
Progress = Callable[[str, float], None]


def craig_bampton(
    K: Matrix,
    M: Matrix,
    interface: Dofs,
    normal: int,
    *,
    solve: Solve | None = None,
    progress: Progress | None = None,
) -> Float[Real, "n m"]:
    r"""Constraint modes of the interface, then `normal` fixed-interface modes, lowest first.

    $$ u = \begin{bmatrix} I & 0 \\ \Psi & \Phi \end{bmatrix} \begin{bmatrix} u_b \\ \eta \end{bmatrix},
       \qquad \Psi = -K_{ii}^{-1} K_{ib}, \qquad K_{ii} \Phi = M_{ii} \Phi\, \Omega^2 $$

    Reference: [CraigBampton1968]; the reduction of [Vidoni2015] sec. 6. Rows stay in the order of the link's dofs.

    Args:
        K: stiffness [n n], full and symmetric.
        M: mass.
        interface: numbers of the dofs that joints hold, b of them; they must stop every rigid motion.
        normal: fixed-interface modes; fewer come back where fewer have mass. All of them keep the link exact.
        solve: K_ii^-1 as a function of loads, if it is known.
        progress: called with a text and the share of that part that is done.
    """
    b, i = split_dofs(K.shape[0], interface)
    K_ii = submatrix(K, i, i)
    report_progress(progress, "factorising the stiffness between the interfaces", 0.0)
    solve = solve or inverse_of(K_ii)
    report_progress(progress, "constraint modes", 0.4)
    K_ib = to_dense(submatrix(K, i, b))
    Psi = -solve(K_ib)
    report_progress(progress, "fixed-interface modes", 0.6)
    M_ii = submatrix(M, i, i)
    _, Phi = lowest_modes(K_ii, M_ii, normal, solve)
    report_progress(progress, "fixed-interface modes", 1.0)
    xp = namespace(Psi, Phi)
    own = xp.eye(len(b))
    at_rest = xp.zeros((len(b), Phi.shape[1]))
    on_interface = xp.hstack([own, at_rest])
    # A solve without columns may come back flat.
    Psi = Psi.reshape(len(i), len(b))
    inside = xp.hstack([Psi, Phi])
    shapes = xp.vstack([on_interface, inside])
    # Back from (interface, inside) to the order of the link's dofs.
    order = np.argsort(np.concatenate([b, i]))
    return shapes[order]


def guyan(
    K: Matrix, M: Matrix, interface: Dofs, *, solve: Solve | None = None
) -> Float[Real, "n b"]:
    """Constraint modes alone: static condensation to the interface, [Guyan1965]. Exact for loads on it, at rest."""
    return craig_bampton(K, M, interface, 0, solve=solve)


def free_interface(
    K: Matrix,
    M: Matrix,
    rigid: Float[Real, "n 6"],
    interface: Dofs,
    normal: int,
    *,
    held: Dofs,
    solve: Solve | None = None,
    progress: Progress | None = None,
) -> Float[Real, "n m"]:
    r"""Rigid shapes, `normal` elastic modes of the free link, and what these miss under loads on the interface.

    The last are the residual attachment modes of [Rubin1975] and [CraigChang1977],
    $\left(G - \Phi\, \Omega^{-2} \Phi^T\right) F$, with $G$ the flexibility of the free link whose loads are balanced
    by its own inertia: static answers to interface loads are exact however few modes are kept.

    Args:
        K: stiffness [n n], full and symmetric.
        M: mass.
        rigid: rigid shapes of the link.
        interface: numbers of the dofs that carry loads.
        normal: free modes, lowest first.
        held: six dofs that hold the link while its flexibility is found; any six that stop every rigid motion.
        solve: inverse of K without the rows and columns `held`.
        progress: called with a text and the share of that part that is done.
    """
    report_progress(progress, "factorising the stiffness", 0.0)
    link = FreeLink.of(K, M, rigid, held, solve)
    report_progress(progress, "free modes", 0.4)
    omega2, Phi = link.lowest_modes(normal)
    report_progress(progress, "residual attachment modes", 0.8)
    unit_loads = _unit_loads(K.shape[0], interface)
    loads = link.self_equilibrated(unit_loads)
    inner = link.solve(loads[link.others])
    whole = link.floating_motions(inner)
    in_modes = (Phi / omega2) @ (Phi.T @ loads)
    residual = whole - in_modes
    report_progress(progress, "residual attachment modes", 1.0)
    xp = namespace(rigid, Phi, residual)
    return xp.hstack([xp.asarray(rigid), Phi, residual])


class FreeLink(NamedTuple):
    """A free link: six of its dofs are held to make K regular, then its rigid motion is added."""

    K: Matrix  # over the dofs that are not held
    M: Matrix  # over all n dofs
    rigid: Float[Real, "n 6"]  # B, rigid shapes
    momentum: Float[Real, "n 6"]  # M B
    rigid_mass: Float[Real, "6 6"]  # B^T M B
    others: Int[np.ndarray, " y"]  # dofs that are not held
    solve: Solve  # inverse of K

    @staticmethod
    def of(
        K: Matrix,
        M: Matrix,
        rigid: Float[Real, "n 6"],
        held: Dofs,
        solve: Solve | None = None,
    ) -> "FreeLink":
        """The link of these matrices; `held` are six dofs that stop every rigid motion."""
        # The held dofs take up no force, since the loads on a free link are balanced: any six will do.
        _, others = split_dofs(K.shape[0], held)
        K_y = submatrix(K, others, others)
        momentum = M @ rigid
        rigid_mass = rigid.T @ momentum
        solve = solve or inverse_of(K_y)
        return FreeLink(
            K=K_y,
            M=M,
            rigid=rigid,
            momentum=momentum,
            rigid_mass=rigid_mass,
            others=others,
            solve=solve,
        )

    def lowest_modes(self, count: int) -> tuple[Float[Real, " m"], Float[Real, "n m"]]:
        """omega^2 and shapes of the lowest elastic modes, mass-normalised, orthogonal to the rigid ones."""
        M = self._floating_mass()
        omega2, modes = lowest_modes(self.K, M, count, self.solve)
        return omega2, self.floating_motions(modes)

    def floating_motions(self, inner: Float[Real, "y m"]) -> Float[Real, "n m"]:
        """Motions over the dofs that are not held, seen from the floating link: without momentum."""
        n = self.rigid.shape[0]
        xp = namespace(inner, self.rigid, self.momentum)
        u = xp.zeros((n, inner.shape[1]))
        if xp is np:
            u[self.others] = inner
        else:
            u = u.at[self.others].set(inner)
        momentum = self.momentum.T @ u
        rigid_motion = xp.linalg.solve(self.rigid_mass, momentum)
        return u - self.rigid @ rigid_motion

    def self_equilibrated(self, loads: Float[np.ndarray, "n b"]) -> Float[Real, "n b"]:
        """Loads together with the inertia forces of the rigid motion that they cause: they are in equilibrium."""
        xp = namespace(self.rigid, self.momentum)
        wrench = self.rigid.T @ loads
        acceleration = xp.linalg.solve(self.rigid_mass, wrench)
        return loads - self.momentum @ acceleration

    def _floating_mass(self) -> Any:
        """Mass over the dofs that are not held, of a link that floats as they bend it: M - M B (B^T M B)^-1 B^T M."""
        y = self.others
        M_yy = submatrix(self.M, y, y)
        M_yr = self.momentum[y]
        xp = namespace(M_yr, self.rigid_mass)
        taken = xp.linalg.solve(self.rigid_mass, M_yr.T)
        if not is_sparse(self.M):
            return M_yy - M_yr @ taken
        from scipy.sparse.linalg import LinearOperator

        # The second term is dense: it is applied, never formed.
        def product(u):
            return M_yy @ u - M_yr @ (taken @ u)

        operator: Any = LinearOperator  # its keywords are not typed
        shape = (len(y), len(y))
        return operator(shape, matvec=product, matmat=product, dtype=float)


def split_dofs(
    n: int, chosen: Dofs
) -> tuple[Int[np.ndarray, " b"], Int[np.ndarray, " i"]]:
    """Chosen dofs, and all others."""
    b = np.asarray(chosen, dtype=int)
    inside = b[(b >= 0) & (b < n)]
    if len(np.unique(inside)) != len(b):
        raise ValueError(
            f"interface dofs must be different numbers from 0 to {n - 1}, got {b.tolist()}"
        )
    return b, np.setdiff1d(np.arange(n), b)


def submatrix(A: Matrix, rows: Any, columns: Any) -> Matrix:
    """Rows and columns of a matrix."""
    # Rows are cut fast in compressed rows, columns of what is left in any form; factorisations want columns.
    if is_sparse(A):
        return A.tocsr()[rows][:, columns].tocsc()
    return A[rows][:, columns]


def report_progress(progress: Progress | None, what: str, share: float) -> None:
    """Call `progress`, where there is one, with a text and the share of that part that is done."""
    if progress is not None:
        progress(what, share)


def _unit_loads(n: int, dofs: Dofs) -> Float[np.ndarray, "n b"]:
    count = len(dofs)
    loads = np.zeros((n, count))
    loads[np.asarray(dofs), np.arange(count)] = 1.0
    return loads
