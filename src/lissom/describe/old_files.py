"""Files of version 0.1: what they left out, and meant by it.

From 0.2 on, saved scenarios and results name formulation, basis and modes. Version 0.1 left out what was its default,
and its defaults were others.
"""

from collections.abc import Mapping
from typing import Any

from ..files.part import is_list
from .modes import DEFAULT_MODES

NAMED = ("formulation", "basis", "modes")
FORMULATION = "erls-fem"
BASES = {
    "erls-fem": "nodal",
    "erls-cms": "craig-bampton",
    "dual-screw": "assumed",
    "nonlinear": "assumed",
}


def is_saved_by_0_1(data: Any) -> bool:
    """True for a scenario file as version 0.1 saved it: `lissom` first, the robot inline, and not every choice named.

    Version 0.1 wrote no version. Who writes such a file by hand names formulation, basis and modes, or leaves `lissom`
    out.
    """
    if not isinstance(data, Mapping) or next(iter(data), None) != "lissom":
        return False
    has_robot = isinstance(data.get("robot"), Mapping)
    return has_robot and not set(NAMED) <= set(data)


def of_version_0_1(data: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario of version 0.1 with its formulation, basis and modes written out."""
    formulation = data.get("formulation") or FORMULATION
    basis = data.get("basis") or BASES.get(formulation)
    choices = {"formulation": formulation, "basis": basis}
    if basis == "craig-bampton":
        choices["modes"] = _lowest_free_modes(data.get("modes"))
    return {**data, **choices}


def _lowest_free_modes(modes: Any) -> Any:
    """Modes as 0.1 ranked them: the lowest of the free link."""
    if is_list(modes):
        return [_lowest_free_modes(entry) for entry in modes]
    count = DEFAULT_MODES if modes is None else modes
    return {"count": count, "ranking": "free"}
