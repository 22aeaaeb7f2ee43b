"""Packages whose functions are compiled; programs on disk are reused as long as all their sources are unchanged."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Client(NamedTuple):
    """A package whose functions are compiled."""

    name: str  # as in `__module__` of its functions and classes
    folder: Path  # of its sources
    libraries: frozenset[str]  # that its functions call; known by their versions


_clients: dict[str, Client] = {}


def add_client(name: str, folder: Path, libraries: Iterable[str] = ()) -> None:
    """Programs made of the functions of this package may be kept on disk, under a digest of its sources.

    Args:
        name: of the package.
        folder: of its sources; those below it count too.
        libraries: other packages that its functions call, or whose classes stand in their arguments. Programs on disk
            are stale once the version of one of them changes.
    """
    _clients[name] = Client(name, folder, frozenset(libraries))


def client_folders() -> tuple[Path, ...]:
    """Folders of the sources of all clients."""
    return tuple(sorted(client.folder for client in _clients.values()))


def client_libraries() -> list[str]:
    """Libraries that clients name."""
    return sorted(frozenset().union(*[one.libraries for one in _clients.values()]))


def known_packages() -> frozenset[str]:
    """Clients, and the libraries that they name."""
    return frozenset(_clients).union(client_libraries())
