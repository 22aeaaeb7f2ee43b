"""Inputs and outputs of a robot, by name.

| input | name |
|---|---|
| torque or force of an actuated joint | `upper` or `upper.torque` |
| set-point of the controller and its rate (closed loop) | `upper.setpoint`, `upper.setpoint_rate` |
| force or moment on a node | `lower/tip.fx` ... `lower/tip.mz` |

| output | name |
|---|---|
| encoder reading, speed, acceleration, torque of a joint | `upper.encoder`, `.speed`, `.acceleration`, `.torque` |
| reaction that a joint carries | `upper.reaction.fx` ... `upper.reaction.mz` |
| position, velocity, acceleration of a node | `lower/tip.px`, `.vx`, `.ax` |
| angular velocity and acceleration of a node | `lower/tip.wx`, `.wdx` |
| section force in the middle of an element | `lower/element0.n`, `.vy`, `.vz`, `.t`, `.my`, `.mz` |
| strain there: axial, twist rate, curvatures | `lower/element0.strain`, `.twist`, `.ky`, `.kz` |
| a coordinate, its rate | `upper`, `upper/2.rz`, `upper/2.rz.rate` |

Vectors are in world axes, or with `@link` at the end in the axes of their link. Linear models and control laws name
their signals in the same way.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..algebra.so3 import cross, left_jacobian
from ..bodies.body import Body
from ..bodies.section_forces import section_forces, section_strains
from ..describe.segments import body_of_element
from ..dynamics.formulation import AbstractFormulation, Motion, Rates
from ..dynamics.nodes import node_poses
from ..files.errors import nearest
from ..types import Float
from .model import Model

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
SECTION_FORCES = ("n", "vy", "vz", "t", "my", "mz")
STRAINS = ("strain", "twist", "ky", "kz")
JOINT = ("encoder", "speed", "acceleration", "torque")
# Kind of a channel by the letters before its axis: `lower/tip.wdx`.
NODE = {
    "p": "position",
    "v": "velocity",
    "a": "node_acceleration",
    "w": "angular_velocity",
    "wd": "angular_acceleration",
}
PATH_KINDS = ("position", "velocity", "node_acceleration")
# Signals that a torque changes at once: they follow from the accelerations.
INSTANTANEOUS = (
    "acceleration",
    "torque",
    "reaction",
    "node_acceleration",
    "angular_acceleration",
    "section_force",
)
INPUTS = "a joint (upper, upper.torque), a set-point (upper.setpoint, upper.setpoint_rate), a wrench (lower/tip.fx)"
OUTPUTS = (
    "a joint (upper.encoder, .speed, .acceleration, .torque), a reaction (upper.reaction.mz), a node "
    "(lower/tip.px, .vx, .ax, .wx, .wdx), an element (lower/element0.mz, .strain) or a coordinate"
)


class UnknownNameError(ValueError):
    """A name that the robot does not have; `name` is that name."""

    def __init__(self, name: str, message: str):
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


class Channel(eqx.Module):
    """One scalar input or output of a robot."""

    name: str = eqx.field(static=True)
    kind: str = eqx.field(static=True)
    index: int = eqx.field(static=True)  # of the joint, the link or the coordinate
    node: int = eqx.field(static=True, default=0)
    component: int = eqx.field(static=True, default=0)
    in_world: bool = eqx.field(static=True, default=True)
    row: Float[np.ndarray, " c"] | None = None  # over the body coordinates of the link

    @property
    def is_set_point(self) -> bool:
        """True if the input is a set-point or its rate."""
        return self.kind in ("setpoint", "setpoint_rate")

    @property
    def is_instantaneous(self) -> bool:
        """True if a torque changes the signal at once."""
        return self.kind in INSTANTANEOUS


def default_inputs(model: Model) -> tuple[str, ...]:
    """The torque of every actuated joint."""
    return tuple(f"{name}.torque" for name in model.actuated_names)


def default_set_points(model: Model) -> tuple[str, ...]:
    """The set-point of every actuated joint: the inputs of a closed loop."""
    return tuple(f"{name}.setpoint" for name in model.actuated_names)


def default_outputs(model: Model) -> tuple[str, ...]:
    """Encoder and speed of every joint, position and acceleration of the last link's tip."""
    encoders = [f"{name}.encoder" for name in model.joint_names]
    speeds = [f"{name}.speed" for name in model.joint_names]
    tip = f"{model.link_names[-1]}/tip"
    places = [f"{tip}.p{axis}" for axis in "xyz"]
    accelerations = [f"{tip}.a{axis}" for axis in "xyz"]
    return (*encoders, *speeds, *places, *accelerations)


