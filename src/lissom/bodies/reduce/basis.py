"""Bases of a reduced link: the motions that are kept, before they are made orthonormal.

All functions take the matrices of a link, dense or sparse, and give their motions over all its dofs (n rows).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ...types import Real, namespace
from .eigen import Matrix, Progress, Solve, dense, inverse_of, is_sparse, lowest_modes

Dofs = Sequence[int] | Int[np.ndarray, " b"]


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
        solve: K_ii^-1, if it is at hand.
        progress: told what is being done.
    """
    n = K.shape[0]
    b, i = split(n, interface)
    K_ii, K_ib = part(K, i, i), dense(part(K, i, b))
    tell(progress, "factorising the stiffness between the interfaces", 0.0)
    solve = solve or inverse_of(K_ii)
    tell(progress, "constraint modes", 0.4)
    Psi = -solve(K_ib)
    tell(progress, "fixed-interface modes", 0.6)
    Phi = lowest_modes(K_ii, part(M, i, i), normal, solve)[1]
    tell(progress, "fixed-interface modes", 1.0)
    xp = namespace(Psi, Phi)
    on_interface = xp.concatenate(
        [xp.eye(len(b)), xp.zeros((len(b), Phi.shape[1]))], axis=1
    )
    inside = xp.concatenate([xp.reshape(Psi, (len(i), len(b))), Phi], axis=1)
    return xp.concatenate([on_interface, inside])[np.argsort(np.concatenate([b, i]))]


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
        progress: told what is being done.
    """
    n = K.shape[0]
    _, y = split(n, held)
    tell(progress, "factorising the stiffness", 0.0)
    K_y = part(K, y, y)
    solve = solve or inverse_of(K_y)
    xp = namespace(dense(K_y) if not is_sparse(K_y) else 0.0, rigid)
    M_B = M @ rigid
    M_rr = rigid.T @ M_B
    balance = xp.linalg.solve(M_rr, M_B.T)  # (B^T M B)^-1 B^T M
    tell(progress, "free modes", 0.4)
    omega2, Phi_y = lowest_modes(K_y, _projected_mass(M, M_B, M_rr, y), normal, solve)
    loads = xp.asarray(_unit_loads(n, interface))
    loads = loads - M_B @ xp.linalg.solve(M_rr, rigid.T @ loads)
    tell(progress, "residual attachment modes", 0.8)

    def spread(part):
        return _spread(part, y, n)

    def free(u):
        return u - rigid @ (balance @ u)

    Phi = free(spread(Phi_y))
    whole = free(spread(solve(loads[y])))
    residual = whole - (Phi / omega2) @ (Phi.T @ loads)
    tell(progress, "residual attachment modes", 1.0)
    return xp.concatenate([xp.asarray(rigid), Phi, residual], axis=1)


def split(n: int, chosen: Dofs) -> tuple[Int[np.ndarray, " b"], Int[np.ndarray, " i"]]:
    """Chosen dofs, and all others."""
    b = np.asarray(chosen, dtype=int)
    if len(set(b.tolist())) != len(b) or (len(b) and (b.min() < 0 or b.max() >= n)):
        raise ValueError(
            f"interface dofs must be different numbers from 0 to {n - 1}, got {b.tolist()}"
        )
    return b, np.setdiff1d(np.arange(n), b)


def part(A: Matrix, rows: Any, columns: Any) -> Matrix:
    """Rows and columns of a matrix."""
    return A.tocsr()[rows][:, columns].tocsc() if is_sparse(A) else A[rows][:, columns]


def tell(progress: Progress | None, what: str, share: float) -> None:
    """Report to whoever listens."""
    if progress is not None:
        progress(what, share)


def _projected_mass(M: Matrix, M_B, M_rr, y) -> Any:
    """Mass over the dofs y of a link that floats as they bend it: M less what its rigid motion takes away."""
    M_yr = M_B[y]
    if not is_sparse(M):
        xp = namespace(M, M_B)
        return part(M, y, y) - M_yr @ xp.linalg.solve(M_rr, M_yr.T)
    from scipy.sparse.linalg import LinearOperator

    M_yy, taken = part(M, y, y), np.linalg.solve(M_rr, M_yr.T)
    operator: Any = LinearOperator  # its keywords are not typed

    def product(u):
        return M_yy @ u - M_yr @ (taken @ u)

    return operator((len(y), len(y)), matvec=product, matmat=product, dtype=float)


def _unit_loads(n: int, dofs: Dofs) -> Float[np.ndarray, "n b"]:
    loads = np.zeros((n, len(dofs)))
    loads[np.asarray(dofs), np.arange(len(dofs))] = 1.0
    return loads


def _spread(inner, y, n: int):
    """Rows for all n dofs from those of y, zeros elsewhere."""
    xp = namespace(inner)
    if xp is np:
        whole = np.zeros((n, inner.shape[1]))
        whole[y] = inner
        return whole
    return xp.zeros((n, inner.shape[1])).at[y].set(inner)
