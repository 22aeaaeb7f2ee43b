"""Links: a joint and one body, flexible (`beam`, `fe`) or rigid; lumped masses and the payload."""

from typing import Annotated, Any, Literal

import numpy as np
from jaxtyping import Float
from pydantic import AfterValidator, BeforeValidator

from lissom.types import Real, namespace

from .fe import FE
from .joint import Joint, Vector
from .material import NamedMaterial
from .part import Finding, Part
from .quantity import Numbers, Quantity, Whole, error, is_traced, vector
from .section import AnySection

Mass = Annotated[float, Quantity("kg", least=0)]
BODIES = ("beam", "rigid", "fe")


class _Inertia(Numbers):
    """Inertia as 3 (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or 3x3 numbers, positive semidefinite."""

    def check(self, value: Any) -> Any:
        """The numbers as tuples, in the form in which they were given."""
        if isinstance(value, list | tuple | np.ndarray) and len(value) == 6:
            numbers = Numbers((6,), self.each).check(value)
        elif (
            isinstance(value, list | tuple | np.ndarray)
            and len(value) == 3
            and np.ndim(value[0]) == 1
        ):
            numbers = Numbers((3, 3), self.each).check(value)
        else:
            numbers = super().check(value)
        if not is_traced(numbers):
            _check_inertia(inertia_matrix(numbers))
        return numbers

    @property
    def words(self) -> str:
        """The accepted forms."""
        return "3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or a symmetric 3x3 matrix [kg m^2]"


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
    return xp.stack(
        [xp.stack([xx, xy, xz]), xp.stack([xy, yy, yz]), xp.stack([xz, yz, zz])]
    )


def _check_inertia(matrix: Real) -> None:
    size = np.abs(matrix).max()
    if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-9 * size):
        raise error("the inertia matrix must be symmetric")
    if np.linalg.eigvalsh(matrix).min() < -1e-9 * size:
        raise error(
            "the inertia matrix must be positive semidefinite: no body has a negative principal moment"
        )


class Damping(Part):
    """Rayleigh damping alpha M + beta K, or one modal damping `ratio` for every mode of the clamped link."""

    alpha: Annotated[float, Quantity("1/s", least=0)] = 0.0
    beta: Annotated[float, Quantity("s", least=0)] = 0.0
    ratio: Annotated[float, Quantity("", least=0, below=1)] | None = None

    def findings(self) -> list[Finding]:
        """One kind of damping."""
        rayleigh = {"alpha", "beta"} & self.model_fields_set
        if self.ratio is None or not rayleigh:
            return []
        return [
            Finding(
                ("ratio",), self.ratio, "damping is {alpha, beta} or {ratio}, not both"
            )
        ]


def _check_path(path: Any) -> Any:
    if is_traced(path):
        return path
    points = np.asarray(path)
    if len(points) < 2:
        raise error("a path has at least two points")
    if np.abs(points[0]).max() > 1e-9:
        raise error("the first point of a path is the joint: it must be [0, 0, 0]")
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if steps.min() <= 1e-9:
        raise error(
            f"points {int(steps.argmin())} and {int(steps.argmin()) + 1} of the path coincide: no length"
        )
    return path


Points = Annotated[
    tuple[Vector, ...], Numbers((None, 3), Quantity("m")), AfterValidator(_check_path)
]


class Beam(Part):
    """A flexible link along a polyline in its link frame."""

    path: Points | None = (
        None  # default: straight to the next joint, or along the DH link: d, then a
    )
    section: AnySection
    up: Annotated[Vector, vector("", nonzero=True)] | None = (
        None  # direction of the section's z axis
    )
    material: NamedMaterial
    elements: Annotated[int, Whole(1, 1000)] = 4  # per straight segment
    theory: Literal["euler-bernoulli", "timoshenko"] = "euler-bernoulli"
    mass: Literal["consistent", "lumped", "lumped-points"] = (
        "consistent"  # the last without rotary inertia
    )


class Rigid(Part):
    """A rigid link by its mass, centre and inertia about the centre, in link axes."""

    mass: Mass
    com: Annotated[Vector, vector("m")] = (0.0, 0.0, 0.0)
    inertia: Inertia = (0.0, 0.0, 0.0)
    tip: Annotated[Vector, vector("m")] | None = (
        None  # default: the next joint, or the end of the DH link
    )


def _check_node(value: Any) -> Any:
    if isinstance(value, str) and value == "tip":
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise error('must be a node number, counted from 0 at the joint, or "tip"')


class LumpedMass(Part):
    """A concentrated mass and inertia at a node of the link."""

    node: Annotated[int | str, BeforeValidator(_check_node)] = "tip"
    mass: Mass = 0.0
    inertia: Inertia = (0.0, 0.0, 0.0)


class Payload(Part):
    """A rigid load at the last link's tip; `offset` from the tip to its centre, in link axes."""

    mass: Mass = 0.0
    inertia: Inertia = (0.0, 0.0, 0.0)
    offset: Annotated[Vector, vector("m")] = (0.0, 0.0, 0.0)


def _check_name(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        raise error("a name is text")
    if (
        any(c in value for c in "./:*, \t\n")
        or value in ("tip", "ground", "world")
        or value.isdigit()
    ):
        raise error(
            "a name has no space and none of . / : * , and is not tip, ground, world or a number"
        )
    return value


Name = Annotated[str, BeforeValidator(_check_name)]


class Link(Part):
    """One link: its joint and exactly one body."""

    name: Name
    joint: Joint
    beam: Beam | None = None
    rigid: Rigid | None = None
    fe: FE | None = None
    masses: tuple[LumpedMass, ...] = ()
    damping: Damping | None = None  # instead of the robot's
    parent: str | None = (
        None  # the link that carries this one, or ground; default: the link before it
    )

    @property
    def flexible(self) -> bool:
        """True if the link bends."""
        return self.rigid is None

    def findings(self) -> list[Finding]:
        """Exactly one body."""
        return _body_findings([key for key in BODIES if getattr(self, key) is not None])

    @classmethod
    def partial_findings(cls, data: Any) -> list[Finding]:
        """The same on half-valid data."""
        return (
            _body_findings([k for k in BODIES if data.get(k) is not None])
            if isinstance(data, dict)
            else []
        )


def _body_findings(given: list[str]) -> list[Finding]:
    if len(given) > 1:
        return [
            Finding(
                (given[1],),
                None,
                f"a link has one body, this one has {' and '.join(given)}",
            )
        ]
    return (
        [] if given else [Finding((), None, "a link needs a body: beam, rigid or fe")]
    )
