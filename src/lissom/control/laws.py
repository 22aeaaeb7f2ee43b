"""Control laws from their descriptions."""

from typing import get_args

from ..controller_types import controller_types, register_type
from ..describe.controllers import Common
from ..files.part import Part
from ..solve.law import AbstractLaw
from ..solve.model import Model
from .described_checks import check_described
from .described_law import DescribedLaw
from .described_numbers import each_or_none, for_drives
from .real_loop import RealLoop


def law_of(model: Model, controller: Part) -> AbstractLaw:
    """The law that a scenario describes, for the actuated joints of a robot.

    Gains and references may be written for every moving joint: those of passive joints are left out.

    Raises:
        DesignError: there is no such law for this robot.
    """
    build = controller_types()[getattr(controller, "type", "")]().build
    if not isinstance(controller, Common):
        return build(model, controller)
    check_described(model, controller)
    law = build(controller_model(model, controller), controller)
    loop = controller.loop
    if loop is None:
        return law
    sensors = len(law.sensors(model))
    return RealLoop(
        law=law,
        sample=controller.sample,
        delay=loop.delay,
        noise=each_or_none("loop.noise", loop.noise, sensors),
        resolution=each_or_none("loop.resolution", loop.resolution, sensors),
        torque_limit=for_drives(model, "loop.torque_limit", loop.torque_limit),
        rate_limit=for_drives(model, "loop.rate_limit", loop.rate_limit),
        bandwidth=loop.bandwidth,
        seed=loop.seed,
    )


def register_law(law: DescribedLaw) -> None:
    """Make a law of your own known by the `type` of its description: scenarios, `ls.tune` and comparisons take it."""
    (name,) = get_args(law.description.model_fields["type"].annotation)
    register_type(name, lambda: law)


def controller_model(model: Model, controller: Common) -> Model:
    """The robot as the controller knows it: other numbers, another formulation, fewer modes."""
    changes = dict(controller.model)
    if not changes:
        return model
    formulation = changes.pop("formulation", model.formulation_name)
    choices = model.choices._asdict()
    if formulation != model.formulation_name:
        # Choices of another formulation need not be offered by this one.
        choices = {"modes": choices["modes"]}
    for name in ("modes", "basis", "reference", "terms", "stiffening"):
        if name in changes:
            choices[name] = changes.pop(name)
    robot = model.robot.replace(changes) if changes else model.robot
    return Model(robot, formulation, **choices)
