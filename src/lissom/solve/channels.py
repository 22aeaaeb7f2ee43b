"""Inputs and outputs of a linear model, by name.

| input | name |
|---|---|
| torque or force of a joint | `upper` or `upper.torque` |
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
| a coordinate | `upper`, `upper/2.rz` |

Vectors are in world axes, or with `@link` at the end in the axes of their link.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra.so3 import left_jacobian
from ..bodies.section_forces import section_forces, section_strains
from ..describe.errors import nearest
from ..dynamics.formulation import AbstractFormulation, Motion, Rates
from ..dynamics.nodes import find_node, node_poses, node_wrench
from .model import Model

PATHS = ("at", "velocity", "node_acceleration")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
NODE = {
    "p": "at",
    "v": "velocity",
    "a": "node_acceleration",
    "w": "turning",
    "wd": "turning_d",
}
SECTION = ("n", "vy", "vz", "t", "my", "mz")
STRAIN = ("strain", "twist", "ky", "kz")
JOINT = ("encoder", "speed", "acceleration", "torque")
INPUTS = "a joint (upper, upper.torque), a set-point (upper.setpoint, upper.setpoint_rate), a wrench (lower/tip.fx)"
OUTPUTS = (
    "a joint (upper.encoder, .speed, .acceleration, .torque), a reaction (upper.reaction.mz), a node "
    "(lower/tip.px, .vx, .ax, .wx, .wdx), an element (lower/element0.mz, .strain) or a coordinate"
)


class UnknownNameError(ValueError):
    """A name that the robot does not have; `name` is that name."""

    def __init__(self, name: str, message: str):
        super().__init__(f"{name}: {message}")
        self.name, self.message = name, message


class Channel(eqx.Module):
    """One scalar input or output of a robot."""

    name: str = eqx.field(static=True)
    kind: str = eqx.field(static=True)
    index: int = eqx.field(static=True)  # of the joint, the link or the coordinate
    node: int = eqx.field(static=True, default=0)
    component: int = eqx.field(static=True, default=0)
    in_world: bool = eqx.field(static=True, default=True)
    row: Float[np.ndarray, " c"] | None = None  # over the body coordinates of the link


class Loop(eqx.Module):
    """Joint PD control about the point: tau = tau_0 - kp (e - e_0 - r) - kd (ed - ed_0 - rd)."""

    kp: Float[Array, " j"]
    kd: Float[Array, " j"]


def default_inputs(model: Model) -> tuple[str, ...]:
    """Every joint torque."""
    return tuple(f"{name}.torque" for name in model.joint_names)


def default_outputs(model: Model) -> tuple[str, ...]:
    """Encoder and speed of every joint, position and acceleration of the last link's tip."""
    joints = [
        f"{name}.{what}" for what in ("encoder", "speed") for name in model.joint_names
    ]
    return (
        *joints,
        *(
            f"{model.link_names[-1]}/tip.{what}{axis}"
            for what in "pa"
            for axis in "xyz"
        ),
    )


# --- names ---------------------------------------------------------------------------------------------------------


def input_named(model: Model, name: str, closed: bool = False) -> Channel:
    """The input of that name; set-points exist where a controller closes the loop."""
    bare, at, frame = name.partition("@")
    if "/" in bare:
        node, _, component = bare.rpartition(".")
        if component not in WRENCH:
            raise UnknownNameError(
                name,
                f"no such input{nearest(component, WRENCH) or '.'} An input is {INPUTS}",
            )
        i, k = _node(model, name, node)
        return Channel(
            name, "wrench", i, k, WRENCH.index(component), _in_world(name, at, frame)
        )
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
        raise UnknownNameError(name, "a set-point needs a controller: give kp and kd")
    return Channel(name, kind, _joint(model, name, joint))


