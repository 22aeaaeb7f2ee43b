import json
import os
import signal
import threading

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import lissom as ls
from lissom.bench import (
    cases,
    machine,
    physics,
)
from lissom.bench import report_tables as tables
from lissom.commands import bench as command
from lissom.commands.cli import main
from lissom.describe import library_names

MEASURED = {
    "case": "double-pendulum",
    "coordinates": 14,
    "simulated_s": 2.0,
    "build_s": 0.01,
    "start_s": 0.5,
    "compile_s": 12.0,
    "first_run_s": 0.3,
    "warm": {
        "median_s": 0.25,
        "best_s": 0.2,
        "cpu_s": 0.2,
        "repeats": 3,
        "machine_busy": False,
    },
    "real_time_factor": 10.0,
    "method": "radau",
    "rtol": 1e-6,
    "steps": 262,
    "rejected": 23,
    "rhs_evaluations": 2247,
    "tip_error_m": 1.5e-5,
    "reference": {"rtol": 1e-9, "wall_s": 3.0, "steps": 4000},
    "backends": [
        {
            "backend": "native",
            "residual_s": 0.5e-6,
            "operations": 1200,
            "compile_s": 2.0,
            "first_run_s": 0.03,
            "warm_s": 0.02,
            "warm_cpu_s": 0.02,
            "steps": 262,
            "tip_error_m": 1.5e-5,
        },
        {
            "backend": "xla",
            "residual_s": 40e-6,
            "operations": None,
            "compile_s": 12.0,
            "first_run_s": 0.3,
            "warm_s": 0.2,
            "warm_cpu_s": 0.2,
            "steps": 262,
            "tip_error_m": 1.5e-5,
        },
    ],
}


@pytest.fixture
def bench(monkeypatch):
    """Runs the command line with canned measurements."""
    app = typer.Typer()
    app.command("bench")(command.bench)
    app.command("other")(lambda: None)  # one more, so that `bench` has to be named
    monkeypatch.setattr(
        cases, "measure_case", lambda name, *_: MEASURED | {"case": name}
    )
    return lambda *words: CliRunner().invoke(
        app, ["bench", *words], catch_exceptions=True
    )


# --- the command ---------------------------------------------------------------------------------------------------


def test_json_is_one_object_and_nothing_else(bench):
    report = json.loads(bench("double-pendulum", "--json").stdout)
    assert [case["case"] for case in report["cases"]] == ["double-pendulum"]
    assert {"cpu", "cores_used", "jax", "threads"} <= set(report["machine"])
    assert {"hits", "misses", "folder"} == set(report["compiled_code"])


def test_without_a_name_every_robot_of_the_library_is_measured(bench):
    report = json.loads(bench("--json").stdout)
    measured = [case["case"] for case in report["cases"]]
    assert measured == list(library_names()) and {"dlr-arm", "l-shape"} <= set(measured)


def test_table_shows_times_accuracy_and_machine(bench):
    text = bench("double-pendulum").stdout
    for word in ("compile", "warm best", "10.00", "1.5e-05 m", "2247", "jax", "core"):
        assert word in text


def test_tables_are_written_as_markdown_and_json(bench, tmp_path):
    assert bench("double-pendulum", "-o", str(tmp_path / "t.md")).exit_code == 0
    assert "| double-pendulum | 0.010 | 0.500 | 12 |" in (tmp_path / "t.md").read_text()
    bench("double-pendulum", "-o", str(tmp_path / "t.json"))
    assert json.loads((tmp_path / "t.json").read_text())["cases"][0]["steps"] == 262


@pytest.mark.parametrize("name", ["table.docx", "nowhere/table.md"])
def test_a_file_that_cannot_be_written_is_found_before_measuring(
    monkeypatch, tmp_path, name
):
    monkeypatch.setattr(cases, "measure_case", lambda *_: pytest.fail("measured"))
    assert main(["bench", "double-pendulum", "-o", str(tmp_path / name)]) == 2


@pytest.mark.parametrize(
    "words, named", [(["links", "payloads"], "links payloads"), (["--peers"], "peers")]
)
def test_what_left_the_package_says_where_it_went(bench, words, named):
    assert bench(*words).exit_code == 2
    cases = [word for word in words if word != "--peers"]
    with pytest.raises(typer.BadParameter, match=f"python -m benchmarks {named}"):
        command.check_request(cases, "--peers" in words, None)


def test_every_unknown_case_is_named_at_once(bench):
    with pytest.raises(ls.DescriptionError) as failure:
        command.check_request(["double-pendulim", "physics", "simple"], False, None)
    assert len(failure.value.problems) == 2 and "double-pendulum" in str(failure.value)


@pytest.fixture
def interrupted(monkeypatch):
    """Asks for two robots, and is interrupted while the second one is measured."""
    asked = threading.Event()

    def measured(name, *_):
        if name == "dlr-arm":
            os.kill(os.getpid(), signal.SIGINT)
            # As XLA, it hears nothing.
            asked.wait(20.0)
        return MEASURED | {"case": name}

    monkeypatch.setattr(cases, "measure_case", measured)

    def interrupt(**options):
        with pytest.raises(KeyboardInterrupt):
            command.bench(["double-pendulum", "dlr-arm"], **options)

    yield interrupt
    asked.set()


