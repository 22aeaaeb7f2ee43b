"""Who takes part in a mode: energies of the links and of the joints."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...compilation import compiled_quickly
from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation
from ...solve.model import Model

STILL = 1e-9  # encoder motion, against the largest coordinate of the mode, below which a joint stands still


@compiled_quickly
def modal_energies(
    f: AbstractFormulation, x: Float[Array, " n"], shapes: Float[Array, "n m"]
):
    """Twice the energies in every mode, at unit speed or unit amplitude.

    Kinetic energy of each link; of each motor; strain energy of each link; kinetic energy of each joint's motion alone
    and of the elastic motion alone; encoder motion.
    """
    N, place = engine.rate_map(f, x), f.configuration(x)
    q = place.q
    M_b = jax.vmap(engine.body_inertia)(f.links, q)
    y = jnp.einsum("len,nm->lem", jnp.concatenate([N.V, N.q], axis=1), shapes)
    bent = jnp.einsum("lcn,nm->lcm", N.q, shapes)
    encoder = jnp.einsum("jn,nm->jm", N.encoder, shapes)
    M, j = engine.inertia(f, place, N), f.n_joints
    elastic = jnp.einsum("nm,nk,km->m", shapes[j:], M[j:, j:], shapes[j:])
    return (
        jnp.einsum("lem,lef,lfm->lm", y, M_b, y),
        jnp.asarray(f.joints.motor_inertia)[:, None] * encoder**2,
        jnp.einsum("lcm,lcd,ldm->lm", bent, jnp.asarray(f.links.stiffness), bent),
        jnp.diagonal(M)[:j, None] * shapes[:j] ** 2,
        elastic,
        encoder,
    )


def participation(
    model: Model,
    f: AbstractFormulation,
    x: Float[Array, " n"],
    shapes: Any,
    kp: Any = None,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Shares of links and joints in the energy of every mode; a complex shape counts with its mean over a period.

    First: of each link in the kinetic energy (links and rotors add up to 1), and of each joint (`joint NAME`; of a
    closed chain, each independent one): kinetic energy of its motion alone, against the sum of those of all joints and
    of the elastic motion. Second: of each link in the strain energy, and of each controller (`controller NAME`) with
    the gains kp.
    """
    m, is_complex = shapes.shape[1], np.iscomplexobj(shapes)
    parts = np.concatenate([shapes.real, shapes.imag], axis=1) if is_complex else shapes
    found = [np.asarray(part) for part in modal_energies(f, x, jnp.asarray(parts))]

    def mean(part):
        return part[..., :m] + part[..., m:] if is_complex else part

    encoder = found.pop()
    link, motor, strain, joint, elastic = (mean(part) for part in found)
    turns = (
        mean(
            (
                np.abs(encoder) > STILL * np.abs(parts).max(axis=0, initial=1e-300)
            ).astype(float)
        )
        > 0
    )
    chosen = list(f.independent)
    moving = np.where(turns[chosen], joint, 0.0)
    spring = (
        mean(encoder**2)
        * (np.zeros(len(encoder)) if kp is None else np.asarray(kp))[:, None]
    )
    stored = strain.sum(axis=0) + spring.sum(axis=0)
    share = _shares(model.link_names, link, link.sum(axis=0) + motor.sum(axis=0))
    share |= _shares(
        [f"joint {model.joint_names[k]}" for k in chosen],
        moving,
        moving.sum(axis=0) + elastic,
    )
    strains = _shares(model.link_names, strain, stored)
    if kp is not None:
        strains |= _shares(
            [f"controller {name}" for name in model.joint_names], spring, stored
        )
    return share, strains


def _shares(names, values: np.ndarray, whole: np.ndarray) -> dict[str, np.ndarray]:
    return {
        name: row / np.maximum(whole, 1e-300)
        for name, row in zip(names, values, strict=True)
    }
