"""Closed chains in motion: loops stay closed, energy is kept, twins agree, dead points are passed or named."""

import numpy as np
import pytest
from compilation_counts import compilations
from mechanisms import GROUND, doubled, four_bar, model_of, slider_driven
from numpy.testing import assert_allclose

import lissom as ls
from jaxnative.compiled import NativeAhead
from lissom.solve.inputs import Inputs, Spline, Table


@pytest.mark.slow
def test_a_crank_at_constant_speed_keeps_the_loop_closed_for_ten_seconds():
    # 340 rpm; rigid links: the motion is the closed form's, and nothing drifts over 57 turns
    data = ls.Robot.load("four-bar").to_dict()
    for link in data["links"]:
        length = link.pop("beam")["path"][-1]
        link["rigid"] = {
            "mass": 0.03,
            "com": [length[0] / 2, 0, 0],
            "inertia": [0, 0, 2e-4],
            "tip": length,
        }
    model = ls.Model(ls.Robot.from_dict(data), "erls-fem")
    speed = 340 * 2 * np.pi / 60
    options = {
        "t_end": 10.0,
        "output_dt": 0.05,
        "inputs": turning(model, speed),
        "solver": {"max_step": 1e-3},
    }
    run = ls.simulate(model, model.at([0.0], [speed]), **options)
    C, joints, _ = map(
        np.array, zip(*[four_bar(crank) for crank in run.q[:, 0]], strict=True)
    )
    assert_allclose(run.q[:, 0], speed * run.t, atol=1e-8)
    assert_allclose(run.position("coupler/tip")[:, :2], C, atol=1e-10)
    assert_allclose(
        run.position("follower/tip"),
        np.tile([GROUND, 0, 0], (len(run.t), 1)),
        atol=1e-10,
    )
    turns = (run.q - joints) / (2 * np.pi)
    assert_allclose(turns, np.round(turns), atol=1e-10)
    assert run.q[-1, 1] == pytest.approx(-speed * 10, abs=4)  # joints count their turns
    assert np.abs(run.energy("residual")).max() < 1e-6 * run.energy("kinetic").max()


def turning(model, speed):
    """The first joint at constant speed: a spline that has come up to speed before the run begins."""
    t = np.concatenate([np.linspace(-3.0, 0.0, 31), np.linspace(1.0, 40.0, 40)])
    return Inputs(model.n_joints, motion=[(0, Spline(t.tolist(), speed * t))])


def test_elastic_displacements_close_at_the_closing_joint_and_energy_is_audited():
    model = model_of("four-bar")
    run = ls.simulate(
        model,
        model.at([np.pi / 2]),
        t_end=0.1,
        output_dt=0.002,
        torque=[0.05, 0.0, 0.0],
    )
    assert_allclose(
        run.position("follower/tip"),
        np.tile([GROUND, 0, 0], (len(run.t), 1)),
        atol=1e-10,
    )
    bent = run.data.position - run.data.erls_position
    assert np.abs(bent).max() > 1e-5
    assert np.abs(run.energy("residual")).max() < 1e-4 * run.energy("input").max()


@pytest.mark.slow
def test_two_loops_stay_closed_in_motion():
    model = ls.Model(ls.Robot.from_dict(doubled()), "erls-fem")
    run = ls.simulate(
        model, model.at([0.7]), t_end=0.1, output_dt=0.005, torque=np.eye(5)[0] * 0.05
    )
    for link in ("follower", "follower-2"):
        assert_allclose(
            run.position(f"{link}/tip"),
            np.tile([GROUND, 0, 0], (len(run.t), 1)),
            atol=1e-10,
        )
    assert np.abs(run.energy("residual")).max() < 1e-4 * run.energy("input").max()


# --- a spatial chain restricted to a plane -------------------------------------------------------------------------


