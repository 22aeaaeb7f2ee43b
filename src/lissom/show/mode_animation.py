"""A mode in motion: the page of the viewer with the robot swinging in one of its modes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy import ndarray
from numpy.linalg import norm
from xarray import Dataset

from ..analyse.modes.damped_modes import DampedModes
from ..analyse.modes.modal import Modes
from ..solve.arguments import ModelLike, model_from
from ..solve.model import Model
from ..solve.outputs import ENERGIES, shown_motion
from ..solve.state import State
from .page import Page
from .robot_scene import scene_text
from .viewer import Content, animation_content, moving_page

FRAMES_PER_SECOND = 30
CYCLES = 3  # periods shown
SECONDS = 2.0  # for one period
FRAMES = 48  # pictures of one period
AMPLITUDE = 0.12  # largest displacement of a node, against the size of the robot
TWIST = 0.5  # largest rotation of a node [rad] where links only twist
TWIST_ONLY = 1e-6  # displacements below this share of rotation times size are none


def animate_mode(
    model: ModelLike,
    state: State,
    modes: Modes | DampedModes,
    number: int,
    path: str | Path | None = None,
) -> Path | Page:
    """An HTML page on which the robot swings in one mode, slowed down and enlarged.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: the equilibrium of the modes, from `model.static`.
        modes: result of `modes`, undamped or damped.
        number: of the mode, counted from 1.
        path: file to write; without one, the page is what notebooks show inline.

    Returns:
        The `Page`; with a path, the path of the file that was written.

    Raises:
        ValueError: there is no mode of this number.

    Example:
        >>> import lissom as ls
        >>> model = ls.Model("double-pendulum")
        >>> state = model.static([0.0, 0.5])
        >>> page = ls.animate_mode(model, state, ls.modes(model, state, locked=True), number=1)
        >>> type(page).__name__
        'Page'
    """
    model = model_from(model)
    count = len(modes.frequency_hz)
    if not 1 <= number <= count:
        raise ValueError(f"mode must lie between 1 and {count}, got {number}")
    data = mode_dataset(model, state, modes, number)
    page = moving_page(data, scale=1)
    return page if path is None else page.save(path)


def mode_content(modes: Modes | DampedModes, number: int) -> Content:
    """The robot swinging in one mode, slowed down and enlarged, as data of the viewer."""
    origin = modes.origin
    assert origin is not None
    data = mode_dataset(origin.model, origin.state, modes, number)
    return animation_content(data, 1.0, FRAMES_PER_SECOND)


def mode_dataset(
    model: Model, state: State, modes: Modes | DampedModes, number: int
) -> Dataset:
    """The motion in one mode as a run that the viewer can show."""
    frames = np.arange(CYCLES * FRAMES + 1)
    phase = 2 * np.pi * frames / FRAMES
    shape = np.asarray(modes.motion)[:, number - 1]
    rest = np.asarray(state.x)
    motion_of = _motion_about(model, state)
    amplitude, words = _amplitude(motion_of, rest, shape)
    swing = amplitude * _swing(shape, phase)
    data = _dataset(model, phase, motion_of(rest + swing))
    data.attrs |= {"name": _title(model, modes, number), "amplitude": words}
    return data


def _swing(shape: ndarray, phase: ndarray) -> ndarray:
    """Coordinates (time, n) of one mode at unit amplitude."""
    if np.isrealobj(shape):
        return np.outer(np.sin(phase), shape)
    # The coordinates of a complex mode reach their largest values at different times.
    turn = np.exp(1j * phase)
    return np.real(np.outer(turn, shape))


def _motion_about(model: Model, state: State) -> Callable[[ndarray], Any]:
    """The function from coordinates (time, n), at rest and without work done, to what the viewer shows."""
    formulation = model.formulation_at(state)

    def motion_of(coordinates: ndarray) -> Any:
        x = jnp.asarray(coordinates)
        joints = jnp.broadcast_to(state.q, (len(x), len(state.q)))
        no_speed = jnp.zeros_like(x)
        no_work = jnp.zeros((len(x), 2))
        return shown_motion(formulation, joints, x, no_speed, no_work)

    return motion_of


def _amplitude(
    motion_of: Callable[[ndarray], Any], x: ndarray, shape: ndarray
) -> tuple[float, str]:
    """Factor that makes the largest displacement of a node a visible part of the robot, and what it does in words."""
    step = 1e-6
    states = [x, x + step * np.real(shape)]
    if np.iscomplexobj(shape):
        states.append(x + step * np.imag(shape))
    motion = motion_of(np.stack(states))
    displacement = _largest_change(motion.position) / step
    rotation = _largest_change(motion.rotation) / step
    rest = np.asarray(motion.position)[0]
    size = np.ptp(rest.reshape(-1, 3), axis=0).max()
    # Where links only twist, the displacements are rounding: only the rotations show.
    if displacement < TWIST_ONLY * size * rotation:
        return TWIST / rotation, f"largest rotation drawn as {TWIST:g} rad"
    words = f"largest displacement drawn as {100 * AMPLITUDE:g} % of the robot's size"
    # A mode in which nothing moves is drawn at rest.
    return AMPLITUDE * size / max(displacement, 1e-300), words


def _largest_change(vectors: Any) -> float:
    """Longest vector by which any node differs from the first state; `vectors` are (state, link, node, axis)."""
    states = np.asarray(vectors)
    change = norm(states[1:] - states[0], axis=-1)
    return float(change.max())


def _title(model: Model, modes: Modes | DampedModes, number: int) -> str:
    frequency = modes.frequency_hz[number - 1]
    stability = modes.stability[number - 1]
    return f"{model.robot.name}, mode {number}: {frequency:.4g} Hz, {stability}"


def _dataset(model: Model, phase: ndarray, motion: Any) -> Dataset:
    """The variables that the viewer reads from a run; without torques and energies."""
    per_joint = ("time", "joint")
    per_node = ("time", "node", "axis")
    per_link = ("time", "link", "row", "column")
    # Nodes come padded as (link, node): these are the places of those that exist.
    link, node = np.array(model.node_index).T
    position = np.asarray(motion.position)
    erls_position = np.asarray(motion.erls_position)
    rotation = np.asarray(motion.rotation)
    torque = np.zeros((len(phase), len(model.joint_names)))
    stored = np.asarray(motion.energy)
    residual = np.zeros((len(phase), 1))
    energy = np.concatenate([stored, residual], axis=1)
    return Dataset(
        {
            "q": (per_joint, np.asarray(motion.encoder)),
            "torque": (per_joint, torque),
            "position": (per_node, position[:, link, node]),
            "erls_position": (per_node, erls_position[:, link, node]),
            "rotation": (per_node, rotation[:, link, node]),
            "frame": (
                per_link,
                np.asarray(motion.rigid_frame)[:, list(model.first_bodies)],
            ),
            "energy": (("time", "kind"), energy),
        },
        coords={
            "time": SECONDS * phase / (2 * np.pi),
            "joint": list(model.joint_names),
            "node": list(model.node_names),
            "link": list(model.link_names),
            "axis": ["x", "y", "z"],
            "kind": list(ENERGIES),
        },
        attrs={
            "formulation": model.formulation_name,
            "scene": scene_text(model.robot),
        },
    )
