"""The reduced link that a robot file names: read, or reduced from matrices; kept while the file stays as it is."""

from functools import lru_cache
from pathlib import Path

from ...describe.fe import FE
from .interface import with_interface
from .link import ReducedLink, load_link, reduced_link, with_modes
from .read import read_fe
from .reduction import Method, Wanted, reduced


def described_link(fe: FE) -> ReducedLink:
    """The link of an `fe` entry."""
    path = fe.path
    interface = None if fe.interface is None else tuple(fe.interface.items())
    return _described(path, path.stat().st_mtime_ns, interface, fe.modes, fe.method)


@lru_cache(maxsize=16)
def _described(
    path: Path, changed: int, interface: tuple | None, modes: int | None, method: Method
) -> ReducedLink:
    if interface is None:
        link = load_link(path)
        return link if modes is None else with_modes(link, modes)
    coupled, joints = with_interface(read_fe(path), dict(interface))
    return reduced_link(
        coupled, joints, reduced(coupled, joints, Wanted(method, modes, checked=0))
    )
