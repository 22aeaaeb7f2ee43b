"""Contacts of joints with their end stops: located inside a step, so that a step ends where one begins or ends."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from jaxnative.marks import vmap_rows

from ..dynamics.formulation import AbstractFormulation
from ..types import Float, real
from .step import AbstractStep, Attempt, Moment, stop_gradient

LOOKS = (0.25, 0.5, 0.75, 1.0)  # parts of a step at which stops are checked
HALVINGS = 40  # of the part between two checks, to the time of a contact
LEAST_PART = (
    1e-4  # of a step: contacts that lie closer to its start are taken to lie there
)


class Contacts(eqx.Module):
    """Contact state of every end stop, and its next change if known."""

    now: Float[Array, "2 j"]  # held over a step
    change_at: Float[Array, ""]  # [s]; infinite where none is known
    afterwards: Float[Array, "2 j"]


def first_contacts(f: AbstractFormulation, x, xd) -> Contacts | None:
    """The contacts at the start; None for a robot without stops."""
    if f.joints.stops is None:
        return None
    contact = contact_at(f, x, xd)
    return Contacts(contact, real(jnp.inf), contact)


def contact_at(f: AbstractFormulation, x, xd) -> Float[Array, "2 j"]:
    """The contact with every stop in a state."""
    assert f.joints.stops is not None
    motion = f.motion(x, xd, jnp.zeros_like(x))
    return f.joints.stops.contact(motion.place.encoder, motion.rates.encoder)


def locate(
    step: AbstractStep,
    f: AbstractFormulation,
    now: Moment,
    attempt: Attempt,
    h,
    contacts: Contacts,
) -> Contacts:
    """The contacts with their first change within a step, unless one is known already."""
    f, now, attempt = stop_gradient((f, now, attempt))

    def contact(part):
        at = step.interpolate(now, attempt, h, part)
        return contact_at(f, at.x, at.xd)

    def differs(part):
        return jnp.any(contact(part) != contacts.now)

    looks = jnp.asarray(LOOKS)
    is_other = vmap_rows(differs)(looks)

    def halve(_, bounds):
        low, high = bounds
        middle = 0.5 * (low + high)
        is_late = differs(middle)
        return jnp.where(is_late, low, middle), jnp.where(is_late, middle, high)

    def search():
        first = jnp.argmax(is_other)
        bounds = (looks[first] - LOOKS[0], looks[first])
        _, part = jax.lax.fori_loop(0, HALVINGS, halve, bounds)
        time = now.t + jnp.maximum(part, LEAST_PART) * h
        return Contacts(contacts.now, time, contact(part))

    is_new = jnp.any(is_other) & jnp.isinf(contacts.change_at)
    return jax.lax.cond(is_new, search, lambda: contacts)


def next_contacts(contacts: Contacts) -> Contacts:
    """The contacts after their change."""
    return Contacts(contacts.afterwards, real(jnp.inf), contacts.afterwards)