# --- names ---------------------------------------------------------------------------------------------------------


def input_named(model: Model, name: str, closed: bool = False) -> Channel:
    """The input of that name; set-points exist where a controller closes the loop."""
    bare, at, frame = name.partition("@")
    if "/" in bare:
        return _wrench_input(model, name, bare, _in_world(name, at, frame))
    joint, _, what = bare.partition(".")
    kind = {
        "": "torque",
        "torque": "torque",
        "setpoint": "setpoint",
        "setpoint_rate": "setpoint_rate",
    }.get(what)
    if kind is None or at:
        raise UnknownNameError(name, f"no such input. An input is {INPUTS}")
    if kind != "torque" and not closed:
        raise UnknownNameError(
            name, "a set-point needs a controller: give kp and kd, or a controller"
        )
    number = _joint(model, name, joint)
    if number not in model.actuated:
        raise UnknownNameError(
            name, f"joint {joint!r} is passive (actuated: false): it takes no torque"
        )
    return Channel(name, kind, number)


def _wrench_input(model: Model, name: str, bare: str, in_world: bool) -> Channel:
    node, _, component = bare.rpartition(".")
    if component not in WRENCH:
        hint = nearest(component, WRENCH) or "."
        raise UnknownNameError(name, f"no such input{hint} An input is {INPUTS}")
    link, number = _node(model, name, node)
    return Channel(name, "wrench", link, number, WRENCH.index(component), in_world)


def output_named(model: Model, name: str) -> Channel:
    """The output of that name."""
    coordinates = (*model.independent_names, *model.coordinate_names)
    if name in coordinates:
        return Channel(name, "coordinate", coordinates.index(name))
    if name.removesuffix(".rate") in coordinates and name.endswith(".rate"):
        number = coordinates.index(name.removesuffix(".rate"))
        return Channel(name, "coordinate_rate", number)
    bare, at, frame = name.partition("@")
    in_world = _in_world(name, at, frame)
    if "/" in bare:
        return _output_of_link(model, name, bare, in_world)
    joint, _, what = bare.partition(".")
    if what in JOINT and not at:
        return Channel(name, what, _joint(model, name, joint))
    kind, _, component = what.partition(".")
    if kind == "reaction" and component in WRENCH and joint in model.link_names:
        link = model.first_bodies[model.link_names.index(joint)]
        return Channel(name, "reaction", link, 0, WRENCH.index(component), in_world)
    raise _no_output(model, name)


def _no_output(model: Model, name: str) -> UnknownNameError:
    """The refusal of an output, with the nearest one of the robot's."""
    known = [f"{joint}.{what}" for joint in model.joint_names for what in JOINT]
    signals = [f"{letters}{axis}" for letters in NODE for axis in "xyz"]
    for link in model.link_names:
        known += [f"{link}/tip.{signal}" for signal in signals]
        known += [f"{link}.reaction.{component}" for component in WRENCH]
        elements = range(_element_count(model, link))
        sections = (*SECTION_FORCES, *STRAINS)
        known += [f"{link}/element{k}.{of}" for k in elements for of in sections]
    hint = nearest(name, known) or "."
    return UnknownNameError(name, f"no such output{hint} An output is {OUTPUTS}")


def _output_of_link(model: Model, name: str, bare: str, in_world: bool) -> Channel:
    """An output at a node or in an element: `lower/tip.ax`, `lower/element0.mz`."""
    place, _, what = bare.rpartition(".")
    link, _, part = place.partition("/")
    if part.startswith("element"):
        return _section(model, name, link, part.removeprefix("element"), what)
    letters, axis = what[:-1], what[-1:]
    if letters not in NODE or axis not in ("x", "y", "z"):
        raise _no_output(model, name)
    number, node = _node(model, name, place)
    return Channel(name, NODE[letters], number, node, "xyz".index(axis), in_world)


def _node(model: Model, name: str, node: str) -> tuple[int, int]:
    problem = model.robot.outline.node_problem(node)
    if problem:
        raise UnknownNameError(name, problem)
    return model.find_node(node)


def _joint(model: Model, name: str, joint: str) -> int:
    problem = model.robot.outline.joint_problem(joint)
    if problem:
        raise UnknownNameError(name, problem)
    return model.joint_names.index(joint)


def _in_world(name: str, at: str, frame: str) -> bool:
    if at and frame not in ("world", "link"):
        raise UnknownNameError(name, f"@{frame} is no frame: @world (default) or @link")
    return frame != "link"


