"""What in a scenario does not fit its robot or its other parts; works on whole and on half-valid scenarios."""

from collections.abc import Iterator, Mapping
from typing import Any

from .outline import Outline
from .part import Finding
from .quantity import Quantity, is_traced
from .supported import SUPPORT

MAX_SAMPLES = 1_000_000


def scenario_findings(
    entries: Mapping[str, Any], robot: Outline | None
) -> list[Finding]:
    """All that is wrong; `robot` is `None` where even its names cannot be read."""
    found = [*_time(entries), *choice_findings(entries)]
    if robot is not None:
        for check in (_initial, _inputs, _controller, _one_driver, _zeroed, _modes):
            found += check(entries, robot)
    return found


def _get(part: Any, *keys: str) -> Any:
    """An entry of nested parts or mappings, `None` where there is none."""
    for key in keys:
        part = part.get(key) if isinstance(part, Mapping) else getattr(part, key, None)
    return part


def _list(part: Any, *keys: str) -> Any:
    value = _get(part, *keys)
    return value if isinstance(value, list | tuple) else ()


def _names(part: Any, *keys: str) -> list[Any]:
    value = _get(part, *keys)
    return list(value) if isinstance(value, Mapping) else []


def _time(entries: Mapping[str, Any]) -> Iterator[Finding]:
    t_end, step = (
        _number(entries.get("t_end", 1.0)),
        _number(entries.get("output_dt", 0.001)),
    )
    if t_end is None or step is None or t_end <= 0 or step <= 0:
        return
    if step > t_end:
        yield Finding(
            ("output_dt",), step, f"must not be longer than the run (t_end {t_end:g} s)"
        )
    elif t_end / step > MAX_SAMPLES:
        message = f"gives {t_end / step:.3g} samples over {t_end:g} s: at most {MAX_SAMPLES} are written"
        yield Finding(("output_dt",), step, message)


def choice_findings(entries: Mapping[str, Any]) -> Iterator[Finding]:
    """Choices that the formulation does not offer."""
    formulation = _get(entries, "formulation") or "erls-fem"
    reference, basis = _get(entries, "reference"), _get(entries, "basis")
    support = SUPPORT.get(formulation)
    if support is None:
        return
    if support.references == ("tangent",) and reference not in (None, "tangent"):
        yield Finding(
            ("reference",),
            reference,
            f"{formulation} takes tangent only: its joint coordinates are encoders'",
        )
    if "published" not in support.terms and _get(entries, "terms") == "published":
        yield Finding(
            ("terms",),
            "published",
            f"{formulation} has one set of terms: leave out, or say consistent",
        )
    if len(support.bases) == 1 and basis is not None:
        choosable = [name for name, other in SUPPORT.items() if len(other.bases) > 1]
        yield Finding(
            ("basis",),
            basis,
            f"{formulation} has its own: choose one with {' or '.join(choosable)}",
        )
    if _get(entries, "stiffening") == "geometric" and not support.stiffening:
        able = [name for name, other in SUPPORT.items() if other.stiffening]
        message = (
            f"{formulation} has no geometric stiffening: choose {' or '.join(able)}"
        )
        yield Finding(("stiffening",), "geometric", message)
    elif (
        _get(entries, "stiffening") == "geometric"
        and _get(entries, "terms") == "published"
    ):
        yield Finding(
            ("stiffening",),
            "geometric",
            "the published terms have none: leave out, or use consistent terms",
        )


def _number(value: Any) -> float | None:
    try:
        return None if is_traced(value) else Quantity("s").check(value)
    except ValueError:
        return None


def _initial(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    for key in ("q", "qd"):
        if not robot.independent or len(_list(entries, "initial", key)) != len(
            robot.independent
        ):
            yield from _one_per_joint(entries, ("initial", key), robot)


def _one_per_joint(
    entries: Mapping[str, Any], loc: tuple[str, ...], robot: Outline
) -> Iterator[Finding]:
    value = _list(entries, *loc)
    if value and len(value) != len(robot.joints):
        yield Finding(
            loc,
            list(value),
            f"must have one number for each moving joint: {_joints(robot)}",
        )


def _joints(robot: Outline) -> str:
    return f"{len(robot.joints)} ({', '.join(robot.joints)})"


def _inputs(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    for kind in ("torque", "motion"):
        for joint in _names(entries, "inputs", kind):
            problem = robot.joint_problem(joint)
            if problem:
                yield Finding(("inputs", kind, joint), None, problem)
    for k, wrench in enumerate(_list(entries, "inputs", "wrench")):
        node = _get(wrench, "node")
        problem = robot.node_problem(node) if isinstance(node, str) else None
        if problem:
            yield Finding(("inputs", "wrench", k, "node"), node, problem)


def _controller(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    for key in ("kp", "kd"):
        yield from _one_per_joint(entries, ("controller", key), robot)
    rows = _list(entries, "controller", "reference", "value")
    lengths = {len(row) for row in rows if isinstance(row, list | tuple)}
    if lengths and lengths != {len(robot.joints)}:
        message = (
            f"each row must have one number for each moving joint: {_joints(robot)}"
        )
        yield Finding(
            ("controller", "reference", "value"), f"rows of {sorted(lengths)}", message
        )


def _one_driver(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    """A joint that follows a motion table takes no other command."""
    for joint in _names(entries, "inputs", "motion"):
        loc = ("inputs", "motion", joint)
        if joint in _names(entries, "inputs", "torque"):
            yield Finding(
                loc,
                None,
                "this joint has a torque table too: its torque follows from the motion",
            )
        if joint in robot.joints and _has_gain(entries, robot.joints.index(joint)):
            yield Finding(
                loc,
                None,
                "the controller drives this joint too: set its kp and kd to 0, or leave the motion out",
            )


def _has_gain(entries: Mapping[str, Any], k: int) -> bool:
    gains = [_list(entries, "controller", key) for key in ("kp", "kd")]
    return any(
        k < len(gain) and not is_traced(gain[k]) and gain[k] != 0 for gain in gains
    )


def _zeroed(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    loc, dofs = ("reference", "zeroed"), _list(entries, "reference", "zeroed")
    if not isinstance(_get(entries, "reference", "zeroed"), list | tuple):
        return
    for k, dof in enumerate(dofs):
        problem = robot.dof_problem(dof)
        if problem is None and dof in dofs[:k]:
            problem = "is listed twice"
        if problem:
            yield Finding((*loc, k), dof, problem)
    if len(dofs) != len(robot.independent or robot.joints):
        message = f"the ERLS needs one zeroed dof for each moving joint: {_joints(robot)}, not {len(dofs)}"
        if robot.independent:
            message = f"the ERLS of a closed chain needs one zeroed dof for each independent joint, not {len(dofs)}"
        yield Finding(loc, list(dofs), message)


def _modes(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    modes = _list(entries, "modes")
    if modes and len(modes) != len(robot.links):
        message = f"must have one number for each of the {len(robot.links)} links ({', '.join(robot.links)})"
        yield Finding(("modes",), list(modes), message)
