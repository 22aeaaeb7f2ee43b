"""Runs that go on, and runs as tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lissom as ls

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def rotor(t_end, start):
    return ls.simulate(MODEL, start, t_end=t_end, output_dt=0.05, solver=TIGHT)


def arm():
    body = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.02]}
    joint = {"type": "revolute", "origin": {}, "axis": [0, 1, 0]}
    link = {"name": "bar", "joint": joint, "rigid": body | {"tip": [0.3, 0, 0]}}
    return ls.Model(ls.Robot.from_dict({"name": "arm", "links": [link]}))


MODEL = arm()


@pytest.fixture(scope="module")
def run():
    return rotor(0.4, [0.3])


def test_a_run_goes_on_from_the_state_in_which_it_ended(run, tmp_path):
    file = rotor(0.2, [0.3]).save(tmp_path / "half.nc")
    rest = rotor(0.2, ls.Run.load(file).state())
    assert_allclose(rest.q[-1], run.q[-1], rtol=1e-9)
    assert_allclose(rest.values("qd")[-1], run.values("qd")[-1], rtol=1e-9)


def test_a_table_holds_the_numbers_of_the_run_to_the_last_digit(run, tmp_path):
    file = run.to_csv(tmp_path / "run.csv", ["q", "position"])
    names = file.read_text().splitlines()[0].split(",")
    assert names[:3] == ["time", "q.bar", "position.bar/0.x"]
    rows = np.loadtxt(file, delimiter=",", skiprows=1)
    assert_array_equal(rows[:, 0], run.t)
    assert_array_equal(rows[:, 1], run.q[:, 0])
    assert_array_equal(rows[:, 5:8], run.position("bar/tip"))


def test_a_frame_of_pandas_is_indexed_by_time(run):
    frame = run.to_pandas("position")
    assert_array_equal(frame.index, run.t)
    assert_array_equal(frame["position.bar/1.z"], run.position("bar/tip")[:, 2])
    assert "torque.bar" in run.to_pandas().columns


def test_tips_are_found_by_name_in_the_data_and_in_a_file(run, tmp_path):
    loaded = ls.Run.load(run.save(tmp_path / "run.nc"))
    for one in (run, loaded):
        tip = one.data["position"].sel(node="bar/tip")
        assert_array_equal(tip, one.position("bar/tip"))
        both = one.data["position"].sel(node=["bar/tip", "bar/0"])
        assert_array_equal(both[:, 0], tip)
