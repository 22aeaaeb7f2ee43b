"""What one right-hand side costs: scalar operations counted in the compiled program's own listing, and time measured.

The arm has links of one kind, elastic with six assumed modes each, on revolute joints whose axes alternate. A
right-hand side is the acceleration from the equations of motion: forces, mass matrix, factorisation, solution. Counts
are those of the program as written, multiplications by zeros of padded arrays included; they do not depend on the
machine.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..describe.robot import Robot
from ..dynamics import engine
from ..solve.inputs import Inputs
from ..solve.model import Model
from ..solve.problem import Problem
from ..types import real
from .machine import one_core, timed

LINKS = (2, 4, 8, 16)
KINDS = (
    ("nonlinear", "consistent"),
    ("dual-screw", "consistent"),
    ("dual-screw", "published"),
)
MODES = 6
INSIDE = (
    200  # evaluations in one timed call: the cost of the call itself is not counted
)
FREE = {
    "broadcast_in_dim", "reshape", "transpose", "concatenate", "slice", "squeeze", "gather", "dynamic_slice", "pad",
    "convert_element_type", "iota", "copy", "stop_gradient", "split", "expand_dims", "dynamic_update_slice", "rev",
    "device_put", "scatter", "select_n",
}  # fmt: skip


def chain_of_links(count: int) -> Robot:
    """An arm of `count` equal elastic links."""
    beam = {
        "path": [[0, 0, 0], [0.5, 0, 0]],
        "section": {"shape": "tube", "outer": 0.05, "inner": 0.04},
        "material": {"E": 7e10, "nu": 0.33, "density": 2700},
        "up": [0, 0, 1],
        "elements": 1,
    }
    turned = {"rpy": [math.pi / 2, 0.0, 0.0]}
    links = [
        {
            "name": f"link{i}",
            "joint": {"type": "revolute", "origin": turned if i % 2 else {}},
            "beam": beam,
        }
        for i in range(count)
    ]
    return Robot.from_dict({"lissom": 1, "name": f"chain-{count}", "links": links})


def operations(jaxpr: Any) -> int:
    """Scalar floating-point operations of a traced program: loops times their length, branches at their dearest."""
    return sum(_cost(equation) for equation in jaxpr.eqns)


def _cost(equation: Any) -> int:
    name, shape = equation.primitive.name, [np.shape(v.aval) for v in equation.outvars]
    inner = list(_inner(equation.params))
    if inner:
        costs = [operations(part) for part in inner]
        return (
            max(costs)
            if name == "cond"
            else sum(costs) * int(equation.params.get("length", 1))
        )
    size = int(np.prod(shape[0])) if shape else 0
    if name in FREE:
        return 0
    if name == "dot_general":
        contracted = equation.params["dimension_numbers"][0][0]
        depth = int(
            np.prod([equation.invars[0].aval.shape[axis] for axis in contracted])
        )
        return size * (2 * depth - 1)
    if name == "lu":
        n = equation.invars[0].aval.shape[-1]
        return 2 * n**3 // 3
    if name == "triangular_solve":
        return size * equation.invars[0].aval.shape[-1]
    if name in (
        "reduce_sum",
        "reduce_max",
        "reduce_min",
        "cumsum",
        "scatter-add",
        "scatter_add",
    ):
        return int(np.prod(equation.invars[-1 if "scatter" in name else 0].aval.shape))
    return size


def _inner(params: Any) -> Iterator[Any]:
    for value in params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            if hasattr(part, "jaxpr"):
                yield part.jaxpr
            elif hasattr(part, "eqns"):
                yield part


def right_hand_side(formulation: Any, x, xd):
    """Acceleration of the free robot."""
    return Problem(formulation, Inputs(formulation.n_joints).on(0.0, 1.0)).acceleration(
        real(0.0), x, xd
    )


def counted(model: Model) -> dict[str, int]:
    """Operations of one right-hand side, and of its forces and its mass matrix alone."""
    f = model.formulation
    x, xd = state_of_motion(f)

    def jaxpr(function, *args):
        return jax.make_jaxpr(function)(*args).jaxpr

    return {
        "operations": operations(jaxpr(lambda x, xd: right_hand_side(f, x, xd), x, xd)),
        "forces": operations(jaxpr(lambda x, xd: engine.bias(f, x, xd), x, xd)),
        "mass_matrix": operations(jaxpr(lambda x: engine.inertia_at(f, x), x)),
    }


def state_of_motion(f: Any) -> tuple[Any, Any]:
    """A generic state: joints by one radian, elastic coordinates by a millimetre or milliradian."""
    wave = np.cos(1.7 * np.arange(f.size))
    scale = np.where(np.arange(f.size) < f.n_joints, 1.0, 1e-3)
    return real(scale * wave), real(scale * wave[::-1])


def seconds_each(model: Model, repeat: int) -> float:
    """Time of one right-hand side inside compiled code, best of the repeats, one core [s]."""
    x, xd = state_of_motion(model.formulation)

    @jax.jit
    def many(f, x, xd):
        def step(_, a):
            return right_hand_side(f, x + 1e-12 * a, xd)

        return jax.lax.fori_loop(0, INSIDE, step, jnp.zeros_like(x))

    f = jax.tree.map(jnp.asarray, model.formulation)
    jax.block_until_ready(many(f, x, xd))
    with one_core():
        times, _ = timed(lambda: jax.block_until_ready(many(f, x, xd)), repeat)
    return min(times.cpu) / INSIDE


def exponent(links: Sequence[int], cost: Sequence[float]) -> float:
    """Slope of log cost over log links, least squares."""
    return float(np.polyfit(np.log(links), np.log(cost), 1)[0])


def measure_links(
    repeat: int = 3, tell=lambda text: None, links: Sequence[int] = LINKS
) -> list[dict[str, Any]]:
    """One row for each formulation and number of links; the growth exponents stand in every row of a formulation."""
    rows = []
    for name, terms in KINDS:
        own = []
        for count in links:
            tell(f"{name}, {terms} terms, {count} links")
            model = Model(
                chain_of_links(count), formulation=name, modes=MODES, terms=terms
            )
            row = {
                "formulation": name,
                "terms": terms,
                "links": count,
                "coordinates": model.formulation.size,
            }
            own.append(row | counted(model) | {"cpu_s": seconds_each(model, repeat)})
        powers = {
            f"{key}_exponent": exponent(links, [row[key] for row in own])
            for key in ("operations", "cpu_s")
        }
        rows += [row | powers for row in own]
    return rows
