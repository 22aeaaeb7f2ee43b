"""Valid files to be broken: the library's and these tests' own, and how each of them is opened."""

import functools
import tempfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from ruamel.yaml import YAML

from arms import ARM4, ARM6
from bodies.fe_decks import CUBE_MESH, DECK, abaqus_lines, dmig, grid_cards, one_beam
from helpers import CRANE, MIXED
from lissom.files.description_files import SCENARIO, library_folder
from robot_features import FEATURES
from sampled_laws import DESCRIBED, MOTION, SAMPLE
from urdf_arm import BODY, urdf_text

from . import doors
from .array_mutations import mutated_arrays, packed
from .tree_mutations import mutated_tree, yaml_text
from .xml_mutations import mutated_xml

Remake = Callable[[Random], bytes]


class Original(NamedTuple):
    """A valid file."""

    label: str  # what kind of file it is
    name: str
    data: bytes
    door: Callable[[Path], Any]  # opens it, and what lies behind it
    remake: Remake | None = None  # the file broken as data
    companions: Mapping[str, bytes] = {}  # files beside it


@functools.cache
def originals() -> tuple[Original, ...]:
    """All of them."""
    return (
        *library_files(),
        *own_robots(),
        *studies_and_laws(),
        *fe_files(),
        *links_of_robots(),
        *other_files(),
    )


def library_files() -> list[Original]:
    """Robots and scenarios of the library."""
    found = []
    for file in sorted(library_folder().glob("*.yaml")):
        if file.name == "materials.yaml":
            continue
        label = _kind(file.name)
        tree = YAML(typ="safe", pure=True).load(file.read_text())
        found.append(described(label, file.name, tree, file.read_bytes()))
    return found


def _kind(name: str) -> str:
    if name.endswith(SCENARIO):
        return "scenario"
    return "study" if name.endswith(".control.yaml") else "robot"


def described(
    label: str,
    name: str,
    tree: Any,
    data: bytes | None = None,
    companions: Mapping[str, bytes] | None = None,
) -> Original:
    """A file of YAML."""
    remake = functools.partial(_broken_yaml, tree)
    text = yaml_text(tree).encode() if data is None else data
    door = doors.DOORS[label]
    return Original(label, name, text, door, remake, companions or {})


def _broken_yaml(tree: Any, random: Random) -> bytes:
    return yaml_text(mutated_tree(tree, random)).encode()


def own_robots() -> list[Original]:
    """Robots with every feature; a scenario for each formulation."""
    robots = {"mixed": MIXED, "crane": CRANE, "arm-4": ARM4, "arm-6": ARM6}
    for name, feature in FEATURES.items():
        robots[name] = {"lissom": 1, **feature, "name": name}
    found = [robot_with_links(name, tree) for name, tree in robots.items()]
    formulations = ("nonlinear", "erls-fem", "erls-cms", "dual-screw")
    for formulation in formulations:
        tree = _scenario(robots["beam"], formulation)
        found.append(described("scenario", f"{formulation}.yaml", tree))
    return found


def robot_with_links(name: str, tree: Any) -> Original:
    """A robot file, with the files of its links beside it."""
    tree = deepcopy(tree)
    companions = {}
    for link in tree["links"]:
        file = Path((link.get("fe") or {}).get("file", ""))
        if file.is_absolute():
            companions[file.name] = file.read_bytes()
            link["fe"]["file"] = file.name
    return described("robot", f"{name}.yaml", tree, companions=companions)


def _scenario(robot: Any, formulation: str) -> dict[str, Any]:
    return {
        "robot": robot,
        "formulation": formulation,
        "modes": 2,
        "stiffening": "none",
        "initial": {"q": [0.3], "qd": [0.1]},
        "inputs": {
            "torque": {"a": {"t": [0.0, 0.1], "value": [0.0, 1.0]}},
            "wrench": [{"node": "a/tip", "t": [0.0], "value": [[0, 0, 1.0, 0, 0, 0]]}],
        },
        "solver": {"method": "radau", "rtol": 1e-6},
        "t_end": 0.002,
        "output_dt": 0.001,
    }


def studies_and_laws() -> list[Original]:
    """A study of all controllers, and each of them in a file of its own."""
    common = {"sample": SAMPLE, "reference": MOTION}
    scenario = {"robot": "simple-pendulum", "modes": 2, "initial": {"q": [-1.4]}}
    controllers = {kind: {"type": kind, **law} for kind, law in DESCRIBED.items()}
    study = {
        "lissom": 1,
        "scenario": scenario,
        "motion": MOTION,
        "sample": SAMPLE,
        "periods": 3.0,
        "controllers": controllers,
    }
    found = [described("study", "study.yaml", study)] * 6
    for kind, law in controllers.items():
        found.append(described("law", f"{kind}.yaml", {**common, **law}))
    return found


