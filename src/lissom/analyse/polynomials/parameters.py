"""Parameters by name: joint positions, speeds and accelerations, and any number in the robot's description."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...describe.errors import nearest
from ...solve.model import Model
from .operating import KINDS, OperatingPoints, linear_quantities


def named_quantities(
    model: Model,
    parameters: Sequence[str] | Mapping[str, Any],
    motions: tuple[Any, Any, Any],
    motion: Callable[[Any], Mapping[str, Any]] | None,
    encoders: bool,
    locked: bool,
) -> tuple[OperatingPoints, Callable[[], np.ndarray] | None]:
    """What the parameters move, and how to find their values in the robot as it is.

    Raises:
        ValueError: no quantity has a name that was given.
    """
    if model.closed:
        raise ValueError(
            "closed chains have no polynomials: their dependent joints come from an iteration that is not expanded. "
            "Take `mode_map` over a grid."
        )
    base = {kind: np.zeros(model.n_joints) if value is None else np.asarray(value, dtype=float)
            for kind, value in zip(KINDS, motions, strict=True)}  # fmt: skip
    for kind, value in base.items():
        if value.shape != (model.n_joints,):
            joints = ", ".join(model.joint_names)
            raise ValueError(
                f"{kind} must have {model.n_joints} values, one for each joint ({joints})"
            )
    names = tuple(parameters)
    if not names:
        raise ValueError("parameters: name at least one")
    if motion is not None:
        probe = motion(jnp.zeros(len(names)))
        for quantity in probe:
            _known(model, quantity)
        return OperatingPoints(model, names, motion, base, encoders, locked), None
    spec = (
        parameters
        if isinstance(parameters, Mapping)
        else {name: name for name in names}
    )
    parts = {
        name: ({what: 1.0} if isinstance(what, str) else dict(what))
        for name, what in spec.items()
    }
    quantities = list(
        dict.fromkeys(
            _known(model, quantity) for part in parts.values() for quantity in part
        )
    )
    A = np.array([[sum(c for what, c in parts[name].items() if _known(model, what) == quantity) for name in names]
                  for quantity in quantities], dtype=float)  # fmt: skip
    operating = OperatingPoints(
        model, names, linear_quantities(quantities, A), base, encoders, locked
    )
    return operating, lambda: _solved(A, quantities, names, model, base)


def _known(model: Model, quantity: str) -> str:
    """The full name of a quantity.

    Raises:
        ValueError: no joint and no place in the robot has this name.
    """
    kind, _, joint = quantity.partition(".")
    if quantity in model.joint_names:
        return f"q.{quantity}"
    ending = {f"{name}.{what}": f"{k}.{name}" for name in model.joint_names
              for k, what in (("qd", "speed"), ("qdd", "acceleration"))}  # fmt: skip
    if quantity in ending:
        return ending[quantity]
    known = [f"{k}.{name}" for k in KINDS for name in model.joint_names]
    if kind in KINDS:
        if joint in model.joint_names:
            return quantity
        raise ValueError(f"parameter {quantity!r}: no joint is called {joint!r}{nearest(joint, model.joint_names)} "
                         f"The joints are {', '.join(model.joint_names)}.")  # fmt: skip
    if "." not in quantity:
        raise ValueError(f"parameter {quantity!r} is neither a joint nor a path in the robot"
                         f"{nearest(quantity, [*model.joint_names, *known])} Joints: {', '.join(known)}; "
                         "paths are such as payload.mass or links.NAME.beam.material.E.")  # fmt: skip
    value = value_at(model, quantity)
    model.robot.replace(
        {quantity: 1.0 if value is None else value}
    )  # refuses unknown places, in the file's words
    return quantity


def value_at(model: Model, path: str) -> float | None:
    """The number that the robot has at a dotted path; None if there is none."""
    here: Any = model.robot.to_dict()
    for step in path.split("."):
        if isinstance(here, list):
            names = [
                item.get("name") if isinstance(item, Mapping) else None for item in here
            ]
            place = (
                0
                if step == "*"
                else names.index(step)
                if step in names
                else int(step)
                if step.isdecimal()
                else -1
            )
            here = here[place] if 0 <= place < len(here) else None
        else:
            here = here.get(step) if isinstance(here, Mapping) else None
    return float(here) if isinstance(here, int | float) else None


def _solved(A, quantities, names, model, base) -> np.ndarray:
    """Parameters that give the quantities the values they have."""
    values = []
    for quantity in quantities:
        kind, _, joint = quantity.partition(".")
        value = (
            base[kind][model.joint_names.index(joint)]
            if kind in KINDS
            else value_at(model, quantity)
        )
        if value is None:
            raise ValueError(
                f"at: give the value of {quantity} at the expansion point; the robot has none"
            )
        values.append(value)
    p, *_ = np.linalg.lstsq(A, np.array(values), rcond=None)
    if not np.allclose(A @ p, values, rtol=1e-9, atol=1e-12):
        raise ValueError(f"at: no values of {', '.join(names)} give the robot's present {', '.join(quantities)}; "
                         "say where to expand")  # fmt: skip
    return p
