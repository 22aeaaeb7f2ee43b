"""The equations of motion of a robot at a state, in numbers."""

import equinox as eqx

from ..describe.scenario import Scenario
from ..native.compiled import using
from ..scenarios.forecast import affordable_model
from ..solve.robot_matrices import ENDINGS, PRINTED
from .frozen_model import FrozenModel, JointValues
from .output_files import check_outputs
from .robot_facts import values_by_name
from .sources import RobotRequest


class MatricesRequest(RobotRequest):
    """A state, and the file for the matrices there."""

    qd: JointValues | None = None  # joint speeds [rad/s or m/s]
    balanced: bool = False  # links in balance under gravity, else undeformed
    file: str | None = None


class NamedArray(FrozenModel):
    """Size and meaning of one array."""

    shape: tuple[int, ...]
    printed: str  # in which equation of the papers


class MatricesResult(FrozenModel):
    """The equations of motion at a state; the numbers go to a file."""

    robot: str
    formulation: str
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
    scenario = request.scenario()
    with using(scenario.solver.backend):
        return _matrices(request, scenario)


def _matrices(request: MatricesRequest, scenario: Scenario) -> MatricesResult:
    model = affordable_model(scenario)
    pose = request.q or scenario.initial.q
    state = model.at(pose, request.qd)
    if request.balanced:
        held = model.static(pose)
        state = eqx.tree_at(lambda s: s.qd, held, state.qd)
    found = model.matrices(state)
    if request.file is not None:
        found.save(request.file)
    arrays = {}
    for name, array in found.arrays.items():
        arrays[name] = NamedArray(shape=array.shape, printed=PRINTED[name])
    return MatricesResult(
        robot=found.robot,
        formulation=found.formulation,
        q=values_by_name(model.joint_names, state.q),
        qd=values_by_name(model.joint_names, state.qd),
        arrays=arrays,
        coordinates=found.coordinates,
        joints=found.joints,
        links=found.links,
        nodes=found.nodes,
        file=request.file,
    )
