"""Dry run: the model is built and everything checked that a run checks before its first step."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from jaxnative.compiled import using

from ..describe import DescriptionError, Problem, Scenario
from ..files.errors import refused
from ..solve.massless import massless_coordinates, massless_message
from ..solve.model import EquilibriumError, Model
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
    with _problems_in(file), using(scenario.solver.backend):
        check_cost(scenario)
        try:
            model = Model.of_scenario(scenario)
            theta = model.assemble(scenario.initial.q)
            model.check_reference(theta)
        except np.linalg.LinAlgError as failure:
            raise _singular_link(str(failure)) from None
    return model


def check_start(scenario: Scenario, file: str | None = None) -> tuple[Model, State]:
    """The model of a scenario, and the state that a run of it would start from.

    Raises:
        DescriptionError: why it could not.
    """
    model = startable_model(scenario, file)
    with using(scenario.solver.backend):
        with _problems_in(file):
            state = start_scenario(scenario, model).state
        massless = massless_coordinates(model, state)
    if massless:
        raise refused("links", None, massless_message(massless), file)
    return model, state


@contextmanager
def _problems_in(file: str | None) -> Iterator[None]:
    """Context in which a model that cannot be built or started is a problem in the file of its scenario."""
    try:
        yield
    except DescriptionError as failure:
        problems = [located(problem, file) for problem in failure.problems]
        raise DescriptionError(problems) from None
    except (EquilibriumError, ValueError) as failure:
        # The message may begin with its field: `links.a.beam.mass: ...`.
        match = FIELD.fullmatch(str(failure))
        if match is None:
            raise refused("", None, str(failure), file) from None
        problem = Problem(None, None, match["field"], None, match["message"])
        raise DescriptionError([located(problem, file)]) from None


def _singular_link(text: str) -> DescriptionError:
    """A link whose matrices have no modes."""
    message = f"a link has matrices that cannot be reduced ({text}): give every part of it mass and stiffness"
    return refused("links", None, message)
