"""The robot or scenario of a library name, of a file, of the result of an earlier run, or the data itself."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..describe import (
    DescriptionError,
    Problem,
    Robot,
    Scenario,
    library_names,
    library_scenarios,
)
from ..describe.run_keys import run_only
from ..files.array_file import ArrayFileError
from ..files.description_files import kind_of_file
from ..files.document import Document
from ..files.errors import refused
from ..files.hdf5_checksum import SIGNATURE
from ..files.named_files import with_named_files
from ..files.result_check import check_result_file
from ..solve.arguments import ArgumentError

# A robot or a scenario: a library name, a file, or the data itself.
Source = str | Robot | Scenario


def scenario_of(source: Source, changes: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario of a library name, of a scenario, robot or result file, with changes.

    Args:
        source: a library scenario comes before a library robot of the same name.
        changes: values by dotted path, see `Scenario.replace`.
    """
    if isinstance(source, str) and is_result(source):
        scenario = _recorded_scenario(source)
    else:
        scenario = scenario_from(source)
    return scenario.replace(changes) if changes else scenario


def scenario_from(scenario: Any) -> Scenario:
    """The scenario itself, or that of a name, a file or data; of a robot, 1 s under gravity from rest."""
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Robot):
        return Scenario(robot=scenario)
    if isinstance(scenario, str | Path):
        return Scenario.load(scenario)
    if isinstance(scenario, Mapping):
        return Scenario.from_dict(scenario)
    message = "must be a Scenario, a name of the library, the path of a file, or data"
    raise ArgumentError("scenario", scenario, message)


def robot_of(source: Source, changes: Mapping[str, Any] | None = None) -> Scenario:
    """The robot of a library name or file, as a scenario at rest; of a scenario, its robot, choices and initial q.

    Changes that only a simulation reads are refused rather than ignored.
    """
    unused = run_only(changes or {})
    if unused:
        message = "only `lissom simulate` uses this"
        raise DescriptionError(
            [Problem(None, None, path, None, message) for path in unused]
        )
    if isinstance(source, str) and _is_robot(source):
        source = Robot.load(source)
    return scenario_of(source, changes)


def runs_from_rest(source: Source) -> bool:
    """True if a source is a bare robot, that `simulate` lets fall from rest."""
    if not isinstance(source, str):
        return isinstance(source, Robot)
    if is_result(source) or source in library_scenarios():
        return False
    return kind_of_file(source) == "robot"


def _is_robot(source: str) -> bool:
    """True if a name or file describes a robot alone; a library robot comes before the scenario of its name."""
    if is_result(source):
        return False
    return source in library_names() or kind_of_file(source) == "robot"


# --- result files --------------------------------------------------------------------------------------------------


def is_result(source: str | Path) -> bool:
    """True if a source is the result file of a run, recognised by its first bytes."""
    try:
        with open(source, "rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except (OSError, ValueError):
        # No such file, or a name that no file can have (with a zero byte).
        return False


def _recorded_scenario(source: str) -> Scenario:
    """The scenario that a result file records."""
    import xarray as xr

    try:
        check_result_file(source)
    except ArrayFileError as failure:
        raise refused(failure.field, None, failure.message, file=source) from None
    try:
        with xr.open_dataset(source, engine="h5netcdf") as data:
            recorded = json.loads(data.attrs["scenario"])
            version = str(data.attrs.get("lissom", ""))
    except (OSError, ValueError, KeyError, TypeError):
        message = "is not a result of lissom: it records no scenario"
        raise refused("", None, message, file=source) from None
    if not recorded:
        message = "this run was set up in Python: its file records no scenario"
        raise refused("scenario", None, message, file=source)
    document = Document(source, recorded, {})
    recorded = with_named_files(document, Path(source).parent).data
    of_old = version.startswith("0.1.")
    try:
        return (Scenario.of_version_0_1 if of_old else Scenario.from_dict)(recorded)
    except DescriptionError as failure:
        problems = [replace(problem, file=source) for problem in failure.problems]
        raise DescriptionError(problems) from None
