"""Modes as polynomials of joint coordinates or data of the robot."""

from collections.abc import Callable

from pydantic import Field

from jaxnative.compiled import using

from ..algebra.taylor import SeriesError
from ..analyse.polynomials.eigenseries import RepeatedEigenvalueError
from ..analyse.polynomials.expansion import AccuracyError
from ..analyse.polynomials.parametric_modes import ParametricModes, parametric_modes
from ..analyse.validity.description import robot_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe import DescriptionError, Scenario
from ..describe.defaults import FOLLOWED_MODES
from ..files.errors import refused
from ..parameters import Locked
from ..runs.failures import AnalysisError
from ..runs.forecast import affordable_model
from ..runs.output_files import check_outputs, written_files
from ..solve.model import UndefinedReferenceError
from .frozen_model import NumberArray
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest

POLYNOMIALS = (".npz", ".c", ".py")


class ModePolynomialsRequest(RobotRequest):
    """Ranges of what the modes depend on, and the order or the accuracy of the polynomials."""

    over: dict[str, tuple[float, float]]  # joint or key of the robot: from, to
    order: int | None = Field(default=None, ge=0)
    # Relative error of the frequencies; the order is then chosen.
    accuracy: float | None = None
    locked: Locked = False
    count: int = Field(default=FOLLOWED_MODES, ge=1)
    file: str | None = None  # for the polynomials


class ModePolynomialsResult(ModelledResult):
    """Polynomials of modes in words; the coefficients go to a file."""

    parameters: tuple[str, ...]
    order: int
    terms: int
    expansion_points: NumberArray
    checked: str  # how far the polynomials are from exact modes
    frequency_hz: NumberArray  # at the first expansion point
    damping_ratio: NumberArray
    text: tuple[str, ...]  # the leading terms of each frequency
    warnings: tuple[str, ...]  # about the robot, one line each
    files: dict[str, str]


def mode_polynomials(
    request: ModePolynomialsRequest, watch: Callable[[int, int], None] | None = None
) -> ModePolynomialsResult:
    """Order, terms, expansion points, checked errors, and the polynomials themselves in a file."""
    check_outputs({"file": (request.file, POLYNOMIALS)})
    scenario = request.scenario()
    if not request.over:
        raise refused("over", None, "say over what: ranges of joints or of other data")
    found = _polynomials(request, scenario, watch)
    if request.file is not None:
        found.save(request.file)
    values = found(found.centres[0])
    text = []
    for mode in range(found.modes):
        # The whole polynomial has hundreds of terms: the file holds it.
        text.append(found.text(mode, digits=5, smallest=1e-4))
    return ModePolynomialsResult(
        **model_of(scenario),
        parameters=tuple(found.parameters),
        order=found.order,
        terms=found.terms,
        expansion_points=found.centres,
        checked=found.notes["checked"],
        frequency_hz=values.frequency_hz,
        damping_ratio=values.damping_ratio,
        text=tuple(text),
        warnings=warning_lines(robot_warnings(scenario.robot)),
        files=written_files(polynomials=request.file),
    )


def _polynomials(
    request: ModePolynomialsRequest,
    scenario: Scenario,
    watch: Callable[[int, int], None] | None,
) -> ParametricModes:
    pose = request.q or scenario.initial.q
    try:
        with using(scenario.solver.backend):
            return parametric_modes(
                affordable_model(scenario),
                list(request.over),
                order=request.order,
                over=request.over,
                accuracy=request.accuracy,
                q=None if pose is None else list(pose),
                count=request.count,
                locked=request.locked,
                watch=watch,
            )
    except (AccuracyError, RepeatedEigenvalueError, SeriesError) as failure:
        raise AnalysisError(str(failure)) from None
    except (DescriptionError, UndefinedReferenceError):
        raise
    except ValueError as failure:
        # What is left are names and ranges that do not fit the robot.
        raise refused("over", None, str(failure)) from None
