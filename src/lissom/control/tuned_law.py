"""Laws with their margins: tuned by bandwidth and damping, by weights, or by poles."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx

from ..describe.controllers import controller_from
from ..files.errors import refused
from ..files.part import Part
from ..solve.arguments import ModelLike, model_from
from ..solve.law import AbstractLaw
from .described_references import design_pose
from .laws import law_of
from .lqg import LQGController, lqg_law
from .margins import Margins, margins
from .pole_placement import check_specification, desired_poles, placed_gain
from .state_feedback import estimated

# Tolerances of a description whose gain comes from poles: unused.
ANY_TOLERANCES = {"position": [1.0], "torque": [1.0]}


class TunedLaw(NamedTuple):
    """A sampled law, and the margins of its loop at the end of its motion."""

    law: AbstractLaw
    margins: Margins


def tune(model: ModelLike, controller: Part | Mapping[str, Any]) -> TunedLaw:
    """The law of a description, as scenarios have it, and its margins.

    `{"type": "pid", "gains": {"bandwidth": 5.0, "damping": 0.7}, ...}` is tuned by bandwidth and damping, `lqg` and its
    kin by tolerances.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        controller: description of a sampled law, as under `controller` of a scenario.

    Returns:
        `TunedLaw`: the law and its margins, `law, margins = ls.tune(...)`.

    Raises:
        DescriptionError: the description is wrong, or has no `sample`.
        DesignError: there is no such law for this robot.

    Example:
        >>> import lissom as ls
        >>> motion = {"t": [0.0, 0.2], "value": [[-1.4], [-1.1]], "interpolation": "quintic"}
        >>> pid = {"type": "pid", "sample": 2e-3, "reference": motion, "gains": {"bandwidth": 2}}
        >>> law, margins = ls.tune("simple-pendulum", pid)
        >>> margins.stable
        True
    """
    model = model_from(model)
    is_read = isinstance(controller, Part)
    described: Any = controller if is_read else controller_from(controller)
    law = law_of(model, described)
    if law.sample is None:
        raise refused("sample", None, "margins need a sampled law: set `sample`")
    return TunedLaw(law, margins(model, design_pose(model, described), law))


def tune_by_poles(
    model: ModelLike,
    controller: Mapping[str, Any],
    bandwidth: float,
    damping: float = 0.7,
    vibration: float = 0.2,
) -> TunedLaw:
    """Feedback with given poles on the estimate of a Kalman filter, and its margins.

    Poles are placed by the method of [TitsYang1996].

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        controller: description of an `lqg` without tolerances: motion, sample, sensors, noise.
        bandwidth: of the joints [Hz].
        damping: ratio of the joints' motions.
        vibration: least damping ratio of the vibrations that the controller's model has.

    Returns:
        `TunedLaw`: the law and its margins, `law, margins = ls.tune_by_poles(...)`.

    Raises:
        DescriptionError: the description is wrong.
        DesignError: these poles cannot be placed, or a motion is seen by no sensor.

    Example:
        >>> import lissom as ls
        >>> motion = {"t": [0.0, 0.2], "value": [[-1.4], [-1.1]], "interpolation": "quintic"}
        >>> lqg = {"sample": 2e-3, "reference": motion, "noise": {"torque": [0.1], "sensors": [1e-4]}}
        >>> law, margins = ls.tune_by_poles("simple-pendulum", lqg, bandwidth=2.0, vibration=0.3)
        >>> margins.stable
        True
    """
    check_specification(bandwidth, damping, vibration)
    model = model_from(model)
    whole = {"tolerances": ANY_TOLERANCES, **controller, "type": "lqg"}
    described = LQGController(**{**whole, "preview": False})
    _, design, _, _ = estimated(model, described)
    K = placed_gain(design, desired_poles(design, bandwidth, damping, vibration))
    law = eqx.tree_at(lambda law: law.K, lqg_law(model, described), K)
    return TunedLaw(law, margins(model, design_pose(model, described), law))
