"""Cross-sections of beams: their dimensions as a user writes them, and the values that a beam needs."""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Discriminator, Tag
from typing_extensions import override

from ..files.part import Finding, Part, finding
from ..files.quantity import Quantity, is_jax_value
from ..types import Scalar, namespace

# Cubes of larger ones are beyond all numbers.
Side = Annotated[float, Quantity("m", above=0, below=1e6)]
Area = Annotated[float, Quantity("m^2", above=0)]
SecondMoment = Annotated[float, Quantity("m^4", above=0)]
ShearFactor = Annotated[float, Quantity("", above=0)]
ZETA_5 = 1.0369277551433699  # Riemann's zeta(5)


class Rectangle(Part):
    """A solid rectangle with sides along the section's y and z axes."""

    shape: Literal["rectangle"]
    y: Side
    z: Side


class Circle(Part):
    """A solid circle."""

    shape: Literal["circle"]
    diameter: Side


class Tube(Part):
    """A circular tube, by its two diameters."""

    shape: Literal["tube"]
    outer: Side
    inner: Side

    @override
    def findings(self) -> list[Finding]:
        if is_jax_value(self.outer, self.inner):
            return []
        if self.inner < self.outer:
            return []
        message = f"the inner diameter must be below the outer one ({self.outer:g} m)"
        return [finding(message, "inner", value=self.inner)]


class Box(Part):
    """A rectangular tube of uniform wall, by its outer sides."""

    shape: Literal["box"]
    y: Side
    z: Side
    wall: Side

    @override
    def findings(self) -> list[Finding]:
        if is_jax_value(self.y, self.z, self.wall):
            return []
        smaller = min(self.y, self.z)
        if 2 * self.wall < smaller:
            return []
        message = (
            f"the wall must be thinner than half the smaller side ({smaller / 2:g} m)"
        )
        return [finding(message, "wall", value=self.wall)]


class General(Part):
    """Any section, by its values about the centroid; y and z are its principal axes."""

    shape: Literal["general"]
    A: Area
    Iy: SecondMoment  # bending in the x-z plane
    Iz: SecondMoment  # bending in the x-y plane
    J: SecondMoment  # Saint-Venant torsion constant
    kappa_y: ShearFactor = 5 / 6
    kappa_z: ShearFactor = 5 / 6


def _branch(value: Any) -> Any:
    """The kind of section that a mapping means: what pydantic checks it as."""
    if isinstance(value, Part):
        return getattr(value, "shape", "taper")
    if isinstance(value, dict):
        return "taper" if {"start", "end"} & set(value) else value.get("shape")
    return None


Uniform = (
    Annotated[Rectangle, Tag("rectangle")]
    | Annotated[Circle, Tag("circle")]
    | Annotated[Tube, Tag("tube")]
    | Annotated[Box, Tag("box")]
    | Annotated[General, Tag("general")]
)
Section = Annotated[Uniform, Discriminator(_branch)]


class Taper(Part):
    """A section whose dimensions change linearly along the whole path of the beam."""

    start: Section
    end: Section

    @override
    def findings(self) -> list[Finding]:
        if self.start.shape == self.end.shape:
            return []
        message = f"must have the shape of the start, {self.start.shape}"
        return [finding(message, "end", value=self.end.shape)]


AnySection = Annotated[Uniform | Annotated[Taper, Tag("taper")], Discriminator(_branch)]


def section_text(section: Any) -> str:
    """A section in a few words: `rectangle y 30 mm, z 10 mm`."""
    if isinstance(section, Taper):
        return f"{section_text(section.start)} to {section_text(section.end)}"
    parts = []
    for key in type(section).model_fields:
        size = getattr(section, key)
        if key == "shape" or not isinstance(size, float | int):
            continue
        # A general section has areas and moments of area, not lengths.
        if section.shape == "general":
            parts.append(f"{key} {size:.3g}")
        else:
            parts.append(f"{key} {1e3 * size:.4g} mm")
    return f"{section.shape} {', '.join(parts)}"


class SectionValues(NamedTuple):
    """Properties of a section that beam elements use, about the centroid and the principal axes y and z."""

    area: Scalar  # A        [m^2]
    second_moment_y: Scalar  # I_y      [m^4]  bending in the x-z plane
    second_moment_z: Scalar  # I_z      [m^4]  bending in the x-y plane
    torsion_constant: Scalar  # J_t      [m^4]  Saint-Venant
    polar_moment: Scalar  # I_y + I_z [m^4] rotary inertia about the beam axis
    shear_factor_y: Scalar  # kappa_y  [1]    shear force along y
    shear_factor_z: Scalar  # kappa_z  [1]    shear force along z


def section_at(section: Any, s: Scalar) -> Any:
    """The section at `s` (0 at the inner end of the path, 1 at its tip); of a taper, linear in its dimensions."""
    if not isinstance(section, Taper):
        return section
    start, end = section.start, section.end
    dimensions = {}
    for name in type(start).model_fields:
        if name != "shape":
            first = getattr(start, name)
            last = getattr(end, name)
            dimensions[name] = (1 - s) * first + s * last
    return start.model_copy(update=dimensions)