def output_named(model: Model, name: str) -> Channel:
    """The output of that name."""
    coordinates = (*model.independent_names, *model.coordinate_names)
    if name in coordinates:
        return Channel(name, "coordinate", coordinates.index(name))
    bare, at, frame = name.partition("@")
    in_world = _in_world(name, at, frame)
    if "/" in bare:
        place, _, what = bare.rpartition(".")
        link, _, part = place.partition("/")
        if part.startswith("element"):
            return _section(model, name, link, part.removeprefix("element"), what)
        kind = NODE.get(what[:-1])
        if kind is None or what[-1:] not in ("x", "y", "z"):
            raise UnknownNameError(name, f"no such output. An output is {OUTPUTS}")
        i, k = _node(model, name, place)
        return Channel(name, kind, i, k, "xyz".index(what[-1]), in_world)
    joint, _, what = bare.partition(".")
    if what in JOINT and not at:
        return Channel(name, what, _joint(model, name, joint))
    kind, _, component = what.partition(".")
    if kind == "reaction" and component in WRENCH and joint in model.link_names:
        return Channel(
            name,
            "reaction",
            model.link_names.index(joint),
            0,
            WRENCH.index(component),
            in_world,
        )
    raise UnknownNameError(name, f"no such output. An output is {OUTPUTS}")


def _node(model: Model, name: str, node: str) -> tuple[int, int]:
    problem = model.robot.outline.node_problem(node)
    if problem:
        raise UnknownNameError(name, problem)
    return find_node(model.robot, node)


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
        raise UnknownNameError(
            name, f"no link is called {link!r}. Links: {', '.join(model.link_names)}"
        )
    i = model.link_names.index(link)
    body = model.bodies[i]
    count = 0 if body.element_stiffness is None else len(body.elements)
    if not (number.isdecimal() and int(number) < count):
        known = f"0 to {count - 1}" if count else "none with section forces"
        raise UnknownNameError(name, f"no such element: link {link!r} has {known}")
    if what not in (*SECTION, *STRAIN):
        raise UnknownNameError(name, f"an element has {', '.join((*SECTION, *STRAIN))}")
    forces = what in SECTION
    held = section_forces if forces else section_strains
    values = np.stack([np.asarray(held(body, q)) for q in np.eye(body.coordinates)])
    component = (SECTION if forces else STRAIN).index(what)
    row = values[:, int(number), :, component].mean(axis=1)
    c = model.formulation.links.stiffness.shape[-1]
    return Channel(
        name, "section", i, int(number), 0, True, np.pad(row, (0, c - len(row)))
    )


# --- values --------------------------------------------------------------------------------------------------------


def drive(
    formulation: AbstractFormulation,
    motion: Motion,
    inputs: tuple[Channel, ...],
    u: Float[Array, " u"],
    tau: Float[Array, " j"],
    loop: Loop | None,
    point: tuple[Float[Array, " j"], Float[Array, " j"]],
) -> Rates:
    """Torques and wrenches: those of the point, those of the inputs u, and what the controller answers.

    `point` holds encoder readings and speeds at the point itself, from which the controller measures.
    """
    place = motion.place
    reference, reference_d = point
    for channel, value in zip(inputs, u, strict=True):
        joint = (
            jnp.eye(formulation.n_encoders)[channel.index]
            if channel.kind != "wrench"
            else 0.0
        )
        tau = tau + (joint * value if channel.kind == "torque" else 0.0)
        reference = reference + (joint * value if channel.kind == "setpoint" else 0.0)
        reference_d = reference_d + (
            joint * value if channel.kind == "setpoint_rate" else 0.0
        )
    if loop is not None:
        tau = (
            tau
            + loop.kp * (reference - place.encoder)
            + loop.kd * (reference_d - motion.rates.encoder)
        )
    total = Rates(jnp.zeros((place.q.shape[0], 6)), jnp.zeros_like(place.q), tau)
    for channel, value in zip(inputs, u, strict=True):
        if channel.kind == "wrench":
            wrench = value * jnp.eye(6)[channel.component]
            load = node_wrench(
                formulation,
                place,
                channel.index,
                channel.node,
                wrench,
                channel.in_world,
            )
            total = jax.tree.map(jnp.add, total, load)
    return total


