"""The motion of a controller before it is run: peaks of the quintic in closed form, and files that hold it."""

import numpy as np
import pytest

import lissom as ls
from lissom.describe import DescriptionError

LAW = """type: pid
reference: {t: [0.0, 0.2], value: [[-1.4], [-1.1]], interpolation: quintic}
gains: {kp: [20], kd: [1]}
"""
WAY, TIME = 0.3, 0.2


def test_a_quintic_motion_has_the_peaks_of_its_closed_form(tmp_path):
    law = tmp_path / "law.yaml"
    law.write_text(LAW)
    table, picture = tmp_path / "motion.csv", tmp_path / "motion.png"
    answer = ls.plan_motion("simple-pendulum", law=law)
    answer.save(table)
    answer.plot(picture)
    assert answer.duration == pytest.approx(TIME)
    (rod,) = answer.peaks()
    assert (rod.start, rod.end) == (pytest.approx(-1.4), pytest.approx(-1.1))
    # s = 10 u^3 - 15 u^4 + 6 u^5: s' is largest in the middle, s'' at u = 1/2 - sqrt(3)/6.
    assert rod.speed == pytest.approx(15 / 8 * WAY / TIME, rel=1e-5)
    assert rod.acceleration == pytest.approx(10 / np.sqrt(3) * WAY / TIME**2, rel=1e-5)
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    assert rows[-1, 0] == pytest.approx(TIME) and rows[-1, 1] == pytest.approx(-1.1)
    assert picture.stat().st_size > 10_000


def test_a_scenario_without_a_controller_has_no_motion():
    with pytest.raises(DescriptionError, match="controller.type: a motion is that of"):
        ls.plan_motion("double-pendulum")


@pytest.mark.slow
def test_a_design_is_drawn(tmp_path):
    law, picture = tmp_path / "law.yaml", tmp_path / "loop.png"
    law.write_text(LAW)
    ls.design_controller("simple-pendulum", law=law).plot(picture)
    assert picture.stat().st_size > 10_000
