"""A run as something to draw: what the page of `simulate --animate` and other pages show."""

from ..show.viewer import Content, animation_content
from .result_files import loaded_run


def animation(file: str, fps: float = 30.0) -> Content:
    """The moving robot of a result file and the curves of its charts, ready for JSON.

    Args:
        file: result of `simulate`.
        fps: pictures per second, down to a tenth of real speed.
    """
    return animation_content(loaded_run(file).data, None, fps)