def spatial_twin():
    """The four-bar with spatial nodes, its pins replaced so that nothing is held twice: a ball at C, a slide at D."""
    data = ls.Robot.load("four-bar").to_dict()
    crank, coupler, follower = data["links"]
    weightless = {"mass": 0.0, "tip": [0, 0, 0]}
    ball = [
        {
            "name": f"ball-{axis}",
            "joint": {"type": "revolute", "axis": direction},
            "rigid": weightless,
        }
        for axis, direction in (("x", [1, 0, 0]), ("y", [0, 1, 0]))
    ]
    pin = {"name": "pin", "joint": {"type": "revolute"}, "rigid": weightless}
    data |= {"planar": False, "links": [crank, coupler, *ball, follower, pin]}
    data["loops"] = [
        {
            "link": "pin",
            "to": "ground",
            "at": [GROUND, 0, 0],
            "type": "prismatic",
            "axis": [0, 0, 1],
        }
    ]
    data["assembly"] = {"crank": 0, "coupler": 1.2, "follower": -2.6, "pin": 1.36}
    return data


@pytest.mark.slow
def test_the_spatial_four_bar_restricted_to_a_plane_is_its_planar_twin():
    flat, space = (
        model_of("four-bar"),
        ls.Model(ls.Robot.from_dict(spatial_twin()), "erls-fem"),
    )
    options = {
        "t_end": 0.02,
        "output_dt": 0.002,
        "solver": {"rtol": 1e-9, "atol": 1e-11},
    }
    runs = [
        ls.simulate(
            m, m.at([np.pi / 2]), torque=np.eye(m.n_joints)[0] * 0.05, **options
        )
        for m in (flat, space)
    ]
    for node in ("coupler/2", "coupler/tip", "follower/2"):
        assert_allclose(runs[1].position(node), runs[0].position(node), atol=1e-9)


@pytest.mark.slow
def test_a_run_passes_a_dead_point_with_another_independent_joint():
    model = ls.Model(ls.Robot.from_dict(slider_driven()), "erls-fem")
    start = model.at([0.4], [-3.0])
    # A table of nothing, with a point after the dead point: the run goes on there with the new coordinates.
    nothing = Table([0.0, 0.2], [0.0, 0.0])
    run = ls.simulate(
        model,
        start,
        t_end=0.25,
        output_dt=0.005,
        inputs=Inputs(model.n_joints, torque=[(0, nothing)]),
        solver={"rtol": 1e-9, "atol": 1e-11},
    )
    assert "; " in run.data.attrs["independent"] and run.data.attrs[
        "independent"
    ].startswith("slider from 0 s")
    slider = run.q[:, 0]
    assert (
        slider.min() == pytest.approx(0.15, abs=2e-3) and slider[-1] > 0.2
    )  # past the dead point and out again
    kinetic = run.energy("kinetic")
    assert (
        np.abs(kinetic - kinetic[0]).max() < 1e-6 * kinetic[0]
    )  # rigid, no forces: energy is constant
    assert_allclose(run.position("crank/tip"), 0, atol=1e-10)


@pytest.mark.slow
def test_a_later_exchange_of_independent_joints_compiles_nothing(monkeypatch):
    model = ls.Model(ls.Robot.from_dict(slider_driven()), "erls-fem")
    translated = []
    build = NativeAhead._build

    def count(self, *arguments):
        translated.append(self)
        return build(self, *arguments)

    monkeypatch.setattr(NativeAhead, "_build", count)

    def run(speed):
        found = ls.simulate(model, model.at([0.4], [speed]), t_end=0.25)
        assert found.data.attrs["independent"].count(" from ") == 2

    run(-3.0)
    assert translated
    translated.clear()
    with compilations() as heard:
        run(-2.5)
    assert heard.count == 0 and not translated


@pytest.mark.slow
def test_a_motion_prescribed_into_a_dead_point_names_the_joint():
    model = ls.Model(ls.Robot.from_dict(slider_driven()), "erls-fem")
    inputs = Inputs(
        model.n_joints, motion=[(0, Spline([0.0, 0.1, 0.2], [0.4, 0.43, 0.46]))]
    )
    with pytest.raises(
        ls.SimulationError,
        match=r"joint slider is at a dead point of the closed chain \(slider = 0.4",
    ):
        ls.simulate(model, model.at([0.4]), t_end=0.2, output_dt=0.01, inputs=inputs)
