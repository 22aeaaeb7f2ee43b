"""Participation in modes: energies of the links and of the joints."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly

from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation
from ...solve.model import Model
from ...types import Float, real
from ..linear.linear_feedback import LinearFeedback

STILL = 1e-9  # encoder motion, against the largest coordinate of the mode, below which a joint stands still

Shares = dict[str, np.ndarray]  # by the name of a link, a joint or a controller


class ModalEnergies(NamedTuple):
    """Twice the energies in every mode, at unit speed or unit amplitude; m modes."""

    link: Any  # kinetic energy of each link (l, m)
    motor: Any  # kinetic energy of each motor (j, m)
    strain: Any  # strain energy of each link (l, m)
    joint: Any  # kinetic energy of each joint coordinate's motion alone (i, m)
    elastic: Any  # kinetic energy of the elastic motion alone (m,)
    encoder: Any  # motion of each encoder, no energy (j, m)


@compiled_quickly
def modal_energies(
    f: AbstractFormulation, x: Float[Array, " n"], shapes: Float[Array, "n m"]
) -> ModalEnergies:
    """The energies of the modes `shapes` (columns) about x."""
    j = f.n_joints
    N = engine.rate_map(f, x)
    place = f.configuration(x)
    M = engine.inertia(f, place, N)
    q = place.q
    M_link = jax.vmap(engine.body_inertia)(f.links, q)
    K_link = jnp.asarray(f.links.stiffness)
    J_rotor = jnp.asarray(f.joints.motor_inertia)
    to_links = jnp.concatenate([N.V, N.q], axis=1)
    y = jnp.einsum("len,nm->lem", to_links, shapes)
    bending = jnp.einsum("lcn,nm->lcm", N.q, shapes)
    encoder = jnp.einsum("jn,nm->jm", N.encoder, shapes)
    theta = shapes[:j]
    eta = shapes[j:]
    return ModalEnergies(
        link=jnp.einsum("lem,lef,lfm->lm", y, M_link, y),
        motor=J_rotor[:, None] * encoder**2,
        strain=jnp.einsum("lcm,lcd,ldm->lm", bending, K_link, bending),
        joint=jnp.diagonal(M)[:j, None] * theta**2,
        elastic=jnp.einsum("nm,nk,km->m", eta, M[j:, j:], eta),
        encoder=encoder,
    )


def participation(
    model: Model,
    f: AbstractFormulation,
    x: Float[Array, " n"],
    shapes: Any,
    feedback: LinearFeedback | None = None,
) -> tuple[Shares, Shares]:
    """Shares of links and joints in the energy of every mode; a complex shape counts with its mean over a period.

    First: of each link in the kinetic energy (links and rotors add up to 1), and of each joint (`joint NAME`; of a
    closed chain, each independent one): kinetic energy of its motion alone, against the sum of those of all joints and
    of the elastic motion. Second: of each link in the strain energy, and of each controller (`controller NAME`) with
    the stiffness of `feedback`.
    """
    m = shapes.shape[1]
    is_complex = np.iscomplexobj(shapes)
    # Energies are quadratic: the mean over a period is the sum of those of the real and the imaginary part.
    parts = shapes
    if is_complex:
        parts = np.concatenate([shapes.real, shapes.imag], axis=1)
    energies: ModalEnergies = modal_energies(f, x, real(parts))

    def mean(part):
        part = np.asarray(part)
        if not is_complex:
            return part
        return part[..., :m] + part[..., m:]

    drives = list(f.independent)
    turns = _turns(energies, parts, mean)
    joint = np.where(turns[drives], mean(energies.joint), 0.0)
    link = _of_links(model, mean(energies.link))
    motor = mean(energies.motor)
    strain = _of_links(model, mean(energies.strain))
    spring = np.zeros((f.n_encoders, m))
    if feedback is not None:
        stiffness = feedback.joint_stiffness(f.n_encoders)
        spring = stiffness[:, None] * mean(energies.encoder**2)
    # Joint coordinates and elastic ones share inertia: their own parts do not add up to the kinetic energy.
    kinetic = link.sum(axis=0) + motor.sum(axis=0)
    moving = joint.sum(axis=0) + mean(energies.elastic)
    stored = strain.sum(axis=0) + spring.sum(axis=0)
    joint_names = [f"joint {model.joint_names[k]}" for k in drives]
    share = _shares(model.link_names, link, kinetic)
    share |= _shares(joint_names, joint, moving)
    strains = _shares(model.link_names, strain, stored)
    if feedback is not None:
        names = [f"controller {name}" for name in model.actuated_names]
        strains |= _shares(names, spring[list(model.actuated)], stored)
    return share, strains


def _of_links(model: Model, of_bodies: np.ndarray) -> np.ndarray:
    """Energies of links, from those of their bodies."""
    total = np.zeros((len(model.link_names), of_bodies.shape[1]))
    np.add.at(total, list(model.body_links), of_bodies)
    return total


def _turns(energies: ModalEnergies, parts: np.ndarray, mean: Any) -> np.ndarray:
    """Which encoders move in each mode by more than rounding."""
    largest = np.abs(parts).max(axis=0, initial=1e-300)
    encoder = np.abs(np.asarray(energies.encoder))
    moves = encoder > STILL * largest
    # A complex mode moves an encoder if its real or its imaginary part does.
    return mean(moves.astype(float)) > 0


def _shares(names, values: np.ndarray, whole: np.ndarray) -> Shares:
    whole = np.maximum(whole, 1e-300)
    shares = {}
    for name, row in zip(names, values, strict=True):
        shares[name] = row / whole
    return shares
