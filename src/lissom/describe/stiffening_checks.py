"""Whether the links of a robot have what geometric stiffening needs: second-order displacements."""

from typing import Any

from .errors import refused
from .part import Finding, finding
from .robot import Robot
from .solids import Solids
from .supported import SUPPORT, Support

INSTEAD = "describe the link as a beam, or say stiffening: none"


def stiffening_findings(
    support: Support, reference: Any, solids: Solids, closed: bool
) -> list[Finding]:
    """Links that `stiffening: geometric` cannot be had for."""
    if solids.without_second_order:
        names = ", ".join(solids.without_second_order)
        message = (
            f"needs second-order displacements of finite elements, and the file of link {names} has none: make it anew "
            f"by `lissom reduce` from a mesh (.msh, .step, .geo) with --material, {INSTEAD}"
        )
        return [finding(message, "stiffening", value="geometric")]
    chosen = reference or support.default_reference
    turned = solids.every if closed or chosen != "tangent" else solids.on_flexible_links
    if support.finite_rotations or not turned:
        return []
    message = (
        f"{support.name} turns link {', '.join(turned)} against the rigid robot, and second-order displacements of "
        f"finite elements are counted from the link's own inner node: use nonlinear, {INSTEAD}"
    )
    return [finding(message, "stiffening", value="geometric")]


def check_stiffening(formulation: str, reference: Any, robot: Robot) -> None:
    """Refuse a robot whose links cannot be stiffened.

    Raises:
        DescriptionError: with the field `stiffening`.
    """
    support, names = SUPPORT[formulation], robot.outline
    for found in stiffening_findings(support, reference, names.solids, names.closed):
        raise refused("stiffening", found.value, found.message)
