"""What stands in a URDF file: links with inertias and shapes, and the joints between them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..algebra.so3 import from_rpy
from ..files.errors import refused
from ..files.xml_file import XmlElement, read_xml
from ..types import Matrix3, Vector3
from .body_tree import AT_HOME, Frame

# What to do with other descriptions of robots.
OTHER_FORMATS = {
    "sdf": ". SDF is not read: convert the file to URDF",
    "mujoco": ". MJCF is read from files that end in .xml",
}
X_AXIS = (1.0, 0.0, 0.0)  # of a joint where the file says nothing
# Moments and products as the file names them, in the order of the rows of the matrix.
MOMENTS = ("ixx", "ixy", "ixz", "ixy", "iyy", "iyz", "ixz", "iyz", "izz")


class UrdfInertial(NamedTuple):
    """Mass, and inertia about its centre, in a frame of the link."""

    place: Frame
    mass: float
    inertia: Matrix3


class UrdfShape(NamedTuple):
    """A shape of a link: a mesh file, or a simple solid with its sizes."""

    place: Frame
    kind: str  # mesh, box, cylinder or sphere
    sizes: tuple[float, ...]  # scale of a mesh; sides; radius and length; radius
    file: str | None = None  # of a mesh


class UrdfLink(NamedTuple):
    """A <link>: its inertia, where it has one, and its shapes."""

    name: str
    inertial: UrdfInertial | None
    shapes: tuple[UrdfShape, ...]


class UrdfLimit(NamedTuple):
    """Range of a joint, and the largest effort of its drive."""

    lower: float | None
    upper: float | None
    effort: float


class UrdfMimic(NamedTuple):
    """The joint that leads, and the rule: multiplier times its coordinate, plus offset."""

    joint: str
    multiplier: float
    offset: float


class UrdfJoint(NamedTuple):
    """A joint: how a child link moves on its parent."""

    name: str
    type: str
    parent: str
    child: str
    place: Frame
    axis: Vector3
    limit: UrdfLimit | None
    friction: tuple[float, float] | None  # viscous and Coulomb
    mimic: UrdfMimic | None


class UrdfFile(NamedTuple):
    """Name, links and joints of a URDF file."""

    name: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]


def read_urdf(path: Path) -> UrdfFile:
    """Links and joints of a URDF file.

    Raises:
        DescriptionError: the file is no URDF, or an entry cannot be read; with its line.
    """
    root = read_xml(path, "URDF")
    if root.tag != "robot":
        hint = OTHER_FORMATS.get(root.tag, "")
        message = f"is not a URDF file that can be read: it begins with <{root.tag}>, not with <robot>{hint}"
        raise refused("", None, message, str(path))
    links = tuple(_link(element) for element in root.all("link"))
    joints = tuple(_joint(element) for element in root.all("joint"))
    if not links:
        raise refused("", None, "is a URDF file without links", str(path))
    return UrdfFile(root.attributes.get("name", ""), links, joints)


def _link(element: XmlElement) -> UrdfLink:
    inertial = element.first("inertial")
    shapes = [_shape(visual) for visual in element.all("visual")]
    return UrdfLink(
        element.text("name"),
        None if inertial is None else _inertial(inertial),
        tuple(shape for shape in shapes if shape is not None),
    )


def _inertial(element: XmlElement) -> UrdfInertial:
    mass = element.first("mass")
    moments = element.first("inertia")
    inertia = np.zeros(9)
    if moments is not None:
        inertia = np.array([moments.number(name, 0.0) for name in MOMENTS])
    value = 0.0 if mass is None else mass.number("value", 0.0)
    return UrdfInertial(_place(element), float(value or 0.0), inertia.reshape(3, 3))


def _shape(element: XmlElement) -> UrdfShape | None:
    """None where nothing is drawn, or a shape that is not known."""
    geometry = element.first("geometry")
    place = _place(element)
    for solid in () if geometry is None else geometry.children:
        if solid.tag == "mesh":
            scale = solid.numbers("scale", 3) or [1.0, 1.0, 1.0]
            return UrdfShape(place, "mesh", tuple(scale), solid.text("filename"))
        if solid.tag == "box":
            sides = solid.numbers("size", 3) or [0.0, 0.0, 0.0]
            return UrdfShape(place, "box", tuple(sides))
        if solid.tag in ("cylinder", "sphere"):
            radius = solid.number("radius", 0.0) or 0.0
            length = solid.number("length", 0.0) or 0.0
            return UrdfShape(place, solid.tag, (radius, length))
    return None


def _joint(element: XmlElement) -> UrdfJoint:
    axis = element.first("axis")
    direction = None if axis is None else axis.numbers("xyz", 3)
    return UrdfJoint(
        name=element.text("name"),
        type=element.text("type"),
        parent=_linked(element, "parent"),
        child=_linked(element, "child"),
        place=_place(element),
        axis=np.array(direction or X_AXIS),
        limit=_limit(element.first("limit")),
        friction=_friction(element.first("dynamics")),
        mimic=_mimic(element.first("mimic")),
    )


def _linked(joint: XmlElement, tag: str) -> str:
    element = joint.first(tag)
    if element is None:
        raise joint.refusal("", None, f"a joint needs its <{tag} link=...>")
    return element.text("link")


def _limit(element: XmlElement | None) -> UrdfLimit | None:
    if element is None:
        return None
    lower, upper = element.number("lower"), element.number("upper")
    return UrdfLimit(lower, upper, element.number("effort", 0.0) or 0.0)


def _friction(element: XmlElement | None) -> tuple[float, float] | None:
    if element is None:
        return None
    viscous, coulomb = element.number("damping", 0.0), element.number("friction", 0.0)
    return viscous or 0.0, coulomb or 0.0


def _mimic(element: XmlElement | None) -> UrdfMimic | None:
    if element is None:
        return None
    multiplier, offset = element.number("multiplier", 1.0), element.number("offset")
    assert multiplier is not None
    return UrdfMimic(element.text("joint"), multiplier, offset or 0.0)


def _place(element: XmlElement) -> Frame:
    """The frame of an element's <origin>; where the frames coincide none is written."""
    origin = element.first("origin")
    if origin is None:
        return AT_HOME
    turn = origin.numbers("rpy", 3) or [0.0, 0.0, 0.0]
    position = origin.numbers("xyz", 3) or [0.0, 0.0, 0.0]
    return np.asarray(from_rpy(turn)), np.array(position)
