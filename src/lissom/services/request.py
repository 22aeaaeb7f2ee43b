"""What a request asks for, checked before anything is computed: which robot, at which joints, into which files."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from math import radians
from pathlib import Path
from typing import Any

from ..describe import (
    DescriptionError,
    Problem,
    Robot,
    Scenario,
    library_names,
    library_scenarios,
    parse_assignment,
)
from ..describe.errors import refused
from ..describe.files import find_file, kind_of_file
from ..describe.quantity import Quantity

HDF5 = b"\x89HDF\r\n\x1a\n"  # first bytes of a NetCDF-4 file
PICTURE, RESULT, PAGE = (".png", ".pdf", ".svg"), (".nc",), (".html", ".htm")
RUN_ONLY = (
    "t_end",
    "output_dt",
    "solver",
    "inputs",
    "controller",
)  # scenario keys that only a simulation reads


def scenario_of(
    source: str, settings: Sequence[str] = (), options: Mapping[str, Any] | None = None
) -> Scenario:
    """The scenario of a library name, of a scenario, robot or result file, with changes.

    Args:
        source: a library scenario comes before a library robot of the same name.
        settings: `key=value` texts, values in YAML.
        options: further changes by dotted path; `None` changes nothing.
    """
    return changed(
        _recorded(source) if is_result(source) else Scenario.load(source),
        settings,
        options,
    )


def robot_of(
    source: str, settings: Sequence[str] = (), options: Mapping[str, Any] | None = None
) -> Scenario:
    """The robot of a library name or file, as a scenario at rest; of a scenario, its robot, choices and initial q.

    Settings that only a simulation reads are refused rather than ignored.
    """
    idle = [
        path for path, _ in assignments(settings) if path.partition(".")[0] in RUN_ONLY
    ]
    if idle:
        raise DescriptionError(
            [
                Problem("--set", None, path, None, "only `lissom simulate` uses this")
                for path in idle
            ]
        )
    bare = not is_result(source) and (
        source in library_names() or kind_of_file(source) == "robot"
    )
    known = Scenario(robot=Robot.load(source)) if bare else scenario_of(source)
    return changed(known, settings, options)


def runs_from_rest(source: str) -> bool:
    """True if a source is a bare robot, that `simulate` lets fall from rest."""
    return (
        not is_result(source)
        and source not in library_scenarios()
        and kind_of_file(source) == "robot"
    )


def changed(
    scenario: Scenario, settings: Sequence[str], options: Mapping[str, Any] | None
) -> Scenario:
    """The scenario with `key=value` settings and options put in."""
    changes = dict(assignments(settings)) | {
        k: v for k, v in (options or {}).items() if v is not None
    }
    return scenario.replace(changes) if changes else scenario


def assignments(settings: Sequence[str]) -> list[tuple[str, Any]]:
    """Every `key=value` as path and value; all that are wrong are reported together."""
    found, problems = [], []
    for text in settings:
        try:
            found.append(parse_assignment(text))
        except DescriptionError as failure:
            problems += failure.problems
    if problems:
        raise DescriptionError(problems)
    return found


def reference_of(text: str | None) -> Any:
    """`tangent`, `minimum-norm` or `zeroed:upper/tip.y,lower/0.rz` as a scenario writes it."""
    kind, colon, dofs = (text or "").partition(":")
    if kind.strip() == "zeroed" and colon:
        return {"zeroed": [dof.strip() for dof in dofs.split(",") if dof.strip()]}
    return text


def modes_of(text: str | None) -> Any:
    """`12` or `12,8` as a scenario writes it."""
    if text is None:
        return None
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        raise refused(
            "--modes", text, "must be a whole number, or one for each link such as 12,8"
        ) from None
    return counts if len(counts) > 1 else counts[0]


POSITION, FORCE = (
    {"revolute": "rad", "prismatic": "m"},
    {"revolute": "N m", "prismatic": "N"},
)  # units by kind of joint


def joint_values(
    robot: Robot,
    option: str,
    text: str | None,
    units: Mapping[str, str] = POSITION,
    degrees: bool = False,
) -> tuple[float, ...] | None:
    """Numbers such as `0,1.57` or `90 deg,0`, one for each moving joint; with `degrees`, bare angles are degrees."""
    if text is None:
        return None
    parts = [
        part.strip()
        for part in text.strip().removeprefix("[").removesuffix("]").split(",")
    ]
    joints = [link for link in robot.links if link.joint.moves]
    if robot.independent is not None and len(parts) == len(
        robot.independent
    ):  # the others follow
        joints = [link for link in joints if link.name in robot.independent]
    if len(parts) != len(joints):
        names = ", ".join(link.name for link in joints)
        message = f"must have one number for each moving joint: {len(joints)} ({names}), not {len(parts)}"
        raise refused(option, text, message)
    values = [
        quantity(option, part, units[j.joint.type])
        for part, j in zip(parts, joints, strict=True)
    ]
    angles = [
        degrees and j.joint.type == "revolute" and _is_number(p)
        for p, j in zip(parts, joints, strict=True)
    ]
    return tuple(
        radians(value) if turn else value
        for value, turn in zip(values, angles, strict=True)
    )


def quantity(option: str, text: str, unit: str, above: float | None = None) -> float:
    """A number, or a number with a unit, given to an option."""
    try:
        return float(
            Quantity(unit, above=above).check(float(text) if _is_number(text) else text)
        )
    except ValueError as reason:
        raise refused(option, text, str(reason)) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- result files --------------------------------------------------------------------------------------------------


def is_result(source: str) -> bool:
    """True if a source is the file of an earlier run, to be told by its first bytes."""
    try:
        with open(source, "rb") as file:
            return file.read(len(HDF5)) == HDF5
    except (OSError, ValueError):
        return False


def _recorded(source: str) -> Scenario:
    """The scenario that a result file remembers."""
    import xarray as xr

    try:
        with xr.open_dataset(source, engine="h5netcdf") as data:
            recorded = json.loads(data.attrs["scenario"])
    except (OSError, ValueError, KeyError, TypeError):
        raise refused(
            "", None, "is not a result of lissom: it remembers no scenario", file=source
        ) from None
    if not recorded:
        raise refused(
            "scenario",
            None,
            "this run was set up in Python: its file remembers no scenario",
            file=source,
        )
    return Scenario.from_dict(recorded)


# --- output files --------------------------------------------------------------------------------------------------


def check_outputs(outputs: Mapping[str, tuple[str | None, tuple[str, ...]]]) -> None:
    """Refuses output files that could not be written, all of them at once, before the work begins.

    Args:
        outputs: by option, the path (`None` if not asked for) and the endings it may have.
    """
    asked = {
        option: (Path(path), endings)
        for option, (path, endings) in outputs.items()
        if path is not None
    }
    found = [
        (option, path, output_problem(path, endings))
        for option, (path, endings) in asked.items()
    ]
    problems = [
        Problem(None, None, option, str(path), message)
        for option, path, message in found
        if message
    ]
    if problems:
        raise DescriptionError(problems)


def output_problem(path: Path, endings: tuple[str, ...]) -> str | None:
    """Why a file cannot be written, `None` if it can: a trial file is made beside it and taken away."""
    if path.suffix.lower() not in endings:
        return f"the name must end in {' or '.join(endings)}"
    folder = path.parent
    try:
        if not folder.exists():
            return f"the folder {str(folder)!r} does not exist"
        if not folder.is_dir():
            return f"{str(folder)!r} is a file, not a folder"
        if path.is_dir():
            return "is a folder, not a file"
        if path.exists() and not os.access(path, os.W_OK):
            return "the file exists and is write-protected"
        with tempfile.NamedTemporaryFile(
            dir=folder, prefix=f".{path.name}.", suffix=".tmp"
        ):
            return None
    except (OSError, ValueError) as reason:
        return f"cannot be written: {getattr(reason, 'strerror', None) or reason}"


def source_line(source: str, scenario: bool = False) -> str:
    """The comment at the head of a file: what it describes, and after whom."""
    try:
        text = find_file(source, scenario).read_text(encoding="utf-8", errors="replace")
    except (OSError, DescriptionError):
        return ""
    first = text.lstrip().partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""
