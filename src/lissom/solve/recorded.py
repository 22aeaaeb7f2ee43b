"""Errors that steps make in what a run records: velocities and accelerations of nodes.

The tolerance of a step is about positions, and the acceleration of a vibration is its displacement times the square of
its frequency: a vibration that moves no node by the tolerance may be most of what an accelerometer measures.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from jaxnative.marks import noinline

from ..algebra.linear import Factors, factorise, solve_with
from ..algebra.so3 import CROSS
from ..dynamics.formulation import Rates
from ..types import Float
from .channels import Channel, measure, observed_motion
from .problem import MotionProblem, Tangents

# The errors of a run that do not die out may add up to this part of what a step may make,
IN_TOTAL = 0.5
# half of it from the start on, the other half in proportion to the time that has passed.
AT_ONCE = 0.5
# Share of what is left that one step may take.
SPENT = 0.25
# Orders of the two errors: what a step may make does not depend on its length h, what it may add to the total does.
STEP_POWER = 2 / 3
TOTAL_POWER = 0.8
# A step whose motion is right to this part of the tolerance is right: the rest is rounding.
REACH = 1e7


class RecordedQuantities(eqx.Module):
    """What a run records, and how exactly."""

    nodes: tuple[tuple[int, int], ...] = eqx.field(static=True)  # link and number
    # Velocity, acceleration, angular velocity and angular acceleration of all nodes, each along x, y and z.
    motions: tuple[Channel, ...]
    share: Any  # error of a step, of the largest value so far
    per_second: Any  # the same over the duration of the run [1/s]

    @property
    def in_total(self) -> Float[Array, " r"]:
        """1 for what is also bounded in total: all but angular motions, in which the shortest waves are largest."""
        return jnp.repeat(jnp.array([1.0, 0.0]), 2 * len(self.nodes))


class RecordedMaps(eqx.Module):
    """Changes of what is recorded with coordinates and rates, as far as vibration makes them."""

    linear: Float[Array, "k 3 n"]  # velocity of the nodes per unit of xd, link axes
    angular: Float[Array, "k 3 n"]
    inertia: Factors  # of M


class ErrorAccount(eqx.Module):
    """The recorded quantities of a run so far: velocities, accelerations, and the same of angles."""

    maps: RecordedMaps
    largest: Float[Array, " r"]  # size
    spent: Float[Array, " r"]  # sum of the errors that do not die out
    earned: Float[Array, ""]  # part of the largest size that this sum may be


def first_account(
    problem: MotionProblem,
    recorded: RecordedQuantities,
    tangents: Tangents,
    N: Rates,
) -> ErrorAccount:
    """The account at the start of a run; N is the map of rates."""
    none = jnp.zeros(4 * len(recorded.nodes))
    maps = recorded_maps(problem, recorded, tangents, N)
    return ErrorAccount(maps, none, none, IN_TOTAL * AT_ONCE * recorded.share)


def recorded_maps(
    problem: MotionProblem,
    recorded: RecordedQuantities,
    tangents: Tangents,
    N: Rates,
) -> RecordedMaps:
    """The maps at a state whose map of rates is N."""
    links = problem.formulation.links
    points, shapes = jnp.asarray(links.points), jnp.asarray(links.node_shape)
    linear, angular = [], []
    for link, node in recorded.nodes:
        # Nodes move with their link, v + w x X, and in it, U q.
        lever = jnp.einsum("aij,j->ia", CROSS, points[link, node])
        in_link = shapes[link, node] @ N.q[link]
        linear.append(N.V[link, :3] + lever @ N.V[link, 3:] + in_link[:3])
        angular.append(N.V[link, 3:] + in_link[3:])
    inertia = factorise(tangents.M)
    return RecordedMaps(jnp.stack(linear), jnp.stack(angular), inertia)


def recorded_errors(
    maps: RecordedMaps, tangents: Tangents, dx, dxd
) -> Float[Array, " r"]:
    """Sizes of the errors of what is recorded, from errors of coordinates and rates."""
    # M xdd + D xd + K x = 0 of what vibrates.
    dxdd = -solve_with(maps.inertia, tangents.K @ dx + tangents.D @ dxd)
    motions = []
    for velocity in (maps.linear, maps.angular):
        for change in (dxd, dxdd):
            motions.append(jnp.linalg.norm(velocity @ change, axis=-1))
    return jnp.concatenate(motions)


@noinline
def recorded_sizes(
    problem: MotionProblem, recorded: RecordedQuantities, x, xd, xdd
) -> Float[Array, " r"]:
    """Sizes of what is recorded of a motion, as results have it."""
    f = problem.formulation
    observed = observed_motion(f, f.motion(x, xd, xdd))
    no_torque = jnp.zeros(f.n_encoders)
    values = measure(f, recorded.motions, observed, None, no_torque)
    return jnp.linalg.norm(values.reshape(-1, 3), axis=-1)


def balance_step(
    account: ErrorAccount,
    recorded: RecordedQuantities,
    h,
    sizes: Float[Array, " r"],
    errors: Float[Array, " r"],
    lasting: Float[Array, " r"],
) -> tuple[ErrorAccount, Float[Array, ""]]:
    """The account after a step, and how large its errors are, where 1 is just acceptable.

    Args:
        account: before the step.
        recorded: what is recorded.
        h: length of the step [s].
        sizes: of what is recorded at the end of the step.
        errors: that the step makes.
        lasting: the part of them that the next steps do not remove.
    """
    largest = jnp.maximum(account.largest, sizes)
    of_step = _largest_ratio(errors, recorded.share * largest)
    allowed = _allowed_in_total(account, recorded, largest, h)
    counted = recorded.in_total * lasting
    of_total = _largest_ratio(counted, allowed)
    earned = account.earned + _earned_in(recorded, h)
    after = ErrorAccount(account.maps, largest, account.spent + counted, earned)
    return after, jnp.maximum(of_step**STEP_POWER, of_total**TOTAL_POWER)


def iteration_error(
    account: ErrorAccount, recorded: RecordedQuantities, tangents: Tangents, h, dx, dxd
) -> Float[Array, ""]:
    """Size of the changes of an iteration, where 1 is what the step itself may make."""
    changes = recorded_errors(account.maps, tangents, dx, dxd)
    largest = account.largest
    allowed = _allowed_in_total(account, recorded, largest, h)
    of_total = _largest_ratio(recorded.in_total * changes, allowed)
    return jnp.maximum(_largest_ratio(changes, recorded.share * largest), of_total)


def _earned_in(recorded: RecordedQuantities, h):
    """What the total of the errors may grow by in a time h, as a part of the largest value."""
    return IN_TOTAL * (1.0 - AT_ONCE) * recorded.per_second * h


def _allowed_in_total(
    account: ErrorAccount, recorded: RecordedQuantities, largest, h
) -> Float[Array, " r"]:
    """What a step of length h may add to the total of each error."""
    unused = jnp.maximum(account.earned * largest - account.spent, 0.0)
    return _earned_in(recorded, h) * largest + SPENT * unused


def _largest_ratio(errors, allowed) -> Float[Array, ""]:
    return jnp.max(errors / jnp.maximum(allowed, 1e-300))
