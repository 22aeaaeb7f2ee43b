"""The state of a robot: where its joints and links are, how fast they move, and what its encoders read."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..atomic import write_atomically
from ..dynamics.formulation import AbstractFormulation, Motion
from ..files.array_file import read_arrays
from ..files.errors import refused
from ..files.summary import Result, Summary, count, number, plain
from ..types import Float, host_real, is_traced, joined, picked

# The parts of a state as files and results name them, by its fields.
NAMES = {
    "q": "q",
    "qd": "qd",
    "elastic": "elastic",
    "elastic_d": "elastic_rate",
    "encoder": "encoder",
    "encoder_d": "encoder_rate",
    "torque": "torque",
    "independent": "independent",
}
OPTIONAL = ("torque", "independent")


class State(Result, eqx.Module):
    """Joint coordinates of the ERLS, elastic coordinates, their rates, and what the encoders read.

    All moving joints are here. Of a closed chain some follow from the others, and only the `independent` ones are
    coordinates of the model; `q` then also says on which of its assembly branches the chain is. `model.plot(state)`
    draws the robot in it.

    Example:
        >>> import lissom as ls
        >>> state = ls.Model("simple-pendulum").at([0.3])
        >>> path = state.save("start.npz")
        >>> ls.State.load("start.npz").to_dict()["q"]
        [0.3]
    """

    q: Float[Array, " j"]  # theta
    qd: Float[Array, " j"]
    elastic: Float[Array, " d"]  # eta
    elastic_d: Float[Array, " d"]
    encoder: Float[Array, " j"]
    encoder_d: Float[Array, " j"]
    # Holding torques, where a static solution has given them.
    torque: Float[Array, " j"] | None = None
    # Numbers of the joints that are coordinates; None: all of them.
    independent: tuple[int, ...] | None = eqx.field(static=True, default=None)

    @property
    def x(self) -> Float[Array, " n"]:
        """Coordinates of the model: independent joints, then elastic ones."""
        return joined(self._coordinates(self.q), self.elastic)

    @property
    def xd(self) -> Float[Array, " n"]:
        """Rates of the coordinates of the model."""
        return joined(self._coordinates(self.qd), self.elastic_d)

    def summary(self) -> Summary:
        """Joints one by one, and how many elastic coordinates there are."""
        columns = ["joint", "q", "qd", "encoder"]
        values = [self.q, self.qd, self.encoder]
        if self.torque is not None:
            columns.append("torque")
            values.append(self.torque)
        title = f"State: {count(len(self.q), 'joint')}, {count(len(self.elastic), 'elastic coordinate')}"
        if is_traced(*values, self.elastic):
            return Summary(f"{title}, traced")
        rows = [
            (str(k), *(number(value[k]) for value in values))
            for k in range(len(self.q))
        ]
        largest = np.max(np.abs(np.asarray(self.elastic)), initial=0.0)
        facts = (("largest elastic coordinate", number(largest)),)
        return Summary(title, facts, tuple(columns), tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        """All parts by name as plain data; `q`, `qd`, `elastic` and `elastic_rate` as in `initial` of a scenario."""
        return plain({name: getattr(self, field) for field, name in NAMES.items()})

    def save(self, path: Any) -> Any:
        """Write all parts in full precision: `.npz`, for `State.load` and NumPy."""
        if not str(path).lower().endswith(".npz"):
            raise refused("path", str(path), "the name must end in .npz")
        parts = {name: getattr(self, field) for field, name in NAMES.items()}
        arrays: dict[str, Any] = {
            name: np.asarray(part) for name, part in parts.items() if part is not None
        }
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))

    @classmethod
    def load(cls, path: Any) -> "State":
        """A state read back from its file."""
        arrays = read_arrays(path)
        needed = [name for name in NAMES.values() if name not in OPTIONAL]
        missing = [name for name in needed if name not in arrays]
        if missing:
            raise ValueError(f"{path}: not a state: {', '.join(missing)} is missing")
        parts: dict[str, Any] = {
            field: jnp.asarray(arrays[name])
            for field, name in NAMES.items()
            if name in arrays
        }
        if "independent" in parts:
            parts["independent"] = tuple(arrays["independent"].tolist())
        return cls(**parts)

    def _coordinates(self, joints: Float[Array, " j"]) -> Float[Array, " i"]:
        if self.independent is None:
            return joints
        return picked(joints, np.asarray(self.independent, dtype=int))


def host_coordinates(
    state: State,
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The coordinates and rates of a state as arrays of the host, which compiled code takes at once."""
    q, qd = host_real(state.q), host_real(state.qd)
    if state.independent is not None:
        places = np.asarray(state.independent, dtype=int)
        q, qd = q[places], qd[places]
    x = np.concatenate([q, host_real(state.elastic)])
    return x, np.concatenate([qd, host_real(state.elastic_d)])


def state_of(
    formulation: AbstractFormulation,
    motion: Motion,
    torque: Float[Array, " j"] | None = None,
) -> State:
    """The state of a motion, with its encoder readings."""
    j = formulation.n_joints
    return State(
        q=motion.theta,
        qd=motion.theta_d,
        elastic=motion.x[j:],
        elastic_d=motion.xd[j:],
        encoder=motion.place.encoder,
        encoder_d=motion.rates.encoder,
        torque=torque,
        independent=independent_of(formulation),
    )


def state_at(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    torque: Float[Array, " j"] | None = None,
) -> State:
    """The state with these coordinates and rates."""
    motion = formulation.motion(x, xd, jnp.zeros_like(x))
    return state_of(formulation, motion, torque)


def independent_of(formulation: AbstractFormulation) -> tuple[int, ...] | None:
    """Joints that are coordinates, None where all are."""
    if formulation.n_joints == formulation.n_encoders:
        return None
    return formulation.independent