def outputs_of(
    formulation: AbstractFormulation,
    outputs: tuple[Channel, ...],
    at: tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]],
    motion: Motion,
    needed: Rates | None,
    torque: Float[Array, " j"],
) -> Float[Array, " p"]:
    """Values of the outputs in a motion; `needed` are the forces on the links that it needs beyond the applied ones."""
    joint = {
        "encoder": motion.place.encoder,
        "speed": motion.rates.encoder,
        "acceleration": motion.rates_d.encoder,
        "torque": torque,
        "coordinate": at[0],
    }
    seen = (
        node_paths(formulation, *at)
        if any(channel.kind in PATHS for channel in outputs)
        else {}
    )
    parts = []
    for channel in outputs:
        if channel.kind in joint:
            parts.append(joint[channel.kind][channel.index])
        elif channel.kind == "section":
            parts.append(jnp.asarray(channel.row) @ motion.place.q[channel.index])
        elif channel.kind == "reaction" and needed is not None:
            parts.append(
                reaction(formulation, motion, needed, channel)[channel.component]
            )
        elif channel.kind in PATHS:
            value = seen[channel.kind][channel.index, channel.node]
            turned = (
                value if channel.in_world else motion.place.R[channel.index].T @ value
            )
            parts.append(turned[channel.component])
        else:
            parts.append(node_turning(formulation, motion, channel)[channel.component])
    return jnp.stack(parts) if parts else jnp.zeros(0)


def node_paths(
    formulation: AbstractFormulation, x, xd, xdd
) -> dict[str, Float[Array, "l k 3"]]:
    """Position, velocity and acceleration of every node in world axes: the position, differentiated along the motion.

    Formulations of first order carry twists that are not exactly the rates of their positions: an observer sees these.
    """

    def position(x):
        return node_poses(formulation, formulation.configuration(x)).position

    def velocity(x, xd):
        return jax.jvp(position, (x,), (xd,))[1]

    v, a = jax.jvp(velocity, (x, xd), (xd, xdd))
    return {"at": position(x), "velocity": v, "node_acceleration": a}


def node_turning(
    formulation: AbstractFormulation, motion: Motion, channel: Channel
) -> Float[Array, " 3"]:
    """Angular velocity of a node, or its angular acceleration."""
    i, k = channel.index, channel.node
    place, w, wd = motion.place, motion.rates.V[i, 3:], motion.rates_d.V[i, 3:]
    U = jnp.asarray(formulation.links.node_shape)[i, k, 3:]
    phi, phi_d, phi_dd = U @ place.q[i], U @ motion.rates.q[i], U @ motion.rates_d.q[i]
    finite = formulation.support.finite_rotations

    def turning(phi, phi_d):
        return left_jacobian(phi) @ phi_d if finite else phi_d

    own, own_d = jax.jvp(turning, (phi, phi_d), (phi_d, phi_dd))
    value = w + own if channel.kind == "turning" else wd + own_d + jnp.cross(w, own)
    return place.R[i] @ value if channel.in_world else value


def reaction(
    formulation: AbstractFormulation, motion: Motion, needed: Rates, channel: Channel
) -> Float[Array, " 6"]:
    """Wrench that a link receives through its joint, about the joint: what the links outwards of it need, summed.

    The drive's torque is part of it; the rotor's inertia and the friction at the motor are not.
    """
    i, place = channel.index, motion.place
    f = jnp.einsum("lij,lj->li", place.R, needed.V[:, :3])
    m = jnp.einsum("lij,lj->li", place.R, needed.V[:, 3:]) + jnp.cross(place.p, f)
    force, moment = jnp.sum(f[i:], axis=0), jnp.sum(m[i:], axis=0)
    moment = moment - jnp.cross(node_poses(formulation, place).position[i, 0], force)
    turn = jnp.eye(3) if channel.in_world else place.R[i].T
    return jnp.concatenate([turn @ force, turn @ moment])
