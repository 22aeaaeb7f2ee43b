"""Sections against closed forms, tables of textbooks, and each other."""

import jax
import numpy as np
import pytest

from lissom.describe import Robot, section_at, section_values
from lissom.describe.section import Box, Circle, General, Rectangle, Taper, Tube

NU = 0.29


def test_torsion_of_a_square_is_the_tabulated_0_1406_b4():
    values = section_values(Rectangle(shape="rectangle", y=0.02, z=0.02), NU)
    assert values.torsion_constant == pytest.approx(
        0.14057701495515 * 0.02**4, rel=1e-12
    )


@pytest.mark.parametrize(
    "ratio, beta", [(1.5, 0.196), (2, 0.229), (4, 0.281), (10, 0.312)]
)
def test_torsion_of_a_rectangle_follows_timoshenkos_table(ratio, beta):
    values = section_values(Rectangle(shape="rectangle", y=0.01, z=ratio * 0.01), NU)
    assert values.torsion_constant == pytest.approx(
        beta * ratio * 0.01**4, rel=3e-3
    )  # the table has three digits


def test_torsion_of_a_thin_strip_tends_to_b_t3_over_3():
    b, t = 0.5, 0.0005
    values = section_values(Rectangle(shape="rectangle", y=t, z=b), NU)
    assert values.torsion_constant == pytest.approx(
        b * t**3 / 3 * (1 - 0.6302 * t / b), rel=1e-7
    )


def test_torsion_does_not_depend_on_which_side_is_called_y():
    one = section_values(Rectangle(shape="rectangle", y=0.013, z=0.031), NU)
    other = section_values(Rectangle(shape="rectangle", y=0.031, z=0.013), NU)
    assert one.torsion_constant == other.torsion_constant
    assert (one.second_moment_y, one.second_moment_z) == (
        other.second_moment_z,
        other.second_moment_y,
    )


def test_the_z_side_of_a_rectangle_resists_bending_in_the_x_z_plane():
    values = section_values(Rectangle(shape="rectangle", y=0.03, z=0.01), NU)
    assert values.second_moment_y == pytest.approx(0.03 * 0.01**3 / 12)
    assert values.second_moment_z == pytest.approx(0.01 * 0.03**3 / 12)
    assert values.polar_moment == pytest.approx(
        values.second_moment_y + values.second_moment_z
    )


def test_a_circle_has_the_torsion_constant_of_its_polar_moment_and_cowpers_shear_factor():
    values = section_values(Circle(shape="circle", diameter=0.04), NU)
    assert values.area == pytest.approx(np.pi * 0.02**2)
    assert values.torsion_constant == pytest.approx(np.pi * 0.02**4 / 2)
    assert values.shear_factor_y == pytest.approx(6 * (1 + NU) / (7 + 6 * NU))


def test_a_thin_tube_tends_to_the_thin_ring():
    r, t = 0.05, 1e-5
    values = section_values(Tube(shape="tube", outer=2 * r + t, inner=2 * r - t), NU)
    assert values.area == pytest.approx(2 * np.pi * r * t, rel=1e-9)
    assert values.torsion_constant == pytest.approx(2 * np.pi * r**3 * t, rel=1e-6)
    assert values.shear_factor_z == pytest.approx(
        2 * (1 + NU) / (4 + 3 * NU), rel=1e-6
    )  # Cowper's thin tube


def test_a_tube_is_a_circle_less_a_circle():
    tube = section_values(Tube(shape="tube", outer=0.05, inner=0.03), NU)
    outer, inner = (
        section_values(Circle(shape="circle", diameter=d), NU) for d in (0.05, 0.03)
    )
    assert tube.second_moment_y == pytest.approx(
        outer.second_moment_y - inner.second_moment_y
    )


def test_a_thin_box_has_bredts_torsion_constant():
    y, z, t = 0.06, 0.04, 1e-5
    values = section_values(Box(shape="box", y=y, z=z, wall=t), NU)
    enclosed, length = (y - t) * (z - t), 2 * (y + z - 2 * t)
    assert values.torsion_constant == pytest.approx(
        4 * enclosed**2 * t / length, rel=1e-6
    )


def test_a_box_with_its_hollow_filled_is_the_rectangle():
    box = section_values(Box(shape="box", y=0.06, z=0.04, wall=0.02 - 1e-12), NU)
    solid = section_values(Rectangle(shape="rectangle", y=0.06, z=0.04), NU)
    np.testing.assert_allclose(box[:3], solid[:3], rtol=1e-9)
    assert box.torsion_constant == pytest.approx(
        solid.torsion_constant, rel=0.25
    )  # thin-wall theory, far out of its range


def test_a_deep_narrow_box_carries_shear_like_a_rectangle_by_cowper():
    values = section_values(Box(shape="box", y=0.001, z=1.0, wall=0.0001), NU)
    assert values.shear_factor_z == pytest.approx(
        10 * (1 + NU) / (12 + 11 * NU), rel=0.01
    )


def test_general_values_pass_through():
    section = General(shape="general", A=1e-3, Iy=2e-8, Iz=3e-8, J=4e-8, kappa_z=0.4)
    assert section_values(section, NU) == (1e-3, 2e-8, 3e-8, 4e-8, 5e-8, 5 / 6, 0.4)


def test_a_taper_is_linear_in_its_dimensions():
    taper = Taper(
        start={"shape": "tube", "outer": 0.06, "inner": 0.05},
        end={"shape": "tube", "outer": 0.02, "inner": 0.01},
    )
    section = section_at(taper, 0.25)
    assert (section.outer, section.inner) == pytest.approx((0.05, 0.04))
    uniform = Circle(shape="circle", diameter=0.1)
    assert section_at(uniform, 0.3) is uniform


SHAPES = [
    {"shape": "rectangle", "y": 0.03, "z": 0.017},
    {"shape": "rectangle", "y": 0.02, "z": 0.02},
    {"shape": "circle", "diameter": 0.03},
    {"shape": "tube", "outer": 0.03, "inner": 0.021},
    {"shape": "box", "y": 0.03, "z": 0.04, "wall": 0.003},
]
CASES = [(shape, key) for shape in SHAPES for key in shape if key != "shape"]


@pytest.mark.parametrize(
    "shape, key", CASES, ids=lambda c: c if isinstance(c, str) else c["shape"]
)
def test_gradient_through_replace_matches_a_finite_difference(shape, key):
    robot = Robot.load("double-pendulum").replace({"links.upper.beam.section": shape})

    def log_product(x):
        section = (
            robot.replace({f"links.upper.beam.section.{key}": x}).links[0].beam.section
        )
        return sum(
            jax.numpy.log(jax.numpy.asarray(value))
            for value in section_values(section, NU)
        )

    x, step = shape[key], 1e-6 * shape[key]
    difference = (log_product(x + step) - log_product(x - step)) / (2 * step)
    assert float(jax.grad(log_product)(x)) == pytest.approx(float(difference), rel=1e-6)
