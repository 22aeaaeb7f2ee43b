"""What in a scenario does not fit its robot or its other parts; works on whole and on half-valid scenarios."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..files.part import (
    Entries,
    Finding,
    Findings,
    Part,
    entry_of,
    finding,
    is_list,
    plain,
)
from ..files.quantity import Quantity, is_jax_value
from .modes import ALL, FAMILIES
from .outline import Outline
from .stiffening_checks import stiffening_findings
from .supported import (
    ALL_TERMS,
    DEFAULT_FORMULATION,
    SUPPORT,
    Support,
    names_with,
    structure_findings,
    terms_findings,
)

# A run writes every channel at every sample: more would fill the memory.
MAX_SAMPLES = 1_000_000

# Inputs that act through the motor of a joint, and why a passive joint cannot take them.
NEEDS_A_DRIVE = {
    "torque": "it takes no torque",
    "motion": "its motion cannot be prescribed: it has no drive",
}


def scenario_findings(entries: Entries, robot: Outline | None) -> list[Finding]:
    """All that is wrong; `robot` is `None` where even its names cannot be read."""
    found = list(_time(entries))
    found += _sample_period(entries)
    found += choice_findings(entries)
    if robot is not None:
        for check in ROBOT_CHECKS:
            found += check(entries, robot)
    return found


def _list(part: Any, *keys: str) -> Any:
    value = entry_of(part, *keys)
    return value if is_list(value) else ()


def _names(part: Any, *keys: str) -> list[Any]:
    value = entry_of(part, *keys)
    return list(value) if isinstance(value, Mapping) else []


def _time(entries: Entries) -> Findings:
    t_end = _seconds(entries.get("t_end", 1.0))
    step = _seconds(entries.get("output_dt", 0.001))
    # Seconds are positive: a start at zero is none.
    start = _seconds(entry_of(entries, "initial", "time")) or 0.0
    if t_end is None or step is None:
        return
    if start >= t_end:
        message = f"must lie after the start (initial.time {start:g} s)"
        yield finding(message, "t_end", value=t_end)
        return
    duration = t_end - start
    samples = duration / step
    if step > duration:
        length = f"t_end {t_end:g} s" if start == 0.0 else f"{duration:g} s"
        message = f"must not be longer than the run ({length})"
        yield finding(message, "output_dt", value=step)
    elif samples > MAX_SAMPLES:
        message = f"gives {samples:.3g} samples over {duration:g} s: at most {MAX_SAMPLES} are written"
        yield finding(message, "output_dt", value=step)


def _sample_period(entries: Entries) -> Findings:
    t_end = _seconds(entries.get("t_end", 1.0))
    period = _seconds(entry_of(entries, "controller", "sample"))
    if t_end is not None and period is not None and period > t_end:
        message = f"must not be longer than the run (t_end {t_end:g} s)"
        yield finding(message, "controller", "sample", value=period)


def choice_findings(entries: Entries) -> Findings:
    """Choices that the formulation does not offer."""
    support = _support(entries)
    if support is None:
        return
    yield from _reference(support, entry_of(entries, "reference"))
    yield from _basis(support, entry_of(entries, "basis"))
    yield from _mode_choice(support, entries)
    terms = entry_of(entries, "terms") or "consistent"
    yield from _terms(support, terms)
    if entry_of(entries, "stiffening") == "geometric":
        yield from _stiffening(support, terms)


def _terms(support: Support, terms: Any) -> Findings:
    if terms in support.terms or terms not in ALL_TERMS:
        return
    if len(support.terms) == 1:
        message = f"{support.name} has only consistent terms: leave out terms, or set consistent"
    else:
        others = names_with(lambda other: terms in other.terms)
        accepted = " or ".join(support.terms)
        message = f"{support.name} takes {accepted}; {terms} belongs to {others}"
    yield finding(message, "terms", value=terms)


def _support(entries: Entries) -> Support | None:
    """Support record of the chosen formulation; `None` for an unknown name."""
    name = entry_of(entries, "formulation") or DEFAULT_FORMULATION
    return SUPPORT.get(name) if isinstance(name, str) else None


def _all_choices(field: str) -> list[str]:
    """Every reference, or every basis, that some formulation takes."""
    choices: list[str] = []
    for support in SUPPORT.values():
        choices += getattr(support, field)
    return choices


def _reference(support: Support, reference: Any) -> Findings:
    name = "zeroed" if isinstance(reference, Mapping) else reference
    if name is None or name in support.references:
        return
    # A word that no formulation knows is refused at its key; saying it twice helps nobody.
    if set(support.references) == set(_all_choices("references")):
        return
    message = f"{support.name} takes {' or '.join(support.references)} only"
    if support.references == ("tangent",):
        message += ": its joint coordinates are what the encoders read"
        others = names_with(lambda other: name in other.references)
        message += ". Set reference: tangent"
        message += f", or for {name} choose {others}" if others else ""
    yield finding(message, "reference", value=reference)


def _basis(support: Support, basis: Any) -> Findings:
    # A word that no formulation knows is refused at its key.
    if basis is None or basis in support.bases or basis not in _all_choices("bases"):
        return
    others = names_with(lambda other: basis in other.bases)
    message = f"{support.name} takes {' or '.join(support.bases)}: for {basis} choose {others}"
    yield finding(message, "basis", value=basis)


def _mode_choice(support: Support, entries: Entries) -> Findings:
    """How modes are chosen is a matter of component modes alone."""
    basis = entry_of(entries, "basis") or support.default_basis
    modes = entry_of(entries, "modes")
    listed = modes if is_list(modes) else (modes,)
    chosen = [entry for entry in listed if _is_mode_choice(entry)]
    if basis == "assumed" and ALL in listed:
        message = "the number of assumed modes is unlimited: write a number"
        yield finding(message, "modes", value=modes)
    if chosen and basis != "craig-bampton":
        message = (
            f"a mapping selects component modes, but the basis is {basis}: "
            "write a number, or choose basis: craig-bampton"
        )
        yield finding(message, "modes", value=plain(chosen[0]))


def _is_mode_choice(entry: Any) -> bool:
    """True for a mapping that says how modes are chosen, and not how many there are of each family."""
    if isinstance(entry, Mapping):
        return not set(entry) <= set(FAMILIES)
    return isinstance(entry, Part)


def _stiffening(support: Support, terms: Any) -> Findings:
    if not support.stiffening:
        others = names_with(lambda other: other.stiffening)
        message = f"{support.name} has no geometric stiffening: choose {others}"
        yield finding(message, "stiffening", value="geometric")
    elif terms in ALL_TERMS and terms != "consistent":
        message = "published terms have no geometric stiffening: leave it out, or use consistent terms"
        yield finding(message, "stiffening", value="geometric")


def _structure(entries: Entries, robot: Outline) -> Findings:
    support = _support(entries)
    if support is None:
        return
    yield from structure_findings(support, robot)
    terms = entry_of(entries, "terms")
    # Terms that the formulation does not have are refused as such.
    if terms in support.terms:
        yield from terms_findings(terms, robot)


def _second_order(entries: Entries, robot: Outline) -> Findings:
    if entry_of(entries, "stiffening") == "geometric":
        yield from stiffening_findings(robot)


def _seconds(value: Any) -> float | None:
    """A time in SI, `None` where it is traced or in error: that is reported at its key."""
    if is_jax_value(value):
        return None
    try:
        return Quantity("s", above=0).check(value)
    except ValueError:
        return None


def _elastic_rate(entries: Entries, robot: Outline) -> Findings:
    """Rates of elastic coordinates go with the coordinates themselves."""
    elastic = entry_of(entries, "initial", "elastic")
    rate = entry_of(entries, "initial", "elastic_rate")
    if rate is None or (
        is_list(elastic) and is_list(rate) and len(elastic) == len(rate)
    ):
        return
    message = "needs initial.elastic with as many numbers"
    yield finding(message, "initial", "elastic_rate", value=rate)


def _initial(entries: Entries, robot: Outline) -> Findings:
    # A closed chain is posed by its independent joints alone, or by all with the others as a guess.
    accepted = {len(robot.joints), len(robot.independent or robot.joints)}
    for key in ("q", "qd"):
        loc = ("initial", key)
        value = _list(entries, *loc)
        if value and len(value) not in accepted:
            message = (
                f"must have one number for each moving joint: {_listed(robot.joints)}"
            )
            yield finding(message, *loc, value=value)


def _listed(joints: Sequence[str]) -> str:
    return f"{len(joints)} ({', '.join(joints)})"


def _inputs(entries: Entries, robot: Outline) -> Findings:
    for kind, lacking in NEEDS_A_DRIVE.items():
        for joint in _names(entries, "inputs", kind):
            problem = robot.joint_problem(joint)
            if robot.is_passive(joint):
                problem = f"joint {joint} is passive (actuated: false): {lacking}"
            if problem:
                yield finding(problem, "inputs", kind, joint)
    for k, wrench in enumerate(_list(entries, "inputs", "wrench")):
        node = entry_of(wrench, "node")
        problem = robot.node_problem(node) if isinstance(node, str) else None
        if problem:
            yield finding(problem, "inputs", "wrench", k, "node", value=node)


def _controller(entries: Entries, robot: Outline) -> Findings:
    for key in ("kp", "kd"):
        yield from _gains(entries, key, robot)
    loc = ("controller", "reference", "value")
    rows = [row for row in _list(entries, *loc) if is_list(row)]
    lengths = {len(row) for row in rows}
    if not lengths <= _driven_lengths(robot):
        message = f"each row must have {_one_per_driven_joint(robot)}"
        yield finding(message, *loc, value=f"rows of {sorted(lengths)}")
    elif lengths and lengths != {len(robot.joints)}:
        yield from _compensation(entries, robot)


def _gains(entries: Entries, key: str, robot: Outline) -> Findings:
    loc = ("controller", key)
    gains = _list(entries, *loc)
    if gains and len(gains) not in _driven_lengths(robot):
        message = f"must have {_one_per_driven_joint(robot)}"
        yield finding(message, *loc, value=gains)
    if len(gains) != len(robot.joints):
        return
    for joint, gain in zip(robot.joints, gains, strict=True):
        if robot.is_passive(joint) and not is_jax_value(gain) and gain != 0:
            message = (
                f"joint {joint} is passive (actuated: false): its gain must be 0, "
                f"or write one number for each actuated joint: {_listed(robot.actuated)}"
            )
            yield finding(message, *loc, value=gains)


def _compensation(entries: Entries, robot: Outline) -> Findings:
    """The weight of a robot follows from all its joints, also from those that no motor drives."""
    if entry_of(entries, "controller", "gravity_compensation") is not True:
        return
    message = (
        "needs the coordinates of the passive joints too: "
        f"write one number for each moving joint in reference.value: {_listed(robot.joints)}"
    )
    yield finding(message, "controller", "gravity_compensation", value=True)


def _driven_lengths(robot: Outline) -> set[int]:
    """Accepted lengths of lists in a controller: one entry for each moving joint, or for each actuated one."""
    return {len(robot.joints), len(robot.actuated)}


def _one_per_driven_joint(robot: Outline) -> str:
    words = f"one number for each moving joint: {_listed(robot.joints)}"
    if robot.actuated and robot.actuated != robot.joints:
        words += f", or one for each actuated joint: {_listed(robot.actuated)}"
    return words


def _one_driver(entries: Entries, robot: Outline) -> Findings:
    """A joint that follows a motion table takes no other command."""
    for joint in _names(entries, "inputs", "motion"):
        loc = ("inputs", "motion", joint)
        if joint in _names(entries, "inputs", "torque"):
            message = (
                "this joint has a torque table too: its torque follows from the motion"
            )
            yield finding(message, *loc)
        if _has_gain(entries, robot, joint):
            message = "a controller drives this joint too: set its kp and kd to 0, or remove the motion"
            yield finding(message, *loc)


def _has_gain(entries: Entries, robot: Outline, joint: Any) -> bool:
    for key in ("kp", "kd"):
        gains = _list(entries, "controller", key)
        of_actuated = len(gains) == len(robot.actuated)
        joints = robot.actuated if of_actuated else robot.joints
        # A list that fits neither the moving nor the actuated joints is refused elsewhere.
        gain_of = dict(zip(joints, gains, strict=False))
        gain = gain_of.get(joint, 0)
        if not is_jax_value(gain) and gain != 0:
            return True
    return False


def _zeroed(entries: Entries, robot: Outline) -> Findings:
    loc = ("reference", "zeroed")
    dofs = entry_of(entries, *loc)
    if not is_list(dofs):
        return
    for k, dof in enumerate(dofs):
        problem = robot.dof_problem(dof)
        if problem is None and dof in dofs[:k]:
            problem = "is listed twice"
        if problem:
            yield finding(problem, *loc, k, value=dof)
    count = len(dofs)
    if count == len(robot.independent or robot.joints):
        return
    if robot.independent:
        message = f"the ERLS of a closed chain needs one zeroed dof for each independent joint, not {count}"
    else:
        message = f"the ERLS needs one zeroed dof for each moving joint: {_listed(robot.joints)}, not {count}"
    yield finding(message, *loc, value=dofs)


def _modes(entries: Entries, robot: Outline) -> Findings:
    modes = _list(entries, "modes")
    count = len(robot.links)
    if modes and len(modes) != count:
        message = f"must have one number for each of the {count} links ({', '.join(robot.links)})"
        yield finding(message, "modes", value=modes)


def _record(entries: Entries, robot: Outline) -> Findings:
    for k, node in enumerate(_list(entries, "record")):
        problem = robot.node_problem(node)
        if problem:
            yield finding(problem, "record", k, value=node)


# In the order in which problems without a line of their own are listed.
ROBOT_CHECKS = (
    _structure,
    _second_order,
    _initial,
    _elastic_rate,
    _inputs,
    _controller,
    _one_driver,
    _zeroed,
    _modes,
    _record,
)
