"""A mode in motion: the page of the viewer with the robot swinging in one of its modes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from ..solve.model import Model
from ..solve.problem import State
from .robot_scene import scene_of
from .run import KINDS, shown_motion
from .scene import scene_to_json
from .viewer import animate

CYCLES, SECONDS, FRAMES = 3, 2.0, 48  # shown: periods, seconds for one, pictures in one
AMPLITUDE = 0.12  # largest displacement of a node, against the size of the robot


def animate_mode(
    model: Model, state: State, modes: Any, number: int, path: str | Path
) -> Path:
    """Path of an HTML page on which the robot swings in one mode, slowed down and enlarged.

    Args:
        model: the robot.
        state: the equilibrium of the modes.
        modes: result of `modes`, undamped or damped.
        number: of the mode, counted from 1.
        path: file to write.
    """
    count = len(modes.frequency_hz)
    if not 1 <= number <= count:
        raise ValueError(f"mode must lie between 1 and {count}, got {number}")
    return animate(mode_dataset(model, state, modes, number), path, scale=1)


def mode_dataset(model: Model, state: State, modes: Any, number: int) -> xr.Dataset:
    """The motion in one mode as a run that the viewer can show."""
    shape = np.asarray(getattr(modes, "right", modes.shapes))[:, number - 1]
    angle = 2 * np.pi * np.arange(CYCLES * FRAMES + 1) / FRAMES
    swing = np.real(shape[None, :] * np.exp(1j * angle)[:, None])
    if np.isrealobj(shape):
        swing = shape * np.sin(angle)[:, None]
    x0 = np.asarray(state.x)
    f, joints = (
        model.formulation_at(state),
        jnp.broadcast_to(state.q, (len(swing), len(model.joint_names))),
    )

    def show(x):
        return shown_motion(
            f,
            joints[: len(x)],
            jnp.asarray(x),
            jnp.zeros_like(x),
            jnp.zeros((len(x), 2)),
        )

    x = x0 + _amplitude(show, x0, shape) * swing
    shown = show(x)
    link, node = np.array(model.node_index).T
    nodes, joint = ("time", "node", "axis"), ("time", "joint")
    energy = np.concatenate([np.asarray(shown.energy), np.zeros((len(x), 1))], axis=1)
    title = f"{model.robot.name}, mode {number}: {modes.frequency_hz[number - 1]:.4g} Hz, {modes.stability[number - 1]}"
    return xr.Dataset(
        {
            "q": (joint, np.asarray(shown.encoder)),
            "torque": (joint, np.zeros((len(x), len(model.joint_names)))),
            "position": (nodes, np.asarray(shown.position)[:, link, node]),
            "erls_position": (nodes, np.asarray(shown.erls_position)[:, link, node]),
            "rotation": (nodes, np.asarray(shown.rotation)[:, link, node]),
            "frame": (("time", "link", "row", "column"), np.asarray(shown.frame)),
            "energy": (("time", "kind"), energy),
        },
        coords={
            "time": SECONDS * angle / (2 * np.pi),
            "joint": list(model.joint_names),
            "node": list(model.node_names),
            "link": list(model.link_names),
            "axis": ["x", "y", "z"],
            "kind": list(KINDS),
        },
        attrs={
            "name": title,
            "formulation": model.formulation_name,
            "scene": scene_to_json(scene_of(model.robot)),
        },
    )


def _amplitude(show: Callable, x: np.ndarray, shape: Any) -> float:
    """Factor that makes the largest displacement of a node a visible part of the robot."""
    step = 1e-6
    parts = (shape.real, shape.imag) if np.iscomplexobj(shape) else (shape,)
    still, *moved = np.asarray(
        show(np.stack([x, *(x + step * part for part in parts)])).position
    )
    size = np.ptp(still.reshape(-1, 3), axis=0).max()
    largest = max(np.linalg.norm(part - still, axis=-1).max() for part in moved) / step
    return AMPLITUDE * size / max(largest, 1e-300)
