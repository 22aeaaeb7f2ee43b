"""Rigidity and inertia of the section of a beam at any place along its path."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..types import Float, Real, Scalar, namespace
from .beam import LineInertia, Rigidity

COLUMNS = (
    "area",
    "second_moment_y",
    "second_moment_z",
    "torsion_constant",
    "polar_moment",
    "shear_factor_y",
    "shear_factor_z",
)


class Profile(NamedTuple):
    """Sections and material of a beam."""

    sections: Callable[[Any], Any]  # share of the path (0 to 1) -> SectionValues
    is_uniform: bool  # the same section everywhere
    youngs_modulus: Scalar  # E   [Pa]
    shear_modulus: Scalar  # G   [Pa]
    density: Scalar  # rho [kg/m^3]


def profile_namespace(profile: Profile, *values: Any):
    """NumPy or JAX for a beam whose sizes, material or further values may be traced."""
    first = _section_row(profile.sections(0.0))
    last = _section_row(profile.sections(1.0))
    E, G = profile.youngs_modulus, profile.shear_modulus
    return namespace(first, last, E, G, profile.density, *values)


def rigidity(profile: Profile, s: Float[Real, "*n"]) -> Rigidity:
    """Rigidity of the sections at the shares s of the path."""
    A, I_y, I_z, J_t, _, kappa_y, kappa_z = _section_at(profile, s)
    E = profile.youngs_modulus
    G = profile.shear_modulus
    return Rigidity(
        axial=E * A,
        shear_y=kappa_y * G * A,
        shear_z=kappa_z * G * A,
        torsion=G * J_t,
        bending_y=E * I_y,
        bending_z=E * I_z,
    )


def line_inertia(profile: Profile, s: Float[Real, "*n"]) -> LineInertia:
    """Inertia per unit length of the sections at the shares s of the path."""
    A, I_y, I_z, _, J_p, _, _ = _section_at(profile, s)
    rho = profile.density
    return LineInertia(
        mass=rho * A,
        polar=rho * J_p,
        rotary_y=rho * I_y,
        rotary_z=rho * I_z,
    )


def _section_at(profile: Profile, s: Float[Real, "*n"]) -> Any:
    """Columns of the section table, each shaped like s."""
    # A traced size makes the sections JAX arrays, whatever s is.
    xp = profile_namespace(profile, s)
    # A table of one row: nothing to evaluate at each s.
    if profile.is_uniform:
        row = _section_row(profile.sections(0.0))
        return [xp.full(s.shape, value) for value in row]

    def row_at(share):
        return xp.stack(_section_row(profile.sections(share)))

    shares = s.reshape(-1)
    if xp is jnp:
        rows = jax.vmap(row_at)(jnp.asarray(shares))
    else:
        rows = xp.stack([row_at(share) for share in shares])
    table = rows.reshape(*s.shape, len(COLUMNS))
    return xp.moveaxis(table, -1, 0)


def _section_row(section: Any) -> list[Scalar]:
    return [getattr(section, name) for name in COLUMNS]
