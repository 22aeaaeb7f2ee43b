"""Whether the links of a robot have what geometric stiffening needs: second-order displacements."""

from ..files.errors import refused
from ..files.part import Finding, finding
from .outline import Outline
from .robot import Robot


def stiffening_findings(robot: Outline) -> list[Finding]:
    """Links that `stiffening: geometric` cannot be had for: solids that are known by their matrices alone."""
    if not robot.without_second_order:
        return []
    names = ", ".join(robot.without_second_order)
    message = (
        f"needs second-order displacements of finite elements, and the file of link {names} has none: write it "
        "again by `lissom reduce` from a mesh (.msh, .step, .geo) with --material, describe the link as a beam, or "
        "set stiffening: none"
    )
    return [finding(message, "stiffening", value="geometric")]


def check_stiffening(robot: Robot) -> None:
    """Refuse a robot whose links cannot be stiffened.

    Raises:
        DescriptionError: with the field `stiffening`.
    """
    for found in stiffening_findings(robot.outline):
        raise refused("stiffening", found.value, found.message)
