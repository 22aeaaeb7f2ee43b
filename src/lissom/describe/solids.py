"""The links of finite elements of a robot, whole or half-valid, by what geometric stiffening asks of them."""

from typing import NamedTuple

from .link_geometry import PartialLinks, parent_of


class Solids(NamedTuple):
    """Links of finite elements, by what geometric stiffening asks of them."""

    every: tuple[str, ...] = ()
    on_flexible_links: tuple[str, ...] = ()  # which these displace and turn
    # Those whose file holds no second-order displacements.
    without_second_order: tuple[str, ...] = ()


def solids_of(links: PartialLinks) -> Solids:
    """The links of finite elements among these."""
    every, turned, bare = [], [], []
    bends: list[bool] = []  # of each link, whether it or a link below it bends
    for i, link in enumerate(links):
        parent = parent_of(links, i)
        on_flexible = parent is not None and parent >= 0 and bends[parent]
        bends.append(on_flexible or link is None or link.rigid is None)
        if link is None or link.fe is None:
            continue
        every.append(link.name)
        if on_flexible:
            turned.append(link.name)
        if not link.fe.has_second_order:
            bare.append(link.name)
    return Solids(tuple(every), tuple(turned), tuple(bare))