def fe_files() -> list[Original]:
    """Files of finite-element programs: one beam, and a cube of tetrahedra."""
    K, M, points = one_beam()
    nodes = [5, 12]
    arrays = {"K": K, "M": M, "nodes": points, "labels": np.array(nodes)}
    stiffness = abaqus_lines(K, "COORDINATE").encode()
    mass = {"job_MASS1.mtx": abaqus_lines(M, "COORDINATE").encode()}
    matrices = mass | {"job_STIF1.mtx": stiffness}
    deck = {"job.inp": DECK.encode()}
    cards = grid_cards(nodes, points)
    punch = dmig("KAAX", K, nodes) + dmig("MAAX", M, nodes) + cards
    grid = {"beam.bdf": cards.encode()}
    door = doors.fe
    return [
        *[_arrays("fe", f"beam{ending}", arrays, door) for ending in (".npz", ".h5")],
        Original("fe", "job_STIF1.mtx", stiffness, door, None, mass | deck),
        Original("fe", "job.inp", deck["job.inp"], doors.deck, None, matrices),
        Original("fe", "text.op4", _op4(K, M, binary=False), door, None, grid),
        Original("fe", "binary.op4", _op4(K, M, binary=True), door, None, grid),
        Original("fe", "beam.pch", punch.encode(), door),
        Original("fe", "cube.msh", CUBE_MESH.encode(), door),
    ]


def _op4(K: np.ndarray, M: np.ndarray, binary: bool) -> bytes:
    from pyyeti.nastran import op4

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "beam.op4"
        op4.write(str(file), {"kgg": K, "mgg": M}, binary=binary)
        return file.read_bytes()


def _arrays(
    label: str,
    name: str,
    arrays: Mapping[str, np.ndarray],
    door: Callable[[Path], Any],
    companions: Mapping[str, bytes] | None = None,
) -> Original:
    ending = Path(name).suffix

    def remake(random: Random) -> bytes:
        return packed(mutated_arrays(arrays, random), ending)

    return Original(label, name, packed(arrays, ending), door, remake, companions or {})


def links_of_robots() -> list[Original]:
    """The file of a link from finite elements, beside a robot that names it."""
    with np.load(library_folder() / "solid-arm.npz") as file:
        reduced = dict(file)
    K, M, points = one_beam()
    matrices = {"K": K, "M": M, "nodes": points, "labels": np.array([5, 12])}
    plain = {"file": "link.npz"}
    inner_and_tip = {"file": "link.npz", "interface": {"inner": 5, "tip": 12}}
    return [
        _arrays("link", "link.npz", reduced, doors.link, _robot_of_link(plain)),
        _arrays(
            "link", "link.npz", matrices, doors.link, _robot_of_link(inner_and_tip)
        ),
    ]


def _robot_of_link(fe: Any) -> dict[str, bytes]:
    joint = {"type": "revolute", "axis": [0, 1, 0]}
    links = [{"name": "a", "joint": joint, "fe": fe}]
    robot = {"lissom": 1, "name": "solid", "links": links}
    return {"robot.yaml": yaml_text(robot).encode()}


def other_files() -> list[Original]:
    """URDF files, tables of signals, and results of earlier runs."""
    urdf = urdf_text(BODY).encode()
    table = "t,a\n0,0.0\n0.1,1.5\n0.2,-0.5\n"
    inputs = {"torque": {"a": {"file": "table.csv", "column": "a"}}}
    tree = _scenario(FEATURES["beam"] | {"name": "beam"}, "erls-fem") | {
        "inputs": inputs
    }
    beside = {"scenario.yaml": yaml_text(tree).encode()}
    remake = functools.partial(mutated_xml, urdf)
    return [
        *[Original("urdf", "arm.urdf", urdf, doors.robot, remake)] * 6,
        *[Original("table", "table.csv", table.encode(), doors.table, None, beside)]
        * 3,
        Original("result", "run.nc", _result(tree | {"inputs": {}}), doors.result),
    ]


def _result(scenario: Any) -> bytes:
    """What a result file remembers, without its numbers."""
    import json

    import h5py

    file = BytesIO()
    with h5py.File(file, "w") as target:
        target.attrs["scenario"] = json.dumps(scenario)
        target.attrs["lissom"] = "0.2.0"
        target["time"] = np.arange(3.0)
    return file.getvalue()
