"""Rules of a comparison: every loop is stable, and all motions end at one time."""

from typing import TYPE_CHECKING, Any

from ..control.described_checks import check_described
from ..control.described_references import (
    design_pose,
    impulses_of,
    shaped_modes,
    shaped_reference,
)
from ..control.design_error import DesignError
from ..control.laws import controller_model
from ..describe.controllers import Common
from ..describe.planned_motions import TIMED
from ..runs.controller_law import problems_at

if TYPE_CHECKING:
    from ..control.margins import Margins
    from ..solve.model import Model
    from .controller_numbers import Setting


def check_controllers(setting: "Setting") -> None:
    """Refuse a study before its first run where a controller does not fit its robot.

    Raises:
        DescriptionError: the controller and the key at fault.
    """
    for name, controller in setting.study.controllers.items():
        with problems_at(f"controllers.{name}", controller):
            check_described(setting.model, controller)
            finishing_at(setting.model, controller, setting.stop)


def check_stable(controller: Any, margins: "Margins | None") -> None:
    """Refuse a loop that is unstable on the full robot.

    Raises:
        DesignError: with its largest pole, and the bandwidth where one is written.
    """
    if margins is None or margins.stable:
        return
    gains = getattr(controller, "gains", None)
    what = f"a {controller.type} loop"
    if gains is not None and gains.bandwidth is not None:
        what = f"a position loop of {gains.bandwidth:g} Hz"
    raise DesignError(
        f"{what} sampled every {controller.sample:g} s is unstable on the full robot: its largest pole is "
        f"{margins.largest_pole:.4g}. {_slower(controller)}",
        "gains.bandwidth" if gains is not None and gains.bandwidth else "",
    )


def _slower(controller: Any) -> str:
    """What makes an unstable loop stable, by the keys that the controller has."""
    if getattr(controller, "gains", None) is not None:
        return "Lower the bandwidth, sample faster, or filter the derivative more (gains.lag)"
    if getattr(controller, "bandwidth", None) is not None:
        return "Lower the bandwidth, or sample faster"
    if getattr(controller, "tolerances", None) is not None:
        return "Sample faster, or ask for less (larger tolerances.position)"
    return "Lower the gains, or sample faster"


def finishing_at(model: "Model", controller: Any, stop: float) -> Any:
    """The controller with its motion shortened, so that it ends at a time with its shaper.

    Raises:
        DesignError: the shaper alone takes longer.
    """
    if not isinstance(controller, Common) or controller.shaper is None:
        return controller
    if not isinstance(controller.reference, TIMED):
        # The time of a planned motion is what its limits allow.
        return controller
    known = controller_model(model, controller)
    wanted = shaped_modes(known, design_pose(known, controller), controller.shaper)
    length = impulses_of(controller.shaper, wanted).duration
    for _ in range(3 if controller.shaper.follow else 1):
        if length >= stop:
            raise DesignError(
                f"it takes {length:.3g} s, longer than the whole motion of {stop:.3g} s",
                "shaper",
            )
        shortened = _ending_at(controller, stop - length)
        if controller.shaper.follow:
            # Delays that follow a mode depend on the motion itself.
            shaped = shaped_reference(known, shortened)
            length = float(shaped.breakpoints[-1]) - (stop - length)
    return shortened


def _ending_at(controller: Any, end: float) -> Any:
    """The controller with the times of its motion scaled."""
    motion = controller.reference
    share = end / float(motion.t[-1])
    times = tuple(share * t for t in motion.t)
    shorter = motion.model_copy(update={"t": times})
    return controller.model_copy(update={"reference": shorter})
