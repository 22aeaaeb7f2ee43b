"""The discrete closed loop of a robot and a sampled law.

At a sample the law measures y under the torque u held so far and gives the torque that is held until the next one:

    y_k = C x_k + D u_(k-1),      u_k = L y_k + N m_k,      m_(k+1) = P y_k + Q m_k,
    x_(k+1) = A_d x_k + B_d u_k

with A_d, B_d of the robot between samples (exact: its inputs are held). States of the loop are x, the memory m of the
law, and the held torque where the law sees accelerations.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from ...solve.channels import Channel
from ...solve.feedback import WiredLaw
from ...types import Float
from .linear_feedback import set_point_matrix
from .state_space import LinearModel

FAR = 1.0  # rad, m, 1/m, ...: beyond any resolution or dead band


class LawMatrices(NamedTuple):
    """A law linearised: (command, memory) from (measured, memory)."""

    L: Float[np.ndarray, "a m"]
    N: Float[np.ndarray, "a k"]
    P: Float[np.ndarray, "k m"]
    Q: Float[np.ndarray, "k k"]


def law_matrices(
    wired_law: WiredLaw, measured: Float[np.ndarray, " m"], t: float = 0.0
) -> LawMatrices:
    """Derivatives of a sampled law at rest, at the measured signals of the point."""
    act, memory = _resting_law(wired_law, measured, t)
    (L, N), (P, Q) = jax.jacfwd(act, argnums=(0, 1))(jnp.asarray(measured), memory)
    return LawMatrices(*(np.asarray(part) for part in (L, N, P, Q)))


def stepwise_sensors(
    wired_law: WiredLaw,
    measured: Float[np.ndarray, " m"],
    law: LawMatrices,
    t: float = 0.0,
) -> list[int]:
    """Places of the sensors that change the law only by more than a little: its derivative does not show them."""
    is_flat = ~np.any(law.L, axis=0) & ~np.any(law.P, axis=0)
    if not np.any(is_flat):
        return []
    act, memory = _resting_law(wired_law, measured, t)

    def answer(readings):
        return np.concatenate([np.asarray(part) for part in act(readings, memory)])

    here = answer(jnp.asarray(measured))
    changed = []
    for place in np.flatnonzero(is_flat):
        far = np.zeros(len(measured))
        far[place] = FAR
        there = [jnp.asarray(measured + side * far) for side in (1, -1)]
        if any(np.any(answer(readings) != here) for readings in there):
            changed.append(int(place))
    return changed


def _resting_law(
    wired_law: WiredLaw, measured: Float[np.ndarray, " m"], t: float
) -> tuple[Callable[[Any, Any], tuple[Any, Any]], Float[Array, " k"]]:
    """A law at rest as a function of readings and memory, both plain vectors, and the memory at rest."""
    law, template = wired_law.law.resting(wired_law.memory, measured)
    memory, unravel = ravel_pytree(jax.tree.map(_as_float, template))

    def act(measured, memory):
        given = jax.tree.map(_typed_like, unravel(memory), template)
        command, after = law(jnp.asarray(t), measured, given)
        after, _ = ravel_pytree(jax.tree.map(_as_float, after))
        return command, after

    return act, memory


def _as_float(leaf: Any) -> Any:
    return jnp.asarray(leaf, dtype=float)


def _typed_like(leaf: Any, like: Any) -> Any:
    """Counters stay whole numbers, and have no derivative."""
    dtype = jnp.asarray(like).dtype
    return leaf if jnp.issubdtype(dtype, jnp.inexact) else leaf.astype(dtype)


def sampled_loop(
    robot: LinearModel,
    wired_law: WiredLaw,
    inputs: tuple[Channel, ...],
    outputs: tuple[Channel, ...],
) -> LinearModel:
    """The closed loop, sampled with the law.

    Args:
        robot: linear model whose first inputs are the torques of the actuated joints, the others those of `inputs`
            that are not set-points; whose first outputs are what the law measures, the others `outputs`.
        wired_law: the law.
        inputs: of the closed loop, set-points among them; held between samples.
        outputs: of the closed loop, at the samples, under the new torque.
    """
    period = float(np.asarray(wired_law.sample))
    m = len(wired_law.channels)
    a = len(robot.input_names) - sum(not c.is_set_point for c in inputs)
    held = robot.discretize(period, "zoh")
    law = law_matrices(wired_law, robot.operating.outputs[:m])
    # Inputs of the robot: first the law's torques, then the others among those of the closed loop.
    is_own = np.array([not channel.is_set_point for channel in inputs], dtype=bool)
    own = np.eye(len(inputs))[is_own]
    B_u, B_w = held.B[:, :a], held.B[:, a:] @ own
    C_m, C_y = robot.C[:m], robot.C[m:]
    D_mu, D_mw = robot.D[:m, :a], robot.D[:m, a:] @ own
    D_yu, D_yw = robot.D[m:, :a], robot.D[m:, a:] @ own
    # A set-point shifts the zero of the law.
    D_mw = D_mw - set_point_matrix(wired_law.channels, inputs)
    # Command of the law as a function of (x, held torque, memory; inputs).
    on_x, on_u, on_m, on_w = law.L @ C_m, law.L @ D_mu, law.N, law.L @ D_mw
    A = np.block(
        [
            [held.A + B_u @ on_x, B_u @ on_u, B_u @ on_m],
            [on_x, on_u, on_m],
            [law.P @ C_m, law.P @ D_mu, law.Q],
        ]
    )
    B = np.concatenate([B_w + B_u @ on_w, on_w, law.P @ D_mw])
    C = np.concatenate([C_y + D_yu @ on_x, D_yu @ on_u, D_yu @ on_m], axis=1)
    D = D_yw + D_yu @ on_w
    torques = [name.removesuffix(".torque") for name in robot.input_names[:a]]
    names = [
        *robot.state_names,
        *(f"{joint}.held" for joint in torques),
        *(f"memory.{k}" for k in range(law.Q.shape[0])),
    ]
    keep = np.ones(len(A), dtype=bool)
    if not np.any(D_mu):
        # The held torque is not measured: it is no state.
        keep[len(held.A) : len(held.A) + a] = False
    operating = dataclasses.replace(
        robot.operating, outputs=robot.operating.outputs[m:]
    )
    return dataclasses.replace(
        robot,
        A=A[keep][:, keep],
        B=B[keep],
        C=C[:, keep],
        D=D,
        state_names=tuple(np.array(names)[keep].tolist()),
        input_names=tuple(channel.name for channel in inputs),
        output_names=tuple(channel.name for channel in outputs),
        operating=operating,
        matrices=None,
        dt=period,
    )
