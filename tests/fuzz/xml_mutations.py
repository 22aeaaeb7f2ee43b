"""URDF files broken as trees: elements missing, doubled, moved and renamed, attributes changed."""

from copy import deepcopy
from random import Random
from xml.etree import ElementTree

from .text_mutations import NUMBERS

WORDS = ("", "x", "base", "revolute", "planar", "floating", "1 2", "1 2 3 4", "\u202e")


def mutated_xml(text: bytes, random: Random) -> bytes:
    """The document after one or several mutations."""
    root = ElementTree.fromstring(text)
    for _ in range(random.choice((1, 1, 2, 5))):
        parents = [element for element in root.iter() if len(element)]
        if parents:
            parent = random.choice(parents)
            _change(parent, random.randrange(len(parent)), random)
    return ElementTree.tostring(root)


def _change(parent: ElementTree.Element, k: int, random: Random) -> None:
    child = parent[k]
    action = random.randrange(5)
    if action == 0:
        parent.remove(child)
    elif action == 1:
        parent.append(deepcopy(child))
    elif action == 2:
        child.tag = random.choice(("link", "joint", "mass", "mimic", "x"))
    elif child.attrib:
        name = random.choice(sorted(child.attrib))
        number = random.choice(NUMBERS).decode()
        child.attrib[name] = random.choice((number, *WORDS))
        if action == 3:
            del child.attrib[name]
