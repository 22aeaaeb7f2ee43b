"""Dry run: the model is built and everything checked that a run checks before its first step."""

import re

import numpy as np

from jaxnative.compiled import using

from ..describe import DescriptionError, Scenario
from ..files.errors import refused
from ..kinematics.loops.assembly import AssemblyError
from ..solve.massless import massless_coordinates, massless_message
from ..solve.model import EquilibriumError, Model, UndefinedReferenceError
from ..solve.state import State
from .forecast import check_cost
from .law_files import located
from .start import start_scenario

FIELD = re.compile(r"(?P<field>[a-z]+(\.[\w-]+)*): (?P<message>.*)", re.DOTALL)


def startable_model(scenario: Scenario, file: str | None = None) -> Model:
    """The model of a scenario whose reference is defined and whose loops close where it starts.

    Raises:
        DescriptionError: what the formulation cannot do with this robot, or what it would cost too much to build.
    """
    try:
        check_cost(scenario)
        with using(scenario.solver.backend):
            model = Model.of_scenario(scenario)
            theta = model.assemble(scenario.initial.q)
            model.check_reference(theta)
    except DescriptionError as failure:
        raise _in_file(failure, file) from None
    except np.linalg.LinAlgError as failure:
        raise _singular_link(scenario, str(failure), file) from None
    except (UndefinedReferenceError, AssemblyError, ValueError) as failure:
        raise _problem_of(str(failure), file) from None
    return model


def check_start(scenario: Scenario, file: str | None = None) -> tuple[Model, State]:
    """The model of a scenario, and the state that a run of it would start from.

    Raises:
        DescriptionError: why it could not.
    """
    model = startable_model(scenario, file)
    with using(scenario.solver.backend):
        state = _start(scenario, model, file)
        massless = massless_coordinates(model, state)
    if massless:
        raise _massless(massless, file)
    return model, state


def _start(scenario: Scenario, model: Model, file: str | None) -> State:
    try:
        return start_scenario(scenario, model).state
    except DescriptionError as failure:
        raise _in_file(failure, file) from None
    except (EquilibriumError, AssemblyError, ValueError) as failure:
        raise _problem_of(str(failure), file) from None


def _massless(names: list[str], file: str | None) -> DescriptionError:
    return refused("links", None, massless_message(names), file)


def _singular_link(scenario: Scenario, text: str, file: str | None) -> DescriptionError:
    """A link whose matrices have no modes."""
    for link in scenario.robot.links:
        if link.beam is not None and link.beam.mass == "lumped-points":
            field = f"links.{link.name}.beam.mass"
            message = (
                f"lumped-points leaves the rotations of nodes without mass, which {scenario.formulation} needs: "
                "use lumped or consistent, or the formulations nonlinear or dual-screw"
            )
            return _in_file(refused(field, link.beam.mass, message), file)
    message = f"a link has matrices that cannot be reduced ({text}): give every part of it mass and stiffness"
    return refused("links", None, message, file)


def _in_file(failure: DescriptionError, file: str | None) -> DescriptionError:
    """Problems that the building of a model found, placed in the file of the scenario."""
    return DescriptionError([located(problem, file) for problem in failure.problems])


def _problem_of(text: str, file: str | None) -> DescriptionError:
    """A problem of a message that may begin with its field: `links.a.beam.mass: ...`."""
    match = FIELD.fullmatch(text)
    if match is None:
        return refused("", None, text, file)
    return _in_file(refused(match["field"], None, match["message"]), file)
