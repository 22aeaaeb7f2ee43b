"""Feedback during a run: a control law wired to its channels, or a user's function of the state."""

import abc
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from jaxnative import code_cache, program_cache
from jaxnative.compilation import split_arguments, user_code_in
from jaxnative.compiled import is_native
from jaxnative.marks import tracing

from ..dynamics.formulation import AbstractFormulation, Motion, Rates
from ..types import Float, Scalar, real, whole
from .channels import Channel, UnknownNameError, measure, output_named
from .law import AbstractLaw
from .model import Model
from .state import State, state_of
from .user_function import UserFunction, has_known_content, user_function

ON_TIME = 1e-9  # of a period: a run that begins so shortly before a sample begins at it


class ControlState(eqx.Module):
    """State of a sampled law between two samples."""

    command: Float[
        Array, " a"
    ]  # torques of the actuated joints, held since the last sample
    memory: Any
    next_sample: Any  # its number: sample k is at k times the period


class AbstractFeedback(eqx.Module):
    """Torques that depend on the motion, smooth on one piece of time."""

    @property
    @abc.abstractmethod
    def sample(self) -> Scalar | None:
        """Period at which it acts [s]; None: at every instant."""

    @property
    @abc.abstractmethod
    def breakpoints(self) -> np.ndarray:
        """Times at which it is not smooth."""

    @abc.abstractmethod
    def on(self, start: float, end: float) -> "AbstractFeedback":
        """The feedback between two neighbouring breakpoints."""

    def pieces(
        self, starts: Sequence[float], ends: Sequence[float]
    ) -> list["AbstractFeedback"]:
        """The feedback of many pieces, one after the other."""
        return [self.on(start, end) for start, end in zip(starts, ends, strict=True)]

    @abc.abstractmethod
    def torque(
        self, formulation: AbstractFormulation, t, motion: Motion
    ) -> Float[Array, " j"]:
        """Torque of every joint that a continuous feedback gives in a motion."""

    @abc.abstractmethod
    def gains(
        self, formulation: AbstractFormulation, t, motion: Motion, N: Rates
    ) -> tuple[Float[Array, " j"], Float[Array, "j n"], Float[Array, "j n"]]:
        """The torques, and their derivatives with respect to x and xd; N is the map of the links' rates at x."""


# --- a user's function ---------------------------------------------------------------------------------------------


class StateFunction(AbstractFeedback):
    """A function (t, state) -> torques: continuous, without memory, with access to the full state.

    Compiled if it is written in JAX, else called back each time, which is slower.
    """

    function: UserFunction = eqx.field(static=True, converter=user_function)
    # Traced values that the function encloses: it takes them as further arguments, so that derivatives see them.
    enclosed: tuple[Any, ...] = ()

    @property
    @override
    def sample(self) -> None:
        return None

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return np.zeros(0)

    @override
    def on(self, start: float, end: float) -> "StateFunction":
        return self

    def torque(self, formulation, t, motion: Motion) -> Float[Array, " j"]:
        """Value of the function in a motion."""
        return self._value(formulation, t, state_of(formulation, motion))

    def _value(self, formulation, t, state: State) -> Float[Array, " j"]:
        try:
            value = jnp.asarray(self.function(t, state, *self.enclosed), dtype=float)
        except jax.errors.ConcretizationTypeError:
            # float(t), `if t > 1`, np.sin(t): plain Python.
            value = host_callback(
                self.function, t, state, len(formulation.joints.actuated)
            )
        return on_actuated(formulation, value)

    def gains(self, formulation, t, motion: Motion, N: Rates):
        """By differentiation with respect to the state, whose encoder readings move as N says."""
        state = state_of(formulation, motion)

        def value(state):
            torque = self._value(formulation, t, state)
            return torque, torque

        slope: State
        slope, torque = jax.jacfwd(value, has_aux=True)(state)
        G = formulation.mechanism.joint_map(motion.x)
        j = formulation.n_joints
        elastic = jnp.pad(slope.elastic, ((0, 0), (j, 0)))
        elastic_d = jnp.pad(slope.elastic_d, ((0, 0), (j, 0)))
        on_x = slope.q @ G + elastic + slope.encoder @ N.encoder
        on_xd = slope.qd @ G + elastic_d + slope.encoder_d @ N.encoder
        return torque, on_x, on_xd


