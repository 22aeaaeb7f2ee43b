"""What `lissom mode-map` does with `--polynomial` or `--accuracy`: modes as polynomials of what `--over` names."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..describe.errors import DescriptionError, refused
from .request import check_outputs, joint_values, robot_of
from .service import AS_DESCRIBED, Choices, model_of

WRITTEN = (".npz", ".c", ".py")


class NoPolynomialsError(RuntimeError):
    """The analysis failed, with the reason."""

    told = True  # the message says it all: no class name, no hint at a traceback


def mode_polynomials(
    source: str,
    q: str | None,
    over: Sequence[str],
    choices: Choices = AS_DESCRIBED,
    *,
    order: int | None = None,
    accuracy: float | None = None,
    degrees: bool = False,
    locked: bool = False,
    count: int = 3,
    output: str | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Order, terms, expansion points, checked errors, and the polynomials themselves in `output`."""
    from ..algebra.taylor import SeriesError
    from ..analyse.polynomials.eigenseries import RepeatedEigenvalueError
    from ..analyse.polynomials.expansion import AccuracyError
    from ..analyse.polynomials.parametric_modes import parametric_modes
    from ..solve.model import UndefinedReferenceError

    check_outputs({"-o": (output, WRITTEN)})
    scenario = robot_of(source, choices.settings, choices.options())
    robot = scenario.robot
    if not over:
        raise refused(
            "--over", None, "say over what: --over upper=-1.5:1.5 (once or more)"
        )
    pose = (
        joint_values(robot, "--q", q, degrees=degrees)
        or scenario.initial.q
        or (0.0,) * len(robot.joint_names)
    )
    ranges = dict(_range(text) for text in over)
    turning = {
        link.name
        for link in robot.links
        if link.joint.moves and link.joint.type == "revolute"
    }
    factor = {
        name: np.pi / 180 if degrees and name.partition(".")[0] in turning else 1.0
        for name in ranges
    }
    box = {
        name: (factor[name] * low, factor[name] * high)
        for name, (low, high) in ranges.items()
    }
    model = model_of(scenario)
    try:
        found = parametric_modes(
            model, list(box), order=order, over=box, accuracy=accuracy, q=list(pose), count=count, locked=locked,
            watch=watch,
        )  # fmt: skip
    except (AccuracyError, RepeatedEigenvalueError, SeriesError) as failure:
        raise NoPolynomialsError(str(failure)) from None
    except (DescriptionError, UndefinedReferenceError):
        raise
    except ValueError as failure:
        raise refused("--over", None, str(failure)) from None
    if output is not None:
        found.save(output)
    values = found(found.centres[0])
    return {
        "robot": robot.name,
        "parameters": list(found.parameters),
        "order": found.order,
        "terms": found.terms,
        "expansion_points": found.centres.tolist(),
        "checked": found.notes["checked"],
        "frequency_hz": values.frequency_hz.tolist(),
        "damping_ratio": values.damping_ratio.tolist(),
        "text": [
            found.text(mode, digits=5, smallest=1e-4) for mode in range(found.modes)
        ],
        "files": {} if output is None else {"polynomials": output},
    }


def _range(text: str) -> tuple[str, tuple[float, float]]:
    """`upper=-1.5:1.5`; a number of points after it belongs to grids and is left aside."""
    name, equals, numbers = text.partition("=")
    parts = numbers.split(":")
    try:
        low, high = float(parts[0]), float(parts[1])
        if (
            not equals
            or len(parts) > 3
            or not low < high
            or not np.isfinite([low, high]).all()
        ):
            raise ValueError
    except (ValueError, IndexError):
        raise refused(
            "--over",
            text,
            "must be NAME=START:STOP with START < STOP, such as upper=-1.5:1.5",
        ) from None
    return name.strip(), (low, high)
