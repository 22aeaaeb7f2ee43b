"""Feed-forward by inversion at the tip: torques under which the tip of the bending robot follows its path.

From torques to the tip a bending robot is non-minimum phase: solved forward in time, the inversion grows beyond all
bounds. The bounded solution begins before the tip moves (pre-actuation) and ends after it [Bayo1987]. Here it is
computed at all times at once, on the full nonlinear robot, over a window that is longer than the motion:

    min sum_k |tip(x_k) - path_k|^2 + small |tau_k - tau_qs|^2    with    M(x) x'' + h(x, x') = S tau,

at rest at both ends of the window. The path is the tip of the same motion, infinitely slow. Torques count so little
that the tip follows closely, and enough to choose the bounded solution among all others.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ..dynamics.formulation import AbstractFormulation, on_branch_near
from ..solve.balance import balanced_point, motion_residual_of
from ..solve.channels import Channel, measure, observed_motion, output_named
from ..solve.model import Model
from ..solve.signals import AbstractSignal, Table
from ..types import Float
from .design_error import DesignError
from .nominal import NominalMotion, joint_motion
from .references import PolynomialSignal
from .slow_model import encoder_names
from .tuning import driven_modes

POINTS = 1000  # of the window
STEPS = 25  # of Newton's method
SMALL_STEP = 1e-7  # relative: the last one needed
# Distance of the tip, in joint coordinates, that costs as much as the largest quasi-static torque.
CLOSE = 1e-4
REST = 1e3  # weight of rest next to the ends of the window, against that of the tip
FAR = 0.02  # part of its way by which the tip may miss its path
SINGULAR = 1e-3  # relative: directions in which joints move the tip by less are left to the joints' own reference


class Window(NamedTuple):
    """The times of the boundary-value problem, and the quasi-static robot there."""

    times: Float[np.ndarray, " t"]
    x: Float[np.ndarray, "t n"]
    torque: Float[np.ndarray, "t a"]
    tip: Float[np.ndarray, "t 3"]
    joints: Float[np.ndarray, "t a"]  # encoders of the actuated joints
    pull: Float[
        np.ndarray, "t a 3"
    ]  # pseudo-inverse: from a displacement of the tip to the joints


class InvertedMotion(NamedTuple):
    """A nominal motion whose tip follows its path, with pre- and post-actuation."""

    nominal: NominalMotion
    x: Float[np.ndarray, "t n"]
    times: Float[np.ndarray, " t"]
    tip: Float[np.ndarray, "t 3"]  # path that is followed, world axes [m]


def tip_inversion(
    model: Model,
    reference: AbstractSignal,
    sensors: tuple[str, ...] = (),
    *,
    node: str | None = None,
    points: int = POINTS,
) -> InvertedMotion:
    """Torques, joints and measurements under which a node follows the path of the slow motion.

    The reference must rest long enough before it moves: the torques begin earlier than the tip. As many coordinates of
    the tip are followed as there are motors, the rest is left to the joints' own reference.

    Args:
        model: the robot as the controller knows it; all its independent joints have motors.
        reference: of the joints.
        sensors: names of the channels to predict.
        node: default the last link's tip.
        points: of the window.

    Raises:
        DesignError: passive joints, too little time before the motion, or no solution.
    """
    if tuple(model.actuated) != tuple(model.formulation.independent):
        raise DesignError(
            "inversion at the tip needs a motor on every independent joint; motors are on "
            f"{', '.join(model.actuated_names)}",
            "feedforward",
        )
    start = float(reference.breakpoints[0])
    if start <= 0:
        raise _too_early(start, "there is no time before the motion")
    f = model.formulation
    place = node or f"{model.link_names[-1]}/tip"
    tip = tuple(output_named(model, f"{place}.p{axis}") for axis in "xyz")
    window = _window(model, reference, tip, points)
    solution = _bounded_solution(f, tip, window)
    if solution is None:
        raise _too_early(start, "no solution was found")
    x, torque, away = solution
    _check_path(start, away, window)
    outputs = (*encoder_names(model), *sensors)
    channels = tuple(output_named(model, name) for name in outputs)
    h = float(window.times[1])
    readings = np.asarray(_measure(f, channels, _neighbours(x), torque, h))
    joints = len(model.actuated)
    spline = scipy.interpolate.CubicSpline(
        window.times, readings[:, :joints], bc_type="clamped"
    )
    return InvertedMotion(
        NominalMotion(
            PolynomialSignal(window.times, np.moveaxis(spline.c[::-1], 1, 0)),
            Table(window.times, torque, "linear", after="hold"),
            Table(window.times, readings[:, joints:], "linear", after="hold"),
        ),
        x,
        window.times,
        window.tip,
    )


# --- the window ----------------------------------------------------------------------------------------------------


def _window(model: Model, reference: AbstractSignal, tip, points: int) -> Window:
    start, end = float(reference.breakpoints[0]), float(reference.breakpoints[-1])
    last = np.asarray(reference.value(end))
    period = (
        2 * np.pi / driven_modes(model, _pose(model, reference, end, last))[0].omega
    )
    tail = max(start, period)
    times = np.linspace(0.0, end + tail, points + 1)
    q = joint_motion(model, reference, times)[:, 0]
    return Window(
        times, *map(np.asarray, _resting(model.formulation, tip, jnp.asarray(q)))
    )


def _pose(model: Model, reference: AbstractSignal, t: float, row: Any) -> Any:
    if len(row) == model.n_joints:
        return row
    return joint_motion(model, reference, np.array([t]))[0, 0]


@compiled_quickly
def _resting(f: AbstractFormulation, tip, q: Float[Array, "t j"]):
    """Coordinates, torques, tip, joints and pull at rest with the joints at q."""

    def one(q):
        on_branch = on_branch_near(f, q)
        still = jnp.zeros_like(q)
        point = balanced_point(on_branch, q, still, still)

        def tip_of(joints):
            x = point.x.at[: f.n_joints].set(joints)
            return _readings(on_branch, tip, x, 0 * x, 0 * x, point.tau)

        joints = point.x[: f.n_joints]
        J = jax.jacfwd(tip_of)(joints)
        motion = on_branch.motion(point.x, point.xd, point.xdd)
        actuated = jnp.asarray(f.joints.actuated, dtype=int)
        encoder = motion.place.encoder[actuated]
        pull = jnp.linalg.pinv(J, rtol=SINGULAR)
        # Joints that do not move the tip follow their own reference.
        return point.x, point.tau[actuated], tip_of(joints), encoder, pull

    return vmap_rows(one)(q)


def _readings(f: AbstractFormulation, channels: tuple[Channel, ...], x, xd, xdd, tau):
    motion = f.motion(x, xd, xdd)
    return measure(f, channels, observed_motion(f, motion), None, tau)


def _check_path(start: float, away, window: Window) -> None:
    """Refuse a solution whose tip does not follow, because the time before the motion is too short."""
    way = np.abs(window.joints - window.joints[0]).max()
    missed = np.abs(away).max() / max(way, 1e-300)
    if missed > FAR:
        raise _too_early(
            start, f"the tip would deviate from its path by {missed:.0%} of it"
        )


def _too_early(start: float, problem: str) -> DesignError:
    return DesignError(
        f"{problem}. Inversion at the tip acts before the tip moves, which is at "
        f"{start:g} s. Start the motion later (the first time of reference.t is the "
        "time available before it), move more slowly, or take fewer modes (`model: "
        "{modes: 3}`).",
        "feedforward",
    )


# --- the boundary-value problem ------------------------------------------------------------------------------------


def _neighbours(x: Float[np.ndarray, "t n"]) -> Float[np.ndarray, "t 3 n"]:
    """Every row with the one before and after it; the robot rests outside."""
    padded = np.concatenate([x[:1], x, x[-1:]])
    return np.stack([padded[:-2], padded[1:-1], padded[2:]], axis=1)


def _bounded_solution(f: AbstractFormulation, tip, window: Window):
    """Coordinates and torques at all times, and how far the tip is away, by Newton's method; None: it does not end."""
    x, torque = window.x.copy(), window.torque.copy()
    n = x.shape[1]
    h = float(window.times[1])
    goal = (window.tip, window.joints, window.pull)
    price = (CLOSE / _largest_torque(f, window, h)) ** 2
    for _ in range(STEPS):
        system = _linearise(f, tip, _neighbours(x), torque, goal, h)
        missing, slopes = (np.asarray(part)[1:-1] for part in system)
        at_rest = window.x[1:-1] - x[1:-1]
        extra = price * (torque - window.torque)[1:-1]
        step = _newton_step(missing, slopes, at_rest, extra, price)
        if not np.all(np.isfinite(step)):
            break
        x[1:-1] += step[:, :n]
        torque[1:-1] += step[:, n:]
        if np.abs(step[:, :n]).max() < SMALL_STEP * (1 + np.abs(x).max()):
            return x, torque, missing[:, n:]
    return None