def state_function(model: Model, function: Callable) -> StateFunction:
    """The feedback of a user's function; what it encloses and is being differentiated becomes its numbers."""
    if has_known_content(function):
        return StateFunction(function)
    f = model.formulation
    x = jnp.zeros(f.size)
    shapes = jax.eval_shape(lambda x: state_of(f, f.motion(x, x, x)), x)
    state = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    try:
        converted, enclosed = jax.closure_convert(function, real(0.0), state)
    except jax.errors.ConcretizationTypeError:
        # Plain Python: it is called back, and has no derivatives.
        return StateFunction(function)
    return (
        StateFunction(converted, tuple(enclosed))
        if enclosed
        else StateFunction(function)
    )


def on_actuated(
    formulation: AbstractFormulation, command: Float[Array, " a"]
) -> Float[Array, " j"]:
    """Torques of all joints from those of the actuated ones."""
    actuated = formulation.joints.actuated
    if len(actuated) == formulation.n_encoders:
        return command
    zero = jnp.zeros(formulation.n_encoders)
    return zero.at[jnp.asarray(actuated, dtype=int)].set(command)


def host_callback(function: Callable, t, state: State, size: int) -> Float[Array, " a"]:
    """Value of a plain Python function inside compiled code; implicit steps treat it as constant while they iterate."""
    shape = jax.ShapeDtypeStruct((size,), state.q.dtype)

    def host(t, state):
        given = jax.tree.map(jnp.asarray, (t, state))
        return np.asarray(function(*given), dtype=float)

    def call(at):
        return jax.pure_callback(host, shape, *at, vmap_method="sequential")

    opaque = jax.custom_jvp(call)
    # The host's function has no derivative that JAX could know: none is taken.
    opaque.defjvp(lambda primals, tangents: (call(*primals), jnp.zeros(size)))
    return opaque(jax.lax.stop_gradient((t, state)))


# --- a control law -------------------------------------------------------------------------------------------------


