"""What a worker process can be asked about results: each call is one service."""

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

from ..files.errors import refused

MOST_PIXELS = 2000  # along a side of a picture
MOST_ROWS = 200_000  # of a run in the browser
Data = dict[str, Any]


def result_facts(data: Data, watch: Any) -> Any:
    """What a result file tells about its run."""
    from ..runs.result_facts import result_facts

    return result_facts(data["file"])


def curves(data: Data, watch: Any) -> Any:
    """Curves of results and their differences, packed."""
    from ..runs.curves_of_files import curves_of_files, over_one_axis

    found = curves_of_files(data["runs"], data["what"], MOST_ROWS)
    block = _Block()
    return {
        "runs": [_packed(block, one) for one in over_one_axis(found.runs)],
        "differences": [
            _packed(block, one) for one in over_one_axis(found.differences)
        ],
        "blob": block.text(),
    }


def gif(data: Data, watch: Any) -> None:
    """Pictures in PNG as a GIF that plays again and again.

    Raises:
        DescriptionError: one is no such picture, or is too large.
    """
    frames = []
    try:
        for text in data["pictures"]:
            png = io.BytesIO(base64.b64decode(text, validate=True))
            picture = Image.open(png, formats=["PNG"])
            if max(picture.size) > MOST_PIXELS:
                raise ValueError(f"larger than {MOST_PIXELS} pixels")
            frames.append(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as failure:
        raise refused(
            "pictures", len(frames), f"no picture in PNG: {failure}"
        ) from None
    first, *others = frames
    first.save(
        data["path"],
        save_all=True,
        append_images=others,
        duration=data["interval"],
        loop=0,
    )


class _Block:
    """Arrays one after the other as little-endian doubles: text would be three times as long."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.offset = 0

    def place(self, values: np.ndarray) -> Data:
        """Where an array lies: offset in bytes, and shape."""
        part = np.ascontiguousarray(values, "<f8").tobytes()
        place = {"offset": self.offset, "shape": list(values.shape)}
        self.parts.append(part)
        self.offset += len(part)
        return place

    def text(self) -> str:
        """All of it."""
        return base64.b64encode(b"".join(self.parts)).decode()


def _packed(block: _Block, one: Any) -> Data:
    panels = []
    for panel in one.panels:
        told = {"what": panel.what, "unit": panel.unit, "names": list(panel.lines)}
        # Curve by curve, so that each is one piece of the block.
        panels.append(
            {**told, "values": block.place(np.array([*panel.lines.values()]))}
        )
    return {
        "run": one.run,
        "missing": one.missing,
        "t": block.place(one.t),
        "panels": panels,
    }


RESULT_CALLS = (result_facts, curves, gif)
