"""A linear model at every instant of a motion: linear, time-varying."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.interpolate import CubicSpline

from ...atomic import write_atomically
from ...compilation import compiled_quickly
from ...dynamics.formulation import near
from ...solve.model import EquilibriumError, Model
from .linear_matrices import balanced_point, left_over
from .linearize import BALANCE, channels_of, derivatives, loop_of, model_of
from .state_space import LinearModel

CHUNK = 16  # instants computed at a time, side by side


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
        """State matrices over time."""
        return np.stack([model.A for model in self.models])

    @property
    def B(self) -> Float[np.ndarray, "t s u"]:
        """Input matrices over time."""
        return np.stack([model.B for model in self.models])

    @property
    def C(self) -> Float[np.ndarray, "t p s"]:
        """Output matrices over time."""
        return np.stack([model.C for model in self.models])

    @property
    def D(self) -> Float[np.ndarray, "t p u"]:
        """Feed-through over time."""
        return np.stack([model.D for model in self.models])

    def at(self, t: float) -> LinearModel:
        """The model at any time of the motion, its matrices straight between the instants."""
        if not self.t[0] <= t <= self.t[-1]:
            raise ValueError(
                f"t must lie between {self.t[0]:g} and {self.t[-1]:g} s, got {t!r}"
            )
        k = (
            min(int(np.searchsorted(self.t, t, side="right")) - 1, len(self) - 2)
            if len(self) > 1
            else 0
        )
        if len(self) == 1:
            return self.models[0]
        s = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        first, second = self.models[k], self.models[k + 1]
        between = {
            name: (1 - s) * getattr(first, name) + s * getattr(second, name)
            for name in "ABCD"
        }
        return dataclasses.replace(
            first if s < 0.5 else second, matrices=None, **between
        )

    def save(self, path: Any) -> Any:
        """Write t, A, B, C, D, the names and the motion as `.npz`, full precision."""
        if not str(path).lower().endswith(".npz"):
            raise ValueError(f"{path}: the name must end in .npz")
        names = {
            f"{k}_names": np.array(getattr(self.models[0], f"{k}_names"), dtype=str)
            for k in ("state", "input", "output")
        }
        motion = {
            k: np.stack([getattr(model.operating, k) for model in self.models])
            for k in ("q", "qd", "qdd", "torque")
        }
        arrays: dict[str, Any] = {
            "t": self.t,
            **{name: getattr(self, name) for name in "ABCD"},
            **names,
            **motion,
        }
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))


@compiled_quickly
def _along(f, q, qd, qdd, ins, outs, loop):
    def one(q, qd, qdd):
        here = near(f, q)
        point = balanced_point(here, q, qd, qdd)
        return point, derivatives(here, point, ins, outs, loop), left_over(here, point)

    return jax.vmap(one)(q, qd, qdd)


def linearize_along(
    model: Model,
    trajectory: Any,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    kp: Any = None,
    kd: Any = None,
    locked: bool = False,
    watch: Callable[[float], None] = lambda share: None,
) -> LinearSequence:
    """Linear models at the instants of a joint motion, all computed side by side.

    Args:
        model: the robot.
        trajectory: `(t, q)` or `(t, q, qd, qdd)` with t (instants,) [s] and the rest (instants, joints), missing
            derivatives from a cubic spline; or a `Run`, whose encoder readings are taken.
        inputs: as in `linearize`.
        outputs: as in `linearize`.
        kp: as in `linearize`.
        kd: as in `linearize`.
        locked: as in `linearize`.
        watch: called with the share of the work done.
    """
    t, motion = motion_of(model, trajectory)
    loop = loop_of(model, kp, kd)
    ins, outs = channels_of(model, inputs, outputs, loop, locked)
    models: list[LinearModel] = []
    for start in range(0, len(t), CHUNK):
        rows = (
            np.minimum(np.arange(start, start + CHUNK), len(t) - 1)
            if len(t) > CHUNK
            else np.arange(len(t))
        )
        at = [jnp.asarray(part[rows]) for part in motion]
        answer: Any = _along(model.formulation, at[0], at[1], at[2], ins, outs, loop)
        points, found, left = jax.tree.map(np.asarray, answer)
        for k in range(min(CHUNK, len(t) - start)):
            if not left[k] < BALANCE:
                raise EquilibriumError(
                    f"no balance of the links found at t = {t[start + k]:g} s: {left[k]:.1e} left over"
                )

            def pick(part, k=k):
                return part[k]

            models.append(
                model_of(
                    model,
                    jax.tree.map(pick, points),
                    jax.tree.map(pick, found),
                    ins,
                    outs,
                    locked,
                )
            )
        watch(min(start + CHUNK, len(t)) / len(t))
    return LinearSequence(t, tuple(models))


def motion_of(model: Model, trajectory: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Instants, and q, qd, qdd at each of them."""
    if hasattr(trajectory, "data") and hasattr(trajectory, "t"):
        trajectory = (trajectory.t, trajectory.data["encoder"].values)
    if not isinstance(trajectory, tuple | list) or not 2 <= len(trajectory) <= 4:
        raise ValueError(
            "trajectory must be (t, q), (t, q, qd), (t, q, qd, qdd) or a Run"
        )
    t = np.asarray(trajectory[0], dtype=float)
    given = [np.asarray(part, dtype=float) for part in trajectory[1:]]
    for name, part in zip(("q", "qd", "qdd"), given, strict=False):
        if t.ndim != 1 or part.shape != (len(t), model.n_joints):
            raise ValueError(
                f"{name} must have the shape ({len(t)}, {model.n_joints}), got {part.shape}"
            )
    if len(t) > 1 and not np.all(np.diff(t) > 0):
        raise ValueError("t must grow")
    while len(given) < 3:
        given.append(
            CubicSpline(t, given[-1])(t, 1) if len(t) > 1 else np.zeros_like(given[-1])
        )
    return t, given
