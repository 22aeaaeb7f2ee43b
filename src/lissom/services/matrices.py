"""The equations of motion of a robot at a state, in numbers."""

import equinox as eqx
import numpy as np

from jaxnative.compiled import using

from ..analyse.robot_facts import values_by_name
from ..describe.scenario import Scenario
from ..files.errors import refused
from ..runs.forecast import affordable_model
from ..runs.output_files import check_outputs
from ..runs.sources import is_result, scenario_of
from ..solve.model import Model
from ..solve.robot_matrices import ENDINGS, PRINTED
from ..solve.state import State
from .frozen_model import FrozenModel, JointValues
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest


class MatricesRequest(RobotRequest):
    """A state, and the file for the matrices there."""

    qd: JointValues | None = None  # joint speeds [rad/s or m/s]
    balanced: bool = False  # links in balance under gravity, else undeformed
    # A result file of this robot: the state is its own at the output time nearest to `time` [s], with its bending.
    result: str | None = None
    time: float | None = None
    file: str | None = None


class NamedArray(FrozenModel):
    """Size and meaning of one array."""

    shape: tuple[int, ...]
    printed: str  # in which equation of the papers


class MatricesResult(ModelledResult):
    """The equations of motion at a state; the numbers go to a file."""

    q: dict[str, float]  # of all moving joints
    qd: dict[str, float]
    arrays: dict[str, NamedArray]
    coordinates: tuple[str, ...]
    joints: tuple[str, ...]
    links: tuple[str, ...]
    nodes: tuple[str, ...]
    file: str | None


def matrices(request: MatricesRequest) -> MatricesResult:
    """M, Coriolis, K, damping, Jacobians and force vectors at a state: names and sizes; the numbers go to a file."""
    check_outputs({"file": (request.file, ENDINGS)})
    if request.time is not None:
        _check_time(request)
    scenario = request.scenario()
    with using(scenario.solver.backend):
        return _matrices(request, scenario)


def _matrices(request: MatricesRequest, scenario: Scenario) -> MatricesResult:
    model = affordable_model(scenario)
    state = _state(request, scenario, model)
    found = model.matrices(state)
    if request.file is not None:
        found.save(request.file)
    arrays = {}
    for name, array in found.arrays.items():
        arrays[name] = NamedArray(shape=array.shape, printed=PRINTED[name])
    return MatricesResult(
        **model_of(scenario),
        q=values_by_name(model.joint_names, state.q),
        qd=values_by_name(model.joint_names, state.qd),
        arrays=arrays,
        coordinates=found.coordinates,
        joints=found.joints,
        links=found.links,
        nodes=found.nodes,
        file=request.file,
    )


def _state(request: MatricesRequest, scenario: Scenario, model: Model) -> State:
    if request.time is not None:
        return _recorded_state(request, request.time, scenario)
    pose = request.q or scenario.initial.q
    state = model.at(pose, request.qd)
    if request.balanced:
        held = model.static(pose)
        state = eqx.tree_at(lambda s: s.qd, held, state.qd)
    return state


def _check_time(request: MatricesRequest) -> None:
    """A time is one of a result, which has all the rest of its state."""
    if request.result is None or not is_result(request.result):
        message = "only the result of a run has states by their times"
        raise refused("time", request.time, message)
    given = {"q": request.q, "qd": request.qd, "balanced": request.balanced or None}
    for name, value in given.items():
        if value is not None:
            message = "the result has its own state at this time: leave this out"
            raise refused(name, value, message)


def _recorded_state(request: MatricesRequest, time: float, scenario: Scenario) -> State:
    """The state of a result at the output time nearest to a time."""
    from ..runs.run import Run

    assert request.result is not None
    run = Run.load(request.result)
    first, last = float(run.t[0]), float(run.t[-1])
    # Times of a moving picture have fewer digits than those of a result.
    slack = 0.5 * (last - first) / len(run.t)
    if not first - slack <= time <= last + slack:
        message = f"the result goes from {first:g} to {last:g} s"
        raise refused("time", time, message)
    row = int(np.abs(np.asarray(run.t) - time).argmin())
    _check_coordinates(scenario, scenario_of(request.result))
    return run.state(row)


def _check_coordinates(scenario: Scenario, recorded: Scenario) -> None:
    """The numbers of a state mean what they meant in the run only in its own coordinates."""
    for key in ("formulation", "basis", "modes", "reference"):
        value, own = getattr(scenario, key), getattr(recorded, key)
        if str(value) != str(own):
            raise refused(key, value, f"the result was computed with {own}")
