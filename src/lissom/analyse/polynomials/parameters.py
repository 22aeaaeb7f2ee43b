"""Parameters by name: joint positions, speeds and accelerations, and any number in the robot's description."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...dynamics.formulation import on_branch_near
from ...files.errors import nearest
from ...solve.arguments import ArgumentError
from ...solve.model import Model
from .model_matrices import KINDS, ModelMatrices, linear_quantities


def named_quantities(
    model: Model,
    parameters: Sequence[str] | Mapping[str, Any],
    motions: tuple[Any, Any, Any],
    motion: Callable[[Any], Mapping[str, Any]] | None,
    encoders: bool,
    locked: bool,
) -> tuple[ModelMatrices, Callable[[], np.ndarray] | None]:
    """Quantities that the parameters change, and the present values of the parameters.

    Raises:
        ValueError: no quantity has a name that was given.
    """
    base = _base_motion(model, motions)
    if model.closed:
        on_branch = on_branch_near(model.formulation, jnp.asarray(base["q"]))
        model = model.with_formulation(on_branch)
    if isinstance(parameters, str):
        message = f"must be a list of names, such as [{parameters!r}]"
        raise ArgumentError("parameters", parameters, message)
    names = tuple(parameters)
    if not names:
        raise ValueError("parameters: name at least one")
    if motion is not None:
        # Asked once for its names, which do not depend on the values.
        probe = motion(jnp.zeros(len(names)))
        for quantity in probe:
            _full_name(model, quantity)
        return ModelMatrices(model, names, motion, base, encoders, locked), None
    quantities, A = _coefficients(model, parameters)
    function = linear_quantities(quantities, A)
    source = ModelMatrices(model, names, function, base, encoders, locked)
    return source, lambda: _present_values(A, quantities, names, model, base)


def _base_motion(model: Model, motions: Sequence[Any]) -> dict[str, np.ndarray]:
    """q, qd, qdd of all joints, zero where nothing is said."""
    base = {}
    for kind, value in zip(KINDS, motions, strict=True):
        if kind == "q" and model.closed:
            # The dependent joints follow: a closed pose says on which branch.
            base[kind] = np.asarray(model.assemble(value))
            continue
        if value is None:
            value = np.zeros(model.n_joints)
        values = np.asarray(value, dtype=float)
        if values.shape == (model.formulation.n_joints,):
            values = np.asarray(model.joint_vector(kind, values))
        base[kind] = values
        if values.shape != (model.n_joints,):
            joints = ", ".join(model.joint_names)
            raise ValueError(
                f"{kind} must have {model.n_joints} values, one for each joint ({joints})"
            )
    return base


def _coefficients(
    model: Model, parameters: Sequence[str] | Mapping[str, Any]
) -> tuple[list[str], np.ndarray]:
    """Full names of all quantities, and how much of each parameter each of them contains."""
    if not isinstance(parameters, Mapping):
        parameters = {name: name for name in parameters}
    columns: list[dict[str, float]] = []
    for moved in parameters.values():
        parts = {moved: 1.0} if isinstance(moved, str) else moved
        column: dict[str, float] = {}
        # Two names of one quantity, such as `upper` and `q.upper`, add up.
        for quantity, coefficient in parts.items():
            name = _full_name(model, quantity)
            column[name] = column.get(name, 0.0) + coefficient
        columns.append(column)
    quantities = list(dict.fromkeys(name for column in columns for name in column))
    A = np.zeros((len(quantities), len(columns)))
    for k, column in enumerate(columns):
        for name, coefficient in column.items():
            A[quantities.index(name), k] = coefficient
    return quantities, A


def _full_name(model: Model, quantity: str) -> str:
    """The full name of a quantity: `q.upper`, `qd.upper`, `qdd.upper` or a path in the robot.

    Raises:
        ValueError: no joint and no place in the robot has this name.
    """
    if quantity in model.joint_names:
        return _of_joint(model, "q", quantity)
    joint, _, what = quantity.rpartition(".")
    kind = {"speed": "qd", "acceleration": "qdd"}.get(what)
    if kind is not None and joint in model.joint_names:
        return _of_joint(model, kind, joint)
    kind, _, joint = quantity.partition(".")
    if kind in KINDS:
        if joint in model.joint_names:
            return _of_joint(model, kind, joint)
        raise ValueError(
            f"parameter {quantity!r}: no joint is called {joint!r}{nearest(joint, model.joint_names)} "
            f"The joints are {', '.join(model.joint_names)}."
        )
    if "." not in quantity:
        known = [f"{k}.{name}" for k in KINDS for name in model.joint_names]
        raise ValueError(
            f"parameter {quantity!r} is neither a joint nor a path in the robot"
            f"{nearest(quantity, [*model.joint_names, *known])} Joints: {', '.join(known)}; "
            "paths are such as payload.mass or links.NAME.beam.material.E."
        )
    # The robot refuses unknown places, in the words of its file.
    value = value_at(model, quantity)
    model.robot.replace({quantity: 1.0 if value is None else value})
    return quantity


def _of_joint(model: Model, kind: str, joint: str) -> str:
    """The full name of a joint's motion.

    Raises:
        ValueError: the joint follows from others in a closed chain.
    """
    if joint not in model.independent_names:
        others = ", ".join(model.independent_names)
        raise ValueError(
            f"parameter {joint!r} follows from {others} in this closed chain: vary {others}, or make {joint} "
            "independent in the robot (`independent`)"
        )
    return f"{kind}.{joint}"


def value_at(model: Model, path: str) -> float | None:
    """The number that the robot has at a dotted path; None if there is none."""
    here: Any = model.robot.to_dict()
    for step in path.split("."):
        if isinstance(here, list):
            here = _item(here, step)
        elif isinstance(here, Mapping):
            here = here.get(step)
        else:
            return None
    return float(here) if isinstance(here, int | float) else None


def _item(items: list[Any], step: str) -> Any:
    """The item of a list by its name, its number, or `*` for the first; None if there is none."""
    for item in items:
        if isinstance(item, Mapping) and item.get("name") == step:
            return item
    if step == "*":
        step = "0"
    if step.isdecimal() and int(step) < len(items):
        return items[int(step)]
    return None


def _present_values(A, quantities, names, model, base) -> np.ndarray:
    """Parameters that give the quantities the values they have."""
    values = np.array([_present_value(model, base, name) for name in quantities])
    # More quantities than parameters may have no common solution: then `at` must say where to expand.
    p, *_ = np.linalg.lstsq(A, values, rcond=None)
    if not np.allclose(A @ p, values, rtol=1e-9, atol=1e-12):
        raise ValueError(
            f"at: no values of {', '.join(names)} give the robot's present {', '.join(quantities)}; "
            "say where to expand"
        )
    return p


def _present_value(model: Model, base: Mapping[str, Any], quantity: str) -> float:
    kind, _, joint = quantity.partition(".")
    if kind in KINDS:
        return base[kind][model.joint_names.index(joint)]
    value = value_at(model, quantity)
    if value is None:
        raise ValueError(
            f"at: give the value of {quantity} at the expansion point; the robot has none"
        )
    return value
