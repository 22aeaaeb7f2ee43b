"""The equations of motion of a robot at a state, in numbers: inertia, Coriolis, stiffness, damping, Jacobians, forces.

    M xdd + coriolis + damping + elastic + gravity = B tau

over the coordinates x = (independent joints, elastic coordinates), with a name beside every array, and the number of
its equation in the paper on which the formulation rests.
"""

from dataclasses import fields
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly

from ..atomic import write_atomically
from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation
from ..dynamics.nodes import node_poses
from ..files.mat_file import write_mat
from ..types import Float, Real, namespace

ENDINGS = (".npz", ".mat")

# What each array is.
MEANING = {
    "M": "inertia over all coordinates, N^T L N",
    "C": "Coriolis matrix, half the derivative of the Coriolis forces, C xd = coriolis",
    "K": "stiffness of the links",
    "D": "damping of links and joints, derivative of the damping forces",
    "N": "twists and rates of body coordinates of each link for unit rates of x",
    "J": "velocity and angular velocity of each node, world axes, for unit rates of x",
    "B": "forces on x of unit torques of the moving joints",
    "coriolis": "N^T L Ndot xd and terms quadratic in rates",
    "damping": "forces of damping and friction",
    "elastic": "forces of strain",
    "gravity": "forces of weight",
    "x": "coordinates: independent joints, then elastic ones",
    "xd": "their rates",
    "position": "nodes, world axes [m]",
}
# Where the paper of a formulation prints them; `nonlinear` is of no paper.
EQUATIONS = {
    "erls-fem": {
        "M": "[Boscariol2012] (22)-(23)",
        "C": "[Palomba2019] (1)",
        "K": "[Boscariol2012] (22)",
        "D": "[Boscariol2012] (24)",
        "coriolis": "[Boscariol2012] (22)-(23)",
        "damping": "[Boscariol2012] (24)",
        "elastic": "[Boscariol2012] (22)",
    },
    "erls-cms": {
        "M": "[Vidoni2015] (75)",
        "K": "[Vidoni2015] (54)",
        "N": "[Vidoni2015] (69)",
        "J": "[Vidoni2015] (69) for the nodes",
        "B": "[Vidoni2015] (64)-(68)",
        "coriolis": "[Vidoni2015] (75)",
        "elastic": "[Vidoni2015] (54)",
        "gravity": "[Vidoni2015] (55)-(63)",
    },
    "dual-screw": {
        "M": "[Cibicik2021] (112)",
        "C": "[Cibicik2021] (112)",
        "K": "[Cibicik2021] (112)",
        "N": "[Cibicik2021] (93)",
        "B": "[Cibicik2021] (111)",
        "coriolis": "[Cibicik2021] (112)",
        "elastic": "[Cibicik2021] (112)",
    },
}