def section_values(section: Any, material_nu: Scalar) -> SectionValues:
    """Area, second moments, torsion constant and shear factors of a (not tapered) section.

    Args:
        section: a `Rectangle`, `Circle`, `Tube`, `Box` or `General`.
        material_nu: Poisson's ratio, which the shear factors of round and hollow sections depend on.
    """
    return _VALUES[type(section)](section, material_nu)


def _rectangle(section: Rectangle, nu: Scalar) -> SectionValues:
    y, z = section.y, section.z
    A = y * z
    I_y = y * z**3 / 12
    I_z = z * y**3 / 12
    J = rectangle_torsion(y, z)
    kappa = 5 / 6
    return _values(A, I_y, I_z, J, kappa, kappa)


def rectangle_torsion(y: Scalar, z: Scalar) -> Scalar:
    r"""Saint-Venant torsion constant of a solid rectangle, exact to rounding.

    $$ J = a b^3 \left[ \frac13 - \frac{64}{\pi^5}\frac{b}{a} \sum_{n\,\mathrm{odd}} \frac{\tanh(n \pi a / 2 b)}{n^5}
       \right], \qquad a \ge b $$

    Reference: [TimoshenkoGoodier1970], section 109. The slow part of the series, `tanh = 1`, sums to 31/32 zeta(5);
    what remains falls as exp(-n pi) and six terms of it are below rounding.
    """
    xp = namespace(y, z)
    a = xp.maximum(y, z)
    b = xp.minimum(y, z)
    # What tanh lacks to one: with a >= b it is below 1 - tanh(pi / 2) = 0.08, and falls fast.
    remainder = 0
    for n in (1, 3, 5, 7, 9, 11):
        tanh = xp.tanh(n * xp.pi * a / (2 * b))
        remainder = remainder + (1 - tanh) / n**5
    series = 31 / 32 * ZETA_5 - remainder
    return a * b**3 * (1 / 3 - 64 / xp.pi**5 * (b / a) * series)


def _circle(section: Circle, nu: Scalar) -> SectionValues:
    return _round(section.diameter, 0.0, nu)


def _tube(section: Tube, nu: Scalar) -> SectionValues:
    return _round(section.outer, section.inner, nu)


def _round(outer: Scalar, inner: Scalar, nu: Scalar) -> SectionValues:
    """Circle or tube; the shear factor is that of [Cowper1966], table 1 (hollow circle)."""
    xp = namespace(outer, inner, nu)
    # m is the ratio of the diameters, zero for a circle.
    A = xp.pi / 4 * (outer**2 - inner**2)
    I = xp.pi / 64 * (outer**4 - inner**4)
    m = inner / outer
    square = (1 + m**2) ** 2
    below = (7 + 6 * nu) * square + (20 + 12 * nu) * m**2
    kappa = 6 * (1 + nu) * square / below
    return _values(A, I, I, 2 * I, kappa, kappa)


def _box(section: Box, nu: Scalar) -> SectionValues:
    """Rectangular tube: torsion as a closed thin wall (Bredt) plus the wall's own, 4 A^2 t / s + s t^3 / 3."""
    y, z, t = section.y, section.z, section.wall
    inner_y = y - 2 * t
    inner_z = z - 2 * t
    A = y * z - inner_y * inner_z
    I_y = (y * z**3 - inner_y * inner_z**3) / 12
    I_z = (z * y**3 - inner_z * inner_y**3) / 12
    # Sides of the wall's middle line, which encloses b h and has the length 2 (b + h).
    b = y - t
    h = z - t
    closed_wall = 2 * t * b**2 * h**2 / (b + h)
    wall_itself = 2 * (b + h) * t**3 / 3
    J = closed_wall + wall_itself
    kappa_y = _box_shear(h, b, nu)
    kappa_z = _box_shear(b, h, nu)
    return _values(A, I_y, I_z, J, kappa_y, kappa_z)


def _box_shear(width: Scalar, depth: Scalar, nu: Scalar) -> Scalar:
    """[Cowper1966], table 1 (thin-walled box) with one wall thickness; `depth` lies along the shear force."""
    # Cowper's m, ratio of the walls' areas, and n, ratio of the sides, are equal where all walls are equally thick.
    m = n = width / depth
    bending = 12 + 72 * m + 150 * m**2 + 90 * m**3
    poisson = 11 + 66 * m + 135 * m**2 + 90 * m**3
    flanges = 10 * n**2 * ((3 + nu) * m + 3 * m**2)
    below = bending + nu * poisson + flanges
    return 10 * (1 + nu) * (1 + 3 * m) ** 2 / below


def _general(section: General, nu: Scalar) -> SectionValues:
    s = section
    return _values(s.A, s.Iy, s.Iz, s.J, s.kappa_y, s.kappa_z)


def _values(
    A: Scalar, I_y: Scalar, I_z: Scalar, J: Scalar, kappa_y: Scalar, kappa_z: Scalar
) -> SectionValues:
    polar = I_y + I_z
    return SectionValues(A, I_y, I_z, J, polar, kappa_y, kappa_z)


# Values by the kind of section.
_VALUES = {
    Rectangle: _rectangle,
    Circle: _circle,
    Tube: _tube,
    Box: _box,
    General: _general,
}
