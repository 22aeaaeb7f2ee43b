"""Warnings about a description: numbers that a file may hold and hardly any robot has."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...describe.link import Link, inertia_matrix
from ...describe.link_geometry import link_length
from ...describe.robot import Robot
from ...describe.scenario import Scenario
from ...describe.section import section_at
from ...files.part import Part, entry_of, plain
from ...files.quantity import NumberWithUnit, is_jax_value
from ...once import once_for_each
from .fibres import thickness
from .ordinary import DENSITY, DIRECTION, LENGTH, YIELD, YOUNGS_MODULUS, outside
from .validity_warning import ValidityWarning, worst_warning

# Principal moments of every body satisfy I1 + I2 >= I3; numbers typed with three digits may miss it by 1 %.
TRIANGLE = 1.01


@once_for_each
def robot_warnings(robot: Robot) -> tuple[ValidityWarning, ...]:
    """Warnings about the data of a robot: the worst of each kind."""
    checks = (
        _youngs_moduli,
        _densities,
        _yield_stresses,
        _lengths,
        _thick_sections,
        _inertias,
        _directions,
        _units,
    )
    return tuple(found for check in checks for found in worst_warning(check(robot)))


# --- materials and lengths -----------------------------------------------------------------------------------------


def _youngs_moduli(robot: Robot) -> Iterator[ValidityWarning]:
    for link, beam in _beams(robot):
        yield from outside(_name(link), "material.E", beam.material.E, YOUNGS_MODULUS)


def _densities(robot: Robot) -> Iterator[ValidityWarning]:
    for link, beam in _beams(robot):
        value = beam.material.density
        yield from outside(_name(link), "material.density", value, DENSITY)


def _yield_stresses(robot: Robot) -> Iterator[ValidityWarning]:
    for link, beam in _beams(robot):
        value = beam.material.yield_stress
        if value is not None:
            yield from outside(_name(link), "material.yield", value, YIELD)


def _lengths(robot: Robot) -> Iterator[ValidityWarning]:
    for i, link in enumerate(robot.links):
        length = link_length(robot.links, i)
        # A link of no length, such as a wrist whose axes meet, is ordinary.
        if length:
            yield from outside(_name(link), "its length", length, LENGTH)


def _thick_sections(robot: Robot) -> Iterator[ValidityWarning]:
    for i, link in enumerate(robot.links):
        length = link_length(robot.links, i)
        if link.beam is None or not length or is_jax_value(plain(link.beam.section)):
            continue
        ends = [section_at(link.beam.section, s) for s in (0.0, 1.0)]
        thick = max(thickness(section) for section in ends)
        if thick <= length:
            continue
        message = f"its section is {thick:.3g} m thick, more than its length of {length:.3g} m"
        remedy = "A beam must be longer than it is thick: describe this link as rigid or fe, or check the units"
        yield ValidityWarning(
            "slenderness", _name(link), message, thick, length, remedy
        )


def _beams(robot: Robot) -> Iterator[tuple[Link, Any]]:
    for link in robot.links:
        if link.beam is not None:
            yield link, link.beam


def _name(link: Link) -> str:
    return f"link {link.name}"


# --- inertias ------------------------------------------------------------------------------------------------------


def _inertias(robot: Robot) -> Iterator[ValidityWarning]:
    # In a plane only the moment about its normal is used: the others are often left at zero.
    if robot.planar:
        return
    for link in robot.links:
        if link.rigid is not None:
            yield from _impossible(f"link {link.name}", link.rigid.inertia)
        for mass in link.masses:
            yield from _impossible(f"mass on link {link.name}", mass.inertia)
    if robot.payload is not None:
        yield from _impossible("payload", robot.payload.inertia)


def _impossible(about: str, inertia: Any) -> Iterator[ValidityWarning]:
    """A warning about moments of inertia that no distribution of mass has: I1 + I2 >= I3."""
    if is_jax_value(inertia):
        return
    small, middle, large = np.linalg.eigvalsh(inertia_matrix(inertia))
    both = small + middle
    if large <= TRIANGLE * both:
        return
    message = f"its largest moment of inertia is {large:.4g} kg m^2, the other two together have {both:.4g} kg m^2"
    remedy = "This is impossible for a body: check the order and the units of the moments, or give all three"
    yield ValidityWarning("inertia", about, message, large, both, remedy)


# --- directions and units ------------------------------------------------------------------------------------------


def _directions(robot: Robot) -> Iterator[ValidityWarning]:
    for link in robot.links:
        if link.joint.axis is not None:
            yield from _odd_length(f"joint {link.name}", "its axis", link.joint.axis)
        if link.beam is not None and link.beam.up is not None:
            yield from _odd_length(_name(link), "beam.up", link.beam.up)
    for loop in robot.loops:
        if loop.axis is not None:
            yield from _odd_length(f"loop of {loop.link}", "its axis", loop.axis)


def _odd_length(about: str, name: str, direction: Any) -> Iterator[ValidityWarning]:
    if is_jax_value(direction):
        return
    # Divided by its largest component first: squares of the components may be too large or too small for a number.
    largest = max(abs(component) for component in direction)
    length = largest * float(np.linalg.norm(np.asarray(direction) / largest))
    yield from outside(about, name, length, DIRECTION)


def _units(robot: Robot) -> Iterator[ValidityWarning]:
    for link in robot.links:
        yield from wrong_units(f"joint {link.name}", link.joint.type, link.joint)


def scenario_warnings(scenario: Scenario) -> tuple[ValidityWarning, ...]:
    """Warnings about the data of a scenario, those of its robot aside."""
    return (*_old_file(scenario), *worst_warning(_units_of_scenario(scenario)))


def _old_file(scenario: Scenario) -> Iterator[ValidityWarning]:
    """A file of 0.1 runs as it did then, which is no longer what a new one does."""
    if not scenario.is_old:
        return
    message = (
        "its file is of lissom 0.1 and does not name all its choices: it runs with the defaults of 0.1, as "
        f"{scenario.formulation} with "
        f"basis {scenario.basis}"
    )
    remedy = "Name formulation, basis and modes in it, or save it again"
    yield ValidityWarning("version", "scenario", message, 0.1, 0.2, remedy)


def _units_of_scenario(scenario: Scenario) -> Iterator[ValidityWarning]:
    joints = [link for link in scenario.robot.links if link.joint.moves]
    actuated = [link.name for link in joints if link.joint.actuated]
    inputs = scenario.inputs
    reference = entry_of(scenario.controller, "reference", "value") or ()
    rows = [*reference, *_rows_with_units(scenario.controller)]
    for k, link in enumerate(joints):
        values = [
            _entry(scenario.initial.q, k),
            _entry(scenario.initial.qd, k),
            inputs.torque.get(link.name),
            inputs.motion.get(link.name),
        ]
        for row in rows:
            # One number for each moving joint, or for each of those that a motor drives.
            of_actuated = np.shape(row) == (len(actuated),)
            if not of_actuated:
                values.append(_entry(row, k))
            elif link.name in actuated:
                values.append(_entry(row, actuated.index(link.name)))
        yield from wrong_units(f"joint {link.name}", link.joint.type, values)


def _rows_with_units(part: Any) -> Iterator[Sequence[Any]]:
    """Lists in a controller, one number for each joint, of which some were written with a unit."""
    if isinstance(part, Part):
        for key, entry in part:
            # A reference may consist of places, which are about no joint.
            if key != "reference":
                yield from _rows_with_units(entry)
    elif isinstance(part, tuple | list):
        if any(isinstance(item, NumberWithUnit) for item in part):
            yield part


def _entry(row: Any, k: int) -> Any:
    """Number k of a row that may be missing or, of a closed chain, shorter."""
    if not isinstance(row, tuple | list):
        return None
    return row[k] if k < len(row) else None


def wrong_units(about: str, kind: str, part: Any) -> Iterator[ValidityWarning]:
    """Warnings about numbers in a part that were written with the unit of another kind of joint."""
    for number in _numbers_with_unit(part):
        if number.joint == kind:
            continue
        meant = {"revolute": "turns", "prismatic": "slides"}[number.joint]
        message = (
            f"{number:g} has the unit of a joint that {meant}, and this one is {kind}"
        )
        remedy = "Write angles in rad or deg and torques in N m, lengths in m and forces in N"
        yield ValidityWarning("units", about, message, number, 0.0, remedy)


def _numbers_with_unit(part: Any) -> Iterator[NumberWithUnit]:
    """Every number of a part, however deep, that was written with the unit of a joint."""
    if isinstance(part, NumberWithUnit):
        yield part
    elif isinstance(part, tuple | list):
        for item in part:
            yield from _numbers_with_unit(item)
    elif isinstance(part, dict):
        yield from _numbers_with_unit(list(part.values()))
    elif isinstance(part, Part):
        yield from _numbers_with_unit([entry for _, entry in part])