def _largest_torque(f: AbstractFormulation, window: Window, h: float) -> float:
    """Largest torque of the motion with quasi-static links, inertia included [N m or N]."""
    torques = _required_force(f, _neighbours(window.x), h)
    return float(np.abs(np.asarray(torques)[1:-1]).max()) + 1e-12


@compiled_quickly
def _required_force(f: AbstractFormulation, rows, h):
    def one(row):
        before, now, after = row
        xd = (after - before) / (2 * h)
        xdd = (after - 2 * now + before) / h**2
        none = jnp.zeros(f.n_encoders)
        return motion_residual_of(f, f.motion(now, xd, xdd), none)[: f.n_joints]

    return jax.vmap(one)(rows)


@compiled_quickly
def _linearise(f: AbstractFormulation, tip, rows, torque, goal, h):
    """Residuals at every time, and their derivatives with respect to (before, now, after, torque)."""

    def missing(z, target):
        n = f.size
        before, now, after, tau = z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n :]
        wanted, joints, pull = target
        xd = (after - before) / (2 * h)
        xdd = (after - 2 * now + before) / h**2
        motion = f.motion(now, xd, xdd)
        actuated = jnp.asarray(f.joints.actuated, dtype=int)
        on_joints = jnp.zeros(f.n_encoders).at[actuated].set(tau)
        force = motion_residual_of(f, motion, on_joints)
        place = measure(f, tip, observed_motion(f, motion), None, on_joints)
        away = pull @ (place - wanted)
        # pull pull^+ projects onto the joints that move the tip.
        felt = pull @ jnp.linalg.pinv(pull, rtol=SINGULAR)
        own = motion.place.encoder[actuated] - joints
        return jnp.concatenate([force, away + own - felt @ own])

    def both(z, target):
        return missing(z, target), jax.jacfwd(missing)(z, target)

    z = jnp.concatenate([rows.reshape(len(rows), -1), torque], axis=1)
    return vmap_rows(both)(z, goal)


