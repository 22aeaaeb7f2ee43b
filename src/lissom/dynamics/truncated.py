"""Dual screws as printed, [Cibicik2021]: every product cut to first order in the elastic coordinates and speeds.

Elastic coordinates and speeds are dual parts: every quantity below is a pair (real, dual) and products of two dual
parts are never formed. The mass matrix multiplies all accelerations, elastic ones too, so that elastic accelerations
count as real and the projecting form of the screws keeps what first order does to them (eqs. (93), (96)). Integrals
along the links (112) are constants of the links, formed once: nothing is integrated at run time.

The result is the first-order Taylor expansion of `nonlinear`, to rounding, with all that this entails: eta eta_dd is
kept where eta_d eta_d is dropped, and the mass matrix need not stay positive definite when links bend far.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra.se3 import rigid_shape
from ..algebra.so3 import cross_matrix
from ..kinematics.dual_chain import (
    DualPose,
    against,
    along,
    before,
    bracket,
    carry,
    cobracket,
    dual_pose,
    gathered,
    half_turned,
    parents_tips,
)
from ..types import Real, namespace
from .erls import Erls
from .formulation import Configuration, OwnDynamics, Rates, place_elastic, take_elastic
from .links import Links


class Dual(NamedTuple):
    """A quantity a + eps b: its part without elastic motion, and what is linear in it."""

    real: Float[Array, "..."]
    dual: Float[Array, "..."]


class BentLinks(eqx.Module):
    """Constants of every link over (V, eta_d), e = 6 + m: integrals of its shapes, no coordinates of the inner node."""

    mass: Float[Real, "l e e"]
    X: Float[Real, "l 3 e m"]  # X_a  = sum N~^T D A_a N
    Z: Float[Real, "l 3 3 m m"]  # Z_ab = sum N^T A_a^T D A_b N
    tip: Float[Real, "l 6 m"]  # Psi_j', eq. (71)
    stiffness: Float[Real, "l m m"]
    damping: Float[Real, "l m m"]
    spread: Float[Real, "l m d"]  # elastic coordinates of each link from eta


def bent_links(links: Links, count: int) -> BentLinks:
    """What the dual-screw equations need of the links; `count` elastic coordinates in all."""
    xp = namespace(links.mass, links.stiffness)
    c = links.stiffness.shape[-1]
    kept = np.concatenate([np.arange(6), np.arange(12, 6 + c)])
    mass = xp.asarray(links.mass)[:, kept][:, :, kept]
    own = (
        xp.asarray(links.damping)[:, 6:, 6:]
        + xp.asarray(links.alpha)[:, None, None] * mass[:, 6:, 6:]
    )
    return BentLinks(
        mass=mass,
        X=xp.asarray(links.X)[:, :, kept, 6:],
        Z=xp.asarray(links.Z)[..., 6:, 6:],
        tip=xp.asarray(links.shapes.tip)[:, :, 6:],
        stiffness=xp.asarray(links.stiffness)[:, 6:, 6:],
        damping=own,
        spread=np.concatenate([np.eye(count), np.zeros((1, count))])[links.place],
    )


class LinkMotion(NamedTuple):
    """Motion of every link over y = (V, eta_d), in its own deformed frame; gravity is in the accelerations."""

    y: Dual
    y_d: Dual
    eta: Float[Array, "l m"]


class TruncatedDualScrew(Erls, OwnDynamics):
    """Assumed modes on the rigid chain: frames, nodes and encoders as in `Erls` with the tangent choice."""

    bent: BentLinks = eqx.field(kw_only=True)

    @property
    def _shape(self) -> Float[Array, "l 6 m"]:
        return jnp.asarray(self.bent.tip)

    def _motion(self, x, xd, xdd) -> tuple[DualPose, LinkMotion]:
        """Twists and accelerations of all links, eqs. (90)-(96), Algorithm 1, steps 4 to 6."""
        j = self.n_joints
        eta, eta_d, eta_dd = (
            place_elastic(self.links, part[j:]) for part in (x, xd, xdd)
        )
        tip, tip_d, tip_dd = parents_tips(self._shape, eta, eta_d, eta_dd)
        at = dual_pose(self.chain, x[:j], tip)
        s, a = at.s, at.a
        rate, rate_d = (
            jnp.asarray(self.chain.selection @ part[:j])[:, None] for part in (xd, xdd)
        )
        own, own_d = carry(at.B, tip_d), carry(at.B, tip_dd)
        turned = bracket(s, a)
        (V,) = along(at.Phi, s * rate)
        lift = carry(
            at.G[:1], jnp.append(-jnp.asarray(self.gravity), jnp.zeros(3))[None]
        )
        ground = jnp.concatenate([lift, jnp.zeros_like(V[1:])])
        V_d, a_d = along(
            at.Phi,
            s * rate_d + own_d - rate * bracket(s, V) + ground,
            own - rate * turned,
        )
        bent = bracket(a, own_d) - carry(at.B, half_turned(tip[:, 3:], tip_dd))
        bent = (
            bent
            - 2.0 * rate * bracket(s, a_d)
            - rate_d * turned
            - rate**2 * bracket(s, turned)
        )
        (a_dd,) = along(at.Phi, bent)
        V_1 = a_d - bracket(a, V)
        V_d1 = a_dd - bracket(a_d, V) - bracket(a, V_d)
        none = jnp.zeros_like(eta)
        y = Dual(
            jnp.concatenate([V, none], axis=1), jnp.concatenate([V_1, eta_d], axis=1)
        )
        y_d = Dual(
            jnp.concatenate([V_d, eta_dd], axis=1),
            jnp.concatenate([V_d1, none], axis=1),
        )
        return at, LinkMotion(y, y_d, eta)

    def _inertial(self, motion: LinkMotion) -> Dual:
        """Kirchhoff's equations of every link, eqs. (98) and (105), integrated along it: force on (V, eta_d)."""
        (y, y_1), (y_d, y_d1), eta = motion
        bent = self.bent
        eta_d = y_1[:, 6:]
        w, w_1, w_d = y[:, 3:6], y_1[:, 3:6], y_d[:, 3:6]
        P, P_1, P_d, P_d1 = jnp.einsum(
            "lef,lfk->kle",
            jnp.asarray(bent.mass),
            jnp.stack([y, y_1, y_d, y_d1], axis=-1),
        )
        X = jnp.asarray(bent.X)
        Xq, Xq_d = jnp.einsum("laem,lmk->klae", X, jnp.stack([eta, eta_d], axis=-1))
        P_1 = _turning(
            P_1 + jnp.einsum("la,lae->le", w, Xq), jnp.einsum("lae,le->la", Xq, y)
        )
        P_d1 = (
            P_d1 + jnp.einsum("la,lae->le", w_d, Xq) + jnp.einsum("la,lae->le", w, Xq_d)
        )
        P_d1 = _turning(
            P_d1, jnp.einsum("lae,le->la", Xq, y_d) + jnp.einsum("lae,le->la", Xq_d, y)
        )
        products = jnp.stack(
            [
                w[:, :, None] * y[:, None],
                w_1[:, :, None] * y[:, None] + w[:, :, None] * y_1[:, None],
            ]
        )
        slope, slope_1 = jnp.einsum("laem,klae->klm", X, products)
        ww = w[:, :, None] * w[:, None, :]
        slope_1 = slope_1 + jnp.einsum("labmn,lab,ln->lm", jnp.asarray(bent.Z), ww, eta)
        V, V_1, Q, Q_1 = y[:, :6], y_1[:, :6], P[:, :6], P_1[:, :6]
        real = P_d + jnp.concatenate([cobracket(V, Q), -slope], axis=1)
        dual = P_d1 + jnp.concatenate(
            [cobracket(V, Q_1) + cobracket(V_1, Q), -slope_1], axis=1
        )
        return Dual(real, dual)

    def needed_force(
        self, x, xd, xdd, applied: Rates | None = None
    ) -> Float[Array, " n"]:
        """M udot + C u + K q - tau, eq. (111)."""
        at, motion = self._motion(x, xd, xdd)
        force = self._inertial(motion)
        strain = jnp.einsum(
            "lmnk,lnk->lm",
            self._structure,
            jnp.stack([motion.eta, motion.y.dual[:, 6:]], axis=-1),
        )
        on_eta = force.real[:, 6:] + force.dual[:, 6:] + strain
        F = force.real[:, :6]
        F_1 = force.dual[:, :6] + cobracket(at.a, F)
        joints, j = self.joints, self.n_joints
        speed = xd[:j]
        on_joint = (
            jnp.asarray(joints.motor_inertia) * xdd[:j]
            + jnp.asarray(joints.viscous) * speed
        )
        on_joint = on_joint + joints.coulomb * jnp.tanh(speed / joints.width)
        if applied is not None:
            zero = applied.q[:, :6]
            F, F_1, on_eta = (
                F - zero,
                F_1 - (applied.V - zero),
                on_eta - applied.q[:, 6:],
            )
            on_joint = on_joint - applied.encoder
        on_theta, carried = gathered(
            self.chain, at, self._shape, *against(at.Phi, F, F + F_1)
        )
        return jnp.concatenate(
            [on_theta + on_joint, take_elastic(self.links, x[j:], on_eta + carried)]
        )

    @property
    def _structure(self) -> Float[Array, "l m m 2"]:
        return jnp.stack(
            [jnp.asarray(self.bent.stiffness), jnp.asarray(self.bent.damping)], axis=-1
        )

    def projecting_form(self, x) -> tuple[Dual, DualPose]:
        """Twist of every link (V, eta_d) for each unit speed, in its deformed frame: P-check of eq. (93), (l, e, n)."""
        j = self.n_joints
        eta = place_elastic(self.links, x[j:])
        (tip,) = parents_tips(self._shape, eta)
        at = dual_pose(self.chain, x[:j], tip)
        l, n = at.s.shape[0], x.shape[0]
        shapes = before(
            jnp.einsum("ldm,lmn->ldn", jnp.asarray(self.bent.tip), self.bent.spread)
        )

        def columns(f, b):
            return jnp.moveaxis(f(jnp.moveaxis(b, 1, 2)), 2, 1)

        elastic = jnp.einsum("lij,ljn->lin", at.B, shapes)
        lean = columns(lambda b: bracket(at.a[:, None], b), elastic)
        lean = lean - jnp.einsum(
            "lij,ljn->lin",
            at.B,
            columns(lambda b: half_turned(at.tip[:, None, 3:], b), shapes),
        )
        joint, joint_1 = (
            s[:, :, None] * jnp.asarray(self.chain.selection)[:, None]
            for s in (at.s, bracket(at.a, at.s))
        )
        own = jnp.stack(
            [
                jnp.concatenate([joint, elastic], axis=2),
                jnp.concatenate([joint_1, lean], axis=2),
            ]
        )
        real, dual = jnp.einsum(
            "xy,kyn->kxn", at.Phi, own.reshape(2, 6 * l, n)
        ).reshape(2, l, 6, n)
        dual = dual - columns(lambda b: bracket(at.a[:, None], b), real)
        still = jnp.concatenate(
            [jnp.zeros((l, eta.shape[1], j)), jnp.asarray(self.bent.spread)], axis=2
        )
        pad = jnp.zeros_like(still)
        return Dual(
            jnp.concatenate([real, still], axis=1), jnp.concatenate([dual, pad], axis=1)
        ), at

    def inertia(self, x) -> Float[Array, "n n"]:
        """M = sum P-check^T D P-check to first order, eq. (112); symmetric."""
        (N, N_1), _ = self.projecting_form(x)
        mass = jnp.asarray(self.bent.mass)
        eta = place_elastic(self.links, x[self.n_joints :])
        turning = jnp.einsum("laem,lm->lea", jnp.asarray(self.bent.X), eta)
        G = jnp.zeros_like(mass).at[:, :, 3:6].set(turning)
        lean = jnp.einsum(
            "lem,len->mn",
            jnp.einsum("lef,lfm->lem", mass, N_1) + jnp.einsum("lfe,lfm->lem", G, N),
            N,
        )
        M = (
            jnp.einsum("lem,len->mn", N, jnp.einsum("lef,lfn->len", mass, N))
            + lean
            + lean.T
        )
        j = self.n_joints
        return M.at[jnp.arange(j), jnp.arange(j)].add(self.joints.motor_inertia)

    def coriolis(self, x, xd) -> Dual:
        """C of eq. (112) with its dual part, (n, n): C u to first order is `real @ u + dual @ (theta_d, 0)`.

        The centrifugal and Coriolis forces are factored so that dM/dt - 2 (real + dual) is skew-symmetric: body rates
        enter through the skew matrix of the momentum, the links' own deformation as by Christoffel. For analysis, not
        for the right-hand side: rates of the projecting form come from differentiation.
        """
        bent, j = self.bent, self.n_joints
        (N, N_1), (N_d, N_d1) = jax.jvp(
            lambda x: tuple(self.projecting_form(x)[0]), (x,), (xd,)
        )
        eta, eta_d = (place_elastic(self.links, part[j:]) for part in (x, xd))
        mass, X, Z = (jnp.asarray(part) for part in (bent.mass, bent.X, bent.Z))
        rigid = xd.at[j:].set(0.0)
        y, y_1 = N @ rigid, N_1 @ rigid + N @ (xd - rigid)

        def turned(q):
            return _symmetric(jnp.einsum("laem,lm->lea", X, q), mass)

        mass_1 = turned(eta)
        P, P_1 = (jnp.einsum("lef,lf->le", mass, part) for part in (y, y_1))
        P_1 = P_1 + jnp.einsum("lef,lf->le", mass_1, y)

        def slopes(y):
            G = jnp.einsum("la,laem->lem", y[:, 3:6], X)
            return G.at[:, 3:6].add(jnp.einsum("le,laem->lam", y, X))

        S, S_1 = slopes(y), slopes(y_1)
        S_1 = S_1.at[:, 3:6].add(
            jnp.einsum("labmn,lb,ln->lam", Z + jnp.swapaxes(Z, -1, -2), y[:, 3:6], eta)
        )
        own, own_1 = (
            _skew_part(S) + _momentum_matrix(P),
            _skew_part(S_1) + _momentum_matrix(P_1) + 0.5 * turned(eta_d),
        )
        inner = jnp.einsum("lef,lfn->len", mass, N_d) + jnp.einsum(
            "lef,lfn->len", own, N
        )
        inner_1 = sum(
            jnp.einsum("lef,lfn->len", A, B)
            for A, B in ((mass_1, N_d), (mass, N_d1), (own_1, N), (own, N_1))
        )

        def back(N, F):
            return jnp.einsum("lem,len->mn", N, F)

        return Dual(back(N, inner), back(N_1, inner) + back(N, inner_1))

    def resting_forces(
        self, x, torque
    ) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
        """Weight, strain and torques of a robot at rest."""
        j, still = self.n_joints, jnp.zeros_like(x)
        eta = place_elastic(self.links, x[j:])
        strain = take_elastic(
            self.links,
            x[j:],
            jnp.einsum("lmn,ln->lm", jnp.asarray(self.bent.stiffness), eta),
        )
        strain = jnp.concatenate([jnp.zeros(j), strain])
        drive = jnp.concatenate([-torque, jnp.zeros(self.n_elastic)])
        return self.needed_force(x, still, still) - strain, strain, drive

    def structural_matrices(
        self, xd
    ) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
        """Damping and stiffness K of eq. (112): constant, but for friction."""
        joints, j = self.joints, self.n_joints
        spread = jnp.asarray(self.bent.spread)
        D, K = (
            jnp.pad(jnp.einsum("lmx,lmn,lny->xy", spread, A, spread), ((j, 0), (j, 0)))
            for A in (self.bent.damping, self.bent.stiffness)
        )
        sharp = jnp.cosh(jnp.clip(xd[:j] / joints.width, -99, 99)) ** -2
        slope = jnp.asarray(joints.viscous) + joints.coulomb / joints.width * sharp
        return D.at[jnp.arange(j), jnp.arange(j)].add(slope), K

    def kinetic_energy(self, x, xd) -> Float[Array, ""]:
        """1/2 u^T M u [J]."""
        return 0.5 * xd @ self.inertia(x) @ xd

    def gravity_energy(
        self, place: Configuration, flat: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Weight's energy to second order, whose slope is the force of first order; `flat` is that of the places."""
        eta = take_elastic(self.links, jnp.zeros(self.n_elastic), place.q[:, 6:])
        none = jnp.zeros(self.n_joints)

        def weight(eta):
            return self.resting_forces(jnp.concatenate([place.encoder, eta]), none)[0]

        change = weight(eta) - weight(jnp.zeros_like(eta))
        return flat + 0.5 * eta @ change[self.n_joints :]

    def damping_power(self, xd) -> Float[Array, ""]:
        """Power taken by structural damping and joint friction [W]."""
        j, joints = self.n_joints, self.joints
        eta_d = place_elastic(self.links, xd[j:])
        speed = xd[:j]
        friction = jnp.asarray(joints.viscous) * speed + joints.coulomb * jnp.tanh(
            speed / joints.width
        )
        return (
            jnp.einsum("lm,lmn,ln->", eta_d, jnp.asarray(self.bent.damping), eta_d)
            + speed @ friction
        )

    def node_wrench(
        self, place: Configuration, link: int, node: int, wrench, in_world: bool
    ) -> Rates:
        """Wrench on a node, eqs. (80)-(85), as forces in the rigid frames: V first order, q[:6] its real part."""
        a, U = place.q[link, :6], jnp.asarray(self.links.node_shape)[link, node]
        alpha, X = a[3:], jnp.asarray(self.links.points)[link, node]
        u, phi = U @ place.q[link], U[3:, 6:] @ place.q[link, 6:]
        f, m = wrench[:3], wrench[3:]
        f, m = (place.R[link].T @ f, place.R[link].T @ m) if in_world else (f, m)
        zero = rigid_shape(X).T @ jnp.concatenate([f, m])
        f_1, m_1 = (
            (jnp.zeros(3), jnp.zeros(3))
            if in_world
            else (jnp.cross(alpha, f), jnp.cross(alpha, m))
        )
        first = rigid_shape(X).T @ jnp.concatenate([f_1, m_1]) + jnp.append(
            jnp.zeros(3), jnp.cross(u[:3], f)
        )
        own = jnp.concatenate([f, m - 0.5 * jnp.cross(phi, m)])
        own = (
            own - jnp.concatenate([jnp.cross(alpha, f), jnp.cross(alpha, m)])
            if in_world
            else own
        )
        V = jnp.zeros((place.q.shape[0], 6)).at[link].set(zero + first)
        q = (
            jnp.zeros_like(place.q)
            .at[link]
            .set(jnp.concatenate([zero, U[:, 6:].T @ own]))
        )
        return Rates(V, q, jnp.zeros_like(place.encoder))


def _turning(P: Float[Array, "l e"], h: Float[Array, "l 3"]) -> Float[Array, "l e"]:
    """Momentum with h added to its angular part."""
    return P.at[:, 3:6].add(h)


def _symmetric(
    columns: Float[Array, "l e 3"], like: Float[Array, "l e e"]
) -> Float[Array, "l e e"]:
    """Matrix with these columns at the angular rates, and their transpose."""
    G = jnp.zeros_like(like).at[:, :, 3:6].set(columns)
    return G + jnp.swapaxes(G, 1, 2)


def _skew_part(S: Float[Array, "l e m"]) -> Float[Array, "l e e"]:
    """(S E - E^T S^T) / 2, E taking the elastic rates from (V, eta_d)."""
    wide = jnp.pad(S, ((0, 0), (0, 0), (6, 0)))
    return 0.5 * (wide - jnp.swapaxes(wide, 1, 2))


def _momentum_matrix(P: Float[Array, "l e"]) -> Float[Array, "l e e"]:
    """Skew matrix with `matrix @ y` = the rate of the momentum (l, h) by the turning of its frame."""
    l, h = cross_matrix(P[:, :3]), cross_matrix(P[:, 3:6])
    K = -jnp.concatenate(
        [jnp.concatenate([0.0 * l, l], axis=2), jnp.concatenate([l, h], axis=2)], axis=1
    )
    pad = P.shape[1] - 6
    return jnp.pad(K, ((0, 0), (0, pad), (0, pad)))
