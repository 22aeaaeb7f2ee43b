"""A mode in motion: the page of the viewer with the robot swinging in one of its modes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from ..analyse.modes.damped import DampedModes
from ..analyse.modes.modal import Modes
from ..solve.model import Model
from ..solve.problem import State
from .robot_scene import scene_of
from .run import KINDS, shown_motion
from .scene import scene_to_json
from .viewer import animate

CYCLES = 3  # periods shown
SECONDS = 2.0  # for one period
FRAMES = 48  # pictures of one period
AMPLITUDE = 0.12  # largest displacement of a node, against the size of the robot


def animate_mode(
    model: Model,
    state: State,
    modes: Modes | DampedModes,
    number: int,
    path: str | Path,
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


def mode_dataset(
    model: Model, state: State, modes: Modes | DampedModes, number: int
) -> xr.Dataset:
    """The motion in one mode as a run that the viewer can show."""
    phase = 2 * np.pi * np.arange(CYCLES * FRAMES + 1) / FRAMES
    shape = np.asarray(modes.motion)[:, number - 1]
    motion_of = _motion_about(model, state)
    amplitude = _amplitude(motion_of, np.asarray(state.x), shape)
    motion = motion_of(np.asarray(state.x) + amplitude * _swing(shape, phase))
    data = _dataset(model, phase, motion)
    data.attrs["name"] = _title(model, modes, number)
    return data


def _swing(shape: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """Coordinates (time, n) of one mode at unit amplitude."""
    if np.isrealobj(shape):
        return shape * np.sin(phase)[:, None]
    # The coordinates of a complex mode reach their largest values at different times.
    return np.real(shape[None, :] * np.exp(1j * phase)[:, None])


def _motion_about(model: Model, state: State) -> Callable[[np.ndarray], Any]:
    """The function from coordinates (time, n), at rest and without work done, to what the viewer shows."""
    formulation = model.formulation_at(state)

    def motion_of(x: np.ndarray) -> Any:
        joints = jnp.broadcast_to(state.q, (len(x), len(model.joint_names)))
        no_work = jnp.zeros((len(x), 2))
        at_rest = jnp.zeros_like(x)
        return shown_motion(formulation, joints, jnp.asarray(x), at_rest, no_work)

    return motion_of


def _amplitude(
    motion_of: Callable[[np.ndarray], Any], x: np.ndarray, shape: np.ndarray
) -> float:
    """Factor that makes the largest displacement of a node a visible part of the robot."""
    step = 1e-6
    states = [x, x + step * shape.real]
    if np.iscomplexobj(shape):
        states.append(x + step * shape.imag)
    rest, *positions = np.asarray(motion_of(np.stack(states)).position)
    size = np.ptp(rest.reshape(-1, 3), axis=0).max()
    shifts = [np.linalg.norm(moved - rest, axis=-1).max() for moved in positions]
    largest = max(shifts) / step
    # A mode in which no node moves is drawn at rest.
    return AMPLITUDE * size / max(largest, 1e-300)


def _title(model: Model, modes: Modes | DampedModes, number: int) -> str:
    frequency = modes.frequency_hz[number - 1]
    stability = modes.stability[number - 1]
    return f"{model.robot.name}, mode {number}: {frequency:.4g} Hz, {stability}"


def _dataset(model: Model, phase: np.ndarray, motion: Any) -> xr.Dataset:
    """The variables that the viewer reads from a run; motors and audit have nothing to say."""
    # Nodes come padded as (link, node): these are the places of those that exist.
    link, node = np.array(model.node_index).T
    per_node = ("time", "node", "axis")
    per_joint = ("time", "joint")
    torque = np.zeros((len(phase), len(model.joint_names)))
    residual = np.zeros((len(phase), 1))
    energy = np.concatenate([np.asarray(motion.energy), residual], axis=1)
    return xr.Dataset(
        {
            "q": (per_joint, np.asarray(motion.encoder)),
            "torque": (per_joint, torque),
            "position": (per_node, np.asarray(motion.position)[:, link, node]),
            "erls_position": (
                per_node,
                np.asarray(motion.erls_position)[:, link, node],
            ),
            "rotation": (per_node, np.asarray(motion.rotation)[:, link, node]),
            "frame": (("time", "link", "row", "column"), np.asarray(motion.frame)),
            "energy": (("time", "kind"), energy),
        },
        coords={
            "time": SECONDS * phase / (2 * np.pi),
            "joint": list(model.joint_names),
            "node": list(model.node_names),
            "link": list(model.link_names),
            "axis": ["x", "y", "z"],
            "kind": list(KINDS),
        },
        attrs={
            "formulation": model.formulation_name,
            "scene": scene_to_json(scene_of(model.robot)),
        },
    )
