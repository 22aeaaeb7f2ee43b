"""The results of a run by name, with dimensions and units; what was run, how, and how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxnative.compiled import using

from .. import __version__
from ..analyse.validity.checks import RunSamples
from ..describe.scenario import Solver
from ..files.summary import named_numbers
from ..once import once_for_each
from ..solve.inputs import Inputs
from ..solve.model import Model
from ..solve.node_motion import KINDS, node_motions
from ..solve.outputs import ENERGIES, Outputs, at_nodes, energy_audit, outputs_of
from ..solve.simulate import method_of
from ..solve.smallest_inertia import smallest_over_run
from ..solve.solution import Solution
from ..types import RESULTS, ended_as

if TYPE_CHECKING:
    from xarray import Dataset


Variables = dict[str, tuple[Any, ...]]  # by name: dimensions, numbers, attributes

# Dimensions, units and long names of the variables of a result.
VARIABLES = {
    "q": ("time joint", "rad or m", "joint coordinates of the ERLS"),
    "qd": ("time joint", "rad/s or m/s", ""),
    "encoder": ("time joint", "rad or m", "what the encoders read"),
    "torque": ("time joint", "N m or N", ""),
    "elastic": ("time coordinate", "m or rad", ""),
    "elastic_rate": ("time coordinate", "m/s or rad/s", ""),
    "encoder_rate": ("time joint", "rad/s or m/s", ""),
    "position": ("time node axis", "m", "nodes of the robot, world axes"),
    "erls_position": ("time node axis", "m", "nodes of the ERLS"),
    "rotation": ("time node axis", "rad", "small rotation from the ERLS"),
    "frame": ("time link row column", "", "axes of the rigid links in the world"),
    "energy": ("time kind", "J", ""),
}


@dataclass
class RunTable:
    """The content of a dataset, without xarray, which is slow to import."""

    variables: Variables
    coordinates: dict[str, Any]
    attrs: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """Names of all variables and coordinates."""
        return [*self.variables, *self.coordinates]

    def values(self, name: str) -> np.ndarray:
        """The numbers of one variable or coordinate."""
        if name in self.variables:
            return np.asarray(self.variables[name][1])
        held = self.coordinates[name]
        return np.asarray(held[1] if isinstance(held, tuple) else held)

    def netcdf(self) -> bytes:
        """The table as the bytes of a NetCDF file."""
        from .netcdf_file import netcdf_bytes

        variables = {}
        for name, held in (self.variables | self.coordinates).items():
            # A list of names is the coordinate of its own dimension.
            described = held if isinstance(held, tuple) else ((name,), held, {})
            dimensions, values, attributes = described
            axes = (dimensions,) if isinstance(dimensions, str) else dimensions
            variables[name] = (axes, np.asarray(values), attributes)
        return netcdf_bytes(variables, self.attrs)

    def dataset(self) -> "Dataset":
        """The table as an xarray dataset."""
        # Brings xarray.
        from .node_index import Dataset, with_tips

        return with_tips(Dataset(self.variables, self.coordinates, self.attrs))


def run_table(
    model: Model,
    inputs: Inputs,
    solution: Solution,
    solver: Solver,
    recorded: Sequence[str] = (),
) -> tuple[RunTable, RunSamples]:
    """The results of a run with names and units, and the samples that its warnings are drawn from."""
    with using(solver.backend):
        outputs, torque = outputs_of(model, inputs, solution)
        inertia = smallest_over_run(model, inputs, solution)
    table = table_of_outputs(model, solution, solver, outputs, torque)
    samples = RunSamples(
        t=table.values("time"),
        encoder=outputs.encoder,
        torque=torque,
        body=outputs.body,
        position=table.values("position"),
        energy=table.values("energy"),
        inertia=inertia,
        method=method_of(solver),
    )
    if recorded:
        motions = _motions_of_nodes(model, inputs, solution, solver, recorded)
        table.variables |= motions
        table.coordinates["recorded"] = list(recorded)
    return table, samples


def table_of_outputs(
    model: Model,
    solution: Solution,
    solver: Solver,
    outputs: Outputs,
    torque: np.ndarray,
) -> RunTable:
    """Results of a run as a table with names and units."""
    n = int(solution.filled)
    j = model.formulation.n_joints
    numbers = {
        "q": np.asarray(solution.joints)[:n],
        "qd": outputs.qd,
        "encoder": outputs.encoder,
        "torque": torque,
        "elastic": np.asarray(solution.x)[:n, j:],
        "elastic_rate": np.asarray(solution.xd)[:n, j:],
        "encoder_rate": outputs.encoder_rate,
        "position": at_nodes(model, outputs.position),
        "erls_position": at_nodes(model, outputs.erls_position),
        "rotation": at_nodes(model, outputs.rotation),
        "frame": outputs.rigid_frame[:, list(model.first_bodies)],
        "energy": energy_audit(outputs),
    }
    variables: Variables = {}
    for name, (dimensions, units, long_name) in VARIABLES.items():
        about = {"units": units, "long_name": long_name}
        attributes = {key: text for key, text in about.items() if text}
        variables[name] = (tuple(dimensions.split()), numbers[name], attributes)
    coordinates = {
        "time": ("time", np.asarray(solution.t)[:n], {"units": "s"}),
        "joint": list(model.joint_names),
        "coordinate": list(model.coordinate_names),
        "node": list(model.node_names),
        "link": list(model.link_names),
        "axis": ["x", "y", "z"],
        "kind": list(ENERGIES),
    }
    facts = _facts(model, solution, solver)
    facts["beyond_limits"] = ", ".join(_beyond_limits(model, outputs.encoder))
    return RunTable(variables, coordinates, facts)


def _motions_of_nodes(
    model: Model,
    inputs: Inputs,
    solution: Solution,
    solver: Solver,
    nodes: Sequence[str],
) -> Variables:
    """Velocities and accelerations of nodes, linear and angular."""
    with using(solver.backend):
        motions = node_motions(model, inputs, solution, nodes)
    variables: Variables = {}
    for name, values in motions.items():
        _, unit = KINDS[name]
        about = {"units": unit, "long_name": f"{name} of nodes, world axes"}
        variables[name] = (("time", "recorded", "axis"), values, about)
    return variables


def _beyond_limits(model: Model, encoder: np.ndarray) -> list[str]:
    """Joints that left their range; limits of position are reported, not enforced."""
    joints = [link.joint for link in model.robot.links if link.joint.moves]
    beyond = []
    for name, joint, reading in zip(model.joint_names, joints, encoder.T, strict=True):
        if joint.limits is None or joint.limits.position is None:
            continue
        low, high = joint.limits.position
        if np.any((reading < low) | (reading > high)):
            beyond.append(name)
    return beyond


def _facts(model: Model, solution: Solution, solver: Solver) -> dict[str, Any]:
    """Attributes of a result: what was run, how, and how it ended."""
    complete = ended_as(solution.result, RESULTS.successful)
    return {
        "name": model.robot.name,
        **_choices(model),
        "lissom": __version__,
        "complete": int(complete),
        "reason": "" if complete else _reason(model, solution),
        "t_reached": float(solution.last.t),
        "method": method_of(solver),
        "steps": int(solution.counts.steps),
        "rejected": int(solution.counts.rejected),
        "rhs_evaluations": int(solution.counts.evaluations),
        "independent": "; ".join(_independent_joints(model, solution)),
    }


@once_for_each
def _choices(model: Model) -> dict[str, str]:
    """Formulation, basis and modes of a run, also of one set up in Python."""
    modelled = model.modelled
    return {
        "formulation": modelled.formulation,
        "basis": modelled.basis,
        "modes": str(modelled.kept_modes),
        "stiffening": model.choices.stiffening,
    }


def _reason(model: Model, solution: Solution) -> str:
    if ended_as(solution.result, RESULTS.dead_point):
        return dead_point(model, solution)
    return RESULTS[solution.result]


def _independent_joints(model: Model, solution: Solution) -> list[str]:
    """Independent joints of a closed chain, and when others took over at a dead point."""
    if not model.closed:
        return []
    lines = []
    for segment in solution.segments:
        names = ", ".join(model.joint_names[k] for k in segment.independent)
        lines.append(f"{names} from {segment.time:.6g} s")
    return lines


def dead_point(model: Model, solution: Solution) -> str:
    """Which joints are at a dead point, and where."""
    stuck = [model.joint_names[k] for k in solution.segments[-1].independent]
    others = [name for name in model.joint_names if name not in stuck]
    last = np.asarray(solution.last_joints)
    pose = named_numbers(model.joint_names, last, digits=4)
    return (
        f"joint {', '.join(stuck)} {'is' if len(stuck) == 1 else 'are'} at a dead point of the closed chain ({pose}): "
        f"{', '.join(others)} no longer follow. No other choice of independent joints is regular there, or a motion is "
        "prescribed to this one: drive another joint."
    )
