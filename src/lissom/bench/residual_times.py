"""One residual under both back ends: inside compiled code, and called from Python.

Other programs on the same machine slow its cores down, by up to two and for as long as a second. So back ends are timed
in turn, again and again, and the best time of each counts.
"""

import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import NativeAhead, largest_function, using

from ..solve.march import DrivenRobot
from ..solve.problem import MotionProblem
from ..solve.state import State
from ..types import host_whole, real
from .machine import timed

SECONDS = (
    2.0  # for all back ends together, inside compiled code and called from Python each
)
TURN = 0.01  # seconds: one call at least, as many as there is time for
ONCE, OFTEN = 20, 520  # residuals in one call

Times = dict[str, float]  # best ones, by back end


def time_inside(
    robot: DrivenRobot, state: State, backends: Sequence[Any], seconds: float = SECONDS
) -> Times:
    """Seconds of one residual at a state, inside compiled code."""
    jobs = {}
    for backend in backends:
        residuals = NativeAhead(_residuals, lambda robot, *_: robot.formulation)
        for count in (ONCE, OFTEN):
            # A new number each time: one that comes again is known at sight, and either count would cost less.
            arguments = functools.partial(_many, robot, state, count)
            jobs[backend, count] = _timed_calls(backend, residuals, arguments)
    best = best_in_turn(jobs, seconds)
    return {b: (best[b, OFTEN] - best[b, ONCE]) / (OFTEN - ONCE) for b in backends}


def time_called(
    robot: DrivenRobot, state: State, backends: Sequence[Any], seconds: float = SECONDS
) -> Times:
    """Seconds of a residual that Python calls with NumPy's arrays, and all that a call takes."""
    motion = [np.asarray(part) for part in (state.q, 0.0, state.x, state.xd, state.xd)]
    jobs = {}
    for backend in backends:
        residual = NativeAhead(_residual, lambda robot, *_: robot.formulation)
        jobs[backend] = _timed_calls(backend, residual, lambda: (robot, *motion))
    return best_in_turn(jobs, seconds)


def operations_inside(robot: DrivenRobot, state: State) -> int:
    """Scalar operations of one residual in machine code."""
    return largest_function(_residuals, *_many(robot, state, OFTEN))


def best_in_turn(
    jobs: dict[Any, Callable[[], float]], seconds: float
) -> dict[Any, float]:
    """The shortest time of each job; all run in turn for so long, at least once."""
    best = dict.fromkeys(jobs, math.inf)
    end = time.monotonic() + seconds
    while True:
        for name, job in jobs.items():
            best[name] = min(best[name], job())
        if time.monotonic() >= end:
            return best


def _timed_calls(
    backend: Any, function: Callable, arguments: Callable[[], tuple]
) -> Callable[[], float]:
    """A job that calls a compiled function for one turn and returns the best time; all is compiled beforehand."""

    def finished() -> None:
        jax.block_until_ready(function(*arguments()))

    def job() -> float:
        best, end = math.inf, time.monotonic() + TURN
        with using(backend):
            while best == math.inf or time.monotonic() < end:
                best = min(best, timed(finished)[0].best)
        return best

    job()
    return job


def _many(robot: DrivenRobot, state: State, count: int) -> tuple:
    """Generic arguments for a number of residuals."""
    return (robot, state.q, host_whole(count), state.x, state.xd)


def _residual(robot: DrivenRobot, joints, t, x, xd, xdd):
    problem = MotionProblem(robot.formulation, robot.schedule.loads(0)).on_branch_near(
        joints
    )
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
