"""Arguments of functions, converted and checked: robots, poses, times, options.

Every refusal names the argument, the value, and what is accepted.
"""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..describe.scenario import Solver
from ..files.description_files import build_from
from ..files.errors import DescriptionError, refused, shortened
from ..types import is_traced
from .model import Model
from .state import State

# A `Model`, or what it is made of in the default formulation: a `Robot`, a library name, a file, data.
ModelLike = Any


# A positive number of seconds, and options of a solver or a mapping of them: anything else is refused in words.
Seconds = Any
SolverLike = Any


class ArgumentError(ValueError):
    """An argument that a function cannot work with."""

    def __init__(self, name: str, value: Any, message: str):
        super().__init__(f"{name}: {shortened(value)}: {message}")


def model_from(model: Any) -> Model:
    """The model itself, or that of a robot, of its name or of its file, in the default formulation."""
    return model if isinstance(model, Model) else Model(model)


def state_from(model: Model, state: Any) -> State:
    """The state itself, or the robot at rest and undeformed in a pose: one number for each joint, zeros for None."""
    if not isinstance(state, State):
        return model.at(state)
    joints, elastic = model.n_joints, model.formulation.n_elastic
    if state.q.shape != (joints,) or state.elastic.shape != (elastic,):
        message = (
            f"belongs to another model: this one has {joints} joints and {elastic} "
            f"elastic coordinates, the state has {len(state.q)} and "
            f"{len(state.elastic)}"
        )
        raise ArgumentError("state", "State", message)
    return state


def equilibrium_from(model: Model, state: Any) -> State:
    """The state itself, or the static equilibrium in a pose: one number for each joint, zeros for None."""
    if isinstance(state, State):
        return state_from(model, state)
    return model.static(state)


def seconds_from(name: str, value: Any) -> float:
    """A duration: a positive number of seconds."""
    if is_traced(value):
        message = (
            "must be a plain number, not a traced one: it sets the size of the "
            "computation"
        )
        raise ArgumentError(name, value, message)
    is_number = isinstance(value, int | float | np.generic | np.ndarray | jax.Array)
    is_time = is_number and not isinstance(value, bool) and np.ndim(value) == 0
    if not is_time or not 0.0 < float(value) < np.inf:
        raise ArgumentError(name, value, "must be a positive number of seconds")
    return float(value)


def solver_of(options: Any) -> Solver:
    """Options of the solver from a mapping of them.

    Raises:
        ArgumentError: an unknown option, or a value that it does not take.
    """
    if isinstance(options, Solver):
        return options
    if options is not None and not isinstance(options, Mapping):
        message = "must be a mapping of options such as {'rtol': 1e-8}, or a Solver"
        raise ArgumentError("solver", options, message)
    given = dict(options or {})
    try:
        return build_from(Solver, given)
    except DescriptionError as failure:
        first = failure.problems[0]
        value = first.value if first.value is not None else given.get(first.field)
        raise ArgumentError(f"solver.{first.field}", value, first.message) from None


def check_count(count: Any) -> None:
    """Refuse a number of modes that is not one; None is all of them.

    Raises:
        ArgumentError: not a positive whole number.
    """
    is_whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if count is not None and not (is_whole and count > 0):
        raise ArgumentError("count", count, "must be a positive number of modes")


def check_something_moves(model: Model, locked: bool) -> None:
    """Refuse modes of a robot of which nothing can move.

    Raises:
        DescriptionError: its links are rigid, and no joint is free.
    """
    f = model.formulation
    if f.n_elastic or f.n_joints and not locked:
        return
    if locked and f.n_joints:
        message = (
            "every link is rigid, and with its joints held nothing can vibrate: leave locked out, "
            "or describe a link as a beam (modes: 0 makes beams rigid)"
        )
        raise refused("locked", None, message)
    message = "every link is rigid and no joint moves: nothing can vibrate"
    raise refused("links", None, message)
