"""Text of a command line as data, and what is said about text that is none."""

import numpy as np
import pytest

from lissom.commands import parsing
from lissom.commands.options import changes_of
from lissom.commands.verb_command import TEXTS
from lissom.describe import DescriptionError, Problem, Robot
from lissom.files.errors import refused

PENDULUM = Robot.load("double-pendulum")


@pytest.mark.parametrize(
    "text, degrees, expected",
    [
        ("0,1.57", False, (0, 1.57)),
        ("-30,90", True, (-np.pi / 6, np.pi / 2)),
        ("[0.5, 90 deg]", False, (0.5, np.pi / 2)),
        ("1 rad,90", True, (1, np.pi / 2)),  # a written unit wins over --deg
    ],
)
def test_joint_values_are_read_in_radians(text, degrees, expected):
    robot = Robot.load("double-pendulum")
    assert parsing.joint_values(robot, "--q", text, degrees=degrees) == pytest.approx(
        expected
    )


def test_degrees_leave_prismatic_joints_in_metres():
    robot = Robot.load("double-pendulum").replace(
        {"links.lower.joint.type": "prismatic"}
    )
    assert parsing.joint_values(
        robot, "--q", "180,0.25", degrees=True
    ) == pytest.approx((np.pi, 0.25))
    assert parsing.joint_values(robot, "--q", "0,30 mm") == pytest.approx((0, 0.03))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("tangent", "tangent"),
        ("zeroed: upper/tip.y, lower/0.rz", {"zeroed": ["upper/tip.y", "lower/0.rz"]}),
    ],
)
def test_reference_is_written_as_in_a_scenario(text, expected):
    assert parsing.reference_of(text) == expected


def test_several_numbers_of_modes_are_one_for_each_link():
    assert parsing.modes_of("12") == 12 and parsing.modes_of("12,8") == [12, 8]


def test_names_are_split_at_commas_and_empty_ones_left_out():
    assert parsing.names_of("upper, lower/tip.fx,") == ("upper", "lower/tip.fx")


def test_one_gain_is_for_every_joint():
    unit = "N m/rad or N/m"
    assert parsing.gains(PENDULUM, "--kp", "300", unit) == 300.0
    assert parsing.gains(PENDULUM, "--kp", "300,200", unit) == (300.0, 200.0)
    assert parsing.gains(PENDULUM, "--kp", "60 N m/rad, 2 kNm/rad", unit) == (60, 2000)
    for text in ("60 N/m,1", "60 N s/m", "nan", "1,2,3"):
        with pytest.raises(DescriptionError, match="--kp"):
            parsing.gains(PENDULUM, "--kp", text, unit)


def test_a_wrench_has_six_parts_with_or_without_brackets():
    texts = ["rod/1=0,0,-5,0,0,0", "rod/tip=[0, 1, 2, 3, 4, 5]"]
    found = parsing.wrenches("--wrench", texts)
    assert found == {"rod/1": (0, 0, -5, 0, 0, 0), "rod/tip": (0, 1, 2, 3, 4, 5)}


def test_a_band_is_spaced_logarithmically():
    frequencies = parsing.band("--band", "0.1:1000:5")
    np.testing.assert_allclose(frequencies, [0.1, 1, 10, 100, 1000])
    assert len(parsing.band("--band", "0.1:200")) == parsing.BAND_POINTS


def test_an_axis_of_a_map_reads_back_as_it_was_written():
    assert str(parsing.axis_of("--over", "upper=-1.5:1.5:31")) == "upper=-1.5:1.5:31"


def test_settings_come_before_options_and_missing_options_change_nothing():
    given = {"settings": ["t_end=1", "modes=3"], "modes": "5", "terms": None}
    assert changes_of(given) == {"t_end": 1, "modes": 5}


@pytest.mark.parametrize(
    "read, option, text",
    [
        (parsing.modes_of, "--modes", "12,few"),
        (lambda text: parsing.band("--band", text), "--band", "200:0.1"),
        (lambda text: parsing.band("--band", text), "--band", "wide"),
        (lambda text: parsing.band("--band", text), "--band", "0.1:200:1000000000"),
        (lambda text: parsing.band("--band", text), "--band", "1:inf"),
        (lambda text: parsing.axis_of("--over", text), "--over", "upper=0"),
        (lambda text: parsing.axis_of("--over", text), "--over", "upper=0:nan:3"),
        (
            lambda text: parsing.gains(PENDULUM, "--kd", text, "N m s/rad"),
            "--kd",
            "1,2,3",
        ),
        (lambda text: parsing.joint_values(PENDULUM, "--q", text), "--q", "1"),
        (lambda text: TEXTS["length"]("--mesh-size", text), "--mesh-size", "big"),
        (lambda text: TEXTS["frequency"]("--frequency", text), "--frequency", "-1"),
        (lambda text: parsing.places("--interface", text), "--interface", "inner"),
        (lambda text: parsing.wrenches("--wrench", [text]), "--wrench", "rod/1=0,1"),
        (lambda text: parsing.wrenches("--wrench", [text]), "--wrench", "=0,1,2,3,4,5"),
    ],
)
def test_text_that_cannot_be_read_is_named_with_its_option(read, option, text):
    with pytest.raises(DescriptionError) as failure:
        read(text)
    (problem,) = failure.value.problems
    assert (problem.field, problem.value) == (option, text)
    assert "must" in problem.message or "missing" in problem.message


def test_a_problem_of_a_field_is_told_by_its_option_and_one_of_a_file_is_not():
    with pytest.raises(DescriptionError) as failure:
        with parsing.option_names(picture="--plot"):
            raise DescriptionError(
                [
                    *refused("picture", "a.gif", "no").problems,
                    Problem("robot.yaml", 3, "picture", None, "no"),
                ]
            )
    assert [p.field for p in failure.value.problems] == ["--plot", "picture"]
