"""Links: a joint and one body, flexible (`beam`, `fe`) or rigid; lumped masses and the payload."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator
from typing_extensions import override

from ..files.names import Name
from ..files.part import Entries, Finding, Part, about, finding
from ..files.quantity import Numbers, Quantity, Whole, error, is_jax_value
from ..types import Float, Real, namespace
from .fe import FE
from .joint import ZERO, Direction, Joint, Point, Vector
from .material import NamedMaterial
from .section import AnySection

Mass = Annotated[float, Quantity("kg", least=0)]
BODIES = ("beam", "rigid", "fe")

# [m] Points of a path that are closer than this are the same point.
SAME_POINT = 1e-9

# How far an inertia matrix may be from symmetric, or a principal moment below zero, against its largest entry: the
# rounding of numbers typed by hand or turned into other axes.
INERTIA_ROUNDING = 1e-9


class _Inertia(Numbers):
    """Inertia as 3 (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or 3x3 numbers, positive semidefinite."""

    def check(self, value: Any) -> Any:
        """The numbers as tuples, in the form in which they were given."""
        shape = _shape_of(value)
        if shape in ((6,), (3, 3)):
            numbers = Numbers(shape, self.each).check(value)
        else:
            # Three numbers, or a value that is refused with the accepted forms.
            numbers = super().check(value)
        if not is_jax_value(numbers):
            _check_inertia(inertia_matrix(numbers))
        return numbers

    @property
    @override
    def words(self) -> str:
        return "3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or a symmetric 3x3 matrix [kg m^2]"


def _shape_of(value: Any) -> tuple[int, ...]:
    """Shape by the first row alone: rows of other lengths are refused with their number."""
    if not isinstance(value, list | tuple | np.ndarray):
        return ()
    if len(value) == 3 and np.ndim(value[0]) == 1:
        return (3, 3)
    return (len(value),)


Inertia = Annotated[tuple, _Inertia((3,), Quantity("kg m^2"))]


def inertia_matrix(inertia: Any) -> Float[Real, "3 3"]:
    """The symmetric inertia matrix of 3, 6 or 3x3 numbers, products of inertia as matrix entries  [kg m^2]."""
    xp = namespace(inertia)
    values = xp.asarray(inertia)
    if values.shape == (3, 3):
        return values
    if values.shape == (3,):
        return xp.diag(values)
    xx, yy, zz, xy, xz, yz = values
    rows = [
        [xx, xy, xz],
        [xy, yy, yz],
        [xz, yz, zz],
    ]
    return xp.stack([xp.stack(row) for row in rows])


def _check_inertia(matrix: Real) -> None:
    rounding = INERTIA_ROUNDING * np.abs(matrix).max()
    if not np.allclose(matrix, matrix.T, rtol=0, atol=rounding):
        raise error("the inertia matrix must be symmetric")
    principal_moments = np.linalg.eigvalsh(matrix)
    if principal_moments.min() < -rounding:
        raise error(
            "the inertia matrix must be positive semidefinite: no body has a negative principal moment"
        )


DampingRatio = Annotated[float, Quantity("", least=0, below=1)]


class Damping(Part):
    """Rayleigh damping alpha M + beta K, or one modal damping `ratio` for every mode of the clamped link."""

    alpha: Annotated[float, Quantity("1/s", least=0)] = 0.0
    beta: Annotated[float, Quantity("s", least=0)] = 0.0
    ratio: DampingRatio | None = None

    @override
    def findings(self) -> list[Finding]:
        rayleigh = {"alpha", "beta"} & self.model_fields_set
        if self.ratio is None or not rayleigh:
            return []
        message = "damping is {alpha, beta} or {ratio}, not both"
        return [finding(message, "ratio", value=self.ratio)]


def _check_path(path: Any) -> Any:
    if is_jax_value(path):
        return path
    points = np.asarray(path)
    if len(points) < 2:
        raise error("a path has at least two points")
    if np.abs(points[0]).max() > SAME_POINT:
        raise error("the first point of a path is the joint: it must be [0, 0, 0]")
    segments = np.diff(points, axis=0)
    steps = np.linalg.norm(segments, axis=1)
    if steps.min() <= SAME_POINT:
        k = int(steps.argmin())
        raise error(f"points {k} and {k + 1} of the path coincide")
    return path


CORNERS = Numbers((None, 3), Quantity("m"))
BeamPath = Annotated[tuple[Vector, ...], CORNERS, AfterValidator(_check_path)]


class Beam(Part):
    """A flexible link along a polyline in its link frame."""

    path: Annotated[
        BeamPath | None,
        about("default: straight to the next joint, or along the DH link: d, then a"),
    ] = None
    section: AnySection
    up: Annotated[
        Direction | None,
        about(
            "section's z axis; default: the joint axis; x where the beam runs along it, z where both are x"
        ),
    ] = None
    material: NamedMaterial
    elements: Annotated[
        int, Whole(1, 1000), about("per straight piece of the path")
    ] = 4
    segments: Annotated[
        Annotated[int, Whole(1, 1000)] | None,
        about(
            "bodies per straight piece, finite rotation between them; default: the whole link is one body"
        ),
    ] = None
    theory: Literal["euler-bernoulli", "timoshenko"] = "euler-bernoulli"
    mass: Annotated[
        Literal["consistent", "lumped", "lumped-points"],
        about("mass matrix; lumped points have no rotary inertia"),
    ] = "consistent"

    @override
    def findings(self) -> list[Finding]:
        if self.segments is None or self.elements % self.segments == 0:
            return []
        message = f"must be a multiple of segments ({self.segments}): every segment has whole elements"
        return [finding(message, "elements", value=self.elements)]


class Rigid(Part):
    """A rigid link by its mass, centre and inertia about the centre, in link axes."""

    foreign_keys: ClassVar[dict[str, str]] = {
        "segments": "belongs to a beam: leave out segments: a rigid link does not bend"
    }
    mass: Mass
    com: Point = ZERO
    inertia: Inertia = ZERO
    tip: Annotated[
        Point | None, about("default: the next joint, or the end of the DH link")
    ] = None


def check_node(value: Any) -> Any:
    """A node number of a link, or `tip`."""
    if isinstance(value, str) and value == "tip":
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise error('must be a node number, counted from 0 at the joint, or "tip"')


class LumpedMass(Part):
    """A rigid mass on a node of the link; `offset` from the node to its centre, in link axes."""

    node: Annotated[int | str, BeforeValidator(check_node)] = "tip"
    mass: Mass = 0.0
    inertia: Inertia = ZERO
    offset: Point = ZERO


class Payload(Part):
    """A rigid load at the last link's tip; `offset` from the tip to its centre, in link axes."""

    mass: Mass = 0.0
    inertia: Inertia = ZERO
    offset: Point = ZERO


class Picture(Part):
    """A surface in link axes, for pictures alone: a binary STL file [m]."""

    file: str


class Link(Part):
    """One link: its joint and exactly one body."""

    name: Name
    joint: Joint
    beam: Beam | None = None
    rigid: Rigid | None = None
    fe: FE | None = None
    masses: tuple[LumpedMass, ...] = ()
    damping: Annotated[Damping | None, about("instead of the robot's")] = None
    parent: Annotated[
        str | None,
        about("link that carries this one, or ground; default: the link before it"),
    ] = None
    visual: Picture | None = None

    @property
    def flexible(self) -> bool:
        """True if the link bends."""
        return self.rigid is None

    @override
    def findings(self) -> list[Finding]:
        return _body_findings({key: getattr(self, key) for key in BODIES})

    @classmethod
    @override
    def partial_findings(cls, data: Any) -> list[Finding]:
        if not isinstance(data, dict):
            return []
        return _body_findings({key: data.get(key) for key in BODIES})


def _body_findings(entries: Entries) -> list[Finding]:
    bodies = [key for key in BODIES if entries[key] is not None]
    if not bodies:
        return [finding("a link needs a body: beam, rigid or fe")]
    if len(bodies) > 1:
        message = f"a link has exactly one body, this one has {' and '.join(bodies)}"
        return [finding(message, bodies[1])]
    return []
