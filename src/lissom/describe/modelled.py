"""How a robot is modelled, as every summary says it: formulation, shapes of the links, elastic modes kept of each."""

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..files.part import is_list, plain
from ..files.summary import count
from .modes import ALL, ModeChoice, default_modes
from .scenario import Scenario
from .supported import SUPPORT


class Modelled(NamedTuple):
    """Formulation, basis and kept modes; as text `nonlinear, craig-bampton, 12 modes`."""

    formulation: str
    basis: str
    # Of each link, as a scenario has them: a number, `all`, a mapping, or a list with one of these for each link.
    kept_modes: Any

    def __str__(self) -> str:
        """Formulation, basis and modes separated by commas; unknown ones are left out."""
        parts = (self.formulation, self.basis, _words(self.kept_modes))
        return ", ".join(part for part in parts if part)


def model_facts(robot: str, model: Modelled) -> dict[str, Any]:
    """The robot of a result and how it is modelled, as every result says it."""
    return {"robot": robot, **model._asdict(), "model": str(model)}


def scenario_model_facts(scenario: Scenario) -> dict[str, Any]:
    """The robot of a scenario and how it is modelled."""
    return model_facts(scenario.robot.name, modelled_scenario(scenario))


def run_model_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The robot of a run and how it was modelled, from the attributes of its result."""
    return model_facts(str(facts.get("name", "")), modelled_run(facts))


def modelled(formulation: str, basis: str | None, modes: Any) -> Modelled:
    """Formulation, basis and modes of a model; what is not chosen is the default of the formulation."""
    shapes = basis or SUPPORT[formulation].default_basis
    # A nodal basis keeps every displacement, whatever a file of another formulation says.
    if modes is None or shapes == "nodal":
        modes = default_modes(shapes)
    return Modelled(formulation, shapes, _plain(modes))


def modelled_scenario(scenario: Scenario) -> Modelled:
    """Formulation, basis and modes of a scenario."""
    return modelled(scenario.formulation, scenario.basis, scenario.modes)


def modelled_run(facts: Mapping[str, Any]) -> Modelled:
    """Formulation, basis and modes from the attributes of a result; files of version 0.1 name the formulation alone."""
    text = str(facts.get("modes", ""))
    try:
        modes = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        modes = text
    return Modelled(
        str(facts.get("formulation", "")), str(facts.get("basis", "")), modes
    )


def _plain(modes: Any) -> Any:
    if isinstance(modes, ModeChoice):
        return {"count": modes.count, **plain(modes)}
    # A reduction that is made in Python is a tuple with names, not a list of links.
    if is_list(modes) and not hasattr(modes, "_fields"):
        return [_plain(entry) for entry in modes]
    is_known = isinstance(modes, int | str | Mapping)
    return modes if is_known else str(modes)


def _words(modes: Any) -> str:
    if isinstance(modes, bool) or modes in (None, ""):
        return ""
    if isinstance(modes, int):
        return count(modes, "mode")
    if modes == ALL:
        return "all modes"
    if isinstance(modes, Mapping):
        how = [f"{key} {value}" for key, value in modes.items() if key != "count"]
        many = _words(modes.get("count"))
        return f"{many} ({', '.join(how)})" if many and how else many or ", ".join(how)
    if is_list(modes):
        return f"modes of the links {', '.join(map(_short, modes))}"
    return f"modes {modes}"


def _short(entry: Any) -> str:
    """Modes of one link among others: the number alone."""
    words = _words(entry)
    return words.removesuffix(" modes").removesuffix(" mode")