def _newton_step(missing, slopes, at_rest, extra, price: float):
    """Newton's step of all inner times: least cost under the linear equations of motion, with multipliers."""
    count, u = missing.shape
    a = extra.shape[1]
    n = u - a
    force = slopes[:, :n]
    # Equations of very different size: each counts as much as the others.
    size = np.abs(force).max(axis=(0, 2))
    A = _tridiagonal(force / size[None, :, None], n)
    G = slopes[:, n:, n : 2 * n]
    H = np.zeros((count, u, u))
    H[:, :n, :n] = np.swapaxes(G, 1, 2) @ G
    H[:, n:, n:] = price * np.eye(a)
    slope = np.zeros((count, u))
    slope[:, :n] = np.einsum("kai,ka->ki", G, missing[:, n:])
    slope[:, n:] = extra
    for end in (0, -1):
        weight = REST * np.abs(np.diagonal(H[end])[:n]).max()
        H[end, :n, :n] += weight * np.eye(n)
        slope[end, :n] -= weight * at_rest[end]
    whole = scipy.sparse.bmat(
        [[scipy.sparse.block_diag(list(H)), A.T], [A, None]], format="csc"
    )
    right = np.concatenate([slope.ravel(), (missing[:, :n] / size).ravel()])
    answer = -scipy.sparse.linalg.spsolve(whole, right)
    return answer[: count * u].reshape(count, u)


def _tridiagonal(force: Float[np.ndarray, "t n w"], n: int) -> Any:
    """The equations of motion at all inner times; columns are (x, torque) of every inner time."""
    count = len(force)
    u = force.shape[2] - 2 * n
    blocks = np.zeros((count, 3, n, u))
    blocks[:, 0, :, :n] = force[:, :, :n]
    blocks[:, 1, :, :n] = force[:, :, n : 2 * n]
    blocks[:, 1, :, n:] = force[:, :, 3 * n :]
    blocks[:, 2, :, :n] = force[:, :, 2 * n : 3 * n]
    place = np.arange(count)[:, None, None, None]
    shift = np.array([-1, 0, 1])[None, :, None, None]
    rows = np.broadcast_to(place * n + np.arange(n)[:, None], blocks.shape)
    columns = np.broadcast_to((place + shift) * u + np.arange(u), blocks.shape)
    inside = (columns >= 0) & (columns < count * u) & (blocks != 0)
    entries = (blocks[inside], (rows[inside], columns[inside]))
    return scipy.sparse.csc_matrix(entries, shape=(count * n, count * u))


@compiled_quickly
def _measure(f: AbstractFormulation, channels, rows, torque, h):
    """Sensor readings along the solution."""

    def one(row, tau):
        before, now, after = row
        actuated = jnp.asarray(f.joints.actuated, dtype=int)
        on_joints = jnp.zeros(f.n_encoders).at[actuated].set(tau)
        xd = (after - before) / (2 * h)
        xdd = (after - 2 * now + before) / h**2
        return _readings(f, channels, now, xd, xdd, on_joints)

    return vmap_rows(one)(rows, torque)
