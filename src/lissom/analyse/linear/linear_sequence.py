"""A linear model at every instant of a motion: linear, time-varying."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
import scipy

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ...atomic import write_atomically
from ...dynamics.formulation import on_branch_near
from ...parameters import Locked
from ...solve.arguments import ModelLike, model_from
from ...solve.balance import balanced_point, relative_residual
from ...solve.model import Model
from ...types import Float
from .linear_feedback import joint_feedback
from .linearize import channels_of, derivatives, model_of, require_balance
from .state_space import LinearModel

CHUNK = 16  # instants in one batch


@runtime_checkable
class RecordedMotion(Protocol):
    """A recorded motion of a robot, such as a run of a simulation."""

    def trajectory(self) -> tuple[np.ndarray, np.ndarray]:
        """Instants t (instants,) [s] and encoder readings q (instants, joints)."""
        ...


@dataclass(frozen=True)
class LinearSequence:
    """d(dx)/dt = A(t) dx + B(t) du, dy = C(t) dx + D(t) du along a motion; dx counts from the motion itself."""

    t: Float[np.ndarray, " t"]
    models: tuple[LinearModel, ...]

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, k: int) -> LinearModel:
        """The linear model at the instant t[k]."""
        return self.models[k]

    @property
    def A(self) -> Float[np.ndarray, "t s s"]:
        """State matrices A, the instants first."""
        return np.stack([model.A for model in self.models])

    @property
    def B(self) -> Float[np.ndarray, "t s u"]:
        """Input matrices B, the instants first."""
        return np.stack([model.B for model in self.models])

    @property
    def C(self) -> Float[np.ndarray, "t p s"]:
        """Output matrices C, the instants first."""
        return np.stack([model.C for model in self.models])

    @property
    def D(self) -> Float[np.ndarray, "t p u"]:
        """Feed-through matrices D, the instants first."""
        return np.stack([model.D for model in self.models])

    def at(self, t: float) -> LinearModel:
        """The model at any time of the motion, its matrices straight between the instants."""
        if not self.t[0] <= t <= self.t[-1]:
            raise ValueError(
                f"t must lie between {self.t[0]:g} and {self.t[-1]:g} s, got {t!r}"
            )
        if len(self) == 1:
            return self.models[0]
        after = np.searchsorted(self.t, t, side="right")
        # The last instant belongs to the interval before it.
        k = min(int(after) - 1, len(self) - 2)
        first = self.models[k]
        second = self.models[k + 1]
        step = self.t[k + 1] - self.t[k]
        share = (t - self.t[k]) / step
        between = {}
        for name in "ABCD":
            start = getattr(first, name)
            end = getattr(second, name)
            between[name] = (1 - share) * start + share * end
        # Names and operating point are those of the nearer instant.
        nearest = first if share < 0.5 else second
        return dataclasses.replace(nearest, matrices=None, **between)

    def save(self, path: Any) -> Any:
        """Write t, A, B, C, D, the names and the motion as `.npz`, full precision."""
        if not str(path).lower().endswith(".npz"):
            raise ValueError(f"{path}: the name must end in .npz")
        arrays: dict[str, Any] = {"t": self.t}
        for name in "ABCD":
            arrays[name] = getattr(self, name)
        for kind in ("state", "input", "output"):
            names = getattr(self.models[0], f"{kind}_names")
            arrays[f"{kind}_names"] = np.array(names, dtype=str)
        for name in ("q", "qd", "qdd", "torque"):
            rows = [getattr(model.operating, name) for model in self.models]
            arrays[name] = np.stack(rows)
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))


@compiled_quickly
def _along(f, q, qd, qdd, ins, outs, feedback):
    def one(q, qd, qdd):
        # A closed chain follows the branch of its own instant.
        here = on_branch_near(f, q)
        point = balanced_point(here, q, qd, qdd)
        slopes = derivatives(here, point, ins, outs, feedback)
        return point, slopes, relative_residual(here, point)

    return vmap_rows(one)(q, qd, qdd)


def linearize_along(
    model: ModelLike,
    trajectory: Any,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    kp: Any = None,
    kd: Any = None,
    locked: Locked = False,
    watch: Callable[[float], None] = lambda share: None,
) -> LinearSequence:
    """Linear models at the instants of a joint motion, computed in batches: a linear time-varying system.

    At every instant the links are in quasi-static balance with the motion, and A, B, C, D are those of `linearize`
    there, [Boscariol2017] eqs. (12)-(15).

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        trajectory: `(t, q)` or `(t, q, qd, qdd)` with t (instants,) [s] and the rest (instants, joints), missing
            derivatives from a cubic spline; or a `RecordedMotion` such as a `Run`, whose encoder readings are taken.
        inputs: names, as in `linearize`.
        outputs: names, as in `linearize`.
        kp: proportional gains of a joint controller on the encoders [N m/rad or N/m], one or one for each joint.
        kd: its derivative gains [N m s/rad or N s/m].
        locked: the encoders follow their motion whatever happens; the joints' coordinates leave the model.
        watch: called with the share of the work that is done.

    Returns:
        `LinearSequence`: `A`, `B`, `C`, `D` with time as first axis, `sequence[k]` the `LinearModel` of an instant.

    Raises:
        ValueError: instants that do not grow, or motion of another shape.
        EquilibriumError: the links find no balance at an instant.

    Example:
        >>> import lissom as ls
        >>> sequence = ls.linearize_along("simple-pendulum", ([0.0, 0.1, 0.2], [[0.0], [0.1], [0.3]]))
        >>> len(sequence), sequence.A.shape
        (3, (3, 26, 26))
    """
    model = model_from(model)
    t, motion = motion_of(model, trajectory)
    feedback = joint_feedback(model, kp, kd)
    ins, outs = channels_of(model, inputs, outputs, feedback is not None, locked)
    models: list[LinearModel] = []
    for start, rows in chunks(len(t), CHUNK):
        q, qd, qdd = (jnp.asarray(part[rows]) for part in motion)
        answer: Any = _along(model.formulation, q, qd, qdd, ins, outs, feedback)
        points, slopes, left = jax.tree.map(np.asarray, answer)
        for k in range(min(CHUNK, len(t) - start)):
            require_balance(float(left[k]), f"at t = {t[start + k]:g} s")
            point = row_of(points, k)
            here = row_of(slopes, k)
            models.append(model_of(model, point, here, ins, outs, locked))
        watch(min(start + CHUNK, len(t)) / len(t))
    return LinearSequence(t, tuple(models))


def chunks(total: int, size: int) -> Iterator[tuple[int, np.ndarray]]:
    """The start of each chunk of rows and the rows to compute in it.

    All chunks have the same length, so that one compiled function serves them all: the last one repeats its last row.
    """
    if 0 < total <= size:
        yield 0, np.arange(total)
        return
    for start in range(0, total, size):
        rows = np.arange(start, start + size)
        yield start, np.minimum(rows, total - 1)


def row_of(tree: Any, k: int) -> Any:
    """Entry k along the leading axis of every array."""
    return jax.tree.map(lambda part: part[k], tree)


def motion_of(model: Model, trajectory: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Instants, and q, qd, qdd at each of them."""
    # A recording holds what was measured: positions alone.
    if isinstance(trajectory, RecordedMotion):
        trajectory = trajectory.trajectory()
    if not isinstance(trajectory, tuple | list) or not 2 <= len(trajectory) <= 4:
        raise ValueError(
            "trajectory must be (t, q), (t, q, qd), (t, q, qd, qdd) or a Run"
        )
    t, *motion = (np.asarray(part, dtype=float) for part in trajectory)
    shape = (len(t), model.n_joints)
    for name, part in zip(("q", "qd", "qdd"), motion, strict=False):
        if t.ndim != 1 or part.shape != shape:
            raise ValueError(f"{name} must have the shape {shape}, got {part.shape}")
    if not np.all(np.diff(t) > 0):
        raise ValueError("t must grow")
    # Speeds from positions, accelerations from speeds: each rate that is missing from the one before it.
    while len(motion) < 3:
        motion.append(_rate_of(t, motion[-1]))
    return t, motion


def _rate_of(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Time derivative of values at instants, by a cubic spline; zero at a single instant."""
    if len(t) <= 1:
        return np.zeros_like(values)
    return scipy.interpolate.CubicSpline(t, values)(t, 1)
