"""Files broken as data: values of every wrong kind, keys missing, added and misspelt, lists too long and too short."""

import json
import math
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

ODD_NUMBERS = (
    0,
    -1,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1e308,
    1e-308,
    5e-324,
    1e30,
    1e-30,
    10**30,
    -0.0,
    2**63,
    0.5,
    1,
    2,
    1000,
)
ODD_VALUES = (
    *ODD_NUMBERS,
    None,
    True,
    False,
    "",
    "x",
    "nan",
    "1 mm",
    "-3 deg",
    "1 parsec",
    "tip",
    "ground",
    "steel",
    "\x1b[31m",
    "a" * 3000,
    "../../../etc/passwd",
    "$HOME",
    [],
    {},
    [0, 0, 0],
    [0, 0, 1],
    [1e200, 1e200, 1e200],
    [math.nan] * 3,
    ["a", 1],
    [[]],
    [[0, 0, 0], [0, 0, 0]],
    {"a": 1},
    {"name": "x"},
    "2026-11-16",
)
ODD_KEYS = ("x", "", "name", "links", "robot", "beam", "fe", "0", "lissom", "E", "type")
Place = tuple[Any, ...]


def mutated_tree(tree: Any, random: Random) -> Any:
    """The data after one or several mutations."""
    tree = deepcopy(tree)
    for _ in range(random.choice((1, 1, 1, 1, 2, 3, 10))):
        mutation = random.choice(MUTATIONS)
        places = list(_places(tree))
        if places:
            mutation(tree, random.choice(places), random)
    return tree


def _places(tree: Any, here: Place = ()) -> Iterator[Place]:
    """Every place below the top."""
    entries = _entries(tree)
    for key, value in entries:
        yield (*here, key)
        yield from _places(value, (*here, key))


def _entries(tree: Any) -> list[tuple[Any, Any]]:
    if isinstance(tree, dict):
        return list(tree.items())
    return list(enumerate(tree)) if isinstance(tree, list) else []


def _holder(tree: Any, place: Place) -> Any:
    for key in place[:-1]:
        tree = tree[key]
    return tree


def replace(tree: Any, place: Place, random: Random) -> None:
    """Another value."""
    _holder(tree, place)[place[-1]] = deepcopy(random.choice(ODD_VALUES))


def scale(tree: Any, place: Place, random: Random) -> None:
    """A number far too large, far too small, or of the other sign; anything else becomes an odd number."""
    holder = _holder(tree, place)
    value = holder[place[-1]]
    if isinstance(value, int | float) and not isinstance(value, bool):
        factor = random.choice((-1, 0, 0.1, 3, 1e3, 1e-3, 1e9, 1e-9, 1e150, 1e-150))
        holder[place[-1]] = value * factor
    else:
        holder[place[-1]] = random.choice(ODD_NUMBERS)


def drop(tree: Any, place: Place, random: Random) -> None:
    """Nothing there."""
    del _holder(tree, place)[place[-1]]


def misspell(tree: Any, place: Place, random: Random) -> None:
    """The value under another key."""
    holder = _holder(tree, place)
    value = holder.pop(place[-1])
    key = str(place[-1])
    wrong = random.choice((key + "s", key[1:], key.upper(), *ODD_KEYS))
    if isinstance(holder, dict):
        holder[wrong] = value
    else:
        holder.insert(0, value)


def add(tree: Any, place: Place, random: Random) -> None:
    """Something more: another key, or an entry twice."""
    holder = _holder(tree, place)
    value = deepcopy(random.choice((holder[place[-1]], *ODD_VALUES)))
    if isinstance(holder, dict):
        holder[random.choice(ODD_KEYS)] = value
    else:
        holder.insert(random.randrange(len(holder) + 1), value)


def exchange(tree: Any, place: Place, random: Random) -> None:
    """Two values change places."""
    holder = _holder(tree, place)
    other = random.choice([key for key, _ in _entries(holder)])
    here = place[-1]
    holder[here], holder[other] = holder[other], holder[here]


def wrap(tree: Any, place: Place, random: Random) -> None:
    """A value in a list, or very deep in one."""
    holder = _holder(tree, place)
    for _ in range(random.choice((1, 1, 1, 40, 80))):
        holder[place[-1]] = [holder[place[-1]]]


MUTATIONS = (
    replace,
    replace,
    replace,
    scale,
    scale,
    drop,
    drop,
    misspell,
    add,
    exchange,
    wrap,
)


def yaml_text(value: Any, depth: int = 0) -> str:
    """Data as YAML, its outer mappings one key a line."""
    if depth < 3 and isinstance(value, dict) and value:
        lines = []
        for key, entry in value.items():
            nested = depth < 2 and isinstance(entry, dict) and entry
            gap = "\n" if nested else " "
            lines.append(
                f"{'  ' * depth}{_scalar(key)}:{gap}{yaml_text(entry, depth + 1)}"
            )
        return "\n".join(lines)
    return _flow(value)


def _flow(value: Any) -> str:
    # Lists of lists of lists, as deep as they come: no recursion.
    opened = 0
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
        opened += 1
    if isinstance(value, dict):
        pairs = [f"{_scalar(key)}: {_flow(entry)}" for key, entry in value.items()]
        text = "{" + ", ".join(pairs) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(_flow(entry) for entry in value) + "]"
    else:
        text = _scalar(value)
    return "[" * opened + text + "]" * opened


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else str(value).replace("inf", ".inf")
    return repr(value)
