"""Dual screws as printed, [Cibicik2021]: every product cut to first order in the elastic coordinates and speeds.

Elastic coordinates and speeds are dual parts: every quantity below is a pair (real, dual) and products of two dual
parts are never formed. The mass matrix multiplies all accelerations, elastic ones too, so that elastic accelerations
count as real and the projecting form of the screws keeps what first order does to them (eqs. (93), (96)). Integrals
along the links (112) are constants of the links, formed once: nothing is integrated at run time.

The result is the first-order Taylor expansion of `nonlinear`, to rounding, with all that this entails: eta eta_dd is
kept where eta_d eta_d is dropped, and the mass matrix need not stay positive definite when links bend far.

Frames, nodes and encoders are those of `Erls` with the tangent choice; these are its equations of motion.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..algebra.se3 import bracket, coadjoint, rigid_shape
from ..algebra.so3 import cross, cross_matrix
from ..kinematics.chain import Chain, of_parents, on_parents, stands_on_ground
from ..kinematics.dual_chain import (
    DualPose,
    dual_pose,
    forces_on_coordinates,
    parents_tips,
    turned_tip_terms,
)
from ..kinematics.recursion import carry
from ..types import Float, Real, namespace
from .elastic import place_elastic, take_elastic
from .engine import VirtualWork, friction, friction_slope
from .formulation import (
    AbstractEquations,
    AbstractFormulation,
    Configuration,
    Motion,
    Rates,
)
from .links import Links


class Dual(NamedTuple):
    """A quantity a + eps b: its part without elastic motion, and what is linear in it."""

    real: Float[Array, "..."]
    dual: Float[Array, "..."]


class ModalLinks(eqx.Module):
    """Constants of every link over (V, eta_d), e = 6 + m: integrals of its shapes, no coordinates of the inner node."""

    mass: Float[Real, "l e e"]
    X: Float[Real, "l 3 e m"]  # X_a  = sum N~^T D A_a N
    Z: Float[Real, "l 3 3 m m"]  # Z_ab = sum N^T A_a^T D A_b N
    tip: Float[Real, "l 6 m"]  # Psi_j', eq. (71)
    stiffness: Float[Real, "l m m"]
    damping: Float[Real, "l m m"]  # internal
    alpha: Float[Real, " l"] | None  # Rayleigh mass coefficient [1/s]
    spread: Float[Real, "l m d"]  # elastic coordinates of each link from eta


def modal_links(links: Links, count: int) -> ModalLinks:
    """Data of the links in the dual-screw equations; `count` elastic coordinates in all."""
    xp = namespace(links.mass, links.stiffness)
    c = links.stiffness.shape[-1]
    # (V, qd) without the six coordinates of the inner node, which is where the link frame is.
    selection = np.concatenate([np.arange(6), np.arange(12, 6 + c)])
    mass = xp.asarray(links.mass)[:, selection][:, :, selection]
    # Unused slots of a link take their coordinate from a row of zeros past the end.
    rows = np.concatenate([np.eye(count), np.zeros((1, count))])
    return ModalLinks(
        mass=mass,
        X=xp.asarray(links.X)[:, :, selection, 6:],
        Z=xp.asarray(links.Z)[..., 6:, 6:],
        tip=xp.asarray(links.shapes.tip)[:, :, 6:],
        stiffness=xp.asarray(links.stiffness)[:, 6:, 6:],
        damping=xp.asarray(links.damping)[:, 6:, 6:],
        alpha=links.alpha,
        spread=rows[links.place],
    )


class LinkMotion(NamedTuple):
    """Motion of every link over y = (V, eta_d), in its own deformed frame; gravity is in the accelerations."""

    y: Dual
    y_d: Dual
    eta: Float[Array, "l m"]


class TruncatedScrews(AbstractEquations):
    """Equations of motion (111)-(112) of an open chain whose encoders read theta."""

    links: ModalLinks

    def link_motion(
        self,
        formulation: AbstractFormulation,
        x: Float[Array, " n"],
        xd: Float[Array, " n"],
        xdd: Float[Array, " n"],
    ) -> tuple[DualPose, LinkMotion]:
        """Twists and accelerations of all links, eqs. (90)-(96), Algorithm 1, steps 4 to 6."""
        chain = formulation.mechanism.chain
        theta, eta = _split(formulation, x)
        theta_d, eta_d = _split(formulation, xd)
        theta_dd, eta_dd = _split(formulation, xdd)
        shape = jnp.asarray(self.links.tip)
        tip, tip_d, tip_dd = parents_tips(chain, shape, eta, eta_d, eta_dd)
        at = dual_pose(chain, theta, tip)
        s, a = at.s, at.a
        rate = chain.below_links(theta_d)[:, None]
        rate_d = chain.below_links(theta_dd)[:, None]
        # Elastic speeds are dual, elastic accelerations real: tip_d enters the dual parts, tip_dd both.
        own = carry(at.B, tip_d)
        own_d = carry(at.B, tip_dd)
        turned = bracket(s, a)

        (V,) = at.twists.solve(s * rate)
        # Weight is the inertia of a lift: the ground accelerates by -g.
        up = jnp.append(-jnp.asarray(formulation.gravity), jnp.zeros(3))
        ground = stands_on_ground(chain)[:, None] * (at.twists.G @ up)
        own_V_d = s * rate_d + own_d - rate * bracket(s, V) + ground
        V_d, a_d = at.twists.solve(own_V_d, own - rate * turned)

        own_a_dd = bracket(a, own_d) - carry(at.B, turned_tip_terms(tip[:, 3:], tip_dd))
        own_a_dd = own_a_dd - 2.0 * rate * bracket(s, a_d) - rate_d * turned
        own_a_dd = own_a_dd - rate**2 * bracket(s, turned)
        (a_dd,) = at.twists.solve(own_a_dd)

        # Dual parts in the deformed frames of the links, V_i = (1 - eps ad(a_i)) V~_i.
        V_1 = a_d - bracket(a, V)
        V_d1 = a_dd - bracket(a_d, V) - bracket(a, V_d)
        none = jnp.zeros_like(eta)
        y = Dual(_stack_parts(V, none), _stack_parts(V_1, eta_d))
        y_d = Dual(_stack_parts(V_d, eta_dd), _stack_parts(V_d1, none))
        return at, LinkMotion(y, y_d, eta)

    def inertial_forces(self, motion: LinkMotion) -> Dual:
        """Kirchhoff's equations of every link, eqs. (98) and (105), integrated along it: force on (V, eta_d)."""
        (y, y_1), (y_d, y_d1), eta = motion
        eta_d = y_1[:, 6:]
        w, w_1, w_d = y[:, 3:6], y_1[:, 3:6], y_d[:, 3:6]
        mass, X, Z = (
            jnp.asarray(part) for part in (self.links.mass, self.links.X, self.links.Z)
        )

        # Momentum and its rate, real and dual; products with the constants are batched.
        speeds = jnp.stack([y, y_1, y_d, y_d1], axis=-1)
        P, P_1, P_d, P_d1 = jnp.einsum("lef,lfk->kle", mass, speeds)
        bending = jnp.stack([eta, eta_d], axis=-1)
        Xq, Xq_d = jnp.einsum("laem,lmk->klae", X, bending)
        P_1 = P_1 + jnp.einsum("la,lae->le", w, Xq)
        P_1 = _with_angular(P_1, jnp.einsum("lae,le->la", Xq, y))
        P_d1 = P_d1 + jnp.einsum("la,lae->le", w_d, Xq)
        P_d1 = P_d1 + jnp.einsum("la,lae->le", w, Xq_d)
        angular = jnp.einsum("lae,le->la", Xq, y_d) + jnp.einsum("lae,le->la", Xq_d, y)
        P_d1 = _with_angular(P_d1, angular)

        # Slope dT/d eta of the kinetic energy.
        product = w[:, :, None] * y[:, None]
        product_1 = w_1[:, :, None] * y[:, None] + w[:, :, None] * y_1[:, None]
        products = jnp.stack([product, product_1])
        slope, slope_1 = jnp.einsum("laem,klae->klm", X, products)
        ww = w[:, :, None] * w[:, None, :]
        slope_1 = slope_1 + jnp.einsum("labmn,lab,ln->lm", Z, ww, eta)

        # The frame of a link turns: its momentum changes by the coadjoint of its twist.
        V, V_1, Q, Q_1 = y[:, :6], y_1[:, :6], P[:, :6], P_1[:, :6]
        real = P_d + _stack_parts(coadjoint(V, Q), -slope)
        dual = P_d1 + _stack_parts(coadjoint(V, Q_1) + coadjoint(V_1, Q), -slope_1)
        return Dual(real, dual)

    def needed_force(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        applied: Rates | None = None,
    ) -> Float[Array, " n"]:
        """M udot + C u + K q - tau, eq. (111)."""
        x, xd, xdd = motion.x, motion.xd, motion.xdd
        return self._needed_force(formulation, x, xd, xdd, applied)

    def _needed_force(
        self,
        formulation: AbstractFormulation,
        x: Float[Array, " n"],
        xd: Float[Array, " n"],
        xdd: Float[Array, " n"],
        applied: Rates | None,
    ) -> Float[Array, " n"]:
        at, moved = self.link_motion(formulation, x, xd, xdd)
        force = self.inertial_forces(moved)
        strain = jnp.einsum("lmn,ln->lm", jnp.asarray(self.links.stiffness), moved.eta)
        # V_1 = a_d - ad(a) V: the rate at which the frames are displaced from those of the rigid robot.
        a_d = moved.y.dual[:, :6] + bracket(at.a, moved.y.real[:, :6])
        chain = formulation.mechanism.chain
        damping = self.damping_forces(chain, at, a_d, moved.y.dual[:, 6:])
        on_links = force.real[:, 6:] + force.dual[:, 6:] + strain + damping
        # Back from the deformed frames to those of the rigid chain, to first order.
        F = force.real[:, :6]
        F_1 = force.dual[:, :6] + coadjoint(at.a, F)
        _, eta = formulation.split(x)
        theta_d, _ = formulation.split(xd)
        theta_dd, _ = formulation.split(xdd)
        rotor = jnp.asarray(formulation.joints.motor_inertia) * theta_dd
        on_joint = rotor + friction(formulation, theta_d)
        if applied is not None:
            # `node_wrench` keeps the real part of a wrench in the places of the inner node's coordinates.
            real = applied.q[:, :6]
            F = F - real
            F_1 = F_1 - (applied.V - real)
            on_links = on_links - applied.q[:, 6:]
            on_joint = on_joint - applied.encoder
        chain, shape = formulation.mechanism.chain, jnp.asarray(self.links.tip)
        F, F_1 = at.twists.solve_transpose(F, F + F_1)
        on_theta, from_tips = forces_on_coordinates(chain, at, shape, F, F_1)
        on_eta = take_elastic(formulation.links, eta, on_links + from_tips)
        return jnp.concatenate([on_theta + on_joint, on_eta])

    def damping_forces(
        self,
        chain: Chain,
        at: DualPose,
        a_d: Float[Array, "l 6"],
        eta_d: Float[Array, "l m"],
    ) -> Float[Array, "l m"]:
        """Forces of structural damping on the links' coordinates, to first order; the paper has none.

        The rigid robot sees the frames move with the rate of their displacement a. What acts on theta is of second
        order.

        Args:
            chain: the rigid chain.
            at: pose and displacements.
            a_d: rate of the displacement of every link frame, its own axes.
            eta_d: elastic speeds of every link.
        """
        internal = jnp.einsum("lmn,ln->lm", jnp.asarray(self.links.damping), eta_d)
        if self.links.alpha is None:
            return internal
        shape, mass = jnp.asarray(self.links.tip), jnp.asarray(self.links.mass)
        P = jnp.einsum("lef,lf->le", mass, _stack_parts(a_d, eta_d))
        P = jnp.asarray(self.links.alpha)[:, None] * P
        (F,) = at.twists.solve_transpose(P[:, :6])
        on_tip = jnp.einsum("lij,li->lj", at.B, F)
        on_own_tip = on_parents(chain.parents, on_tip, shape.shape[0])
        from_tips = jnp.einsum("ldm,ld->lm", shape, on_own_tip)
        return internal + P[:, 6:] + from_tips

    def link_forces(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        applied: Rates | None = None,
    ) -> Rates:
        """Forces of the complete virtual work by link: terms that are cut cannot be divided among the links."""
        return VirtualWork().link_forces(formulation, motion, applied)

    def projecting_form(
        self, formulation: AbstractFormulation, x: Float[Array, " n"]
    ) -> Dual:
        """Twist of every link (V, eta_d) for each unit speed, in its deformed frame: P-check of eq. (93), (l, e, n)."""
        theta, eta = _split(formulation, x)
        return self._projecting_form(formulation, theta, eta)

    def _projecting_form(
        self,
        formulation: AbstractFormulation,
        theta: Float[Array, " j"],
        eta: Float[Array, "l m"],
    ) -> Dual:
        chain = formulation.mechanism.chain
        shape, spread = jnp.asarray(self.links.tip), jnp.asarray(self.links.spread)
        (tip,) = parents_tips(chain, shape, eta)
        at = dual_pose(chain, theta, tip)
        l, j = at.s.shape[0], theta.shape[0]
        a, phi = at.a[:, None], at.tip[:, None, 3:]

        def columns(f, b):
            return jnp.moveaxis(f(jnp.moveaxis(b, 1, 2)), 2, 1)

        # Columns of the joints: their screws; of the elastic coordinates: the parents' tips.
        tips = jnp.einsum("ldm,lmn->ldn", shape, spread)
        tips = of_parents(chain.parents, tips)
        elastic = jnp.einsum("lij,ljn->lin", at.B, tips)
        turned = columns(lambda b: turned_tip_terms(phi, b), tips)
        elastic_1 = columns(lambda b: bracket(a, b), elastic)
        elastic_1 = elastic_1 - jnp.einsum("lij,ljn->lin", at.B, turned)
        selection = jnp.asarray(chain.selection)[:, None]
        joint = at.s[:, :, None] * selection
        joint_1 = bracket(at.a, at.s)[:, :, None] * selection
        own = jnp.concatenate([joint, elastic], axis=2)
        own_1 = jnp.concatenate([joint_1, elastic_1], axis=2)

        both = jnp.concatenate([own, own_1], axis=2)
        real, dual = jnp.split(at.twists.solve_columns(both), 2, axis=2)
        dual = dual - columns(lambda b: bracket(a, b), real)
        still = jnp.concatenate([jnp.zeros((l, eta.shape[1], j)), spread], axis=2)
        P = jnp.concatenate([real, still], axis=1)
        P_1 = jnp.concatenate([dual, jnp.zeros_like(still)], axis=1)
        return Dual(P, P_1)

    def inertia(
        self, formulation: AbstractFormulation, place: Configuration, N: Rates
    ) -> Float[Array, "n n"]:
        """M of eq. (112), symmetric; it follows from the place alone."""
        return self._mass_matrix(formulation, place)

    def _mass_matrix(
        self, formulation: AbstractFormulation, place: Configuration
    ) -> Float[Array, "n n"]:
        """M = sum P-check^T D P-check to first order, eq. (112)."""
        theta, eta = place.encoder, place.q[:, 6:]
        P, P_1 = self._projecting_form(formulation, theta, eta)
        mass = jnp.asarray(self.links.mass)
        turning = jnp.einsum("laem,lm->lea", jnp.asarray(self.links.X), eta)
        G = jnp.zeros_like(mass).at[:, :, 3:6].set(turning)
        momentum_1 = jnp.einsum("lef,lfm->lem", mass, P_1)
        momentum_1 = momentum_1 + jnp.einsum("lfe,lfm->lem", G, P)
        M_1 = jnp.einsum("lem,len->mn", momentum_1, P)
        M = jnp.einsum("lem,len->mn", P, jnp.einsum("lef,lfn->len", mass, P))
        M = M + M_1 + M_1.T
        joints = jnp.arange(formulation.n_joints)
        return M.at[joints, joints].add(formulation.joints.motor_inertia)

    def coriolis(
        self,
        formulation: AbstractFormulation,
        x: Float[Array, " n"],
        xd: Float[Array, " n"],
    ) -> Dual:
        """C of eq. (112) with its dual part, (n, n): C u to first order is `real @ u + dual @ (theta_d, 0)`.

        The centrifugal and Coriolis forces are factored so that dM/dt - 2 (real + dual) is skew-symmetric: body rates
        enter through the skew matrix of the momentum, the links' own deformation as by Christoffel. For analysis, not
        for the right-hand side: rates of the projecting form come from differentiation.
        """

        def projection(x):
            return tuple(self.projecting_form(formulation, x))

        (N, N_1), (N_d, N_d1) = jax.jvp(projection, (x,), (xd,))
        _, eta = _split(formulation, x)
        _, eta_d = _split(formulation, xd)
        mass, X, Z = (
            jnp.asarray(part) for part in (self.links.mass, self.links.X, self.links.Z)
        )
        # Joint speeds are real, elastic speeds dual.
        rigid = xd.at[formulation.n_joints :].set(0.0)
        y = N @ rigid
        y_1 = N_1 @ rigid + N @ (xd - rigid)

        def turned_mass(q):
            return _symmetric(jnp.einsum("laem,lm->lea", X, q), mass)

        mass_1 = turned_mass(eta)
        P = jnp.einsum("lef,lf->le", mass, y)
        P_1 = jnp.einsum("lef,lf->le", mass, y_1)
        P_1 = P_1 + jnp.einsum("lef,lf->le", mass_1, y)

        def slopes(y):
            G = jnp.einsum("la,laem->lem", y[:, 3:6], X)
            return G.at[:, 3:6].add(jnp.einsum("le,laem->lam", y, X))

        ZZ = Z + jnp.swapaxes(Z, -1, -2)
        S = slopes(y)
        S_1 = slopes(y_1)
        S_1 = S_1.at[:, 3:6].add(jnp.einsum("labmn,lb,ln->lam", ZZ, y[:, 3:6], eta))
        own = _skew_part(S) + _momentum_matrix(P)
        own_1 = _skew_part(S_1) + _momentum_matrix(P_1) + 0.5 * turned_mass(eta_d)

        def times(A, B):
            return jnp.einsum("lef,lfn->len", A, B)

        inner = times(mass, N_d) + times(own, N)
        inner_1 = times(mass_1, N_d) + times(mass, N_d1)
        inner_1 = inner_1 + times(own_1, N) + times(own, N_1)

        def back(N, F):
            return jnp.einsum("lem,len->mn", N, F)

        return Dual(back(N, inner), back(N_1, inner) + back(N, inner_1))

    def resting_forces(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        torque: Float[Array, " j"],
    ) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
        """Weight, strain and torques of a robot at rest."""
        x = motion.x
        drive = jnp.concatenate([-torque, jnp.zeros(formulation.n_elastic)])
        return self._weight(formulation, x), self._strain(formulation, x), drive

    def _weight(
        self, formulation: AbstractFormulation, x: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """Force that the robot needs at rest, without that of its strain."""
        still = jnp.zeros_like(x)
        needed = self._needed_force(formulation, x, still, still, None)
        return needed - self._strain(formulation, x)

    def _strain(
        self, formulation: AbstractFormulation, x: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        _, eta = formulation.split(x)
        _, placed = _split(formulation, x)
        stiffness = jnp.asarray(self.links.stiffness)
        on_links = jnp.einsum("lmn,ln->lm", stiffness, placed)
        on_eta = take_elastic(formulation.links, eta, on_links)
        return jnp.concatenate([jnp.zeros(formulation.n_joints), on_eta])

    def structural_matrices(
        self,
        formulation: AbstractFormulation,
        place: Configuration,
        xd: Float[Array, " n"],
        N: Rates,
    ) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
        """Damping, and the constant stiffness K of eq. (112)."""
        j = formulation.n_joints
        spread = jnp.asarray(self.links.spread)
        chain = formulation.mechanism.chain
        at = self._pose(formulation, place)

        def over_coordinates(on_links):
            elastic = jnp.einsum("lmx,lmy->xy", spread, on_links)
            return jnp.pad(elastic, ((j, 0), (j, 0)))

        def damping_of(eta_d):
            (tip_d,) = parents_tips(chain, jnp.asarray(self.links.tip), eta_d)
            (a_d,) = at.twists.solve(carry(at.B, tip_d))
            return self.damping_forces(chain, at, a_d, eta_d)

        slope = friction_slope(formulation, xd[:j])
        C = jax.vmap(damping_of, in_axes=-1, out_axes=-1)(spread)
        D = over_coordinates(C).at[jnp.arange(j), jnp.arange(j)].add(slope)
        stiffness = jnp.asarray(self.links.stiffness)
        return D, over_coordinates(jnp.einsum("lmn,lny->lmy", stiffness, spread))

    def _pose(self, formulation: AbstractFormulation, place: Configuration) -> DualPose:
        """The dual pose of a place."""
        chain, shape = formulation.mechanism.chain, jnp.asarray(self.links.tip)
        (tip,) = parents_tips(chain, shape, place.q[:, 6:])
        return dual_pose(chain, place.encoder, tip)

    def kinetic_energy(
        self, formulation: AbstractFormulation, motion: Motion
    ) -> Float[Array, ""]:
        """1/2 u^T M u [J]."""
        M = self._mass_matrix(formulation, motion.place)
        return 0.5 * motion.xd @ M @ motion.xd

    def gravity_energy(
        self, formulation: AbstractFormulation, place: Configuration
    ) -> Float[Array, ""]:
        """Weight's energy to second order, whose slope is the force of first order; the first two are the places'."""
        none = jnp.zeros(formulation.n_elastic)
        eta = take_elastic(formulation.links, none, place.q[:, 6:])

        def weight(eta):
            return self._weight(formulation, jnp.concatenate([place.encoder, eta]))

        # A force linear in eta works on average by half its change along the way to eta.
        change = weight(eta) - weight(none)
        flat = VirtualWork().gravity_energy(formulation, place)
        return flat + 0.5 * eta @ change[formulation.n_joints :]

    @override
    def damping_power(
        self, formulation: AbstractFormulation, motion: Motion
    ) -> Float[Array, ""]:
        theta_d, eta_d = _split(formulation, motion.xd)
        at = self._pose(formulation, motion.place)
        chain = formulation.mechanism.chain
        (tip_d,) = parents_tips(chain, jnp.asarray(self.links.tip), eta_d)
        rate = chain.below_links(theta_d)[:, None]
        own = carry(at.B, tip_d) - rate * bracket(at.s, at.a)
        (a_d,) = at.twists.solve(own)
        loss = jnp.sum(eta_d * self.damping_forces(chain, at, a_d, eta_d))
        return loss + theta_d @ friction(formulation, theta_d)

    def node_wrench(
        self,
        formulation: AbstractFormulation,
        place: Configuration,
        link: int,
        node: int,
        wrench: Float[Array, " 6"],
        in_world: bool,
    ) -> Rates:
        """Wrench on a node, eqs. (80)-(85), as forces in the rigid frames: V first order, q[:6] its real part."""
        links, q = formulation.links, place.q[link]
        U = jnp.asarray(links.node_shape)[link, node]
        shape = rigid_shape(jnp.asarray(links.points)[link, node])
        alpha, u, phi = q[3:6], U @ q, U[3:, 6:] @ q[6:]
        R = place.R[link] if in_world else jnp.eye(3)
        f, m = R.T @ wrench[:3], R.T @ wrench[3:]
        real = shape.T @ jnp.concatenate([f, m])

        # A wrench in world axes stays where it is; one in link axes turns with the displaced frame, by alpha.
        turned = jnp.concatenate([cross(alpha, f), cross(alpha, m)])
        on_shape = jnp.concatenate([f, m - 0.5 * cross(phi, m)])
        first = jnp.append(jnp.zeros(3), cross(u[:3], f))
        if in_world:
            on_shape = on_shape - turned
        else:
            first = first + shape.T @ turned
        on_q = jnp.concatenate([real, U[:, 6:].T @ on_shape])
        V = jnp.zeros((place.q.shape[0], 6)).at[link].set(real + first)
        forces = jnp.zeros_like(place.q).at[link].set(on_q)
        return Rates(V, forces, jnp.zeros_like(place.encoder))


def _split(
    formulation: AbstractFormulation, x: Float[Array, " n"]
) -> tuple[Float[Array, " j"], Float[Array, "l m"]]:
    """Joint coordinates, and the elastic coordinates of every link."""
    theta, eta = formulation.split(x)
    return theta, place_elastic(formulation.links, eta)


def _stack_parts(
    V: Float[Array, "l 6"], eta: Float[Array, "l m"]
) -> Float[Array, "l e"]:
    """Twists of link frames and rates of elastic coordinates side by side."""
    return jnp.concatenate([V, eta], axis=1)


def _with_angular(
    P: Float[Array, "l e"], h: Float[Array, "l 3"]
) -> Float[Array, "l e"]:
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
    l = cross_matrix(P[:, :3])
    h = cross_matrix(P[:, 3:6])
    above = jnp.concatenate([0.0 * l, l], axis=2)
    below = jnp.concatenate([l, h], axis=2)
    K = -jnp.concatenate([above, below], axis=1)
    pad = P.shape[1] - 6
    return jnp.pad(K, ((0, 0), (0, pad), (0, pad)))