def _section(model: Model, name: str, link: str, number: str, what: str) -> Channel:
    """Section force or strain in the middle of an element: the mean of its two ends."""
    if link not in model.link_names:
        hint = nearest(link, model.link_names) or "."
        known = ", ".join(model.link_names)
        raise UnknownNameError(name, f"no link is called {link!r}{hint} Links: {known}")
    i, element, body = _element(model, name, link, number)
    if what in SECTION_FORCES:
        kind, signals, recover = "section_force", SECTION_FORCES, section_forces
    elif what in STRAINS:
        kind, signals, recover = "strain", STRAINS, section_strains
    else:
        hint = nearest(what, (*SECTION_FORCES, *STRAINS)) or "."
        known = ", ".join((*SECTION_FORCES, *STRAINS))
        raise UnknownNameError(name, f"no such signal{hint} An element has {known}")
    # The signal is linear in the body coordinates: its row, from the signal of each unit coordinate.
    units = np.eye(body.coordinates)
    values = np.stack([np.asarray(recover(body, q)) for q in units])
    row = values[:, element, :, signals.index(what)].mean(axis=1)
    slots = model.formulation.links.stiffness.shape[-1]
    padded = np.pad(row, (0, slots - len(row)))
    return Channel(name, kind, i, element, 0, True, padded)


def _element(model: Model, name: str, link: str, number: str) -> tuple[int, int, Body]:
    """Number of the body that an element of a link lies in, the element's number there, and the body."""
    i = model.link_names.index(link)
    count = _element_count(model, link)
    if not (number.isdecimal() and int(number) < count):
        known = f"0 to {count - 1}" if count else "none with section forces"
        raise UnknownNameError(name, f"no such element: link {link!r} has {known}")
    place, element = body_of_element(model.robot, i, int(number))
    return place, element, model.bodies[place]


def _element_count(model: Model, link: str) -> int:
    """Number of elements of a link that have section forces."""
    i = model.link_names.index(link)
    count = 0
    for body, own in zip(model.bodies, model.body_links, strict=True):
        if own == i and body.element_stiffness is not None:
            count += len(body.elements)
    return count


# --- values --------------------------------------------------------------------------------------------------------


def observed_motion(formulation: AbstractFormulation, motion: Motion) -> Motion:
    """The motion as an observer sees it: with every acceleration, also those that `published` terms leave out."""
    return formulation.observed(motion)


def measure(
    formulation: AbstractFormulation,
    channels: tuple[Channel, ...],
    motion: Motion,
    needed: Rates | None,
    torque: Float[Array, " j"],
) -> Float[Array, " p"]:
    """Values of the channels in a motion.

    Args:
        formulation: the robot.
        channels: what is measured.
        motion: as an observer sees it.
        needed: forces on the links that the motion needs beyond the applied ones; only reactions ask for them.
        torque: of every joint.
    """
    of_joints = {
        "encoder": motion.place.encoder,
        "speed": motion.rates.encoder,
        "acceleration": motion.rates_d.encoder,
        "torque": torque,
        "coordinate": motion.x,
        "coordinate_rate": motion.xd,
    }
    paths = {}
    if any(channel.kind in PATH_KINDS for channel in channels):
        paths = node_paths(formulation, motion)
    # The six channels of a node share its turning.
    turning = functools.cache(functools.partial(node_turning, formulation, motion))
    values = []
    for channel in channels:
        if channel.kind in of_joints:
            value = of_joints[channel.kind][channel.index]
        elif channel.kind in ("section_force", "strain"):
            value = jnp.asarray(channel.row) @ motion.place.q[channel.index]
        elif channel.kind == "reaction":
            assert needed is not None
            value = reaction(formulation, motion, needed, channel)[channel.component]
        elif channel.kind in PATH_KINDS:
            vector = paths[channel.kind][channel.index, channel.node]
            value = _from_world(motion, channel, vector)[channel.component]
        else:
            vector = turning(channel.index, channel.node)[channel.kind]
            value = _from_link(motion, channel, vector)[channel.component]
        values.append(value)
    return jnp.stack(values) if values else jnp.zeros(0)


def _from_world(
    motion: Motion, channel: Channel, vector: Float[Array, " 3"]
) -> Float[Array, " 3"]:
    """A vector in world axes, in the axes of the channel."""
    if channel.in_world:
        return vector
    return motion.place.R[channel.index].T @ vector


