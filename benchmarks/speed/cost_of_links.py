"""What long chains cost: scalar operations counted in traced programs and in machine code, and time measured.

The arm has links of one kind, elastic with six assumed modes each (nodal displacements in `erls-fem`), on revolute
joints whose axes alternate. A residual is the force that a given motion needs, M xdd + h: implicit steps ask for
nothing else but now and then a matrix. A right-hand side is the acceleration: forces, mass matrix, factorisation,
solution. Counts of traced programs are those of the program as written, multiplications by zeros of padded arrays
included; those of machine code leave out what is known to be zero. They do not depend on the machine.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.interpreters.partial_eval import dce_jaxpr

from jaxnative.compiled import NativeAhead, using, written_out_operations
from jaxnative.marks import noinline
from lissom.bench.cases import Log
from lissom.bench.machine import one_core, timed
from lissom.describe.robot import Robot
from lissom.dynamics import engine
from lissom.solve.inputs import Inputs
from lissom.solve.model import Model
from lissom.solve.problem import MotionProblem
from lissom.types import real

LINKS = (1, 2, 4, 8, 16, 32)
LONG = 8  # links from which on growth is fitted
KINDS = (
    ("nonlinear", "consistent"),
    ("erls-fem", "consistent"),
    ("dual-screw", "consistent"),
    ("dual-screw", "published"),
)
MODES = 6

# Evaluations in one timed call: the cost of the call itself is not counted.
INSIDE = 200
GROWING = ("residual", "native_residual", "xla_s", "native_s")

# Primitives that move numbers and compute none.
FREE = frozenset(
    """
    broadcast_in_dim reshape transpose concatenate slice squeeze gather dynamic_slice pad convert_element_type iota
    copy stop_gradient split expand_dims dynamic_update_slice rev device_put scatter select_n
    """.split()
)
# Primitives that take in every entry of their first operand once.
REDUCTIONS = ("reduce_sum", "reduce_max", "reduce_min", "cumsum")
SCATTERED_SUMS = ("scatter-add", "scatter_add")


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
    links = []
    for i in range(count):
        joint = {"type": "revolute", "origin": turned if i % 2 else {}}
        links.append({"name": f"link{i}", "joint": joint, "beam": beam})
    return Robot.from_dict({"lissom": 1, "name": f"chain-{count}", "links": links})


# --- counting ------------------------------------------------------------------------------------------------------


def operations(jaxpr: Any) -> int:
    """Scalar floating-point operations of a traced program: loops times their length, branches at their dearest."""
    return sum(_cost(equation) for equation in jaxpr.eqns)


def _cost(equation: Any) -> int:
    name = equation.primitive.name
    inner = [operations(part) for part in _inner_programs(equation.params)]
    if inner and name == "cond":
        return max(inner)
    if inner:
        # Only a scan says how often its body runs; other inner programs run once.
        return sum(inner) * int(equation.params.get("length", 1))
    if name in FREE:
        return 0
    return _own_cost(name, equation)


def _own_cost(name: str, equation: Any) -> int:
    """Cost of a primitive without a program inside."""
    operands = [variable.aval.shape for variable in equation.invars]
    results = [variable.aval.shape for variable in equation.outvars]
    size = math.prod(results[0]) if results else 0
    if name == "dot_general":
        contracted = equation.params["dimension_numbers"][0][0]
        depth = math.prod(operands[0][axis] for axis in contracted)
        # Each entry: `depth` products and one sum less.
        return size * (2 * depth - 1)
    if name == "lu":
        n = operands[0][-1]
        return 2 * n**3 // 3
    if name == "triangular_solve":
        return size * operands[0][-1]
    if name in REDUCTIONS:
        return math.prod(operands[0])
    if name in SCATTERED_SUMS:
        return math.prod(operands[-1])
    return size


def _inner_programs(params: Any) -> Iterator[Any]:
    """Programs inside a primitive: bodies of loops, branches, called functions."""
    for value in params.values():
        parts = value if isinstance(value, tuple | list) else (value,)
        for part in parts:
            if isinstance(part, ClosedJaxpr):
                yield part.jaxpr
            elif isinstance(part, Jaxpr):
                yield part


def traced_operations(function: Callable, *args: Any) -> int:
    """Operations of a traced function."""
    program = jax.make_jaxpr(function)(*args).jaxpr
    # What nobody uses is not computed either: the compiler drops it, and so does the count.
    used, _ = dce_jaxpr(program, [True] * len(program.outvars))
    return operations(used)


def counted(model: Model) -> dict[str, int]:
    """Operations of one right-hand side, and of its forces and its mass matrix alone."""
    f = model.formulation
    x, xd = state_of_motion(f)
    return {
        "operations": traced_operations(lambda x, xd: right_hand_side(f, x, xd), x, xd),
        "forces": traced_operations(lambda x, xd: engine.bias(f, x, xd), x, xd),
        "mass_matrix": traced_operations(lambda x: engine.inertia_at(f, x), x),
    }


def counted_residual(model: Model) -> dict[str, int]:
    """Operations of one residual: as traced, and as machine code."""
    f = model.formulation
    x, xd = state_of_motion(f)
    return {
        "residual": traced_operations(functools.partial(residual, f), x, xd, xd),
        "native_residual": written_out_operations(residual, f, x, xd, xd),
    }


# --- timing --------------------------------------------------------------------------------------------------------


def residual(formulation: Any, x, xd, xdd):
    """Force that a motion of the free robot needs."""
    return engine.needed_force(formulation, formulation.motion(x, xd, xdd))


def right_hand_side(formulation: Any, x, xd):
    """Acceleration of the free robot."""
    no_loads = Inputs(formulation.n_joints).on(0.0, 1.0)
    return MotionProblem(formulation, no_loads).acceleration(real(0.0), x, xd)


def state_of_motion(f: Any) -> tuple[Any, Any]:
    """A generic state: joints by one radian, elastic coordinates by a millimetre or milliradian."""
    coordinate = np.arange(f.size)
    wave = np.cos(1.7 * coordinate)
    scale = np.where(coordinate < f.n_joints, 1.0, 1e-3)
    return real(scale * wave), real(scale * wave[::-1])


def _residuals(f, x, xd):
    inner = noinline(residual)

    def step(_, force):
        # Each evaluation needs the one before it, so that none can be left out or moved out of the loop.
        return inner(f, x + 1e-12 * force, xd, xd)

    return jax.lax.fori_loop(0, INSIDE, step, jnp.zeros_like(x))


def seconds_each(model: Model, backend: Any, repeat: int) -> float:
    """Time of one residual inside compiled code, best of the repeats, one core [s]."""
    x, xd = state_of_motion(model.formulation)
    many = NativeAhead(_residuals, lambda f, *_: f)

    def job() -> None:
        jax.block_until_ready(many(model.formulation, x, xd))

    with using(backend):
        job()
        with one_core():
            times, _ = timed(job, repeat)
    return min(times.cpu) / INSIDE


def exponent(links: Sequence[int], cost: Sequence[float | int]) -> float:
    """Slope of log cost over log links, least squares."""
    return float(np.polyfit(np.log(links), np.log(cost), 1)[0])


def growth(links: Sequence[int], cost: Sequence[float | int]) -> float:
    """Exponent of a cost over long chains."""
    long = [k for k, count in enumerate(links) if count >= LONG]
    return exponent([links[k] for k in long], [cost[k] for k in long])


def measure_links(
    repeat: int = 3, log: Log = lambda text: None, links: Sequence[int] = LINKS
) -> list[dict[str, Any]]:
    """One row for each formulation and number of links; the growth exponents stand in every row of a formulation."""
    rows = []
    for name, terms in KINDS:
        own = []
        for count in links:
            log(f"{name}, {terms} terms, {count} links")
            own.append(_row(name, terms, count, repeat))
        powers = {
            f"{key}_exponent": growth(links, [row[key] for row in own])
            for key in GROWING
        }
        rows += [row | powers for row in own]
    return rows


def model_of(name: str, terms: str, count: int) -> Model:
    """The arm of `count` links in a formulation."""
    modes = None if name == "erls-fem" else MODES
    return Model(chain_of_links(count), formulation=name, modes=modes, terms=terms)


def _row(name: str, terms: str, count: int, repeat: int) -> dict[str, Any]:
    model = model_of(name, terms, count)
    return {
        "formulation": name,
        "terms": terms,
        "links": count,
        "coordinates": model.formulation.size,
        **counted_residual(model),
        **counted(model),
        "xla_s": seconds_each(model, "xla", repeat),
        "native_s": seconds_each(model, "native", repeat),
    }