def test_an_interrupt_prints_what_was_measured_and_goes_on_upwards(interrupted, capsys):
    interrupted()
    shown = capsys.readouterr()
    assert "double-pendulum" in shown.out and "dlr-arm" not in shown.out
    assert shown.err == "1 of 2, double-pendulum: 0 s\n"


def test_an_interrupt_leaves_what_was_measured_in_the_file(interrupted, tmp_path):
    interrupted(output=tmp_path / "t.json")
    report = json.loads((tmp_path / "t.json").read_text())
    assert [case["case"] for case in report["cases"]] == ["double-pendulum"]


def test_machine_code_alone_leaves_xla_out(bench, monkeypatch):
    asked = []
    monkeypatch.setattr(
        cases,
        "measure_case",
        lambda name, repeat, tell, backends: asked.append(tuple(backends)) or MEASURED,
    )
    bench("double-pendulum", "--native", "--json")
    bench("double-pendulum", "--json")
    assert asked == [("native",), ("native", "xla")]


def test_a_number_that_is_off_fails_the_command(bench, monkeypatch):
    rows = [
        physics.row("sag", "derived", -1.0, value, "mm", 0.01)
        for value in (-1.001, -1.2)
    ]
    monkeypatch.setattr(physics, "physics_rows", lambda tell: iter(rows))
    monkeypatch.setattr(command, "measure_published", lambda report, tell: None)
    result = bench("physics")
    assert (
        result.exit_code == 1
        and "agrees" in result.stdout
        and "DIFFERS" in result.stdout
    )


# --- measuring -----------------------------------------------------------------------------------------------------


def test_a_real_case_has_positive_times_and_a_small_error(tmp_path):
    arm = {
        "mass": 1.3,
        "com": [0.2, 0.01, 0],
        "inertia": [1e-3, 2e-2, 2e-2],
        "tip": [0.4, 0, 0],
    }
    link = {
        "name": "arm",
        "joint": {"type": "revolute", "axis": [0, 1, 0]},
        "rigid": arm,
    }
    robot = {"lissom": 1, "name": "one", "links": [link]}
    ls.Scenario.from_dict({"robot": robot, "t_end": 0.1, "output_dt": 0.01}).save(
        tmp_path / "one.yaml"
    )
    row = cases.measure_case(str(tmp_path / "one.yaml"), repeat=2)
    assert (
        min(
            row[key]
            for key in (
                "build_s",
                "start_s",
                "compile_s",
                "first_run_s",
                "real_time_factor",
            )
        )
        > 0
    )
    assert (
        row["warm"]["best_s"] <= row["warm"]["median_s"] and row["warm"]["repeats"] == 2
    )
    assert 0 < row["tip_error_m"] < 1e-5 and row["reference"]["steps"] > row["steps"]
    assert tables.case_table([row]).rows[0][-5:][0] == f"{row['real_time_factor']:.2f}"


def test_one_core_is_given_back():
    before = os.sched_getaffinity(0)
    with machine.one_core() as pinned:
        assert not pinned or len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_wall_time_that_waited_for_the_processor_is_marked():
    assert (
        machine.Timing((2.0, 3.0), (1.0, 1.1)).busy
        and not machine.Timing((1.0, 3.0), (0.95, 1.0)).busy
    )


def test_the_tip_of_a_closed_chain_is_one_that_moves():
    changes = {"t_end": 0.02, "output_dt": 0.01}
    case = cases.Case(ls.Scenario.load("four-bar").replace(changes))
    path = cases.path_of_tip(case.run())
    # The follower's tip is pinned to the ground.
    assert case.tip == "follower/tip" and np.ptp(path, axis=0).max() > 1e-6


def test_distance_of_paths_with_a_coarser_grid():
    fine = np.linspace([0.0, 0, 0], [1.0, 0, 0], 11)
    assert cases.distance(fine[::2] + [0, 0.1, 0], fine) == pytest.approx(0.1)


# --- the physics table ---------------------------------------------------------------------------------------------


def test_verdict_follows_the_tolerance():
    assert physics.row(
        "f", "s", (10.0, 20.0), (10.0, 20.015), "Hz", 1e-3, relative=True
    )["agrees"]
    assert not physics.row(
        "f", "s", (10.0, 20.0), (10.0, 20.03), "Hz", 1e-3, relative=True
    )["agrees"]
    assert not physics.row("p", "s", 0.0, float("nan"), "m", 1.0)["agrees"]
    assert (
        physics.bound("e", "s", 1e-6, 2e-7, "1")["agrees"]
        and not physics.bound("e", "s", 1e-6, 2e-6, "1")["agrees"]
    )


def test_static_sag_and_modes_agree_with_the_derived_values():
    robot = ls.Robot.load("double-pendulum").replace({"damping": None})
    rows = [*physics.static_rows(robot), *physics.mode_rows(robot)]
    assert len(rows) == 5 and all(row["agrees"] for row in rows)
    assert {"check", "source", "known", "ours", "difference", "tolerance"} <= set(
        rows[0]
    )


def test_keypoints_of_the_peer_are_complete():
    for case in ("inplane", "spatial"):
        for model in ("FFRF", "GE"):
            points = physics.keypoints(case, model)
            assert list(points) == [0.1, 0.25, 0.5, 0.75, 1.0]
            assert all(np.linalg.norm(point) <= 1.001 for point in points.values())
