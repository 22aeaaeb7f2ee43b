"""Robots that `hypothesis` describes: valid ones come back equal from a file, broken ones are refused by field."""

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from lissom.describe import DescriptionError, Robot

from .outcome import Outcome
from .strategies import BROKEN, robots

EXAMPLES = 20  # of one case


def run(number: int, folder: Path) -> Outcome:
    """Some robots; `hypothesis` raises with the smallest one that fails."""
    counted = [0]

    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(robots(), BROKEN)
    def check(data: dict[str, Any], broken: tuple) -> None:
        counted[0] += 1
        check_round_trip(data, folder / "robot.yaml")
        check_refusal(data, *broken)

    check()
    return Outcome("accepted", "described robots", count=counted[0])


def check_round_trip(data: dict[str, Any], path: Path) -> None:
    """Loaded, saved and loaded again: the same robot, and the same plain data."""
    robot = Robot.from_dict(data)
    robot.save(path)
    again = Robot.load(path)
    assert again == robot
    assert Robot.from_dict(robot.to_dict()) == robot


def check_refusal(data: dict[str, Any], place: tuple, value: Any, word: str) -> None:
    """One field broken: a problem names it, on one line."""
    wrong = _with(data, place, value)
    try:
        Robot.from_dict(wrong)
    except DescriptionError as failure:
        problems = failure.problems
    else:
        raise AssertionError(f"{place} = {value!r} was accepted")
    named = [problem for problem in problems if word in f"{problem.field} {problem}"]
    assert named, f"{word} is not named: {[str(problem) for problem in problems]}"
    assert all("\n" not in str(problem) for problem in problems)


def _with(data: Any, place: tuple, value: Any) -> Any:
    """The data with another value at a place; None takes it out."""
    key, *rest = place
    inner = value if not rest else _with(data[key], tuple(rest), value)
    if isinstance(data, list):
        return [*data[:key], inner, *data[key + 1 :]]
    entries = {name: entry for name, entry in data.items() if name != key}
    return entries if inner is None else entries | {key: inner}
