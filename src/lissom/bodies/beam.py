"""Two-node spatial beam element: printed matrices, shape functions, generalised strains.

Local axes: x along the element, y and z the principal axes of the section. Twelve dofs, (u, v, w, rx, ry, rz) of the
first node, then of the second. Bending in the x-y plane uses (v, rz) with I_z, bending in the x-z plane (w, -ry) with
I_y: one planar element serves both. Shear enters through Phi = 12 E I / (kappa G A L^2); Phi = 0 is Euler-Bernoulli.
Loads at the nodes are answered exactly by both theories. Frequencies converge with order 4 without shear; with it, the
shear is constant in each element, and order 2 shows as soon as the shear's share of the error is the larger one.

Matrices as printed in [Przemieniecki1968], ch. 5 (stiffness) and ch. 11 (consistent mass). Every function
accepts one element or a stack of them (leading axes); the matrices are the integrals of the shape functions below.
"""

from typing import NamedTuple

import numpy as np

from ..types import Float, Real, namespace

Values = Float[Real, "*#e"] | float | int | np.floating

# Number and sign of each dof of a block in the element. A positive slope of w turns about -y: ry enters with -1.
Dofs = tuple[tuple[int, float], ...]
AXIAL: Dofs = ((0, 1.0), (6, 1.0))
TORSION = ((3, 1.0), (9, 1.0))
BENDING_XY = ((1, 1.0), (5, 1.0), (7, 1.0), (11, 1.0))
BENDING_XZ = ((2, 1.0), (4, -1.0), (8, 1.0), (10, -1.0))


class Rigidity(NamedTuple):
    """Resistance of a section to the six generalised strains (Gamma and kappa), in the order of `element_strain`."""

    axial: Float[Real, "*e"]  # E A         [N]
    shear_y: Float[Real, "*e"]  # kappa_y G A [N]
    shear_z: Float[Real, "*e"]  # kappa_z G A [N]
    torsion: Float[Real, "*e"]  # G J_t       [N m^2]
    bending_y: Float[Real, "*e"]  # E I_y       [N m^2]
    bending_z: Float[Real, "*e"]  # E I_z       [N m^2]


class LineInertia(NamedTuple):
    """Inertia of a section per unit length."""

    mass: Float[Real, "*e"]  # rho A   [kg/m]
    polar: Float[Real, "*e"]  # rho J_p [kg m]
    rotary_y: Float[Real, "*e"]  # rho I_y [kg m]; zero in Euler-Bernoulli's theory
    rotary_z: Float[Real, "*e"]  # rho I_z [kg m]


def shear_parameter(
    bending: Float[Real, "*e"], shear: Float[Real, "*e"], length: Float[Real, "*e"]
) -> Float[Real, "*e"]:
    """Phi = 12 E I / (kappa G A L^2)."""
    return 12 * bending / (shear * length**2)


def bar_stiffness(rigidity: Values, length: Values) -> Float[Real, "*e 2 2"]:
    """Stiffness of a bar (E A) or a shaft (G J_t)."""
    k = rigidity / length
    return _matrix([[k, -k], [-k, k]])


def bar_mass(line_mass: Values, length: Values) -> Float[Real, "*e 2 2"]:
    """Consistent mass of a bar (rho A) or a shaft (rho J_p)."""
    m = line_mass * length / 6
    return _matrix([[2 * m, m], [m, 2 * m]])


# fmt: off
def bending_stiffness(bending: Values, length: Values, Phi: Values = 0.0) -> Float[Real, "*e 4 4"]:
    """Stiffness of a planar beam, dofs (v1, theta1, v2, theta2)."""
    L = length
    return _scale(bending / (L**3 * (1 + Phi)), [
        [ 12,           6*L,   -12,           6*L],
        [6*L, (4 + Phi)*L**2, -6*L, (2 - Phi)*L**2],
        [-12,          -6*L,    12,          -6*L],
        [6*L, (2 - Phi)*L**2, -6*L, (4 + Phi)*L**2]])


