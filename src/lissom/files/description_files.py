"""Robot and scenario files: where they are, how they are read with all their errors, how they are written."""

from collections.abc import Container, Mapping
from difflib import get_close_matches
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np
from pydantic import ValidationError

from ..atomic import write_atomically
from .document import END, WHOLE, Document, read_document
from .errors import DescriptionError, Problem, refused_file
from .part import SHAPES, Finding, Part, entry_of, is_list, plain

P = TypeVar("P", bound=Part)

# Stands for an entry that is not there: None may be written in a file.
_NOTHING = object()

SCENARIO = ".scenario.yaml"
STUDY = ".control.yaml"

ROBOT = "robot"
CONTROL_STUDY, SWEEP_STUDY = "control study", "sweep study"
# Commands for files that are no robots, by what such a file is.
READERS = {
    "scenario": "lissom simulate",
    CONTROL_STUDY: "lissom control compare",
    SWEEP_STUDY: "lissom sweep",
}

# Names of the branch that pydantic took among the kinds of sections: no keys of a file.
TAGS = (*SHAPES, "taper")


def library_folder() -> Path:
    """The folder of the robots, scenarios and materials that come with the package."""
    return Path(str(resources.files("lissom.robots")))


def library_names() -> tuple[str, ...]:
    """The robots of the library."""
    files = [file.name for file in library_folder().glob("*.yaml")]
    robots = [name for name in files if not name.endswith((SCENARIO, STUDY))]
    names = [name.removesuffix(".yaml") for name in robots]
    return tuple(sorted(name for name in names if name != "materials"))


def library_scenarios() -> tuple[str, ...]:
    """The scenarios of the library; every robot has one of its own name."""
    return _names_with(SCENARIO)


def library_studies() -> tuple[str, ...]:
    """The comparisons of controllers that the library holds, by the names of their robots."""
    return _names_with(STUDY)


def _names_with(ending: str) -> tuple[str, ...]:
    files = [file.name for file in library_folder().glob(f"*{ending}")]
    return tuple(sorted(name.removesuffix(ending) for name in files))


def library_file(name: str, scenario: bool = False) -> Path:
    """The file of a library robot, or of a library scenario.

    Raises:
        DescriptionError: the library holds no such name; the nearest ones are named.
    """
    names = library_scenarios() if scenario else library_names()
    if name not in names:
        raise _no_file(name, names, "is not in the library")
    ending = SCENARIO if scenario else ".yaml"
    return library_folder() / f"{name}{ending}"


def find_file(name_or_path: str | Path, scenario: bool = False) -> Path:
    """The file of a library name or of a path.

    Raises:
        DescriptionError: there is no such file; the nearest library names are named.
    """
    text = str(name_or_path)
    names = library_scenarios() if scenario else library_names()
    if text in names:
        return library_file(text, scenario)
    return _existing(text, names)


def source_line(source: str, scenario: bool = False) -> str:
    """The comment at the head of a file: what it describes, and after whom."""
    try:
        file = find_file(source, scenario)
        text = file.read_text(encoding="utf-8", errors="replace")
    except (OSError, DescriptionError):
        return ""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("#"):
        return ""
    return first.removeprefix("#").strip()


def find_study(name_or_path: str | Path) -> Path:
    """The file of a comparison of controllers: a name of the library, or a path.

    Raises:
        DescriptionError: there is no such file; the nearest library names are named.
    """
    text = str(name_or_path)
    names = library_studies()
    if text in names:
        return library_folder() / f"{text}{STUDY}"
    return _existing(text, names)


def _existing(text: str, names: tuple[str, ...]) -> Path:
    """The file of a path; the refusal names those of the library that are near."""
    path = Path(text)
    try:
        path = path.expanduser()
        if path.is_file():
            return path
        if path.is_dir():
            reason = "is a folder, not a file"
        else:
            reason = "no such file, and no such name in the library"
    except (OSError, ValueError, RuntimeError) as problem:
        # A home folder that nobody has is a RuntimeError.
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
        found = []
        for detail in failure.errors():
            loc = tuple(detail["loc"])
            finding = Finding(loc, detail["input"], detail["msg"])
            found.append(problem_of(finding, document))
        # Problems without a line, of data that came from no file, stay in the order of the checks.
        found.sort(key=lambda problem: problem.line or 0)
        raise DescriptionError([*others, *found]) from None
    if others:
        raise DescriptionError(others)
    return part


