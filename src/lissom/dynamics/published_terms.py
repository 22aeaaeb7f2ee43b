"""Terms of a link's motion as the papers print them; `engine.ConsistentTerms` keeps all of them."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..algebra.se3 import coadjoint
from ..types import Float
from .damping import carried_momentum, damping_forces, internal_forces
from .engine import AbstractTerms
from .formulation import AbstractFormulation, Configuration, Rates
from .link_inertia import body_inertia
from .links import Links
from .published_modes import nodal_inertial_force


class BoscariolTerms(AbstractTerms):
    """Inertia of the undeformed link, damping on the joint rows too, weight and wrenches on undeformed links."""

    # Whether there is centrifugal stiffness M_C; not in [Boscariol2017] eqs. (9)-(10) and [Palomba2019] (A2)-(A5).
    centrifugal: bool = eqx.field(static=True, default=True)

    @property
    @override
    def has_positive_inertia(self) -> bool:
        return True

    def inertial_force(
        self,
        link: Links,
        y: Float[Array, " e"],
        q: Float[Array, " c"],
        y_d: Float[Array, " e"],
    ) -> Float[Array, " e"]:
        """[Boscariol2012] eqs. (22)-(23): M (rdd + udd) + 2 M_G ud + M_C u."""
        V, w, qd = y[:6], y[3:6], y[6:]
        M = jnp.asarray(link.mass)
        turning = coadjoint(V, M[:6, :6] @ V)
        bending = -jnp.einsum("a,akc,k->c", w, link.X[:, :6], V)
        coriolis = 2.0 * jnp.einsum("a,aec,c->e", w, link.X, qd)
        rigid = jnp.concatenate([turning, bending])
        force = M @ y_d + rigid + coriolis
        if not self.centrifugal:
            return force
        return force + jnp.einsum("a,b,abec,c->e", w, w, link.Y, q)

    def inertia(self, link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
        """Inertia of the undeformed link over (V, qd)."""
        return jnp.asarray(link.mass)

    def damping_forces(
        self, formulation: AbstractFormulation, place: Configuration, rates: Rates
    ) -> Rates:
        """[Boscariol2012] eqs. (24)-(25): alpha M qd acts on the joint rows too, through J^T M."""
        links = formulation.links
        internal = internal_forces(formulation, rates)
        if links.alpha is None:
            return internal
        # Elastic velocities push the rigid motion through the coupling block of the mass matrix.
        push = carried_momentum(links, links.alpha, rates.q)
        return Rates(push[:, :6], internal.q + push[:, 6:], internal.encoder)

    def displaced(self, q: Float[Array, "*l c"]) -> Float[Array, "*l c"]:
        """No displacement: weight and wrenches act where the undeformed link has them."""
        return jnp.zeros_like(q)


class VidoniTerms(AbstractTerms):
    """Inertia by the nodal shortcut of [Vidoni2015], App. D: see `published_modes`."""

    def inertial_force(
        self,
        link: Links,
        y: Float[Array, " e"],
        q: Float[Array, " c"],
        y_d: Float[Array, " e"],
    ) -> Float[Array, " e"]:
        """[Vidoni2015] eqs. (48)-(51)."""
        return nodal_inertial_force(link, y, q, y_d)

    @override
    def inertia(self, link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
        return body_inertia(link, q)

    def damping_forces(
        self, formulation: AbstractFormulation, place: Configuration, rates: Rates
    ) -> Rates:
        """Damping of the consistent terms: the paper has none."""
        return damping_forces(formulation, place, rates)

    @override
    def displaced(self, q: Float[Array, "*l c"]) -> Float[Array, "*l c"]:
        return q