def bending_mass(line_mass: Values, length: Values, Phi: Values = 0.0) -> Float[Real, "*e 4 4"]:
    """Consistent mass of a planar beam, translation of the sections."""
    L = length
    a = 13/35 + 7*Phi/10 + Phi**2/3
    b = (11/210 + 11*Phi/120 + Phi**2/24)*L
    c = 9/70 + 3*Phi/10 + Phi**2/6
    d = (13/420 + 3*Phi/40 + Phi**2/24)*L
    e = (1/105 + Phi/60 + Phi**2/120)*L**2
    f = (1/140 + Phi/60 + Phi**2/120)*L**2
    return _scale(line_mass*L / (1 + Phi)**2, [
        [ a,  b,  c, -d],
        [ b,  e,  d, -f],
        [ c,  d,  a, -b],
        [-d, -f, -b,  e]])


def rotary_mass(rotary: Values, length: Values, Phi: Values = 0.0) -> Float[Real, "*e 4 4"]:
    """Consistent mass of a planar beam, rotation of the sections (rho I)."""
    L = length
    a = 6/5
    b = (1/10 - Phi/2)*L
    c = (2/15 + Phi/6 + Phi**2/3)*L**2
    d = (1/30 + Phi/6 - Phi**2/6)*L**2
    return _scale(rotary / (L * (1 + Phi)**2), [
        [ a,  b, -a,  b],
        [ b,  c, -b, -d],
        [-a, -b,  a, -b],
        [ b, -d, -b,  c]])


def bending_shape(xi: Values, length: Values, Phi: Values = 0.0) -> Float[Real, "*e 2 4"]:
    """Deflection v and rotation theta at x = xi L; v' - theta is constant, as equilibrium demands: no locking."""
    L = length
    x = xi
    v = [
        1 - 3*x**2 + 2*x**3 + Phi*(1 - x),
        L*(x - 2*x**2 + x**3 + Phi/2*(x - x**2)),
        3*x**2 - 2*x**3 + Phi*x,
        L*(x**3 - x**2 - Phi/2*(x - x**2)),
    ]
    theta = [
        6*(x**2 - x)/L,
        1 - 4*x + 3*x**2 + Phi*(1 - x),
        6*(x - x**2)/L,
        3*x**2 - 2*x + Phi*x,
    ]
    return _scale(1 / (1 + Phi), [v, theta])


def bending_strain(xi: Values, length: Values, Phi: Values = 0.0) -> Float[Real, "*e 2 4"]:
    """Curvature theta' and shear v' - theta of `bending_shape`."""
    L = length
    x = xi
    curvature = [
        (12*x - 6)/L**2,
        (6*x - 4 - Phi)/L,
        (6 - 12*x)/L**2,
        (6*x - 2 + Phi)/L,
    ]
    shear = [-Phi/L, -Phi/2, Phi/L, -Phi/2]
    return _scale(1 / (1 + Phi), [curvature, shear])
# fmt: on


def element_stiffness(
    rigidity: Rigidity, length: Values, Phi_y: Values, Phi_z: Values
) -> Float[Real, "*e 12 12"]:
    """Stiffness of a uniform element; Phi_y belongs to shear along y (bending in x-y), Phi_z to shear along z."""
    axial = bar_stiffness(rigidity.axial, length)
    torsion = bar_stiffness(rigidity.torsion, length)
    xy = bending_stiffness(rigidity.bending_z, length, Phi_y)
    xz = bending_stiffness(rigidity.bending_y, length, Phi_z)
    return _element_matrix(axial, torsion, xy, xz)


