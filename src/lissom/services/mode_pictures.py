"""The modes of a robot in a table, and one of them as something that moves on a page."""

from ..describe import Scenario
from ..native.compiled import using
from ..scenarios.forecast import affordable_model
from ..show.viewer import Content, animation_content
from ..solve.model import Model
from .frozen_model import FrozenModel
from .modes import ModesRequest, ModesResult, found_modes, result_of

FPS = 24.0  # frames per second of a mode, whose period is drawn in two seconds
TRUE_SCALE = 1.0  # the swing itself is enlarged, see `show.mode_animation`


class ModesInMotion(FrozenModel):
    """Modes, and the picture of one of them."""

    modes: ModesResult
    number: int  # of the mode that moves, counted from 1
    picture: Content  # see `show.viewer.animation_content`


def modes_in_motion(request: ModesRequest) -> ModesInMotion:
    """The modes of a request; `animated_mode` moves."""
    scenario = request.scenario()
    with using(scenario.solver.backend):
        return modes_of_model(request, scenario, affordable_model(scenario))


def modes_of_model(
    request: ModesRequest, scenario: Scenario, model: Model
) -> ModesInMotion:
    """The same of a model that is there already."""
    # Slow to import, and poses do without.
    from ..show.mode_animation import mode_dataset

    with using(scenario.solver.backend):
        swinging = found_modes(request, scenario, model)
        number = min(request.animated_mode, len(swinging.found.frequency_hz))
        data = mode_dataset(model, swinging.state, swinging.found, number)
        picture = animation_content(data, TRUE_SCALE, FPS)
        return ModesInMotion(modes=result_of(swinging), number=number, picture=picture)
