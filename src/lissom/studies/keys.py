"""Keys that a study varies: what they are in a scenario, whether they take their values, and their units."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..describe.control_study import OWN, ControlStudy
from ..describe.robot import Robot
from ..describe.run_keys import run_only
from ..describe.scenario import Scenario
from ..files.errors import DescriptionError, refused
from ..files.part import Part, is_list
from ..files.quantity import Numbers, Quantity

POSE = "initial.q"
ANGLE, LENGTH = "rad", "m"
# What a study varies keys of: a comparison holds a scenario.
Base = Scenario | ControlStudy
NOT_COMPARED = ("t_end", "output_dt", "controller", "record")


def changes_of(
    scenario: Base, keys: Iterable[str], values: Iterable[Any]
) -> dict[str, Any]:
    """Changes of a scenario by dotted path.

    A joint's name alone is its coordinate at the start. A key of several paths, `fore,controller.reference.value.0.2`,
    gives all of them its value.
    """
    changes: dict[str, Any] = {}
    pose = None
    joints = scenario.robot.joint_names
    pairs = zip(keys, values, strict=True)
    for path, value in ((p, value) for key, value in pairs for p in paths_of(key)):
        if not is_joint(scenario, path):
            changes[path] = value
            continue
        pose = pose or list(scenario.initial.q or [0.0] * len(joints))
        pose[joints.index(path)] = value
    if pose is not None:
        changes[POSE] = pose
    return changes


def paths_of(key: str) -> list[str]:
    """The paths that take the value of a key."""
    return [path.strip() for path in key.split(",")]


def is_joint(scenario: Base, key: str) -> bool:
    """True if a key is the name of a joint and not a key of the scenario or the robot."""
    fields = (*OWN, *Scenario.model_fields, *Robot.model_fields)
    return key in scenario.robot.joint_names and key not in fields


def check_key(scenario: Base, analysis: str, key: str, values: Iterable[Any]):
    """Refuses a key that the scenario does not have, or that does not take one of the values.

    Raises:
        DescriptionError: with the key, the value and what is accepted.
    """
    paths = paths_of(key)
    if analysis == "control":
        if any(path.partition(".")[0] in NOT_COMPARED for path in paths):
            message = "a comparison has its own motion, controllers and output times: motion.*, controllers.*, periods"
            raise refused(key, None, message)
    elif analysis != "simulate" and run_only(paths):
        raise refused(key, None, "only simulations use this")
    for value in values:
        try:
            scenario.replace(changes_of(scenario, [key], [value]))
        except DescriptionError as failure:
            first = failure.problems[0]
            shown = first.value if first.value is not None else value
            raise refused(key, shown, first.message) from None


def unit_of_key(scenario: Base, key: str) -> str:
    """Unit of a key in SI, empty where it has none."""
    key = paths_of(key)[0]
    if is_joint(scenario, key):
        kinds = {link.name: link.joint.type for link in scenario.robot.links}
        return LENGTH if kinds[key] == "prismatic" else ANGLE
    words = key.split(".")
    if isinstance(scenario, ControlStudy):
        if words[0] in OWN:
            return _unit(scenario, words)
        scenario = scenario.changed_scenario
    if words[0] not in Scenario.model_fields:
        words = ["robot", *words]
    return _unit(scenario, words)


def _unit(here: Any, words: list[str]) -> str:
    """Unit of the entry at the end of a path through parts and lists."""
    word, *rest = words
    if is_list(here):
        named = {getattr(item, "name", None): item for item in here}
        inside = named.get(word, here[0] if here else None)
        return _unit(inside, rest) if rest and inside is not None else ""
    if isinstance(here, Mapping):
        # The parts of a mapping go by name, by number, or are all alike.
        inside = here.get(word, next(iter(here.values()), None))
        return _unit(inside, rest) if rest and inside is not None else ""
    if not isinstance(here, Part):
        return ""
    fields = type(here).model_fields
    name = next((n for n, f in fields.items() if word in (n, f.alias)), None)
    if name is None:
        return ""
    unit = _declared_unit(fields[name])
    inside = getattr(here, name)
    return unit if unit or not rest else _unit(inside, rest)


def _declared_unit(field: Any) -> str:
    """Unit that a field of a part declares."""
    for entry in _metadata(field.annotation, field.metadata):
        if isinstance(entry, Quantity):
            return entry.unit
        if isinstance(entry, Numbers):
            return entry.each.unit
    return ""


def _metadata(annotation: Any, metadata: Iterable[Any]) -> list[Any]:
    """What the annotation of a field holds beside its type; also of `Annotated[...] | None`."""
    held = [*metadata, *getattr(annotation, "__metadata__", ())]
    for inside in getattr(annotation, "__args__", ()):
        held += _metadata(inside, ())
    return held
