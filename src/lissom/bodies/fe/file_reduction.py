"""A link reduced from the matrices of a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...describe.reduction_names import InterfaceMethod
from .interface import with_interface
from .link_of_elements import reduced_link
from .read import read_fe
from .reduce_elements import FeReduction, reduce_elements
from .reduced_link import ReducedLink


def link_of_file(
    path: Path, interface: Mapping[str, Any], modes: int | None, method: InterfaceMethod
) -> ReducedLink:
    """The link of the matrices in a file, by the interfaces through which it is held."""
    elements = read_fe(path)
    coupled, joints = with_interface(elements, interface)
    reduction = FeReduction(method, modes, checked=0)
    result = reduce_elements(coupled, joints, reduction)
    return reduced_link(coupled, joints, result)
