"""A dozen structures of robots; robots of one structure differ in numbers alone, so that they share compiled code."""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from arms import ARM6
from helpers import CRANE, MIXED, ZEROED
from lissom import Robot
from random_robots import random_loop, random_tree, with_other_numbers
from robot_features import beam

FIRST_SEED = 100  # of the numbers: those of the test suite come before


class Structure(NamedTuple):
    """A structure."""

    make: Callable[[int], Robot]  # of the seed of its numbers
    closed: bool = False
    has_mesh: bool = False  # a link of finite elements
    zeroed: tuple[str, ...] = ()  # displacements that define an ERLS
    is_small: bool = False  # quick enough to compile for runs in time


def _varied(data: dict, seed: int) -> Robot:
    return with_other_numbers(data, FIRST_SEED + seed)


@cache
def _tree(structure: int, fe: bool = False) -> dict:
    return random_tree(structure, fe=fe).to_dict()


def _varied_tree(structure: int, fe: bool, seed: int) -> Robot:
    return _varied(_tree(structure, fe), seed)


def _loop(name: str, seed: int) -> Robot:
    return random_loop(name, FIRST_SEED + seed)


def _two_links() -> dict:
    """Two beams on tilted axes, the second on a slide, with friction and damping."""
    friction = {"viscous": 0.2, "coulomb": 0.1, "width": 0.3}
    first = beam("a", joint={"axis": [0.2, 0.9, 0.3], "friction": friction})
    second = beam("b", joint={"type": "prismatic", "axis": [0.8, 0.1, 0.5]})
    links = [first, second]
    for link in links:
        link["beam"] = link["beam"] | {"elements": 1}
    damping = {"alpha": 0.4, "beta": 1e-4}
    return {"lissom": 1, "name": "two", "links": links, "damping": damping}


STRUCTURES = {
    "two-links": Structure(partial(_varied, _two_links()), is_small=True),
    "tree-3": Structure(partial(_varied_tree, 3, False)),
    "four-bar": Structure(partial(_loop, "four-bar"), closed=True),
    "mixed": Structure(partial(_varied, MIXED), zeroed=tuple(ZEROED["mixed"])),
    "slider-crank": Structure(partial(_loop, "slider-crank"), closed=True),
    "tree-8": Structure(partial(_varied_tree, 8, False)),
    "crane": Structure(partial(_varied, CRANE), zeroed=tuple(ZEROED["crane"])),
    "five-bar": Structure(partial(_loop, "five-bar"), closed=True),
    "tree-11": Structure(partial(_varied_tree, 11, False)),
    "arm-6": Structure(partial(_varied, ARM6)),
    "spatial-four-bar": Structure(partial(_loop, "spatial-four-bar"), closed=True),
    "fe-tree-3": Structure(partial(_varied_tree, 3, True), has_mesh=True),
    "tree-14": Structure(partial(_varied_tree, 14, False)),
}
