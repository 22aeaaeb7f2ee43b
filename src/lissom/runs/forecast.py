"""Cost of a model and a run, estimated from the description before anything is built."""

import os
from typing import Any, NamedTuple

from ..describe import DescriptionError, Problem, Scenario
from ..describe.modes import DEFAULT_MODES, ModeChoice
from ..describe.supported import SUPPORT
from ..files.part import is_list
from ..solve.model import Model

COMPONENTS = 6  # of a node: three displacements, three rotations
PLANAR_COMPONENTS = 3


class Cost(NamedTuple):
    """Memory in bytes per d^2 and build time in seconds per d^3 of a link with d dofs in its mesh."""

    bytes: float
    seconds: float


# By the shapes of the links, measured on one core with beams of 80 to 320 elements: constants of inertia over all
# nodes; eigenvectors of the whole mesh; shapes of beams.
COSTS = {
    "nodal": Cost(850.0, 7.0e-9),
    "craig-bampton": Cost(230.0, 2.0e-9),
    "assumed": Cost(95.0, 2.2e-10),
}
OUTPUTS = 9  # numbers of each node that a run writes at every sample

MAX_BUILD_SECONDS = 120.0
MAX_BYTES = 16 * 2**30  # where the memory of the machine is not known
MEMORY_SHARE = 0.8  # of the machine's memory that may be used


class Forecast(NamedTuple):
    """Expected size of a model and its outputs, and time to build it."""

    coordinates: int
    largest_link: int  # dofs of the mesh of one link
    model_bytes: int
    output_bytes: int
    build_s: float


def forecast(scenario: Scenario) -> Forecast:
    """Coordinates, memory and time of a scenario."""
    robot = scenario.robot
    per_node = PLANAR_COMPONENTS if robot.planar else COMPONENTS
    nodes = robot.outline.nodes
    basis = scenario.basis or SUPPORT[scenario.formulation].default_basis
    cost = COSTS.get(basis, COSTS["nodal"])
    elastic = 0
    dofs = []
    for k, link in enumerate(robot.links):
        if not link.flexible:
            continue
        mesh = per_node * max((nodes[link.name] or 1) - 1, 0)
        dofs.append(mesh)
        elastic += mesh if basis == "nodal" else _mode_count(scenario.modes, k, mesh)
    n = len(robot.joint_names) + elastic
    largest = max(dofs, default=0)
    model_bytes = cost.bytes * sum(d**2 for d in dofs)
    build_s = cost.seconds * sum(d**3 for d in dofs)
    duration = float(scenario.t_end) - float(scenario.initial.time)
    samples = duration / float(scenario.output_dt) + 1
    numbers = OUTPUTS * sum(count or 1 for count in nodes.values()) + 2 * n
    return Forecast(
        coordinates=n,
        largest_link=largest,
        model_bytes=int(model_bytes),
        output_bytes=int(8 * samples * numbers),
        build_s=build_s,
    )


def _mode_count(modes: Any, k: int, mesh: int) -> int:
    """Modes of link k, at most the dofs of its mesh."""
    if is_list(modes):
        modes = modes[k] if k < len(modes) else DEFAULT_MODES
    if isinstance(modes, ModeChoice):
        modes = modes.count
    return min(modes, mesh) if isinstance(modes, int) else mesh


def memory_limit() -> int:
    """Bytes that may be used on this machine."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return MAX_BYTES
    return int(MEMORY_SHARE * total)


def check_cost(scenario: Scenario) -> None:
    """Refuses a run whose model cannot be built in reasonable time, or whose numbers do not fit into the memory.

    Raises:
        DescriptionError: with the numbers, and what to do.
    """
    expected = forecast(scenario)
    problems = _mesh_problems(scenario, expected)
    limit = memory_limit()
    if expected.output_bytes > limit:
        message = (
            f"the results would take {_gigabytes(expected.output_bytes)}, this machine has room for "
            f"{_gigabytes(limit)}: choose a longer output_dt or a shorter t_end"
        )
        step = scenario.output_dt
        problems.append(Problem(None, None, "output_dt", step, message))
    if problems:
        raise DescriptionError(problems)


def affordable_model(scenario: Scenario) -> Model:
    """The model of a scenario, if it can be built in reasonable time and memory.

    Raises:
        DescriptionError: it would take too long to build, or more memory than there is.
    """
    problems = _mesh_problems(scenario, forecast(scenario))
    if problems:
        raise DescriptionError(problems)
    return Model.of_scenario(scenario)


def _mesh_problems(scenario: Scenario, expected: Forecast) -> list[Problem]:
    """The link with the finest mesh and a remedy, where the meshes are too fine to be built."""
    limit = memory_limit()
    if expected.build_s <= MAX_BUILD_SECONDS and expected.model_bytes <= limit:
        return []
    nodes = scenario.robot.outline.nodes
    flexible = [link for link in scenario.robot.links if link.flexible]
    finest = max(flexible, key=lambda link: nodes[link.name] or 0)
    field = f"links.{finest.name}"
    value = None
    if finest.beam is not None:
        field += ".beam.elements"
        value = finest.beam.elements
    message = (
        f"{expected.coordinates} coordinates, {expected.largest_link} dofs in the mesh of one link: building them "
        f"would take about {_seconds(expected.build_s)} and {_gigabytes(expected.model_bytes)} (at most "
        f"{MAX_BUILD_SECONDS:g} s and {_gigabytes(limit)}). "
        "Use fewer elements (4 to 20 are enough for the lowest modes)"
    )
    if scenario.formulation == "erls-fem":
        message += ", or modes instead of every node: formulation nonlinear or erls-cms"
    return [Problem(None, None, field, value, message)]


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.3g} GB"


def _seconds(count: float) -> str:
    return f"{count:.0f} s" if count < 3600 else f"{count / 3600:.1f} h"