class WiredLaw(AbstractFeedback):
    """A control law on a robot: the channels that it measures; it drives every actuated joint."""

    law: AbstractLaw
    channels: tuple[Channel, ...]
    memory: Any  # before the first sample

    @property
    @override
    def sample(self) -> Scalar | None:
        return self.law.sample

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return self.law.breakpoints if self.sample is None else np.zeros(0)

    def on(self, start: float, end: float) -> "WiredLaw":
        """The law on a smooth piece; a sampled law sees the whole of its reference at every sample."""
        if self.sample is not None:
            return self
        return WiredLaw(self.law.on(start, end), self.channels, self.memory)

    @override
    def pieces(
        self, starts: Sequence[float], ends: Sequence[float]
    ) -> list["WiredLaw"]:
        laws = self.law.pieces(starts, ends)
        return [WiredLaw(law, self.channels, self.memory) for law in laws]

    def measured(self, formulation, motion: Motion) -> Float[Array, " m"]:
        """What a continuous law sees: nothing that its own torque changes at once."""
        none = jnp.zeros(formulation.n_encoders)
        return measure(formulation, self.channels, motion, None, none)

    def torque(self, formulation, t, motion: Motion) -> Float[Array, " j"]:
        """Command of a continuous law."""
        measured = self.measured(formulation, motion)
        command, _ = self.law(t, measured, self.memory)
        return on_actuated(formulation, command)

    def gains(self, formulation, t, motion: Motion, N: Rates):
        """Law and measurement differentiated one after the other."""
        measured = self.measured(formulation, motion)

        def value(measured):
            command, _ = self.law(t, measured, self.memory)
            return command, command

        slope, command = jax.jacfwd(value, has_aux=True)(measured)
        on_x, on_xd = self._sensitivity(formulation, motion, N)
        columns = jax.vmap(
            lambda command: on_actuated(formulation, command), in_axes=1, out_axes=1
        )
        torque = on_actuated(formulation, command)
        return torque, columns(slope @ on_x), columns(slope @ on_xd)

    def _sensitivity(self, formulation, motion: Motion, N: Rates):
        """Derivatives of the measured signals with respect to x and xd."""
        if all(channel.kind in ("encoder", "speed") for channel in self.channels):
            # Encoders move as N says: no differentiation through the whole motion. Steps iterate with these matrices,
            # so that the small change of N with x may be left out, as everywhere in them.
            n = motion.x.shape[0]
            rows = [N.encoder[channel.index] for channel in self.channels]
            is_speed = [channel.kind == "speed" for channel in self.channels]
            E = jnp.stack(rows) if rows else jnp.zeros((0, n))
            speed = jnp.asarray(is_speed, dtype=float)[:, None]
            return (1.0 - speed) * E, speed * E

        def signals(x, xd):
            return self.measured(formulation, formulation.motion(x, xd, motion.xdd))

        return jax.jacfwd(signals, argnums=(0, 1))(motion.x, motion.xd)

    # --- samples

    @property
    def needs_acceleration(self) -> bool:
        """True if a channel follows from the accelerations."""
        return any(channel.is_instantaneous for channel in self.channels)

    @property
    def needs_reactions(self) -> bool:
        """True if a channel is the reaction of a joint."""
        return any(channel.kind == "reaction" for channel in self.channels)

    def start(self, held: Float[Array, " a"], t) -> ControlState:
        """Before the first sample, under torques that are held until then; samples count from t = 0."""
        assert self.sample is not None
        number = jnp.floor(t / real(self.sample) + ON_TIME)
        before = jax.tree.map(jnp.asarray, self.memory)
        memory = _with_types_of(self.law.holding(t, real(held), before), before)
        return ControlState(real(held), memory, whole(number))

    def update(
        self, t, measured: Float[Array, " m"], control: ControlState
    ) -> ControlState:
        """The law's update at a sample: a new command, held until the next one."""
        command, memory = self.law(t, measured, control.memory)
        memory = _with_types_of(memory, control.memory)
        return ControlState(real(command), memory, control.next_sample + 1)

    def time_of_next(self, control: ControlState) -> Float[Array, ""]:
        """When the next sample is due [s]: a product, so that periods do not add up rounding."""
        assert self.sample is not None
        return control.next_sample * real(self.sample)


def _with_types_of(memory: Any, before: Any) -> Any:
    """Memory in the types that a compiled loop began with."""
    return jax.tree.map(
        lambda new, old: jnp.asarray(new, dtype=old.dtype), memory, before
    )


def wire_law(model: Model, law: Any) -> AbstractFeedback | None:
    """A law, or a user's function (t, state) -> torques, ready to act on a robot.

    Raises:
        ValueError: the law does not fit the robot, or would be an algebraic loop.
    """
    if law is None or isinstance(law, AbstractFeedback):
        return law
    if not isinstance(law, AbstractLaw):
        if not callable(law):
            raise ValueError(
                f"a law is a function (t, state) -> torques or a controller, got {type(law).__name__}"
            )
        _check_function(model, law)
        return state_function(model, law)
    channels = tuple(_sensor(model, name) for name in law.sensors(model))
    wired_law = WiredLaw(law, channels, law.init(model))
    if law.sample is None:
        _check_continuous(wired_law)
    elif not law.sample > 0.0:
        raise ValueError(
            f"sample must be a positive number of seconds, got {law.sample}"
        )
    _check_command(model, wired_law)
    return wired_law


def _check_function(model: Model, function: Callable) -> None:
    """Refuse a function that takes something else than (t, state), or gives something else than torques."""
    if not has_known_content(function):
        _check_torques(model, function)
        return
    sizes = (model.n_joints, model.formulation.n_elastic, model.actuated)
    # Scripts create the same function repeatedly; tracing it takes longer than a short run.
    known = user_function(function)
    if sizes not in known.checked:
        _check_torques(model, function)
        known.checked.add(sizes)


