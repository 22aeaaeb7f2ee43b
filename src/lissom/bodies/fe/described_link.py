"""The reduced link that a robot file names: read, or reduced from matrices; cached until the file changes."""

from functools import lru_cache
from pathlib import Path

from ...describe.fe import FE
from ...describe.reduction_names import InterfaceMethod
from .reduced_link import ReducedLink, load_link, with_modes


def described_link(fe: FE) -> ReducedLink:
    """The link of an `fe` entry."""
    path = fe.path
    interface = None
    if fe.interface is not None:
        interface = tuple(fe.interface.items())
    changed = path.stat().st_mtime_ns
    return _described_link(path, changed, interface, fe.modes, fe.method)


# The time of the last change is an argument, so that a file that was rewritten is read again.
@lru_cache(maxsize=16)
def _described_link(
    path: Path,
    changed: int,
    interface: tuple | None,
    modes: int | None,
    method: InterfaceMethod,
) -> ReducedLink:
    if interface is None:
        link = load_link(path)
        return link if modes is None else with_modes(link, modes)
    # Brings scipy.sparse, for which a link that was reduced before has no use.
    from .file_reduction import link_of_file

    return link_of_file(path, dict(interface), modes, method)