def element_mass(
    inertia: LineInertia, length: Values, Phi_y: Values, Phi_z: Values
) -> Float[Real, "*e 12 12"]:
    """Consistent mass of a uniform element."""
    axial = bar_mass(inertia.mass, length)
    torsion = bar_mass(inertia.polar, length)
    xy = bending_mass(inertia.mass, length, Phi_y)
    xz = bending_mass(inertia.mass, length, Phi_z)
    # Sections turn about z as the beam bends in x-y, about y as it bends in x-z.
    xy = xy + rotary_mass(inertia.rotary_z, length, Phi_y)
    xz = xz + rotary_mass(inertia.rotary_y, length, Phi_z)
    return _element_matrix(axial, torsion, xy, xz)


def element_shape(
    xi: Values, length: Values, Phi_y: Values, Phi_z: Values
) -> Float[Real, "*e 6 12"]:
    """Displacement field (u, v, w, rx, ry, rz) at x = xi L from the twelve nodal dofs."""
    linear = _matrix([[1 - xi, xi]])
    xy = bending_shape(xi, length, Phi_y)
    # The rotation of the planar element is -ry in the x-z plane.
    xz = bending_shape(xi, length, Phi_z) * np.array([[1.0], [-1.0]])
    return (
        _rows(linear, (0,), AXIAL)
        + _rows(linear, (3,), TORSION)
        + _rows(xy, (1, 5), BENDING_XY)
        + _rows(xz, (2, 4), BENDING_XZ)
    )


def element_strain(
    xi: Values, length: Values, Phi_y: Values, Phi_z: Values
) -> Float[Real, "*e 6 12"]:
    """Generalised strains (u', v' - rz, w' + ry, rx', ry', rz') at x = xi L, the order of `Rigidity`."""
    slope = _matrix([[-1 / length, 1 / length]])
    xy = bending_strain(xi, length, Phi_y)
    # theta = -ry in the x-z plane: its curvature theta' is -ry', its shear w' - theta is w' + ry.
    xz = bending_strain(xi, length, Phi_z) * np.array([[-1.0], [1.0]])
    return (
        _rows(slope, (0,), AXIAL)
        + _rows(slope, (3,), TORSION)
        + _rows(xy, (5, 1), BENDING_XY)
        + _rows(xz, (4, 2), BENDING_XZ)
    )


def _matrix(rows: list[list[Values]]) -> Float[Real, "*e n m"]:
    """Matrix laid out as printed, its entries numbers or stacks of numbers."""
    return _scale(1.0, rows)


def _scale(factor: Values, rows: list[list[Values]]) -> Float[Real, "*e n m"]:
    xp = namespace(factor, rows)
    entries = [factor * entry for row in rows for entry in row]
    entries = xp.broadcast_arrays(*entries)
    stack = entries[0].shape
    flat = xp.stack(entries, axis=-1)
    return flat.reshape(*stack, len(rows), len(rows[0]))


def _element_matrix(
    axial: Float[Real, "*e 2 2"],
    torsion: Float[Real, "*e 2 2"],
    xy: Float[Real, "*e 4 4"],
    xz: Float[Real, "*e 4 4"],
) -> Float[Real, "*e 12 12"]:
    """Matrix of the element from its four blocks, which share no dof."""
    return (
        _place_block(axial, AXIAL)
        + _place_block(torsion, TORSION)
        + _place_block(xy, BENDING_XY)
        + _place_block(xz, BENDING_XZ)
    )


def _place_block(block: Float[Real, "*e n n"], dofs: Dofs) -> Float[Real, "*e 12 12"]:
    """Block placed at its dofs in the element matrix."""
    P = _placement(dofs)
    return P.T @ block @ P


def _rows(
    block: Float[Real, "*e r n"], rows: tuple[int, ...], dofs: Dofs
) -> Float[Real, "*e 6 12"]:
    """Block placed at its rows (field components) and dofs."""
    at_rows = np.eye(6)[:, list(rows)]
    return at_rows @ block @ _placement(dofs)


def _placement(dofs: Dofs) -> Float[np.ndarray, "n 12"]:
    return np.stack([sign * np.eye(12)[dof] for dof, sign in dofs])