def _check_torques(model: Model, function: Callable) -> None:
    try:
        inspect.signature(function).bind(0.0, None)
    except TypeError:
        raise ValueError(
            "torque: the function must take the time and the state: (t, state)"
        ) from None
    except ValueError:
        pass  # compiled functions have no signature to look at
    state = model.at()
    try:
        value = jax.eval_shape(lambda t: _torques_of(function, t, state), 0.0)
    except jax.errors.ConcretizationTypeError:
        value = _torques_of(function, 0.0, state)
    count, names = len(model.actuated), ", ".join(model.actuated_names)
    if value.shape != (count,):
        raise ValueError(
            f"torque: the function must give {count} torques, one for each actuated joint ({names}), "
            f"got shape {value.shape}"
        )


def _torques_of(function: Callable, t: Any, state: State) -> Array:
    value = function(t, state)
    if value is None:
        raise ValueError("torque: the function returned None: is a `return` missing?")
    return jnp.asarray(value, dtype=float)


def _sensor(model: Model, name: str) -> Channel:
    try:
        return output_named(model, name)
    except UnknownNameError as failure:
        raise UnknownNameError(name, f"the law's sensor is {failure.message}") from None


def _check_continuous(wired_law: WiredLaw) -> None:
    at_once = [c.name for c in wired_law.channels if c.is_instantaneous]
    if at_once:
        raise ValueError(
            f"a continuous law cannot see {', '.join(at_once)}: its own torque changes "
            "it at the same instant (an algebraic loop). Give the law a sample "
            "period: it then measures under the previous torque."
        )
    if jax.tree.leaves(wired_law.memory):
        raise ValueError(
            "a continuous law has no memory: give the law a sample period."
        )


def _check_command(model: Model, wired_law: WiredLaw) -> None:
    """Refuse a law whose command does not have one torque for each actuated joint."""
    shape = _command_shape(wired_law)
    count = len(model.actuated)
    if shape != (count,):
        names = ", ".join(model.actuated_names)
        raise ValueError(
            f"the law must give {count} torques, one for each actuated joint ({names}), got shape {shape}"
        )


# Shapes of commands by the structure of their laws: a law is traced for it once.
_SHAPES: dict[Any, tuple[int, ...]] = {}
MOST_SHAPES = 256


def _command_shape(wired_law: WiredLaw) -> tuple[int, ...]:
    numbers, structure = split_arguments((wired_law.law, wired_law.memory))
    if user_code_in(structure[0]):
        # Weak references: the cache does not keep a user's code alive.
        return _traced_shape(wired_law)
    shapes = tuple(np.shape(number) for number in numbers)
    key = (structure, shapes, len(wired_law.channels))
    if key not in _SHAPES:
        if len(_SHAPES) >= MOST_SHAPES:
            _SHAPES.clear()
        _SHAPES[key] = _cached_shape(wired_law, key)
    return _SHAPES[key]


def _cached_shape(wired_law: WiredLaw, key: Any) -> tuple[int, ...]:
    """The shape of a command as an earlier process found it, else traced now: that takes longer than a short run."""
    name = program_cache.key_of("shape of a command", *key)
    cached = None if name is None else code_cache.find(name, counts=False)
    if cached is not None:
        return tuple(json.loads(cached))
    shape = _traced_shape(wired_law)
    if name is not None:
        code_cache.keep(name, json.dumps(shape).encode())
    return shape


def _traced_shape(wired_law: WiredLaw) -> tuple[int, ...]:
    measured = jax.ShapeDtypeStruct((len(wired_law.channels),), float)
    memory = jax.tree.map(jnp.asarray, wired_law.memory)
    # Traced as it will run: cached functions need not be traced again.
    with tracing(is_native()):
        command, _ = eqx.filter_eval_shape(
            wired_law.law, jax.ShapeDtypeStruct((), float), measured, memory
        )
    return command.shape
