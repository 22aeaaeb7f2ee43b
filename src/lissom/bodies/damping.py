"""Damping of one link: Rayleigh's coefficients, or one ratio for every mode of the clamped link."""

import equinox as eqx
import jax
import jax.numpy as jnp

from ..types import Float, Real, Scalar, namespace
from .body import Body, elastic_part


def with_rayleigh(body: Body, alpha: Scalar | None = None, beta: Scalar = 0.0) -> Body:
    """Body with Rayleigh damping: alpha on its mass, beta on its strain rates.

    Args:
        body: the link.
        alpha: mass coefficient [1/s]; kept apart, since it acts on the motion of the mass as the rigid robot sees it.
        beta: stiffness coefficient [s].
    """
    return _with_damping(body, beta * body.stiffness, alpha)


def with_modal_ratio(body: Body, ratio: Scalar) -> Body:
    r"""Body whose modes, clamped at its inner node, all have the damping ratio `ratio`.

    On the clamped coordinates $C = M \Phi\, \mathrm{diag}(2 \zeta \omega)\, \Phi^T M$ with mass-normalised modes; it
    acts on q less the rigid motion of the inner node, so that a rigid motion is not damped. Masses added later change
    the modes: add them first.
    """
    c = body.coordinates
    if c == 6:
        return with_rayleigh(body)
    xp = namespace(body, ratio)
    M = elastic_part(body.mass_matrix)
    K = elastic_part(body.stiffness)
    C = 2 * ratio * frequency_matrix(M, K)
    # eta of the rigid displacement that moves node 0 by r: rigid_eta rigid_r^-1 r.
    rigid_r = body.rigid[:6]
    rigid_eta = body.rigid[6:]
    rigid_part = xp.linalg.solve(rigid_r.T, rigid_eta.T).T
    P = xp.hstack([-rigid_part, xp.eye(c - 6)])
    return _with_damping(body, P.T @ C @ P, None)


def _with_damping(
    body: Body, damping: Float[Real, "c c"], alpha: Scalar | None
) -> Body:
    def fields(b):
        return b.damping, b.alpha

    new = (damping, alpha)
    # A body without a mass coefficient has None there, which is a leaf too.
    return eqx.tree_at(fields, body, new, is_leaf=lambda leaf: leaf is None)


def frequency_matrix(
    mass: Float[Real, "n n"], stiffness: Float[Real, "n n"]
) -> Float[Real, "n n"]:
    r"""$M \Phi\, \mathrm{diag}(\omega)\, \Phi^T M = L (L^{-1} M L^{-T})^{1/2} L^T$, where $K = L L^T$ (Cholesky).

    The mass may be singular: motions without mass have no frequency, and are not damped.
    """
    xp = namespace(mass, stiffness)
    L = xp.linalg.cholesky(stiffness)
    half = xp.linalg.solve(L, mass)
    A = xp.linalg.solve(L, half.T)
    symmetric = (A + A.T) / 2
    if xp is jnp:
        return L @ square_root(symmetric) @ L.T
    return L @ _square_root(symmetric) @ L.T


@jax.custom_jvp
def square_root(matrix: Float[Real, "n n"]) -> Float[Real, "n n"]:
    """Square root of a symmetric matrix, none of its eigenvalues negative; differentiable where they repeat."""
    return _square_root(matrix)


@square_root.defjvp
def _square_root_jvp(primals, tangents):
    """From S S = A: dS_ij = dA_ij / (s_i + s_j) in the eigenvectors of A."""
    (A,) = primals
    (dA,) = tangents
    eigenvalue, V = jnp.linalg.eigh(A)
    s = jnp.sqrt(eigenvalue)
    rotated = V.T @ dA @ V
    sums = s[:, None] + s
    dS = V @ (rotated / sums) @ V.T
    return (V * s) @ V.T, dS


def _square_root(matrix: Float[Real, "n n"]) -> Float[Real, "n n"]:
    xp = namespace(matrix)
    eigenvalue, V = xp.linalg.eigh(matrix)
    # Rounding can make the zero of a motion without mass slightly negative.
    eigenvalue = xp.maximum(eigenvalue, 0.0)
    s = xp.sqrt(eigenvalue)
    return (V * s) @ V.T
