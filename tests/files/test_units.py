"""Unit strings at the edge, SI inside."""

import math

import pytest

from lissom.describe import DescriptionError, Material, Robot
from lissom.files.units import si_value


@pytest.mark.parametrize(
    "text, unit, value",
    [
        ("30 mm", "m", 0.03),
        ("30mm", "m", 0.03),
        ("210 GPa", "Pa", 2.1e11),
        ("45 deg", "rad", math.pi / 4),
        ("-60 deg", "rad", -math.pi / 3),
        ("7.85 g/cm^3", "kg/m^3", 7850.0),
        ("5 N m", "N m", 5.0),
        ("5 N*m", "N m", 5.0),
        ("5 Nm", "N m", 5.0),
        ("2.5 kN.m", "N m", 2500.0),
        ("3 kg cm^2", "kg m^2", 3e-4),
        ("4 cm4", "m^4", 4e-8),
        ("60 rpm", "rad/s", 2 * math.pi),
        ("2 %", "1", 0.02),
        ("1e3 1/s", "1/s", 1000.0),
        ("12 in", "m", 0.3048),
    ],
)
def test_a_number_with_a_unit_becomes_si(text, unit, value):
    assert si_value(text, (unit,)) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    "text, unit",
    [
        ("30 mm", "Pa"),
        ("3 parsec", "m"),
        ("mm", "m"),
        ("101/s", "1/s"),
        ("3", "m"),
        ("3 m/", "m"),
    ],
)
def test_a_unit_of_another_quantity_or_none_at_all_is_refused(text, unit):
    with pytest.raises(ValueError):
        si_value(text, (unit,))


def test_a_value_too_large_for_a_number_is_not_finite():
    assert si_value("1e308 GPa", ("Pa",)) == math.inf


def test_a_material_written_with_units_equals_the_same_in_si():
    assert Material(E="210 GPa", nu=0.3, density="7.85 g/cm^3") == Material(
        E=2.1e11, nu=0.3, density=7850.0
    )


def test_the_shear_modulus_follows_from_e_and_nu():
    assert Material(E=2e11, nu=0.25, density=1).shear_modulus == pytest.approx(8e10)


def test_a_pressure_where_a_length_belongs_names_the_unit():
    with pytest.raises(
        DescriptionError,
        match=r"dh.a: 3 Pa: must be a number \[m\].*'Pa' is not a unit of this",
    ):
        Robot.load("double-pendulum").replace({"links.upper.joint.dh.a": "3 Pa"})
