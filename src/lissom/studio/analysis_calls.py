"""What a worker process can be asked about a robot's vibration, its controllers and its studies."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Data = dict[str, Any]


def modes(data: Data, watch: Any) -> Any:
    """Modes at a pose, with their damping and shares; a picture or a page where one is asked for."""
    from ..services.modes import ModesRequest, modes

    return modes(ModesRequest(**data))


def mode_motion(data: Data, watch: Any) -> Any:
    """A robot that swings in one mode, to be drawn."""
    from ..services.modes import ModesRequest, mode_motion

    return mode_motion(ModesRequest(**data))


def linearize(data: Data, watch: Any) -> Any:
    """A linear model: its poles and the names of its channels."""
    from ..services.linearize import LinearizeRequest, linearize

    return linearize(LinearizeRequest(**data))


def frequency_response(data: Data, watch: Any) -> Any:
    """Bode plots."""
    from ..services.frequency_response import (
        FrequencyResponseRequest,
        frequency_response,
    )

    return frequency_response(FrequencyResponseRequest(**data))


def step_response(data: Data, watch: Any) -> Any:
    """Step responses."""
    from ..services.step_response import StepResponseRequest, step_response

    return step_response(StepResponseRequest(**data))


# --- long ones, with their progress --------------------------------------------------------------------------------


def mode_map(data: Data, watch: Any) -> Any:
    """Modes over one or two quantities."""
    from ..services.mode_map import ModeMapRequest, mode_map

    def told(share: float) -> None:
        watch({"t": share, "t_end": 1.0, "unit": "of the map"})

    return mode_map(ModeMapRequest(**data), told)


def controllers(data: Data, watch: Any) -> Any:
    """Controllers on one motion."""
    from ..services.comparison_table import CompareRequest
    from ..services.control_comparison import ComparisonWatch, compare

    @contextmanager
    def law(k: int, count: int, name: str) -> Iterator[Any]:
        def told(share: float) -> None:
            watch({"t": k + share, "t_end": float(count), "unit": "controllers"})

        told(0.0)
        yield told

    return compare(CompareRequest(**data), ComparisonWatch(law=law))


def sweep(data: Data, watch: Any) -> Any:
    """A study of many runs."""
    from ..services.sweep import SweepRequest, sweep

    def told(tally: Any) -> None:
        watch({"t": float(tally.done), "t_end": float(tally.runs), "unit": "runs"})

    return sweep(SweepRequest(**data), told)


ANALYSIS_CALLS = (
    modes,
    mode_motion,
    linearize,
    frequency_response,
    step_response,
    mode_map,
    controllers,
    sweep,
)
