"""Robots of random structure and size: trees, rings of links, prismatic joints, links of finite elements."""

from copy import deepcopy
from pathlib import Path

import numpy as np

import lissom
from lissom import Robot

ROBOTS = Path(lissom.__file__).parent / "robots"
# An aluminium arm of tetrahedra, 0.35 m long, reduced.
FE_FILE = str(ROBOTS / "solid-arm.npz")


def random_tree(seed: int, links: int = 4, fe: bool = False) -> Robot:
    """Links on random parents, by random joints: revolute, prismatic and fixed; beams and rigid links."""
    random = np.random.default_rng(seed)
    names = [f"link-{i}" for i in range(links)]
    entries, tips = [], []
    for i in range(links):
        # On the ground or on any link before it.
        parent = -1 if i == 0 else int(random.integers(-1, i))
        entry = {"name": names[i], "joint": _joint(random)}
        entry["parent"] = "ground" if parent < 0 else names[parent]
        at = _vector(random, 0.3) if parent < 0 else tips[parent]
        entry["joint"]["origin"] = {"xyz": list(at), "rpy": _vector(random, 0.8)}
        if fe and i == links - 1:
            entry["fe"] = {"file": FE_FILE}
            tips.append(None)
        elif random.random() < 0.75:
            tip = _vector(random, 0.5)
            entry["beam"] = _beam(random, tip)
            tips.append(tip)
        else:
            tip = _vector(random, 0.3)
            entry["rigid"] = _rigid(random, tip)
            tips.append(tip)
        entries.append(entry)
    gravity = _vector(random, 9.0)
    data = {"lissom": 1, "name": f"tree-{seed}", "gravity": gravity, "links": entries}
    return Robot.from_dict(data)


def random_loop(name: str, seed: int) -> Robot:
    """A closed chain of the library with every length, section and mass changed at random, under a random weight."""
    random = np.random.default_rng(seed)
    data = Robot.load(name).to_dict()
    weight = random.uniform(-9.0, 9.0, 3)
    data["gravity"] = [*weight[:2], 0.0 if data.get("planar") else weight[2]]
    for link in data["links"]:
        _change(random, link)
    # A loop that ends on the tip of a link still does.
    tips = {
        link["name"]: link["beam"]["path"][-1]
        for link in data["links"]
        if "beam" in link
    }
    for loop in data["loops"]:
        if loop.get("to") in tips:
            loop["at"] = tips[loop["to"]]
    return Robot.from_dict(data)


def with_other_numbers(data: dict, seed: int) -> Robot:
    """A robot of the same structure: other sections, materials, masses, axes, angles, friction, damping and weight."""
    random = np.random.default_rng(seed)
    data = _other_numbers(deepcopy(data), random)
    data["gravity"] = _vector(random, 9.0)
    return Robot.from_dict(data)


# Mappings and lists whose numbers keep their proportions.
SCALED = ("section", "inertia", "friction", "damping", "motor")
TURNED = ("axis", "rpy", "com", "up")
NUMBERS = ("E", "density", "mass", "ratio")


def _other_numbers(value, random, key=""):
    if key in SCALED:
        return _scaled(value, random.uniform(0.8, 1.25))
    if key in TURNED:
        return [part + random.uniform(-0.1, 0.1) * _size(value) for part in value]
    if key in NUMBERS and isinstance(value, float | int):
        return value * random.uniform(0.8, 1.25)
    if isinstance(value, dict):
        return {
            name: _other_numbers(entry, random, name) for name, entry in value.items()
        }
    if isinstance(value, list):
        return [_other_numbers(entry, random) for entry in value]
    return value


def _size(vector) -> float:
    return float(np.linalg.norm(vector))


def _scaled(value, factor: float):
    if isinstance(value, dict):
        return {name: _scaled(entry, factor) for name, entry in value.items()}
    if isinstance(value, list):
        return [_scaled(entry, factor) for entry in value]
    is_number = isinstance(value, float | int) and not isinstance(value, bool)
    return value * factor if is_number else value


def _change(random, link) -> None:
    def scaled(values):
        return (random.uniform(0.93, 1.07) * np.asarray(values)).tolist()

    beam, rigid = link.get("beam"), link.get("rigid")
    if beam is not None:
        beam["path"] = scaled(beam["path"])
        material = beam["material"]
        material["density"] = material["density"] * random.uniform(0.7, 1.4)
        beam["elements"] = 2
    elif rigid is not None and rigid.get("mass"):
        rigid["mass"] = rigid["mass"] * random.uniform(0.7, 1.4)


def _vector(random, size: float) -> list[float]:
    """Never zero, never along an axis."""
    sign = random.choice([-1.0, 1.0], 3)
    return (size * sign * random.uniform(0.3, 1.0, 3)).tolist()


def _joint(random) -> dict:
    kind = random.choice(["revolute", "revolute", "prismatic", "fixed"])
    joint = {"type": str(kind)}
    if kind != "fixed":
        joint["axis"] = _vector(random, 1.0)
        joint["motor"] = {"inertia": 1e-3, "ratio": float(random.uniform(1.0, 5.0))}
    return joint


def _beam(random, tip) -> dict:
    y, z = random.uniform(0.008, 0.02, 2)
    return {
        "path": [[0.0, 0.0, 0.0], tip],
        "section": {"shape": "rectangle", "y": float(y), "z": float(z)},
        "up": _vector(random, 1.0),
        "material": {"E": 7.0e10, "nu": 0.31, "density": 2700.0},
        "elements": 1,
    }


def _rigid(random, tip) -> dict:
    return {
        "mass": float(random.uniform(0.3, 2.0)),
        "com": [0.4 * part for part in tip],
        "inertia": [2.0e-3, 3.0e-3, 2.5e-3, 2e-4, -3e-4, 1e-4],
        "tip": tip,
    }


def in_another_order(robot: Robot, seed: int) -> Robot:
    """The same tree with its links in a random order of the file, each still after the one that carries it."""
    random = np.random.default_rng(seed)
    data = robot.to_dict()
    left = data["links"]
    for i, link in enumerate(left):
        link.setdefault("parent", left[i - 1]["name"] if i > 0 else "ground")
    placed: list[dict] = []
    while left:
        standing = {"ground", *(link["name"] for link in placed)}
        ready = [link for link in left if link["parent"] in standing]
        chosen = ready[int(random.integers(len(ready)))]
        left.remove(chosen)
        placed.append(chosen)
    data["links"] = placed
    return Robot.from_dict(data)
