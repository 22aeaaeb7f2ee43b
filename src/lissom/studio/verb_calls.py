"""What a worker process does for the routes of verbs."""

import re
from pathlib import Path
from typing import Any

from ..files.named_files import known_packages
from ..runs.sources import robot_of, scenario_of
from ..verbs.declared import request_type, schema_of
from ..verbs.perform import perform
from ..verbs.registry import verb_named, verbs
from ..verbs.spelling import spelled
from ..verbs.verb import NOTHING, SOURCE
from .verb_progress import Watch, reporting

Data = dict[str, Any]


def verb(
    name: str,
    source: Any,
    changes: Data,
    values: Data,
    files: Data | None = None,
    watch: Watch = lambda progress: None,
) -> Data:
    """The answer of a verb.

    Args:
        name: of the verb.
        source: what it is about, as `perform` takes it.
        changes: of the robot and of how it is modelled, by dotted path.
        values: of its parameters, from a browser.
        files: paths that it writes or resumes, by their names at the doors.
        watch: called with its progress.
    """
    found = verb_named(name)
    values = checked_values(name, values) | (files or {})
    with reporting(found, watch) as report:
        return perform(found, source, values, changes, report).to_dict()


def checked_values(name: str, values: Data) -> Data:
    """Values from a browser, as the declarations take them; what was left out stays left out."""
    checked = request_type(verb_named(name), from_browser=True)(**values)
    return {one: getattr(checked, one) for one in checked.model_fields_set}


def check_verb(name: str, source: Any, changes: Data, values: Data) -> None:
    """Nothing, where a verb that is to wait takes its values, and its robot or scenario the changes."""
    checked_values(name, values)
    reads = verb_named(name).reads
    if reads != NOTHING:
        described = scenario_of if reads == SOURCE else robot_of
        described(source, changes)


def declarations() -> Data:
    """Parameters of all verbs, as JSON schemas."""
    return {name: schema_of(verb) for name, verb in verbs().items() if verb.in_studio}


def verb_lines(name: str, source: str, changes: Data, values: Data) -> Data:
    """The command line and the lines of Python that are equivalent to a request."""
    return spelled(verb_named(name), source, changes, values)


def import_robot(file: str, output: str, root: str) -> Data:
    """Writes the robot file of a URDF file, with the packages that lie in the folder `root`."""
    with known_packages(_packages_of(Path(file), Path(root))):
        files = {"file": file, "output": output}
        return perform(verb_named("import"), None, files).to_dict()


def _packages_of(urdf: Path, root: Path) -> dict[str, Path]:
    """Folders of the packages that a URDF file names: one of that name around it, else its own."""
    text = urdf.read_text(encoding="utf-8", errors="replace")
    around = [place for place in urdf.parents if place.is_relative_to(root)]
    packages = {}
    for name in set(re.findall(r"package://([^/\"]+)/", text)):
        named = [place for place in around if place.name == name]
        packages[name] = named[0] if named else urdf.parent
    return packages
