"""What a worker process does for the routes of results."""

import base64
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from ..files.errors import refused
from ..runs.curves_of_files import RunCurves, curves_of_files, over_one_axis
from ..runs.result_files import loaded_run
from ..show.viewer import animation_content

MOST_PIXELS = 2000  # along a side of a picture
MOST_ROWS = 200_000  # of a run in the browser
PICTURES_PER_SECOND = 30.0  # of a result
Data = dict[str, Any]


def animation(file: str) -> Data:
    """A result as data to draw."""
    return animation_content(loaded_run(file).data, None, PICTURES_PER_SECOND)


def curves(runs: Sequence[str], what: Sequence[str]) -> Data:
    """Curves of results and their differences, packed as text of one block of doubles: JSON would be thrice as long."""
    found = curves_of_files(runs, what, MOST_ROWS)
    block = io.BytesIO()
    packed = {
        name: [_packed(block, one) for one in over_one_axis(curves)]
        for name, curves in found._asdict().items()
    }
    return packed | {"blob": base64.b64encode(block.getvalue()).decode()}


def _packed(block: io.BytesIO, one: RunCurves) -> Data:
    panels = []
    for panel in one.panels:
        facts = {"what": panel.what, "unit": panel.unit, "names": list(panel.lines)}
        # Curve by curve, so that each is one piece of the block.
        values = _placed(block, np.array([*panel.lines.values()]))
        panels.append(facts | {"values": values})
    facts = {"run": one.run, "missing": one.missing, "panels": panels}
    return facts | {"t": _placed(block, one.t)}


def _placed(block: io.BytesIO, values: np.ndarray) -> Data:
    """Where an array was added to a block, as little-endian doubles: offset in bytes, and shape."""
    place = {"offset": block.tell(), "shape": list(values.shape)}
    block.write(np.ascontiguousarray(values, "<f8").tobytes())
    return place


def gif(pictures: Sequence[str], interval: int, path: str) -> None:
    """Writes pictures in PNG as a GIF that repeats.

    Raises:
        DescriptionError: one is no such picture, or is too large.
    """
    frames = []
    try:
        for text in pictures:
            png = io.BytesIO(base64.b64decode(text, validate=True))
            picture = Image.open(png, formats=["PNG"])
            if max(picture.size) > MOST_PIXELS:
                raise ValueError(f"larger than {MOST_PIXELS} pixels")
            frames.append(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as failure:
        message = f"no picture in PNG: {failure}"
        raise refused("pictures", len(frames), message) from None
    first, *others = frames
    first.save(path, save_all=True, append_images=others, duration=interval, loop=0)
