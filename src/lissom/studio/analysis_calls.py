"""What a worker process can be asked about a robot's vibration, its controllers and its studies."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Data = dict[str, Any]


def mode_motion(data: Data, watch: Any) -> Any:
    """A robot that swings in one mode, to be drawn."""
    from ..show.mode_animation import mode_content
    from ..verbs.perform import perform
    from ..verbs.registry import verb_named

    values = {**data["values"]}
    number = values.pop("mode", 1)
    found = perform(verb_named("modes"), data["robot"], values, data["changes"])
    return mode_content(found.result, min(number, len(found.result.frequency_hz)))


# --- long ones, with their progress --------------------------------------------------------------------------------


def mode_map(data: Data, watch: Any) -> Any:
    """Modes over one or two quantities."""
    from ..analyse.modes.map_axis import MapAxis
    from ..verbs.perform import perform
    from ..verbs.registry import verb_named

    def told(share: float, remark: str = "") -> None:
        watch({"t": share, "t_end": 1.0, "unit": "of the map"})

    values = {**data, "over": [MapAxis(**axis) for axis in data["over"]]}
    source, changes = values.pop("robot"), values.pop("changes")
    return perform(verb_named("mode-map"), source, values, changes, told).to_dict()


def controllers(data: Data, watch: Any) -> Any:
    """Controllers on one motion."""
    from ..studies.controller_comparison import ComparisonWatch, compare_controllers

    @contextmanager
    def law(k: int, count: int, name: str) -> Iterator[Any]:
        def told(share: float) -> None:
            watch({"t": k + share, "t_end": float(count), "unit": "controllers"})

        told(0.0)
        yield told

    return compare_controllers(**data, watch=ComparisonWatch(law=law)).to_dict()


def sweep(data: Data, watch: Any) -> Any:
    """A study of many runs."""
    from ..studies.sweep import interruptions
    from ..verbs.perform import perform
    from ..verbs.registry import verb_named

    def told(tally: Any) -> None:
        watch({"t": float(tally.done), "t_end": float(tally.runs), "unit": "runs"})

    values = {
        "study": data["study"],
        "store": data["store"],
        "plot": data.get("picture"),
    }
    with interruptions():
        return perform(verb_named("sweep"), None, values, watch=told).to_dict()


ANALYSIS_CALLS = (
    mode_motion,
    mode_map,
    controllers,
    sweep,
)
