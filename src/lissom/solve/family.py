"""A family of robots: one structure, different numbers. Each is built once, then all are computed in batches."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from ..dynamics.formulation import AbstractFormulation
from .arguments import ModelLike, Seconds, SolverLike, model_from, solver_of
from .family_runs import FamilyTask, family_solution
from .inputs import Inputs, inputs_from
from .model import Model
from .simulate import output_times
from .solution import Solution
from .state import State


class Family(eqx.Module):
    """Robots that have the same links, elements and modes and differ in numbers: payloads, lengths, materials.

    The members lie on a grid of the shape `shape` and are counted along it, last axis fastest. Equal members are one
    robot, built once. Functions of a formulation are mapped over all members at once, by `map` or with `jax.vmap`.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        changes: data of the robot by dotted path, `{"payload.mass": masses}`; the values are broadcast to one grid.

    Raises:
        DescriptionError: the robot has no such place, or does not take such a value.
        ValueError: members differ in structure.

    Example:
        >>> import lissom as ls
        >>> family = ls.Family("simple-pendulum", {"payload.mass": [0.0, 0.5, 1.0]})
        >>> len(family), family.shape
        (3, (3,))
        >>> family.map(lambda f: f.links.mass[0, 0, 0]).shape
        (3,)
    """

    formulation: AbstractFormulation  # of the distinct robots, every array with one leading axis more
    which: Int[np.ndarray, " members"]  # number of the distinct robot that a member is
    shape: tuple[int, ...] = eqx.field(static=True)
    model: Model = eqx.field(static=True)  # the robot before the changes

    def __init__(self, model: ModelLike, changes: Mapping[str, Any]):
        model = model_from(model)
        self.model = model
        values = [np.asarray(value) for value in changes.values()]
        self.shape = np.broadcast_shapes(*(value.shape for value in values))
        columns = [np.broadcast_to(value, self.shape).ravel() for value in values]
        # One row for each member; without changes there is one member and nothing to set.
        rows = np.stack(columns, axis=1) if columns else np.zeros((1, 0))
        # `first` is a member that has each distinct row, `which` the distinct row of each member.
        _, first, which = np.unique(
            rows.astype(float),
            axis=0,
            return_index=True,
            return_inverse=True,
        )
        self.which = which.ravel()
        settings = [_setting(changes, columns, k) for k in first.tolist()]
        robots = [_formulation(model, setting) for setting in settings]
        for setting, robot in zip(settings, robots, strict=True):
            if not same_structure(robot, robots[0]):
                raise _mismatch(model, settings[0], setting)
        self.formulation = jax.tree.map(_stack, *robots)

    def __len__(self) -> int:
        return len(self.which)

    def take(self, members: Any) -> AbstractFormulation:
        """The formulations of some members, every array with a leading axis over them."""
        chosen = jnp.asarray(self.which)[jnp.asarray(members)]
        return jax.tree.map(lambda leaf: leaf[chosen], self.formulation)

    def member(self, k: int) -> AbstractFormulation:
        """The formulation of one member."""
        which = self.which[k]
        return jax.tree.map(lambda leaf: leaf[which], self.formulation)

    def map(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """`function(formulation, ...)` of every member, results with a leading axis over the members.

        Args:
            function: pure, of a formulation and of what `arguments` hold for one member.
            arguments: arrays with a leading axis over the members.
        """
        return jax.vmap(function)(self.take(np.arange(len(self))), *arguments)

    def rollout(
        self,
        state: State | None = None,
        *,
        t_end: Seconds = 1.0,
        output_dt: Seconds = 0.001,
        torque: Any = None,
        inputs: Inputs | None = None,
        solver: SolverLike = None,
        common_steps: bool = True,
    ) -> Solution:
        """Runs of all members, as `ls.rollout` runs one: every array but the times has a leading axis over them.

        On a processor several members share each instruction. What has no form in machine code is mapped by XLA, each
        member in its own steps.

        Args:
            state: at t = 0, one for all members or with a leading axis over them; at rest with q = 0 by default.
            t_end: duration [s].
            output_dt: spacing of the output [s].
            torque: joint torques, as for `ls.rollout`.
            inputs: tables of torques, wrenches and motions, instead of `torque`.
            solver: `Solver` options, or a mapping of them.
            common_steps: members that share instructions take the shortest steps that one of them wants: each is as
                exact as alone, and all are done sooner. Without it, and with end stops, every member takes the steps
                that it takes alone, and gives the same numbers to rounding.

        Example:
            >>> import lissom as ls
            >>> family = ls.Family(ls.Model("simple-pendulum"), {"payload.mass": [0.1, 0.2, 0.3]})
            >>> family.rollout(t_end=0.02, output_dt=0.01).joints.shape
            (3, 3, 1)
        """
        model = self.model
        inputs = inputs_from(model, torque, inputs)
        task = FamilyTask(
            model=model,
            formulation=jax.tree.map(
                lambda leaf: np.asarray(leaf)[self.which], self.formulation
            ),
            which=self.which,
            state=model.at() if state is None else state,
            inputs=inputs,
            times=output_times(t_end, output_dt),
            solver=solver_of(solver),
            common_steps=common_steps,
        )
        return family_solution(task)


def _setting(
    paths: Iterable[str], columns: Sequence[np.ndarray], k: int
) -> dict[str, Any]:
    """The data of member k by path; whole numbers stay whole, as counts in a robot have to be."""
    setting = {}
    for path, column in zip(paths, columns, strict=True):
        setting[path] = column[k].item()
    return setting


def _formulation(model: Model, setting: Mapping[str, Any]) -> AbstractFormulation:
    return model.replace(setting).formulation


def _stack(*leaves: Any) -> jax.Array:
    return jnp.stack([jnp.asarray(leaf) for leaf in leaves])


def same_structure(one: AbstractFormulation, other: AbstractFormulation) -> bool:
    """Whether two formulations have the same structure, and arrays of the same shapes in it."""
    if jax.tree.structure(one) != jax.tree.structure(other):
        return False
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.shape(a) == np.shape(b) for a, b in pairs)


def _mismatch(
    model: Model, first: Mapping[str, Any], other: Mapping[str, Any]
) -> ValueError:
    """The error that names which change gives a robot of another structure than the first member."""
    base = _formulation(model, first)
    guilty = []
    for path, value in other.items():
        if not same_structure(_formulation(model, {**first, path: value}), base):
            guilty.append(path)
    # If no change alone is to blame, all of them together are.
    guilty = guilty or list(other)
    what = ", ".join(f"{path} = {other[path]} and {first[path]}" for path in guilty)
    return ValueError(
        f"{what}: the robots of a family must have the same links, elements and modes; "
        "compute robots of another structure one by one"
    )
