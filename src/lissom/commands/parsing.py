"""Text of a command line as data: `0,1.57`, `90 deg`, `12,8`, `zeroed:upper/tip.y`, `0.1:200:1000`, `key=value`.

What cannot be read is refused with the option, the text and what is accepted; the command then exits with code 2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..analyse.modes.map_axis import MapAxis
from ..describe import DescriptionError, Link, Problem, Robot, parse_assignment
from ..files.document import parse_document
from ..files.errors import refused
from ..files.quantity import Quantity

# Units by kind of joint.
POSITION = {"revolute": "rad", "prismatic": "m"}
SPEED = {"revolute": "rad/s", "prismatic": "m/s"}
ACCELERATION = {"revolute": "rad/s^2", "prismatic": "m/s^2"}
FORCE = {"revolute": "N m", "prismatic": "N"}

BAND_POINTS = 800  # frequencies of a band that names no number
MOST_BAND_POINTS = 100_000


@contextmanager
def option_names(**options: str) -> Iterator[None]:
    """Context in which problems of a parameter are reported with the option that sets it: `picture="--plot"`."""
    try:
        yield
    except DescriptionError as failure:
        problems = []
        for problem in failure.problems:
            # A problem in a file is about a field of that file, whatever its name.
            if problem.file is None and problem.field in options:
                problem = replace(problem, field=options[problem.field])
            problems.append(problem)
        raise DescriptionError(problems) from None


@contextmanager
def readable(option: str, text: str, message: str) -> Iterator[None]:
    """Context in which a text that cannot be read is refused with a message."""
    try:
        yield
    except ValueError:
        raise refused(option, text, message) from None


# --- options that may stand anywhere -------------------------------------------------------------------------------

PACKAGE = "--package"


def without_option(line: Sequence[str], name: str) -> tuple[list[str], list[str]]:
    """A command line without an option that may stand anywhere, and the values that were given for it."""
    rest: list[str] = []
    values: list[str] = []
    words = iter(line)
    for word in words:
        option, equals, text = word.partition("=")
        if option != name:
            rest.append(word)
        else:
            values.append(text if equals else next(words, ""))
    return rest, values


def package_folders(line: Sequence[str]) -> tuple[list[str], dict[str, Path]]:
    """The command line without its `--package NAME=DIR`, and the folders by name.

    Raises:
        DescriptionError: a text that is not a name and a folder.
    """
    rest, texts = without_option(line, PACKAGE)
    folders = {}
    for text in texts:
        name, _, written = text.partition("=")
        try:
            folder = Path(written).expanduser()
            is_there = bool(written) and folder.is_dir()
        except (OSError, ValueError, RuntimeError):
            is_there = False
        if not name or "/" in name or not is_there:
            message = "must be NAME=DIR with a folder that exists: parts=../parts"
            raise refused(PACKAGE, text, message)
        folders[name] = folder
    return rest, folders


# --- changes of a scenario -----------------------------------------------------------------------------------------


def assignments(settings: Sequence[str]) -> dict[str, Any]:
    """Every `key=value` as path and value; all that are wrong are reported together."""
    changes: dict[str, Any] = {}
    problems: list[Problem] = []
    for text in settings:
        try:
            path, value = parse_assignment(text)
            changes[path] = value
        except DescriptionError as failure:
            problems += failure.problems
    if problems:
        raise DescriptionError(problems)
    return changes


def reference_of(text: str) -> Any:
    """`tangent`, `minimum-norm` or `zeroed:upper/tip.y,lower/0.rz` as a scenario writes it."""
    kind, colon, dofs = text.partition(":")
    if kind.strip() != "zeroed" or not colon:
        return text
    return {"zeroed": list(names_of(dofs))}


def modes_of(text: str) -> Any:
    """`12`, `all` or `12,8` as a scenario writes it."""
    message = "must be a whole number, all, or one of these for each link such as 12,8"
    with readable("--modes", text, message):
        parts = [part.strip() for part in text.split(",")]
        counts = [part if part == "all" else int(part) for part in parts]
    return counts if len(counts) > 1 else counts[0]


def names_of(text: str) -> tuple[str, ...]:
    """`upper,lower/tip.fx` as names."""
    parts = [part.strip() for part in text.split(",")]
    return tuple(part for part in parts if part)


# --- numbers -------------------------------------------------------------------------------------------------------


def joint_values(
    robot: Robot,
    option: str,
    text: str,
    units: Mapping[str, str] = POSITION,
    degrees: bool = False,
) -> tuple[float, ...]:
    """Numbers such as `0,1.57` or `90 deg,0`, one for each moving joint; with `degrees`, bare angles are degrees."""
    # Brackets as in YAML are welcome, and not needed.
    listed = text.strip().removeprefix("[").removesuffix("]")
    parts = [part.strip() for part in listed.split(",")]
    joints = _joints(robot, len(parts))
    if len(parts) != len(joints):
        names = ", ".join(link.name for link in joints)
        message = f"must have one number for each moving joint: {len(joints)} ({names}), not {len(parts)}"
        raise refused(option, text, message)
    values = []
    for part, link in zip(parts, joints, strict=True):
        kind = link.joint.type
        value = quantity(option, part, units[kind])
        # A written unit wins over --deg.
        if degrees and units[kind].startswith("rad") and _is_number(part):
            value = math.radians(value)
        values.append(value)
    return tuple(values)


def _joints(robot: Robot, count: int) -> list[Link]:
    """The joints that `count` numbers can be meant for."""
    joints = [link for link in robot.links if link.joint.moves]
    drives = robot.independent
    # Of a closed chain the independent joints are enough: the others follow them.
    if drives is not None and count == len(drives):
        return [link for link in joints if link.name in drives]
    return joints


def quantity(option: str, text: str, unit: str, above: float | None = None) -> float:
    """A number, or a number with a unit, given to an option."""
    # A bare number is in this unit; `Quantity` reads all others with their own.
    given = float(text) if _is_number(text) else text
    try:
        return float(Quantity(unit, above=above).check(given))
    except ValueError as reason:
        raise refused(option, text, str(reason)) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def gains(robot: Robot, option: str, text: str, unit: str) -> float | tuple[float, ...]:
    """`300` for every joint, or `300,200`; also with units, `60 N m/rad,200 N/m`.

    Args:
        robot: the robot.
        option: name of the option.
        text: its text.
        unit: of revolute joints, `or`, of prismatic ones.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1:
        return quantity(option, text, unit)
    joints = [link for link in robot.links if link.joint.moves]
    if len(parts) != len(joints):
        names = ", ".join(robot.joint_names)
        message = f"must be one number, or one for each moving joint: {names}"
        raise refused(option, text, message)
    units = dict(zip(POSITION, unit.split(" or "), strict=True))
    return tuple(
        quantity(option, part, units[link.joint.type])
        for part, link in zip(parts, joints, strict=True)
    )


