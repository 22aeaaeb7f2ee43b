"""One residual under both back ends: inside compiled code, and called from Python."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..native.compiled import NativeAhead, largest_function, using
from ..solve.march import DrivenRobot
from ..solve.problem import MotionProblem
from ..solve.state import State
from ..types import host_whole, real
from .machine import timed

ONCE, OFTEN = 20, 520  # residuals in one call


def time_inside(
    robot: DrivenRobot, state: State, backend: Any
) -> tuple[float, int | None]:
    """Seconds of one residual at a state, inside compiled code, and its scalar operations."""
    residuals = NativeAhead(_residuals, lambda robot, *_: robot.formulation)
    times = []
    with using(backend):
        for count in (ONCE, OFTEN):
            arguments = (robot, state.q, host_whole(count), state.x, state.xd)
            times.append(_best(residuals, arguments, 20))
    operations = None
    if backend == "native":
        operations = largest_function(_residuals, *arguments)
    return (times[1] - times[0]) / (OFTEN - ONCE), operations


def time_called(robot: DrivenRobot, state: State, backend: Any) -> float:
    """Seconds of a residual that Python calls with NumPy's arrays, and all that a call takes."""
    residual = NativeAhead(_residual, lambda robot, *_: robot.formulation)
    motion = [np.asarray(part) for part in (state.q, 0.0, state.x, state.xd, state.xd)]
    with using(backend):
        return _best(residual, (robot, *motion), 500)


def _best(function: Callable, arguments: tuple, repeat: int) -> float:
    def finished() -> None:
        jax.block_until_ready(function(*arguments))

    # The first time compiles.
    finished()
    return timed(finished, repeat)[0].best


def _residual(robot: DrivenRobot, joints, t, x, xd, xdd):
    problem = MotionProblem(robot.formulation, robot.schedule.loads(0)).near(joints)
    return problem.residual(t, x, xd, xdd)


def _residuals(robot: DrivenRobot, joints, count, x, xd):
    """So many residuals, each at a state that the one before has a say in: none can be left out."""
    once = functools.partial(_residual, robot, joints)

    def again(_, state):
        t, x, xd, xdd = state
        change = 1e-30 * once(t, x, xd, xdd)
        return t + change[0], x + change, xd + change, change

    # The count is a number of the program and not its shape: one program is compiled for all.
    start = (real(0.0), x, xd, jnp.zeros_like(x))
    return jax.lax.fori_loop(0, count, again, start)
