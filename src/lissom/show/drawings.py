"""Robots, their poses and their modes as figures: what `plot()` of each of them shows."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import compiled_quickly

from ..analyse.equilibrium import Equilibrium
from ..analyse.linear.frequency_response import FrequencyResponses
from ..analyse.linear.state_space import LinearModel
from ..analyse.linear.step_response import StepResponses
from ..analyse.modes.damped_modes import DampedModes
from ..analyse.modes.modal import Modes
from ..analyse.modes.mode_map import ModeMap
from ..analyse.polynomials.mode_polynomials import ModePolynomials
from ..bodies.fe.importing import LinkImport
from ..describe.robot import Robot
from ..drawing import animates, draws, saves
from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation
from ..dynamics.nodes import node_poses
from ..files.errors import refused
from ..solve.arguments import state_from
from ..solve.model import Model
from .canvas import Figure
from .figure import draw_robot
from .plot import plot_modes
from .plot_linear import (
    plot_frequency_response,
    plot_mode_map,
    plot_mode_polynomials,
    plot_poles,
    plot_step_response,
)
from .robot_scene import scene_of


@draws(Robot)
def draw_described_robot(
    robot: Robot, q: Any = None, path: str | Path | None = None
) -> Figure:
    """The robot in a pose, undeformed."""
    # Nothing is bent here: no link needs a mode.
    return draw_pose(Model(robot, modes=0), q, path)


@draws(Model)
def draw_pose(
    model: Model, state: Any = None, path: str | Path | None = None
) -> Figure:
    """The robot in a state or a pose: solid links, frames, nodes; the ERLS dashed where the links are bent."""
    state = state_from(model, state)
    poses = model.poses(state)
    axes = np.asarray(_link_axes(model.formulation_at(state), state.x))
    return draw_robot(
        scene_of(model.robot),
        model.node_rows(poses.position),
        axes[list(model.first_bodies)],
        path,
        rotation=model.node_rows(poses.rotation),
    )


@draws(Equilibrium)
def draw_equilibrium(found: Equilibrium, path: str | Path | None = None) -> Figure:
    """The robot at rest, the ERLS dashed."""
    return draw_pose(found.model, found.state, path)


@draws(Modes)
@draws(DampedModes)
def draw_modes(
    modes: Modes | DampedModes, count: int = 8, path: str | Path | None = None
) -> Figure:
    """The shapes of the lowest modes, one panel each, the robot at rest behind."""
    origin = modes.origin
    if origin is None:
        raise ValueError("these modes have no robot: get them from ls.modes")
    model, f, x = origin.model, origin.formulation, origin.x
    motion = nodal_motion(model, f, x, modes.shapes[:, :count])
    labels = [_label(modes, model.link_names, k) for k in range(len(motion))]
    return plot_modes(
        model.node_rows(_positions(f, x)),
        motion[..., :3],
        modes.frequency_hz[:count],
        np.nan_to_num(modes.damping_ratio[:count]),
        path,
        rotations=motion[..., 3:],
        gravity=model.robot.gravity,
        labels=labels,
    )


@animates(Modes)
@animates(DampedModes)
def animated_mode(
    modes: Modes | DampedModes, mode: int = 1, path: str | Path | None = None
) -> Any:
    """The page of the viewer with the robot swinging in one mode."""
    # The viewer's page is slow to import, and pictures do not need it.
    from .mode_animation import animate_mode

    count = len(modes.frequency_hz)
    if not 1 <= mode <= count:
        raise refused("mode", mode, f"there are {count} modes")
    origin = modes.origin
    if origin is None:
        raise ValueError("these modes have no robot: get them from ls.modes")
    return animate_mode(origin.model, origin.state, modes, mode, path)


@draws(LinearModel)
def draw_linear_model(linear: LinearModel, path: str | Path | None = None) -> Figure:
    """The poles of a linear model."""
    return plot_poles(linear, path)


@draws(StepResponses)
def draw_step_responses(
    responses: StepResponses, path: str | Path | None = None
) -> Figure:
    """All step responses in one figure."""
    return plot_step_response(responses.responses, path)


@draws(FrequencyResponses)
def draw_frequency_responses(
    responses: FrequencyResponses, path: str | Path | None = None
) -> Figure:
    """All frequency responses in one figure."""
    return plot_frequency_response(responses.responses, path)


@draws(LinkImport)
def draw_link_import(link: LinkImport, path: str | Path | None = None) -> Figure:
    """The report of a reduction as one page."""
    from .link_figure import link_picture, plot_link

    return plot_link(link.report.to_dict(), link_picture(link), path)


@saves(ModeMap)
def save_mode_map(modes: ModeMap, path: str | Path) -> Any:
    """A map of modes as NetCDF."""
    # xarray is slow to import, and pictures do not need it.
    from .map_dataset import save_map

    return save_map(modes, path)


@draws(ModeMap)
def draw_mode_map(modes: ModeMap, path: str | Path | None = None) -> Figure:
    """Figure of the frequencies of a mode map over its axes."""
    return plot_mode_map(modes, path)


@draws(ModePolynomials)
def draw_mode_polynomials(
    modes: ModePolynomials, path: str | Path | None = None
) -> Figure:
    """Figure of the frequencies over each parameter."""
    return plot_mode_polynomials(modes, path)


def _label(modes: Modes | DampedModes, links: tuple[str, ...], k: int) -> str:
    largest = max(links, key=lambda name: modes.share[name][k])
    return f"{modes.stability[k]}, {largest} {100 * modes.share[largest][k]:.0f} %"


@compiled_quickly
def _link_axes(f: Any, x: Any) -> Any:
    """Rotation matrices (body, 3, 3) of the frames, world from link."""
    return f.configuration(x).R


@compiled_quickly
def _positions(f: Any, x: Any) -> Any:
    """Nodes (body, node, 3) in the world."""
    return node_poses(f, f.configuration(x)).position


def nodal_motion(
    model: Model, f: AbstractFormulation, x: Any, shapes: np.ndarray
) -> np.ndarray:
    """Displacement and rotation (mode, node, 6) of every node in every mode, world axes."""
    motions = []
    for shape in shapes.T:
        padded = _motion_in(f, x, jnp.asarray(shape))
        motions.append(model.node_rows(padded))
    return np.stack(motions)


@compiled_quickly
def _motion_in(f: Any, x: Any, shape: Any) -> Any:
    """Displacement and rotation (link, node, 6) of every node for a small step along `shape`."""

    def position(x):
        return node_poses(f, f.configuration(x)).position

    # How positions change along the shape is the motion itself: a derivative, not a difference.
    _, linear = jax.jvp(position, (x,), (shape,))
    rates = engine.rate_map(f, x)
    # A node turns with its link's frame and, in the link's axes, by the bending of the link there.
    node_rotation = jnp.asarray(f.links.node_shape)[:, :, 3:]
    bending = jnp.einsum("lkdc,lcn->lkdn", node_rotation, rates.q)
    in_link_axes = rates.V[:, None, 3:] + bending
    R = f.configuration(x).R
    angular = jnp.einsum("lij,lkjn->lkin", R, in_link_axes) @ shape
    return jnp.concatenate([linear, angular], axis=-1)
