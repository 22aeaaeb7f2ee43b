"""The nominal motion: reference of the joints, feed-forward torques and nominal sensor readings.

Every law of the kit has the form

    tau = tau_nom(t) + feedback(y - y_nom(t)),

so that laws can be compared on one motion with one feed-forward. The links of the nominal motion are in quasi-static
balance with it: any deviation from it is vibration, and left to the feedback.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation, on_branch_near
from ..solve.balance import balanced_point, moving_joints, of_independent
from ..solve.channels import Channel, measure, observed_motion, output_named
from ..solve.model import Model
from ..solve.signals import AbstractSignal, Table
from ..types import Float, Real

FeedForward = Literal["none", "gravity", "rigid", "quasi-static"]
FEED_FORWARDS: tuple[FeedForward, ...] = ("none", "gravity", "rigid", "quasi-static")

CHUNK = 64  # points of a motion that are balanced in one call: one compilation serves motions of every length


class NominalMotion(eqx.Module):
    """Reference of the actuated joints, feed-forward torques and nominal measurements over time."""

    reference: AbstractSignal
    torque: AbstractSignal
    measured: AbstractSignal

    def deviation_before(
        self, t: Float[Any, ""], torque: Float[Any, " a"], sample: Any
    ) -> Float[Any, " a"]:
        """Of held torques from those of the sample before t, where observers predict from."""
        return torque - self.torque.value(t - sample)


def nominal_motion(
    model: Model,
    reference: AbstractSignal,
    sensors: Sequence[str] = (),
    feedforward: FeedForward = "quasi-static",
    *,
    step: float = 1e-3,
    slow: bool = False,
) -> NominalMotion:
    """Feed-forward and nominal measurements along a reference, tabulated once.

    Args:
        model: the robot as the controller knows it.
        reference: places of the actuated joints over time, or of all moving joints.
        sensors: names of the channels to predict.
        feedforward: `gravity` and `rigid` take the links as rigid; `quasi-static` takes their sag and their inertia
            into account; `none` is zero.
        step: between two rows of the tables [s].
        slow: True: as if the motion were infinitely slow, under the weight alone.
    """
    if feedforward not in FEED_FORWARDS:
        raise ValueError(
            f"feedforward must be one of {', '.join(FEED_FORWARDS)}, got {feedforward!r}"
        )
    end = float(reference.breakpoints[-1]) if len(reference.breakpoints) else 0.0
    # One row beyond the end, so that the last ones are those of the robot at rest.
    times = step * np.arange(int(np.ceil(end / step)) + 2)
    channels = tuple(output_named(model, name) for name in sensors)
    motion = joint_motion(model, reference, times)
    if slow:
        motion[:, 1:] = 0.0

    def points(part):
        q, qd, qdd = np.swapaxes(part, 0, 1)
        return _nominal_points(model.formulation, channels, feedforward, q, qd, qdd)

    torque, measured = in_chunks(points, motion)
    return NominalMotion(
        reference=actuated_reference(model, reference),
        torque=Table(times.tolist(), torque, "linear", after="hold"),
        measured=Table(times.tolist(), measured, "linear", after="hold"),
    )


def joint_motion(
    model: Model, reference: AbstractSignal, times: Float[np.ndarray, " t"]
) -> Float[np.ndarray, "t 3 j"]:
    """Places, speeds and accelerations of all moving joints along a reference of these or of the actuated ones.

    The loops of a closed chain are closed from one time to the next, on one branch. Speeds and accelerations are those
    of the reference: the independent joints alone count.
    """
    along = np.array(motion_along(jnp.asarray(times), reference))
    if along.shape[-1] != model.n_joints:
        whole = np.zeros((len(times), 3, model.n_joints))
        whole[:, 0] = np.asarray(model.formulation.mechanism.home)
        whole[:, :, list(model.actuated)] = along
        along = whole
    if not model.closed:
        return along
    independent = list(model.formulation.independent)
    joints = np.asarray(model.assemble(along[0, 0, independent]))
    for row in along:
        joints = joints.copy()
        joints[independent] = row[0, independent]
        joints = np.asarray(_close_loops(model.formulation, jnp.asarray(joints)))
        row[0] = joints
    return along


@compiled_quickly
def motion_along(
    times: Float[Real, " t"], reference: AbstractSignal
) -> Float[Array, "t 3 j"]:
    """Places, speeds and accelerations of a reference at many times."""

    def one(t):
        parts = [reference.value(t), reference.rate(t), reference.acceleration(t)]
        return jnp.stack(parts)

    return vmap_rows(one)(times)


@compiled_quickly
def _close_loops(
    f: AbstractFormulation, joints: Float[Array, " j"]
) -> Float[Array, " j"]:
    x = jnp.concatenate([of_independent(f, joints), jnp.zeros(f.n_elastic)])
    return on_branch_near(f, joints).mechanism.joint_coordinates(x)


def in_chunks(function: Callable[[Any], Any], rows: np.ndarray) -> Any:
    """A function of many rows, in pieces of one length."""
    count = len(rows)
    padding = -count % CHUNK
    padded = np.concatenate([rows, np.repeat(rows[-1:], padding, axis=0)])
    parts = [function(part) for part in np.split(padded, len(padded) // CHUNK)]
    joined = jax.tree.map(lambda *p: np.concatenate([np.asarray(x) for x in p]), *parts)
    return jax.tree.map(lambda values: values[:count], joined)


@compiled_quickly
def _nominal_points(
    f: AbstractFormulation,
    channels: tuple[Channel, ...],
    feedforward: str,
    q: Float[Array, "t j"],
    qd: Float[Array, "t j"],
    qdd: Float[Array, "t j"],
) -> tuple[Float[Array, "t a"], Float[Array, "t m"]]:
    def one(q, qd, qdd):
        on_branch = on_branch_near(f, q)
        point = balanced_point(on_branch, q, qd, qdd)
        motion = on_branch.motion(point.x, point.xd, point.xdd)
        observed = observed_motion(on_branch, motion)
        measured = measure(on_branch, channels, observed, None, point.tau)
        if feedforward == "none":
            torque = jnp.zeros(len(f.joints.actuated))
        elif feedforward == "gravity":
            still = jnp.zeros_like(qd)
            torque = rigid_torque(on_branch, q, still, still)
        elif feedforward == "rigid":
            torque = rigid_torque(on_branch, q, qd, qdd)
        else:
            force = engine.torque_map(on_branch, motion).T @ point.tau
            torque = on_actuated_joints(on_branch, point.x, force[: f.n_joints])
        return torque, measured

    return vmap_rows(one)(q, qd, qdd)


def rigid_torque(
    formulation: AbstractFormulation,
    q: Float[Array, " j"],
    qd: Float[Array, " j"],
    qdd: Float[Array, " j"],
) -> Float[Array, " a"]:
    """Torques of the actuated joints that move the robot with rigid links along a motion (inverse dynamics)."""
    f = formulation
    theta = of_independent(f, q)
    x = jnp.concatenate([theta, jnp.zeros(f.n_elastic)])
    motion = f.motion(x, moving_joints(f, qd), moving_joints(f, qdd))
    none = engine.on_joints(f, jnp.zeros(f.n_encoders))
    force = engine.needed_force(f, motion, none)
    return on_actuated_joints(f, x, force[: f.n_joints])


def on_actuated_joints(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    force: Float[Array, " i"],
) -> Float[Array, " a"]:
    """Torques of the actuated joints that do the work of forces on the independent ones, the smallest if many do."""
    f = formulation
    actuated = jnp.asarray(f.joints.actuated, dtype=int)
    if f.n_joints == f.n_encoders:
        # Every joint of an open chain is its own coordinate.
        return force[actuated]
    independent = list(f.independent)
    if set(f.joints.actuated) == set(independent):
        # Each motor sits on a coordinate of its own.
        places = [independent.index(joint) for joint in f.joints.actuated]
        return force[jnp.asarray(places, dtype=int)]
    G = f.mechanism.joint_map(x)[actuated, : f.n_joints]
    return jnp.linalg.pinv(G.T) @ force


class ActuatedPart(AbstractSignal):
    """The columns of the actuated joints of a signal of all moving joints."""

    signal: AbstractSignal
    columns: tuple[int, ...] = eqx.field(static=True)

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return self.signal.breakpoints

    @override
    def on(self, start: float, end: float) -> "ActuatedPart":
        return ActuatedPart(self.signal.on(start, end), self.columns)

    @override
    def value(self, t: Any) -> Float[Array, " a"]:
        return self.signal.value(t)[jnp.asarray(self.columns)]

    @override
    def rate(self, t: Any) -> Float[Array, " a"]:
        return self.signal.rate(t)[jnp.asarray(self.columns)]

    @override
    def acceleration(self, t: Any) -> Float[Array, " a"]:
        return self.signal.acceleration(t)[jnp.asarray(self.columns)]


def actuated_reference(model: Model, reference: AbstractSignal) -> AbstractSignal:
    """A reference of the actuated joints, from one of these or of all moving joints."""
    size = np.shape(reference.value(0.0))[0]
    if size == len(model.actuated):
        return reference
    if size != model.n_joints:
        raise ValueError(
            f"the reference has {size} columns: one for each of the {len(model.actuated)} actuated joints, or one for "
            f"each of the {model.n_joints} moving joints"
        )
    return ActuatedPart(reference, model.actuated)