def build_from(cls: type[P], data: Any) -> P:
    """The described part of plain data, as a file would hold it."""
    return build(cls, Document(None, data, {}))


def problem_of(finding: Finding, document: Document) -> Problem:
    """A finding with its line and its dotted path; items of lists appear by their `name` where they have one."""
    here = document.data
    path = []
    words = []
    for step in finding.loc:
        inside = _step(here, step)
        if inside is _NOTHING and step in TAGS:
            continue
        path.append(step)
        words.append(_word(step, inside))
        here = inside
    # A whole mapping as the value would hide the message.
    value = None if isinstance(finding.value, Mapping | Part) else finding.value
    return Problem(
        file=document.file,
        line=document.line(tuple(path)),
        field=".".join(words),
        value=value,
        message=finding.message,
    )


def line_of(file: str | None, field: str) -> int | None:
    """The line of a YAML file in which the entry of a dotted path stands, or the nearest one that holds it."""
    if file is None or not Path(file).is_file() or not field:
        return None
    try:
        document = read_document(Path(file))
    except DescriptionError:
        return None
    path: list[Any] = []
    here = document.data
    for word in field.split("."):
        names = [entry_of(item, "name") for item in here] if is_list(here) else []
        step = names.index(word) if word in names else word
        here = _step(here, step)
        if here is _NOTHING:
            break
        path.append(step)
    return document.line(tuple(path)) if path else None


def _word(step: Any, inside: Any) -> str:
    """Name of a step of a path in messages: items of a list go by their own name."""
    name = entry_of(inside, "name")
    if isinstance(step, int) and isinstance(name, str):
        return name
    return str(step)


def write_description(part: Part | Mapping[str, Any], path: str | Path) -> None:
    """Writes a part, or its plain data, as a YAML file that loads as an equal part."""
    from ruamel.yaml import YAML  # slow to import, and most runs write no description

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None
    yaml.width = 120
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    text = StringIO()
    entries = as_numbers(plain(part))
    yaml.dump({"lissom": 1, **entries}, text)
    whole = f"{WHOLE}\n{text.getvalue()}{END}\n"
    write_atomically(path, lambda file: file.write(whole.encode()))


def as_numbers(value: Any) -> Any:
    """Plain data with every JAX array written as numbers."""
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        return np.asarray(value).tolist()
    if isinstance(value, dict):
        return {key: as_numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [as_numbers(entry) for entry in value]
    # A number that remembers its unit is a number like any other in a file.
    return float(value) if isinstance(value, float) else value


def kind_of_file(name_or_path: str | Path) -> str:
    """What a file or a library name (scenarios first) describes: see `kind_of_keys`."""
    text = str(name_or_path)
    if text in library_scenarios():
        return "scenario"
    path = find_file(name_or_path)
    if path.suffix.lower() == ".urdf":
        return ROBOT
    return _kind_of_data(read_document(path).data)


def kind_of_keys(keys: Container[str]) -> str:
    """`robot`, `scenario`, `control study` or `sweep study`: what a file with these keys at its top describes."""
    if "links" in keys:
        return ROBOT
    if "robot" in keys or "t_end" in keys:
        return "scenario"
    # Only studies name a scenario.
    if "scenario" in keys:
        return CONTROL_STUDY if "controllers" in keys else SWEEP_STUDY
    return ROBOT


def _kind_of_data(data: Any) -> str:
    return kind_of_keys(data) if isinstance(data, Mapping) else ROBOT


def check_kind(document: Document, wanted: str) -> None:
    """Refuses a file of another kind in one sentence, instead of key by key.

    Raises:
        DescriptionError: what the file is, and the command that reads it.
    """
    kind = _kind_of_data(document.data)
    if kind != wanted and kind in READERS:
        message = f"is a {kind}: `{READERS[kind]}` reads it"
        raise refused_file(document.file, message)


def _step(here: Any, step: Any) -> Any:
    if isinstance(here, Mapping):
        return here.get(step, _NOTHING)
    if not is_list(here) or not isinstance(step, int):
        return _NOTHING
    return here[step] if step < len(here) else _NOTHING


def _no_file(name: str, names: tuple[str, ...], reason: str) -> DescriptionError:
    last = name.rpartition("/")[2]
    close = get_close_matches(last, names, n=3, cutoff=0.4) or names
    message = f"{reason}. Library: {', '.join(close)}"
    return DescriptionError([Problem(name, None, "", None, message)])