class RobotMatrices(eqx.Module):
    """Matrices and force vectors of a robot at a state; n coordinates, j moving joints, l links, k nodes."""

    M: Float[Real, "n n"]
    C: Float[Real, "n n"]
    K: Float[Real, "n n"]
    D: Float[Real, "n n"]
    N: Float[Real, "l e n"]
    J: Float[Real, "k 6 n"]
    B: Float[Real, "n j"]
    coriolis: Float[Real, " n"]
    damping: Float[Real, " n"]
    elastic: Float[Real, " n"]
    gravity: Float[Real, " n"]
    x: Float[Real, " n"]
    xd: Float[Real, " n"]
    position: Float[Real, "k 3"]
    coordinates: tuple[str, ...] = eqx.field(static=True)  # names of x
    joints: tuple[str, ...] = eqx.field(static=True)  # of the columns of B
    links: tuple[str, ...] = eqx.field(static=True)  # of N
    nodes: tuple[str, ...] = eqx.field(static=True)  # of J and position
    robot: str = eqx.field(static=True, default="")
    formulation: str = eqx.field(static=True, default="")

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays by their names."""
        return {name: getattr(self, name) for name in MEANING}

    @property
    def printed(self) -> dict[str, str]:
        """What each array is, after the equation of the paper on which the formulation rests."""
        equations = EQUATIONS.get(self.formulation, {})
        return {
            name: f"{equations[name]}: {meaning}" if name in equations else meaning
            for name, meaning in MEANING.items()
        }

    def force(self, xdd: Any) -> Float[Real, " n"]:
        """Generalised forces that a motion with the accelerations xdd needs."""
        bias = self.coriolis + self.damping + self.elastic + self.gravity
        return self.M @ namespace(self.M, xdd).asarray(xdd, dtype=float) + bias

    def save(self, path: Any) -> Any:
        """Write arrays, names and equation numbers in full precision: `.npz` for NumPy, `.mat` for MATLAB, Octave."""
        ending = str(path).lower()[-4:]
        if ending not in ENDINGS:
            raise ValueError(f"{path}: the name must end in {' or '.join(ENDINGS)}")
        data: dict[str, Any] = dict(self.arrays)
        # MATLAB reads names of unequal lengths as cells, which are arrays of objects.
        kind = object if ending == ".mat" else str
        for entry in fields(self):
            if entry.name not in MEANING:
                data[entry.name] = np.array(getattr(self, entry.name), dtype=kind)
        lines = [f"{name}: {text}" for name, text in self.printed.items()]
        data["printed"] = np.array(lines, kind)
        if ending == ".npz":
            return write_atomically(
                path, lambda file: np.savez_compressed(file, **data)
            )
        return write_mat(path, data)


@compiled_quickly
def equation_arrays(
    f: AbstractFormulation, x: Float[Array, " n"], xd: Float[Array, " n"]
) -> dict[str, Array]:
    """All arrays of `RobotMatrices` at a state; J and position by link and node, padded."""
    still = jnp.zeros_like(x)
    tau = jnp.zeros(f.n_encoders)

    def bias(xd):
        return engine.needed_force(f, f.motion(x, xd, still))

    def coriolis(xd):
        # Coriolis and centrifugal forces do not change where all rates change their sign; damping and friction do.
        return 0.5 * (bias(xd) + bias(-xd)) - bias(still)

    N = engine.rate_map(f, x)
    place = f.configuration(x)
    D, K = engine.structural_matrices(f, place, xd, N)
    at_rest = engine.at_rest(f, x)
    weight, _, _ = engine.resting_forces(f, at_rest, tau)
    poses, motions = _node_motions(f, x)
    return {
        "M": engine.inertia(f, place, N),
        "C": 0.5 * jax.jacfwd(coriolis)(xd),
        "K": K,
        "D": D,
        "N": jnp.concatenate([N.V, N.q], axis=1),
        "J": motions,
        "B": engine.torque_map(f, at_rest).T,
        "coriolis": coriolis(xd),
        "damping": 0.5 * (bias(xd) - bias(-xd)),
        "elastic": bias(still) - weight,
        "gravity": weight,
        "x": x,
        "xd": xd,
        "position": poses,
    }


def _node_motions(
    f: AbstractFormulation, x: Float[Array, " n"]
) -> tuple[Float[Array, "l k 3"], Float[Array, "l k 6 n"]]:
    """Positions of all nodes, and their velocities and angular velocities for unit rates of x, world axes."""

    def position(x):
        value = node_poses(f, f.configuration(x)).position
        return value, value

    linear, poses = jax.jacfwd(position, has_aux=True)(x)
    columns = jax.vmap(lambda dx: f.rates(x, dx))(jnp.eye(f.size))
    # A node turns with its link's frame and, in the link's axes, by the bending of the link there.
    node_rotation = jnp.asarray(f.links.node_shape)[:, :, 3:]
    bending = jnp.einsum("lkdc,nlc->lkdn", node_rotation, columns.q)
    turning = jnp.moveaxis(columns.V[:, :, None, 3:], 0, -1)
    R = f.configuration(x).R
    angular = jnp.einsum("lij,lkjn->lkin", R, turning + bending)
    return poses, jnp.concatenate([linear, angular], axis=2)
