"""What in a scenario does not fit its robot or its other parts; works on whole and on half-valid scenarios."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .outline import Outline
from .part import Finding, entry_of
from .quantity import Quantity, is_traced
from .supported import (
    DEFAULT_FORMULATION,
    SUPPORT,
    Support,
    names_with,
    structure_findings,
)

MAX_SAMPLES = 1_000_000

# Inputs that act through the motor of a joint, and why a passive joint cannot take them.
NEEDS_A_DRIVE = {
    "torque": "it takes no torque",
    "motion": "it has no drive that could follow a motion",
}


def scenario_findings(
    entries: Mapping[str, Any], robot: Outline | None
) -> list[Finding]:
    """All that is wrong; `robot` is `None` where even its names cannot be read."""
    found = [*_time(entries), *_sample_period(entries), *choice_findings(entries)]
    if robot is not None:
        for check in ROBOT_CHECKS:
            found += check(entries, robot)
    return found


def _list(part: Any, *keys: str) -> Any:
    value = entry_of(part, *keys)
    return value if isinstance(value, list | tuple) else ()


def _names(part: Any, *keys: str) -> list[Any]:
    value = entry_of(part, *keys)
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


def _sample_period(entries: Mapping[str, Any]) -> Iterator[Finding]:
    t_end = _number(entries.get("t_end", 1.0))
    period = _number(entry_of(entries, "controller", "sample"))
    if t_end is not None and period is not None and period > t_end > 0:
        message = f"must not be longer than the run (t_end {t_end:g} s)"
        yield Finding(("controller", "sample"), period, message)


def choice_findings(entries: Mapping[str, Any]) -> Iterator[Finding]:
    """Choices that the formulation does not offer."""
    support = _support(entries)
    if support is None:
        return
    yield from _reference(support, entry_of(entries, "reference"))
    yield from _basis(support, entry_of(entries, "basis"))
    terms = entry_of(entries, "terms") or "consistent"
    if terms == "published" and "published" not in support.terms:
        message = f"{support.name} has one set of terms: leave out, or say consistent"
        yield Finding(("terms",), terms, message)
    if entry_of(entries, "stiffening") == "geometric":
        yield from _stiffening(support, terms)


def _support(entries: Mapping[str, Any]) -> Support | None:
    """What the chosen formulation can do, `None` where there is none of that name."""
    name = entry_of(entries, "formulation") or DEFAULT_FORMULATION
    return SUPPORT.get(name) if isinstance(name, str) else None


def _all_choices(field: str) -> set[str]:
    """Every reference, or every basis, that some formulation takes."""
    return {
        choice for support in SUPPORT.values() for choice in getattr(support, field)
    }


def _reference(support: Support, reference: Any) -> Iterator[Finding]:
    name = "zeroed" if isinstance(reference, Mapping) else reference
    if name is None or name in support.references:
        return
    # A word that no formulation knows is refused at its key; saying it twice helps nobody.
    if set(support.references) == _all_choices("references"):
        return
    message = f"{support.name} takes {' or '.join(support.references)} only"
    if support.references == ("tangent",):
        message += ": its joint coordinates are what the encoders read"
    yield Finding(("reference",), reference, message)


def _basis(support: Support, basis: Any) -> Iterator[Finding]:
    if basis is None:
        return
    if len(support.bases) == 1:
        others = names_with(lambda other: len(other.bases) > 1)
        message = f"{support.name} has its own: choose one with {others}"
        yield Finding(("basis",), basis, message)
    elif basis in _all_choices("bases") - set(support.bases):
        message = f"{support.name} takes {' or '.join(support.bases)}"
        yield Finding(("basis",), basis, message)


def _stiffening(support: Support, terms: Any) -> Iterator[Finding]:
    if not support.stiffening:
        others = names_with(lambda other: other.stiffening)
        message = f"{support.name} has no geometric stiffening: choose {others}"
        yield Finding(("stiffening",), "geometric", message)
    elif terms == "published":
        message = "the published terms have none: leave out, or use consistent terms"
        yield Finding(("stiffening",), "geometric", message)


def _structure(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    support = _support(entries)
    if support is not None:
        yield from structure_findings(support, robot)


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
            f"must have one number for each moving joint: {_listed(robot.joints)}",
        )


def _listed(joints: Sequence[str]) -> str:
    return f"{len(joints)} ({', '.join(joints)})"


def _inputs(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    for kind, lacking in NEEDS_A_DRIVE.items():
        for joint in _names(entries, "inputs", kind):
            problem = robot.joint_problem(joint)
            if robot.is_passive(joint):
                problem = f"joint {joint} is passive (actuated: false): {lacking}"
            if problem:
                yield Finding(("inputs", kind, joint), None, problem)
    for k, wrench in enumerate(_list(entries, "inputs", "wrench")):
        node = entry_of(wrench, "node")
        problem = robot.node_problem(node) if isinstance(node, str) else None
        if problem:
            yield Finding(("inputs", "wrench", k, "node"), node, problem)


def _controller(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    for key in ("kp", "kd"):
        yield from _gains(entries, key, robot)
    loc = ("controller", "reference", "value")
    rows = [row for row in _list(entries, *loc) if isinstance(row, list | tuple)]
    lengths = {len(row) for row in rows}
    if any(length not in _driven_lengths(robot) for length in lengths):
        message = f"each row must have {_one_per_driven_joint(robot)}"
        yield Finding(loc, f"rows of {sorted(lengths)}", message)
    elif lengths and lengths != {len(robot.joints)}:
        yield from _compensation(entries, robot)


def _gains(entries: Mapping[str, Any], key: str, robot: Outline) -> Iterator[Finding]:
    loc = ("controller", key)
    gains = _list(entries, *loc)
    if gains and len(gains) not in _driven_lengths(robot):
        message = f"must have {_one_per_driven_joint(robot)}"
        yield Finding(loc, list(gains), message)
    if len(gains) != len(robot.joints):
        return
    for joint, gain in zip(robot.joints, gains, strict=True):
        if robot.is_passive(joint) and not is_traced(gain) and gain != 0:
            message = (
                f"joint {joint} is passive (actuated: false): its gain must be 0, "
                f"or write one number for each actuated joint: {_listed(robot.actuated)}"
            )
            yield Finding(loc, list(gains), message)


def _compensation(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    """The weight of a robot follows from all its joints, also from those that no motor drives."""
    if entry_of(entries, "controller", "gravity_compensation") is not True:
        return
    message = (
        "needs the coordinates of the passive joints too: "
        f"write one number for each moving joint in reference.value: {_listed(robot.joints)}"
    )
    yield Finding(("controller", "gravity_compensation"), True, message)


def _driven_lengths(robot: Outline) -> tuple[int, int]:
    """How many numbers a controller may have: one for each moving joint, or for each actuated one."""
    return len(robot.joints), len(robot.actuated)


def _one_per_driven_joint(robot: Outline) -> str:
    words = f"one number for each moving joint: {_listed(robot.joints)}"
    if robot.actuated and robot.actuated != robot.joints:
        words += f", or one for each actuated joint: {_listed(robot.actuated)}"
    return words


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
        if _has_gain(entries, robot, joint):
            yield Finding(
                loc,
                None,
                "the controller drives this joint too: set its kp and kd to 0, or leave the motion out",
            )


def _has_gain(entries: Mapping[str, Any], robot: Outline, joint: Any) -> bool:
    for key in ("kp", "kd"):
        gains = _list(entries, "controller", key)
        # A list that fits neither the moving nor the actuated joints is refused elsewhere.
        joints = robot.actuated if len(gains) == len(robot.actuated) else robot.joints
        gain = dict(zip(joints, gains, strict=False)).get(joint, 0)
        if not is_traced(gain) and gain != 0:
            return True
    return False


def _zeroed(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    loc, dofs = ("reference", "zeroed"), _list(entries, "reference", "zeroed")
    if not isinstance(entry_of(entries, "reference", "zeroed"), list | tuple):
        return
    for k, dof in enumerate(dofs):
        problem = robot.dof_problem(dof)
        if problem is None and dof in dofs[:k]:
            problem = "is listed twice"
        if problem:
            yield Finding((*loc, k), dof, problem)
    if len(dofs) != len(robot.independent or robot.joints):
        message = f"the ERLS needs one zeroed dof for each moving joint: {_listed(robot.joints)}, not {len(dofs)}"
        if robot.independent:
            message = f"the ERLS of a closed chain needs one zeroed dof for each independent joint, not {len(dofs)}"
        yield Finding(loc, list(dofs), message)


def _modes(entries: Mapping[str, Any], robot: Outline) -> Iterator[Finding]:
    modes = _list(entries, "modes")
    if modes and len(modes) != len(robot.links):
        message = f"must have one number for each of the {len(robot.links)} links ({', '.join(robot.links)})"
        yield Finding(("modes",), list(modes), message)


# In the order in which problems without a line of their own are listed.
ROBOT_CHECKS = (
    _structure,
    _initial,
    _inputs,
    _controller,
    _one_driver,
    _zeroed,
    _modes,
)
