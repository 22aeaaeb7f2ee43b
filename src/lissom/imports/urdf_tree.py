"""The links of a URDF file as a tree: from its base to the tips that are chosen."""

from collections.abc import Sequence
from typing import NamedTuple

from ..files.errors import nearest, refused
from .urdf_file import UrdfFile, UrdfJoint, UrdfLink

MOST_TIPS = 12  # in a refusal


class UrdfTree(NamedTuple):
    """A URDF whose links are known to form a tree."""

    links: dict[str, UrdfLink]
    joint_to: dict[str, UrdfJoint]  # by child
    children: dict[str, list[UrdfJoint]]  # by parent
    base: str


def tree_of(urdf: UrdfFile, file: str) -> UrdfTree:
    """The tree of the links of a URDF file.

    Raises:
        DescriptionError: joints to links that are not there, a loop, or several bases.
    """
    links = {link.name: link for link in urdf.links}
    joint_to: dict[str, UrdfJoint] = {}
    children: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    for joint in urdf.joints:
        if joint.parent not in links or joint.child not in links:
            message = "connects a link that does not exist"
            raise refused(joint.name, None, message, file)
        if joint.child in joint_to:
            first = joint_to[joint.child].name
            message = (
                f"carries link {joint.child!r} as joint {first!r} does: a loop, but a URDF must be a tree. Remove "
                "one of them, and close the chain with `loops` in the robot file"
            )
            raise refused(joint.name, None, message, file)
        joint_to[joint.child] = joint
        children[joint.parent].append(joint)
    bases = [name for name in links if name not in joint_to]
    if not bases:
        message = "the links form a ring: a URDF is a tree"
        raise refused(next(iter(links)), None, message, file)
    tree = UrdfTree(links, joint_to, children, bases[0])
    _check_whole(tree, bases, file)
    return tree


def _check_whole(tree: UrdfTree, bases: list[str], file: str) -> None:
    """Refuses several bases, and links in a ring."""
    if len(bases) > 1:
        message = f"have no parent: a URDF has one base, these are {len(bases)}"
        raise refused(", ".join(bases), None, message, file)
    reached = below(tree, tree.base)
    for name in tree.links:
        if name not in reached:
            message = "the links form a ring: a URDF is a tree"
            raise refused(name, None, message, file)


def below(tree: UrdfTree, link: str) -> list[str]:
    """The link and all that it carries, parents first."""
    found = [link]
    for name in found:
        found += [joint.child for joint in tree.children[name]]
    return found


def links_to(tree: UrdfTree, tips: Sequence[str]) -> set[str]:
    """Links on the ways from the base to the tips, the base among them."""
    kept = {tree.base}
    for tip in tips:
        link = tip
        while link != tree.base:
            kept.add(link)
            link = tree.joint_to[link].parent
    return kept


def chosen_tips(tree: UrdfTree, tips: Sequence[str], file: str) -> list[str]:
    """The tips themselves, or the only one there is.

    Raises:
        DescriptionError: no such link, or several ends and none is chosen.
    """
    for tip in tips:
        if tip not in tree.links:
            guess = nearest(tip, tree.links) or "."
            message = f"no such link{guess} Links: {', '.join(tree.links)}"
            raise refused("tip", tip, message, file)
        if tip == tree.base:
            message = "is the base: there is no joint to it"
            raise refused("tip", tip, message, file)
    if tips:
        return list(tips)
    ends = [name for name in tree.links if not tree.children[name]]
    if ends == [tree.base]:
        message = "is the base: there is no joint to it"
        raise refused(tree.base, None, message, file)
    if len(ends) > 1:
        shown = ", ".join(ends[:MOST_TIPS])
        if len(ends) > MOST_TIPS:
            shown += f" and {len(ends) - MOST_TIPS} more"
        message = f"the URDF branches: choose where its chain ends with tip=... (--tip LINK), one or several of {shown}"
        raise refused("tip", None, message, file)
    return ends