def numbers_by_name(option: str, texts: Sequence[str]) -> dict[str, float]:
    """Every `finger_joint=0.02` as a name and a number."""
    found = {}
    for text in texts:
        name, _, written = text.partition("=")
        with readable(option, text, "must be JOINT=VALUE, such as finger_joint=0.02"):
            found[name] = float(written)
            if not name or not math.isfinite(found[name]):
                raise ValueError(text)
    return found


def wrenches(option: str, texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Every `lower/tip=0,0,-5,0,0,0` as the name of a node and six numbers."""
    message = "must be NODE=FX,FY,FZ,MX,MY,MZ, such as lower/tip=0,0,-5,0,0,0"
    found = {}
    for text in texts:
        name, _, written = text.partition("=")
        with readable(option, text, message):
            values = tuple(float(part) for part in written.strip("[] ").split(","))
            if not name or len(values) != 6 or not all(map(math.isfinite, values)):
                raise ValueError(text)
        found[name.strip()] = values
    return found


# --- ranges --------------------------------------------------------------------------------------------------------


def _range(text: str) -> tuple[float, float, int | None]:
    """`0.1:200` or `0.1:200:1000` as start, stop and number of points.

    Raises:
        ValueError: it is neither.
    """
    start, stop, *points = text.split(":")
    if len(points) > 1:
        raise ValueError(text)
    return float(start), float(stop), int(points[0]) if points else None


def band(option: str, text: str) -> np.ndarray:
    """`0.1:200` or `0.1:200:1000` as frequencies [Hz], spaced logarithmically."""
    message = "must be LOW:HIGH or LOW:HIGH:POINTS in Hz, such as 0.1:200"
    with readable(option, text, message):
        low, high, points = _range(text)
    points = BAND_POINTS if points is None else points
    # Counted before the frequencies are made.
    if not (0.0 < low < high < math.inf and 2 <= points <= MOST_BAND_POINTS):
        message = (
            f"must be LOW:HIGH with 0 < LOW < HIGH, and 2 to {MOST_BAND_POINTS} points"
        )
        raise refused(option, text, message)
    return np.geomspace(low, high, points)


def axis_of(option: str, text: str) -> MapAxis:
    """`upper=-1.5:1.5:31` as an axis of a map, or `upper=-1.5:1.5` as a range."""
    name, _, numbers = text.partition("=")
    message = "must be NAME=START:STOP:POINTS, such as upper=-1.5:1.5:31"
    with readable(option, text, message):
        start, stop, points = _range(numbers)
        if not (math.isfinite(start) and math.isfinite(stop)):
            raise ValueError(text)
        return MapAxis(name.strip(), start, stop, points)


# --- places of `reduce` --------------------------------------------------------------------------------------------


def places(option: str, text: str) -> dict[str, str]:
    """`inner=1,tip=57` as places by the names of interfaces."""
    found: dict[str, str] = {}
    for part in text.split(","):
        if not part.strip():
            continue
        name, equals, place = part.partition("=")
        if not equals:
            message = "must be name=node, such as inner=1,tip=57 (points and planes: --inner, --tip)"
            raise refused(option, text, message)
        found[name.strip()] = place.strip()
    return found


# --- keys and metrics of `sweep` -----------------------------------------------------------------------------------


def study_axis(option: str, text: str) -> tuple[str, Any]:
    """`payload.mass=0:2:50` or `payload.mass=[0, 1]` as key and axis."""
    key, equals, written = text.partition("=")
    if not equals or not key.strip() or not written.strip():
        message = "must be KEY=START:STOP:COUNT or KEY=[VALUES]: payload.mass=0:2:50"
        raise refused(option, text, message)
    if written.lstrip().startswith(("[", "{")):
        return key.strip(), parse_document(written, file=f"{option} {key}").data
    return key.strip(), written


def study_metric(option: str, text: str) -> Any:
    """`residual_vibration:after=0.5,node=upper/tip` as a metric with its options."""
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    options: dict[str, Any] = {"metric": name}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            message = "must be NAME or NAME:option=value: residual_vibration:after=0.5"
            raise refused(option, text, message)
        options[key.strip()] = parse_document(value.strip()).data
    return options
