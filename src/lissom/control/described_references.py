"""Motion of a described controller: its reference through its shaper, its pose, its nominal motion."""

from typing import Any

import numpy as np

from ..describe.controllers import Common, Shaper, StateFeedback
from ..solve.model import Model
from ..solve.signals import AbstractSignal
from .described_motions import described_motion, end_rows, planned_nominal
from .design_error import DesignError
from .encoder_inversion import encoder_inversion
from .following_shaper import follow_mode, mode_along
from .nominal import NominalMotion, actuated_reference, nominal_motion
from .shaping import Impulses, Mode, shape_signal, shaper_for
from .tuning import driven_modes


def shaped_reference(model: Model, controller: Common) -> AbstractSignal:
    """The motion of the actuated joints, through its shaper."""
    motion = actuated_reference(model, described_motion(model, controller))
    if controller.shaper is None:
        return motion
    shaper = controller.shaper
    target = design_pose(model, controller)
    wanted = shaped_modes(model, target, shaper)
    if shaper.follow:
        return shaped_along(model, motion, shaper, wanted)
    return shape_signal(motion, impulses_of(shaper, wanted))


def impulses_of(shaper: Shaper, wanted: list[Mode]) -> Impulses:
    """The impulses of a described shaper for modes.

    Raises:
        DesignError: no shaper has such a band.
    """
    try:
        return shaper_for(shaper.type, wanted, shaper.width)
    except ValueError as failure:
        raise DesignError(str(failure), "shaper") from None


def shaped_along(
    model: Model, motion: AbstractSignal, shaper: Shaper, wanted: list[Mode]
) -> AbstractSignal:
    """A motion through a shaper that follows the modes along it."""
    shaped_motion = motion
    for number, mode in zip(shaper.modes, wanted, strict=True):
        unit = impulses_of(shaper, [Mode(1.0, mode.zeta)])
        frequency = mode_along(model, int(number))
        shaped_motion = follow_mode(shaped_motion, unit, mode.zeta, frequency)
    return shaped_motion


def shaped_modes(model: Model, q: Any, shaper: Shaper) -> list[Mode]:
    """The modes that a shaper is for.

    Raises:
        DesignError: a mode that the robot does not have.
    """
    if shaper.frequency is not None:
        zeta = shaper.damping or 0.0
        return [Mode(2 * np.pi * f, zeta) for f in shaper.frequency]
    driven = driven_modes(model, q)
    chosen = []
    for number in shaper.modes:
        if int(number) > len(driven):
            hertz = ", ".join(f"{m.omega / (2 * np.pi):.3g}" for m in driven)
            raise DesignError(
                f"the robot has {len(driven)} modes that its motors move ({hertz} Hz), there is no mode {number:g}",
                "shaper.modes",
            )
        mode = driven[int(number) - 1]
        chosen.append(
            mode if shaper.damping is None else Mode(mode.omega, shaper.damping)
        )
    return chosen


def design_pose(model: Model, controller: Common) -> np.ndarray:
    """Where the robot is linearised: the pose that is named, or the end of the motion."""
    pose = controller.pose if isinstance(controller, StateFeedback) else None
    if pose is not None:
        return np.asarray(model.assemble(pose))
    _, last = end_rows(model, controller)
    if len(last) == model.n_joints:
        return np.asarray(model.assemble(last))
    if model.closed and model.actuated == model.formulation.independent:
        return np.asarray(model.assemble(last))
    whole = np.array(model.formulation.mechanism.home, dtype=float)
    whole[list(model.actuated)] = last
    return np.asarray(model.assemble(whole))


def nominal_of(
    model: Model, controller: Common, sensors: tuple[str, ...] = ()
) -> NominalMotion:
    """The nominal motion of a controller, with what its sensors read along it."""
    planned = planned_nominal(model, controller, sensors)
    if planned is not None:
        return planned
    # Inversion at the tip is a planned motion.
    assert controller.feedforward != "tip"
    reference = shaped_reference(model, controller)
    if controller.feedforward == "flexible":
        return encoder_inversion(model, reference, sensors, step=controller.sample)
    return nominal_motion(
        model, reference, sensors, controller.feedforward, step=controller.sample
    )
