"""Measurements from the repository, and runs beside other programs."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks.peers import comparison as peers
from benchmarks.peers.exudyn_pendulum import (
    craig_bampton,
    exact_beams,
    floating_frames,
    point_mesh,
)
from benchmarks.speed import many_payloads, sampled_law
from benchmarks.speed import speed_tables as tables
from jaxnative.lanes import lane_count
from lissom.bench import cases
from lissom.bodies.link_body import body_of

WARM = {
    "median_s": 0.25,
    "best_s": 0.2,
    "cpu_s": 0.2,
    "repeats": 3,
    "machine_busy": False,
}


@pytest.fixture
def measured():
    """Runs the command line."""
    app = typer.Typer()
    app.command()(command.main)
    return lambda *words: CliRunner().invoke(app, list(words))


def test_an_unknown_name_says_which_there_are(measured):
    result = measured("link")
    assert result.exit_code == 2
    with pytest.raises(typer.BadParameter, match="link: there is links, manoeuvre"):
        command.check_request(["link"], None)


def ladder(*rows):
    return [
        {
            "rtol": r,
            "wall_s_per_s": w,
            "cpu_s_per_s": w,
            "whole_s_per_s": 2 * w,
            "error_m": e,
            "machine_busy": False,
        }
        for r, w, e in rows
    ]


def test_missing_extra_says_what_to_install(measured, monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    result = measured("peers")
    assert result.exit_code == 2
    with pytest.raises(
        typer.BadParameter,
        match=r"pip install 'lissom\[peers\]' \(not found: exudyn, pin\)",
    ):
        command.check_request(["peers"], None)


CONTROL = {
    "period_s": 1e-3,
    "simulated_s": 1.0,
    "laws": [
        {
            "law": law,
            "method": "radau",
            "compile_s": 9.0,
            "warm": WARM | {"best_s": best},
            "steps": steps,
            "rejected": 2,
            "rhs_evaluations": 6 * steps,
        }
        for law, best, steps in (("sampled", 0.5, 1003), ("continuous", 0.4, 1007))
    ],
    "ratio": 1.25,
    "tip_distance_m": 3.4e-4,
}


def test_a_sampled_law_stands_beside_the_continuous_one(measured, monkeypatch):
    monkeypatch.setitem(command.MEASURED, "control", lambda repeat, tell: CONTROL)
    report = json.loads(measured("control", "--json").stdout)
    assert report["control"]["ratio"] == 1.25 and "cases" not in report
    text = measured("control").stdout
    for word in ("1000 Hz", "sampled", "continuous", "1.25", "3.4e-04 m", "1003"):
        assert word in text


def test_the_two_laws_differ_in_sampling_alone():
    law = sampled_law.continuous_scenario()
    assert law.solver.max_step == sampled_law.PERIOD == 1e-3
    assert law.controller.kp == (60, 20) and law.robot.name == "double-pendulum"


# --- peers ---------------------------------------------------------------------------------------------------------


def test_a_loose_run_that_is_right_by_luck_is_not_matched():
    ours = ladder((1e-3, 0.05, 1e-5), (1e-4, 0.1, 2e-4), (1e-5, 0.2, 3e-5))
    assert (
        peers.match({"wall_s_per_s": 0.5, "cpu_s_per_s": 0.4, "error_m": 5e-5}, ours)[
            "lissom"
        ]["rtol"]
        == 1e-5
    )


def test_a_peer_is_matched_with_the_fastest_run_that_is_as_accurate():
    ours = ladder((1e-4, 0.1, 2e-4), (1e-5, 0.2, 3e-5), (1e-6, 0.4, 1e-6))
    matched = peers.match(
        {"wall_s_per_s": 0.5, "cpu_s_per_s": 0.4, "error_m": 1e-4}, ours
    )
    assert matched["lissom"]["rtol"] == 1e-5 and matched["lissom"]["error_m"] <= 1e-4
    assert matched["ratio"] == pytest.approx(2.5) and matched[
        "cpu_ratio"
    ] == pytest.approx(2.0)
    assert (
        peers.match({"wall_s_per_s": 0.5, "cpu_s_per_s": 0.5, "error_m": 1e-9}, ours)[
            "ratio"
        ]
        is None
    )


@pytest.fixture(scope="module")
def robot():
    return peers.pendulum(peers.INCLINED, elements=2)


def test_points_with_mass_have_the_mass_matrix_of_the_link(robot):
    mesh = point_mesh(body_of(robot, 1))
    T = mesh.shapes.reshape(-1, mesh.shapes.shape[-1])
    M = T.T @ (np.repeat(mesh.masses, 3)[:, None] * T)
    np.testing.assert_allclose(M, mesh.body.mass_matrix, atol=1e-12 * M.max())
    np.testing.assert_allclose(mesh.points[mesh.centre], mesh.body.centre, atol=1e-12)


def test_reduced_basis_is_clamped_and_diagonal(robot):
    body = body_of(robot, 0)
    basis = craig_bampton(body, 3)
    assert basis.shape[1] == 9 and not basis[:6].any()
    np.testing.assert_allclose(basis.T @ body.mass_matrix @ basis, np.eye(9), atol=1e-9)


def test_both_models_of_the_peer_have_the_same_fall(robot):
    paths = [
        model.run(0.05, 1e-3, 0.9)
        for model in (floating_frames(robot, 3), exact_beams(robot))
    ]
    assert paths[0].shape == (51, 3) and paths[0][-1, 1] < -0.005
    np.testing.assert_allclose(
        paths[0], paths[1], atol=2e-4
    )  # linear against exact beams, two elements


def test_the_l_in_the_peer_falls_as_ours():
    case = peers.l_shape_case()
    path = case.build().run(0.05, 1e-3, 1.0)
    scenario = case.scenario.replace({"t_end": 0.05})
    ours = cases.compiled_case(scenario).run().position("beam/tip")
    assert path[-1, 2] < -0.01
    np.testing.assert_allclose(path, ours, atol=1e-4)


@pytest.mark.slow
def test_the_arm_in_the_peer_is_driven_as_ours():
    case = peers.arm_case()
    model = case.build()
    # Beyond the first change of the set-points.
    model.set_points = model.set_points[:2]
    path = model.run(0.7, 5e-4, 0.98)
    scenario = case.scenario.replace({"t_end": 0.7})
    ours = cases.compiled_case(scenario).run().position("hand/tip")
    assert np.ptp(path, axis=0).max() > 0.1
    np.testing.assert_allclose(path, ours, atol=2e-3)


def test_at_the_error_asked_for_the_fastest_run_of_the_peer_counts():
    rows = [
        {"error_m": 9e-5, "cpu_s_per_s": 0.1},
        {"error_m": 2.1e-5, "cpu_s_per_s": 0.3},
        {"error_m": 4e-6, "cpu_s_per_s": 0.9},
    ]
    case = peers.PeerCase("L", None, None, "", (), (), asked=2e-5, aim=20.0)
    assert peers.at_asked_error(case, rows)["cpu_s_per_s"] == 0.3


def test_many_payloads_in_lanes_are_as_exact_as_single_runs():
    measured = many_payloads.measure_payloads(1, count=4)
    alone, *in_lanes = measured["rows"]
    assert alone["lanes"] == 1
    assert [row["lanes"] for row in in_lanes] == [4, 8][: 1 + (lane_count() >= 8)]
    # A step of 1e-6 leaves some 1e-5 after a second of swinging.
    assert 1e-8 < alone["error"] < 5e-5
    assert all(row["error"] < 5e-5 and row["ratio"] > 0.3 for row in in_lanes)
    # Payloads of 0.1 to 2 kg in one vector: their common steps are a quarter more than each would take.
    assert all(row["steps"] < 1.5 * alone["steps"] for row in in_lanes)
    assert "4 payloads" in tables.payloads_table(measured).title
