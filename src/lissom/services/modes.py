"""Natural vibration."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from jaxnative.compiled import using

from ..analyse.linear.carried_weight import weight_note
from ..analyse.modes.modal import modes as natural_modes
from ..analyse.robot_facts import has_damping, values_by_name
from ..analyse.validity.checks import check
from ..analyse.validity.description import scenario_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe.defaults import SHOWN_MODES
from ..describe.scenario import Scenario
from ..files.errors import refused
from ..runs.forecast import affordable_model
from ..runs.output_files import PAGE, PICTURE, check_outputs
from ..solve.model import Model
from ..solve.state import State
from .frozen_model import (
    ComplexNumber,
    Gains,
    JointValues,
    NumberArray,
    complex_numbers,
)
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest

if TYPE_CHECKING:
    from ..show.viewer import Content

FRAMES_PER_SECOND = 30
STATIC = "static equilibrium under gravity"
UNDEFORMED = "undeformed"
MOVING = "motion given"


class ModesRequest(RobotRequest):
    """Modes about an equilibrium, about the undeformed robot, or about a motion."""

    qd: JointValues | None = None  # joint speeds [rad/s or m/s]
    qdd: JointValues | None = None  # joint accelerations [rad/s^2 or m/s^2]
    kp: Gains | None = None  # stiffness of joint controllers [N m/rad or N/m]
    kd: Gains | None = None  # damping of joint controllers [N m s/rad or N s/m]
    locked: bool = False  # every joint held
    damped: bool = False
    undeformed: bool = False
    # Add the second-order stiffness of carried weight, which formulations of first order leave out.
    weight_stiffness: bool = False
    count: int = Field(default=SHOWN_MODES, ge=1)  # modes, lowest first
    picture: str | None = None
    animation: str | None = None
    animated_mode: int = Field(default=1, ge=1)

    @property
    def moving(self) -> bool:
        """True if the modes are those of a motion."""
        return self.qd is not None or self.qdd is not None

    @model_validator(mode="after")
    def _animated_mode_is_among_them(self) -> "ModesRequest":
        if self.animated_mode > self.count:
            raise ValueError(
                f"animated_mode: {self.animated_mode}: only {self.count} modes are asked for: count"
            )
        return self


class ModesResult(ModelledResult):
    """Modes, lowest frequency first."""

    about: str
    locked: bool
    q: dict[str, float]
    frequency_hz: NumberArray
    damping_ratio: NumberArray  # NaN where there is no vibration
    # Mode by mode, of the kinetic energy by link and joint, and of the potential energy by link and controller.
    share: tuple[dict[str, float], ...]
    strain_share: tuple[dict[str, float], ...]
    eigenvalue: tuple[ComplexNumber, ...]  # [rad/s]
    stability: tuple[str, ...]
    damping: bool  # whether the robot has any
    warnings: tuple[str, ...]  # one line each
    weight_note: str | None  # what is left out of the stiffness of carried weight
    picture: str | None
    animation: str | None


def modes(request: ModesRequest) -> ModesResult:
    """Natural frequencies, damping ratios, and the share of each link and joint in each mode."""
    check_outputs(
        {"picture": (request.picture, PICTURE), "animation": (request.animation, PAGE)}
    )
    if request.undeformed and request.moving:
        message = "a moving robot is balanced, never undeformed"
        raise refused("undeformed", None, message)
    scenario = request.scenario()
    with using(scenario.solver.backend):
        return _modes(request, scenario)


def mode_motion(request: ModesRequest) -> "Content":
    """The robot swinging in the mode `animated_mode`, slowed down and enlarged, as something to draw."""
    scenario = request.scenario()
    with using(scenario.solver.backend):
        swinging = solved_modes(request, scenario, affordable_model(scenario))
        return motion_of(swinging)


class SwingingModes(NamedTuple):
    """Modes, and what they are those of."""

    request: ModesRequest
    scenario: Scenario
    model: Model
    state: State  # about which it vibrates
    found: Any  # Modes or DampedModes


def solved_modes(
    request: ModesRequest, scenario: Scenario, model: Model
) -> SwingingModes:
    """The modes that a request asks for, of a model that is there already."""
    pose = request.q or scenario.initial.q
    state = model.at(pose) if request.undeformed else model.static(pose)
    found = _found_modes(model, pose, state, request)
    return SwingingModes(request, scenario, model, state, found)


def motion_of(swinging: SwingingModes) -> "Content":
    """The picture of the mode `animated_mode`."""
    from ..show.mode_animation import mode_dataset
    from ..show.viewer import animation_content

    request, _, model, state, found = swinging
    count = len(found.frequency_hz)
    if request.animated_mode > count:
        message = f"there are {count} modes"
        raise refused("animated_mode", request.animated_mode, message)
    data = mode_dataset(model, state, found, request.animated_mode)
    return animation_content(data, 1.0, FRAMES_PER_SECOND)


def _modes(request: ModesRequest, scenario: Scenario) -> ModesResult:
    swinging = solved_modes(request, scenario, affordable_model(scenario))
    _, _, model, state, found = swinging
    if request.picture is not None:
        found.plot(len(found.frequency_hz), request.picture)
    if request.animation is not None:
        # The viewer's page takes a while to import, and numbers alone do without.
        from ..show.mode_animation import animate_mode

        number = request.animated_mode
        animate_mode(model, state, found, number, request.animation)
    return modes_table(swinging)


def modes_table(swinging: SwingingModes) -> ModesResult:
    """Modes as numbers by the names of links and joints."""
    request, scenario, model, state, found = swinging
    return ModesResult(
        **model_of(scenario),
        about=_operating_point(request),
        locked=request.locked,
        q=values_by_name(model.joint_names, state.q),
        frequency_hz=found.frequency_hz,
        damping_ratio=found.damping_ratio,
        share=_by_mode(found.share),
        strain_share=_by_mode(found.strain),
        eigenvalue=complex_numbers(_exponents(found.eigenvalue)),
        stability=found.stability,
        damping=has_damping(scenario.robot),
        warnings=warning_lines([*scenario_warnings(scenario), *check(model, state)]),
        weight_note=None if request.weight_stiffness else weight_note(model),
        picture=request.picture,
        animation=request.animation,
    )


def _found_modes(model: Model, pose: Any, state: State, request: ModesRequest) -> Any:
    # A motion is balanced by the analysis itself, from the pose on.
    about = pose if request.moving else state
    return natural_modes(
        model,
        about,
        qd=request.qd,
        qdd=request.qdd,
        kp=request.kp,
        kd=request.kd,
        locked=request.locked,
        damped=request.damped,
        count=request.count,
        weight_stiffness=request.weight_stiffness,
    )


def _operating_point(request: ModesRequest) -> str:
    if request.undeformed:
        return UNDEFORMED
    return MOVING if request.moving else STATIC


def _by_mode(shares: Mapping[str, Any]) -> tuple[dict[str, float], ...]:
    """Shares (mode,) of every part, mode by mode."""
    table = np.asarray(list(shares.values()))
    rows = []
    for column in table.T:
        rows.append(dict(zip(shares, column.tolist(), strict=True)))
    return tuple(rows)


def _exponents(eigenvalue: Any) -> np.ndarray:
    """Lambda of each mode [rad/s]: damped modes have it, undamped ones omega^2 = -lambda^2."""
    values = np.asarray(eigenvalue)
    if np.iscomplexobj(values):
        return values
    return np.sqrt(-values.astype(complex))