def _from_link(
    motion: Motion, channel: Channel, vector: Float[Array, " 3"]
) -> Float[Array, " 3"]:
    """A vector in link axes, in the axes of the channel."""
    return motion.place.R[channel.index] @ vector if channel.in_world else vector


def node_paths(
    formulation: AbstractFormulation, motion: Motion
) -> dict[str, Float[Array, "l k 3"]]:
    """Position, velocity and acceleration of every node in world axes."""
    if formulation.exact_twists:
        return _carried_paths(formulation, motion)
    return differentiated_paths(formulation, motion)


def _carried_paths(
    formulation: AbstractFormulation, motion: Motion
) -> dict[str, Float[Array, "l k 3"]]:
    """Paths from the twists (v, w) of the links: a node at r moves by v + w x r + rdot in the link's axes."""
    place, rates, rates_d = motion.place, motion.rates, motion.rates_d
    U = jnp.asarray(formulation.links.node_shape)[:, :, :3]
    r = jnp.asarray(formulation.links.points) + jnp.einsum("lkdc,lc->lkd", U, place.q)
    r_d = jnp.einsum("lkdc,lc->lkd", U, rates.q)
    r_dd = jnp.einsum("lkdc,lc->lkd", U, rates_d.q)
    v, w = rates.V[:, None, :3], rates.V[:, None, 3:]
    v_d, w_d = rates_d.V[:, None, :3], rates_d.V[:, None, 3:]
    velocity = v + cross(w, r) + r_d
    # The link's axes turn with w, and the velocity measured in them does too.
    acceleration = v_d + cross(w_d, r) + cross(w, r_d + velocity) + r_dd

    def in_world(vectors):
        return jnp.einsum("lij,lkj->lki", place.R, vectors)

    return {
        "position": node_poses(formulation, place).position,
        "velocity": in_world(velocity),
        "node_acceleration": in_world(acceleration),
    }


def differentiated_paths(
    formulation: AbstractFormulation, motion: Motion
) -> dict[str, Float[Array, "l k 3"]]:
    """The same by differentiation of the position along the motion.

    Formulations of first order carry twists that are not exactly the rates of their positions: an observer sees these.
    """

    def position(x):
        return node_poses(formulation, formulation.configuration(x)).position

    def position_and_velocity(x, xd):
        return jax.jvp(position, (x,), (xd,))

    at = (motion.x, motion.xd)
    rates = (motion.xd, motion.xdd)
    (p, v), (_, a) = jax.jvp(position_and_velocity, at, rates)
    return {"position": p, "velocity": v, "node_acceleration": a}


def node_turning(
    formulation: AbstractFormulation, motion: Motion, i: int, k: int
) -> dict[str, Float[Array, " 3"]]:
    """Angular velocity and acceleration of node `k` of link `i`, in the link's axes."""
    U = jnp.asarray(formulation.links.node_shape)[i, k, 3:]
    phi = U @ motion.place.q[i]
    phi_d = U @ motion.rates.q[i]
    phi_dd = U @ motion.rates_d.q[i]

    def spin(phi, phi_d):
        """Angular velocity of the node in its link."""
        if formulation.support.finite_rotations:
            return left_jacobian(phi) @ phi_d
        return phi_d

    own, own_d = jax.jvp(spin, (phi, phi_d), (phi_d, phi_dd))
    w, wd = motion.rates.V[i, 3:], motion.rates_d.V[i, 3:]
    return {
        "angular_velocity": w + own,
        # The link's frame turns with w, and so does the spin measured in it.
        "angular_acceleration": wd + own_d + cross(w, own),
    }


def reaction(
    formulation: AbstractFormulation, motion: Motion, needed: Rates, channel: Channel
) -> Float[Array, " 6"]:
    """Wrench that a link receives through its joint, about the joint: what the links outwards of it need, summed.

    The drive's torque is part of it; the rotor's inertia and the friction at the motor are not.
    """
    i, place = channel.index, motion.place
    forces = jnp.einsum("lij,lj->li", place.R, needed.V[:, :3])
    moments = jnp.einsum("lij,lj->li", place.R, needed.V[:, 3:])
    about_origin = moments + cross(place.p, forces)
    force = jnp.sum(forces[i:], axis=0)
    joint = node_poses(formulation, place).position[i, 0]
    moment = jnp.sum(about_origin[i:], axis=0) - cross(joint, force)
    turn = jnp.eye(3) if channel.in_world else place.R[i].T
    return jnp.concatenate([turn @ force, turn @ moment])
