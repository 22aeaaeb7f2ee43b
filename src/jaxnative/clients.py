"""Packages whose functions are compiled. Programs on disk are used again as long as the sources of all of them stay."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Client(NamedTuple):
    """A package whose functions are compiled."""

    name: str  # as in `__module__` of its functions and classes
    folder: Path  # of its sources
    libraries: frozenset[str]  # whose classes stand in its arguments; known by version


_clients: dict[str, Client] = {}


def add_client(name: str, folder: Path, libraries: Iterable[str] = ()) -> None:
    """Programs made of the functions of this package may be kept on disk, under a digest of its sources.

    Args:
        name: of the package.
        folder: of its sources; those below it count too.
        libraries: other packages whose classes stand in the arguments of its functions. They are known by their
            versions.
    """
    _clients[name] = Client(name, folder, frozenset(libraries))


def client_folders() -> tuple[Path, ...]:
    """Folders of the sources of all clients."""
    return tuple(sorted(client.folder for client in _clients.values()))


def known_packages() -> frozenset[str]:
    """Clients, and the libraries that they name."""
    return frozenset(_clients).union(*[c.libraries for c in _clients.values()])
