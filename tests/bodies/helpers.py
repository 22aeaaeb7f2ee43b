"""Bodies that every contract test runs over, and the small tools of these tests."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from lissom.bodies.body import with_mass
from lissom.bodies.damping import with_modal_ratio, with_rayleigh
from lissom.bodies.fe.elements import elements_of
from lissom.bodies.fe.interface import with_interface
from lissom.bodies.fe.link_of_elements import reduced_link
from lissom.bodies.fe.reduce_elements import FeReduction, reduce_elements
from lissom.bodies.fe.reduced_link import fe_link_body
from lissom.bodies.mesh import beam_body
from lissom.bodies.reduce.reduced_body import Reduction, reduced_body
from lissom.bodies.rigid_body import rigid_body

E, NU, RHO = 7.1e10, 0.31, 2750.0
G = E / (2 * (1 + NU))


class Values(NamedTuple):
    """What `beam_body` asks of a section."""

    area: Any
    second_moment_y: Any
    second_moment_z: Any
    torsion_constant: Any
    polar_moment: Any
    shear_factor_y: Any
    shear_factor_z: Any


def rectangle(y, z):
    """Section with sides y and z; the torsion constant is a thin strip's, smooth in both sides."""
    I_y, I_z = y * z**3 / 12, z * y**3 / 12
    return Values(y * z, I_y, I_z, 4 * I_y * I_z / (I_y + I_z), I_y + I_z, 5 / 6, 5 / 6)


SECTION = rectangle(0.03, 0.012)


def taper(s):
    return rectangle(0.03 * (1 - 0.4 * s), 0.012 * (1 - 0.6 * s))


def beam(path=((0, 0, 0), (0.7, 0, 0)), section=SECTION, **options):
    """Beam of the material above, with a section or a law of sections."""
    tapered = callable(section)
    sections = section if tapered else lambda s: section
    options = {
        "youngs_modulus": E,
        "shear_modulus": G,
        "density": RHO,
        "elements": 3,
    } | options
    return beam_body(
        np.array(path, dtype=float), sections, uniform=not tapered, **options
    )


def meshed(body, modes=15):
    """The link that the matrices of a beam give, as those of a finite-element program would."""
    fe = elements_of(body.stiffness, body.mass_matrix, np.asarray(body.points))
    link, joints = with_interface(fe, {"inner": 1, "tip": len(body.points)})
    return fe_link_body(
        reduced_link(
            link,
            joints,
            reduce_elements(link, joints, FeReduction(modes=modes, checked=0)),
        )
    )


BENT = ((0, 0, 0), (0.3, 0.1, -0.05), (0.35, 0.5, 0.2), (0.35, 0.5, 0.45))
PRINCIPAL = np.array([2.0e-3, 3.0e-3, 2.5e-3])
TENSOR = np.array([2.0e-3, 3.0e-3, 2.5e-3, 2e-4, -3e-4, 1e-4])

ALL_BODIES = {
    "straight": beam(),
    "straight-lumped": beam(mass="lumped"),
    "timoshenko": beam(theory="timoshenko", elements=1),
    "bent": beam(BENT, up=(0.2, -0.4, 1.0), elements=2),
    "bent-timoshenko": beam(BENT, theory="timoshenko", up=(0.0, 1.0, 0.0), elements=2),
    "bent-lumped-timoshenko": beam(
        BENT, theory="timoshenko", mass="lumped", elements=2
    ),
    "tapered": beam(BENT, taper, elements=2),
    "tapered-timoshenko": beam(BENT, taper, theory="timoshenko", elements=2),
    "tapered-lumped": beam(BENT, taper, mass="lumped", elements=2),
    "loaded": with_mass(
        with_mass(beam(BENT), 2, 0.3), -1, 0.7, TENSOR, (0.02, 0.05, -0.03)
    ),
    "rayleigh": with_rayleigh(beam(BENT, taper), alpha=1.3, beta=2e-4),
    "modal": with_modal_ratio(with_mass(beam(BENT), -1, 0.7, PRINCIPAL), 0.02),
    "reduced": reduced_body(
        with_modal_ratio(with_mass(beam(BENT), -1, 0.7, PRINCIPAL), 0.02)
    ),
    "reduced-points": reduced_body(
        beam(BENT, elements=2, mass="lumped-points"), Reduction(8, "free-interface")
    ),
    "finite-elements": meshed(beam(BENT, elements=2, mass="lumped")),
    "rigid": rigid_body(1.7, (0.1, 0.02, -0.03), TENSOR, (0.24, 0.0, 0.1)),
    "rigid-point": rigid_body(1.7, (0.1, 0.02, -0.03), PRINCIPAL),
    "rigid-loaded": with_mass(
        rigid_body(1.7, (0.1, 0, 0), PRINCIPAL, (0.2, 0.1, 0)),
        1,
        0.4,
        PRINCIPAL,
        (0, 0, 0.1),
    ),
}


def frequencies(stiffness, mass):
    """Natural angular frequencies [rad/s], lowest first."""
    return np.sqrt(np.abs(scipy.linalg.eigh(stiffness, mass, eigvals_only=True)))


def restricted(body, dofs):
    """Stiffness and mass of the body with all but the named dofs (node number, component) held."""
    index = np.ix_(*[[6 * node + component for node, component in dofs]] * 2)
    return body.stiffness[index], body.mass_matrix[index]


def clamped(body):
    """Stiffness and mass of the body clamped at its inner node."""
    return body.stiffness[6:, 6:], body.mass_matrix[6:, 6:]


def tip_deflection(body, force):
    """Displacement (6) of the tip under a force (6) there, the inner node clamped."""
    load = np.concatenate([np.zeros(body.coordinates - 12), force])
    return np.linalg.solve(body.stiffness[6:, 6:], load)[-6:]


def observed_order(errors, ratio=2):
    """Order between successive meshes, each `ratio` times finer than the one before."""
    return np.log(np.array(errors[:-1]) / np.array(errors[1:])) / np.log(ratio)
