"""Robot and scenario files: where they are, how they are read with all their errors, how they are written."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np
from pydantic import ValidationError
from ruamel.yaml import YAML

from .document import Document, read_document
from .errors import DescriptionError, Problem
from .part import Finding, Part, plain

P = TypeVar("P", bound=Part)
_NOTHING = object()
SCENARIO = ".scenario.yaml"
TAGS = (
    "rectangle",
    "circle",
    "tube",
    "box",
    "general",
    "taper",
    "uniform",
)  # pydantic names the branch it took


def library_folder() -> Path:
    """The folder of the robots, scenarios and materials that come with the package."""
    return Path(str(resources.files("lissom.robots")))


def library_names() -> tuple[str, ...]:
    """The robots of the library."""
    names = (
        f.name.removesuffix(".yaml")
        for f in library_folder().glob("*.yaml")
        if not f.name.endswith(SCENARIO)
    )
    return tuple(sorted(name for name in names if name != "materials"))


def library_scenarios() -> tuple[str, ...]:
    """The scenarios of the library; every robot has one of its own name."""
    return tuple(
        sorted(
            f.name.removesuffix(SCENARIO) for f in library_folder().glob(f"*{SCENARIO}")
        )
    )


def library_file(name: str, scenario: bool = False) -> Path:
    """The file of a library robot, or of a library scenario.

    Raises:
        DescriptionError: the library holds no such name; the nearest ones are named.
    """
    names = library_scenarios() if scenario else library_names()
    if name not in names:
        raise _no_file(name, names, "is not in the library")
    return library_folder() / (name + (SCENARIO if scenario else ".yaml"))


def find_file(
    name_or_path: str | Path, scenario: bool = False, folder: Path | None = None
) -> Path:
    """The file of a library name or of a path (relative to `folder`, by default the current one).

    Raises:
        DescriptionError: there is no such file; the nearest library names are named.
    """
    text = str(name_or_path)
    names = library_scenarios() if scenario else library_names()
    if text in names:
        return library_file(text, scenario)
    path = (folder or Path()) / Path(text).expanduser()
    try:
        if path.is_file():
            return path
        reason = (
            "is a folder, not a file"
            if path.is_dir()
            else "no such file, and no such name in the library"
        )
    except (OSError, ValueError) as problem:
        reason = f"cannot be opened: {problem}"
    raise _no_file(text, names, reason)


def build(cls: type[P], document: Document, others: tuple[Problem, ...] = ()) -> P:
    """The described part in a document.

    Raises:
        DescriptionError: every problem of the document, in the order of its lines, and `others` before them.
    """
    try:
        part = cls.model_validate(document.data)
    except ValidationError as failure:
        found = [
            placed(Finding(tuple(d["loc"]), d["input"], d["msg"]), document)
            for d in failure.errors()
        ]
        raise DescriptionError(
            [*others, *sorted(found, key=lambda problem: problem.line or 0)]
        ) from None
    if others:
        raise DescriptionError(others)
    return part


def placed(finding: Finding, document: Document) -> Problem:
    """A finding with its line and its dotted path; items of lists appear by their `name` where they have one."""
    here, path, words = document.data, [], []
    for step in finding.loc:
        inside = _step(here, step)
        if inside is _NOTHING and step in TAGS:
            continue
        named = (
            isinstance(inside, Mapping)
            and isinstance(step, int)
            and isinstance(inside.get("name"), str)
        )
        words.append(inside["name"] if named else str(step))
        path.append(step)
        here = inside
    value = None if isinstance(finding.value, Mapping | Part) else finding.value
    return Problem(
        document.file,
        document.line(tuple(path)),
        ".".join(words),
        value,
        finding.message,
    )


def write(part: Part, path: str | Path) -> None:
    """Writes a part as a YAML file that loads as an equal part."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None
    yaml.width = 120
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    text = StringIO()
    yaml.dump({"lissom": 1, **concrete(plain(part))}, text)
    Path(path).write_text(text.getvalue(), encoding="utf-8")


def concrete(value: Any) -> Any:
    """Plain data with every JAX array written as numbers."""
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        return np.asarray(value).tolist()
    if isinstance(value, dict):
        return {key: concrete(entry) for key, entry in value.items()}
    return [concrete(entry) for entry in value] if isinstance(value, list) else value


def kind_of_file(name_or_path: str | Path) -> str:
    """`robot` or `scenario`: what a file or a library name (scenarios first) describes."""
    text = str(name_or_path)
    if text in library_scenarios():
        return "scenario"
    path = find_file(name_or_path)
    if path.suffix.lower() == ".urdf":
        return "robot"
    data = read_document(path).data
    is_scenario = (
        isinstance(data, Mapping)
        and "links" not in data
        and ("robot" in data or "t_end" in data)
    )
    return "scenario" if is_scenario else "robot"


def _step(here: Any, step: Any) -> Any:
    if isinstance(here, Mapping):
        return here.get(step, _NOTHING)
    if isinstance(here, list | tuple) and isinstance(step, int) and step < len(here):
        return here[step]
    return _NOTHING


def _no_file(name: str, names: tuple[str, ...], reason: str) -> DescriptionError:
    close = get_close_matches(name, names, n=3, cutoff=0.4) or names
    return DescriptionError(
        [Problem(name, None, "", None, f"{reason}. Library: {', '.join(close)}")]
    )
