"""The command line as a user meets it: numbers, exit codes, files, and nothing on stdout that does not belong there."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import typer
import xarray as xr

from jaxnative import compiled
from jaxnative.untranslatable import Untranslatable
from lissom.commands import cli, watching
from lissom.describe.supported import SUPPORT
from lissom.verbs.registry import verbs
from shell_commands import REED

SHORT = (
    "--t-end",
    "0.05",
)  # always the same output grid, so that compiled code is used again


@pytest.fixture
def reed(tmp_path):
    file = tmp_path / "reed.yaml"
    file.write_text(REED)
    return str(file)


@pytest.fixture
def lissom(capsys):
    """Runs a command line: exit code, stdout, stderr."""

    def run(*words):
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def answer(lissom):
    """Runs a command line with --json: exit code and the one object on stdout."""

    def run(*words):
        code, out, _ = lissom(*words, "--json")
        return code, json.loads(
            out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")
        )

    return run


# --- the library and its files -------------------------------------------------------------------------------------


def test_robots_lists_the_library_with_its_sources(lissom, answer):
    code, out, _ = lissom("robots")
    assert code == 0 and "double-pendulum" in out and "anthropomorphic-free-fall" in out
    code, listed = answer("robots")
    arm = next(
        robot for robot in listed["robots"] if robot["name"] == "anthropomorphic"
    )
    assert arm["joints"] == ["column", "upper", "fore"] and arm["elements"] == [2, 2, 2]
    assert "[Boscariol2012]" in arm["source"] and all(
        robot["source"] for robot in listed["robots"]
    )


def test_show_weighs_the_links_of_table_2(answer):
    code, shown = answer("show", "double-pendulum")
    assert code == 0
    assert [link["mass"] for link in shown["links"]] == pytest.approx(
        [1.176, 1.176]
    )  # [Boscariol2012] Table 2
    assert shown["links"][0]["section"] == "rectangle y 30 mm, z 10 mm"


def test_show_names_the_loop_of_a_closed_chain_in_its_assembled_pose(answer):
    code, shown = answer("show", "four-bar")
    assert code == 0 and shown["independent"] == ["crank"]
    assert shown["loops"] == [
        {"link": "follower", "to": "ground", "at": [0.254, 0, 0], "type": "revolute"}
    ]
    assert shown["q"]["coupler"] == pytest.approx(
        np.arctan2(0.2646, 0.1977 - 0.10795), abs=1e-3
    )


def test_show_draws_the_pose_that_is_asked_for(lissom, tmp_path):
    picture = tmp_path / "robot.png"
    code, out, _ = lissom(
        "show", "double-pendulum", "--q", "-30,90 deg", "--deg", "-o", picture
    )
    assert (
        code == 0
        and picture.read_bytes().startswith(b"\x89PNG")
        and str(picture) in out.replace("\n", "")
    )


def test_every_verb_explains_itself_with_an_example(lissom):
    own = [command.name for command in cli.app.registered_commands]
    for verb in (*own, *verbs()):
        code, out, _ = lissom(*verb.split(), "--help")
        assert code == 0 and f"lissom {verb}" in out and "Example" in out


@pytest.mark.parametrize("verb", ["simulate", "static", "modes", "linearize"])
def test_help_names_every_formulation(lissom, verb):
    _, out, _ = lissom(verb, "--help")
    # Other tests may register formulations of their own; the package's come first.
    assert all(name in out for name in list(SUPPORT)[:4])


def test_validate_reports_every_error_of_a_file_at_once(answer, lissom, tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(
        REED.replace("gravity", "gravty")
        .replace("y: 0.004", "y: -1")
        .replace("elements: 1", "elements: 0")
    )
    code, found = answer("validate", file)
    assert code == 2 and not found["valid"]
    assert [error["field"].rpartition(".")[2] for error in found["errors"]] == [
        "gravty",
        "y",
        "elements",
    ]
    assert [error["line"] for error in found["errors"]] == [4, 8, 8]
    code, out, err = lissom("validate", file)
    assert (
        code == 2
        and out == ""
        and "did you mean 'gravity'?" in err
        and "3 errors" in err
    )


def test_validate_accepts_robots_and_scenarios(answer, reed):
    assert answer("validate", reed) == (
        0,
        {"valid": True, "kind": "robot", "errors": [], "warnings": []},
    )
    assert answer("validate", "anthropomorphic-free-fall")[1]["kind"] == "scenario"


def test_validate_prints_warnings_and_fails_on_them_only_when_asked(
    answer, lissom, reed
):
    line = ("validate", reed, "--set", "links.*.beam.material.E=70")
    code, out, err = lissom(*line)
    assert code == 0 and "valid robot" in out
    assert "warning: link rod: material.E is 70 Pa" in err
    code, found = answer(*line, "--strict")
    assert code == 1 and found["valid"]
    assert "material.E" in found["warnings"][0]
    assert lissom("validate", "nowhere.yaml", "--strict")[0] == 2


def test_validate_finds_zeroed_displacements_that_define_no_erls(answer, tmp_path):
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "robot: double-pendulum\nformulation: erls-fem\nreference: {zeroed: [upper/tip.z, lower/0.z]}\n"
    )
    code, found = answer("validate", file)
    assert code == 2 and found["errors"][0]["field"] == "reference.zeroed"
    assert "upper/tip.z, lower/0.z" in found["errors"][0]["message"]


# --- equilibrium and vibration -------------------------------------------------------------------------------------


def test_locked_double_pendulum_has_its_four_known_frequencies(answer):
    code, found = answer("modes", "double-pendulum", "--q", "0,0", "--locked")
    assert code == 0
    assert found["frequency_hz"][:4] == pytest.approx(
        [8.348, 20.490, 66.068, 80.485], rel=1e-3
    )
    assert found["about"] == "static equilibrium under gravity" and found["locked"]
    for share in found["share"]:
        assert (
            share["upper"] + share["lower"] == pytest.approx(1)
            and share["joint upper"] == 0
        )


def test_rigid_modes_have_no_damping_ratio_rather_than_nan(answer):
    code, found = answer(
        "modes",
        "double-pendulum",
        "--undeformed",
        "--count",
        "3",
        "--set",
        "gravity=[0,0,0]",
    )
    assert code == 0 and found["about"] == "undeformed"
    assert found["stability"][0] == "rigid" and found["damping_ratio"][0] is None
    assert len(found["frequency_hz"]) == 3


def test_mode_shapes_are_drawn(lissom, tmp_path):
    picture = tmp_path / "modes.png"
    code, out, _ = lissom(
        "modes",
        "double-pendulum",
        "--q",
        "0,1.57",
        "--locked",
        "--count",
        "4",
        "--plot",
        picture,
    )
    assert code == 0 and picture.stat().st_size > 10_000 and "joints locked" in out


def test_double_pendulum_sags_by_the_known_millimetres(answer):
    code, found = answer(
        "static", "double-pendulum", "--set", "gravity=[0,0,-9.81]", "--q", "0,0"
    )
    assert code == 0
    assert found["displacement"]["upper/tip"][2] == pytest.approx(-2.0429e-3, abs=1e-5)
    assert found["displacement"]["lower/tip"][2] == pytest.approx(-5.4478e-3, abs=1e-5)
    assert found["displacement"]["lower/1"] == found["displacement"]["lower/tip"]


# Such soft links find no balance where they turn by finite angles: first order tells how far beyond sense they are.
SOFT = ("--set", "gravity=[0,0,-9.81]", "--set", "links.*.beam.material.E=2e7")
SOFT += ("--formulation", "erls-fem")


def test_a_sag_of_many_metres_raises_a_warning_with_its_number(lissom, answer):
    # 1e4 times the sag of steel, 2.0429 mm and 5.4478 mm.
    code, found = answer("static", "double-pendulum", *SOFT)
    assert code == 0 and found["displacement"]["lower/tip"][2] == pytest.approx(
        -54.478, abs=1e-3
    )
    modulus, deflection, rotation = found["warnings"]
    assert modulus.startswith("link upper: material.E is 2e+07 Pa, below 1e+08 Pa")
    assert deflection.startswith("link upper: it bends by 20.4 m, 4086 % of the 0.5 m")
    assert "erls-fem is valid up to 0.1 rad" in rotation
    code, out, err = lissom("static", "double-pendulum", *SOFT)
    assert code == 0 and "warning" not in out
    assert [line for line in err.splitlines() if line.startswith("warning: ")] == [
        f"warning: {line}" for line in found["warnings"]
    ]


def test_strict_turns_warnings_into_exit_code_1_and_answers_all_the_same(
    lissom, answer
):
    code, found = answer("static", "double-pendulum", *SOFT, "--strict")
    assert code == 1 and len(found["warnings"]) == 3 and "displacement" in found
    code, out, err = lissom("static", "double-pendulum", *SOFT, "--strict")
    assert code == 1 and "double-pendulum" in out and "warning: link upper" in err
    code, found = answer("static", "double-pendulum", "--strict")
    assert code == 0 and found["warnings"] == []


@pytest.mark.parametrize(
    "reference",
    [
        "tangent",
        *(
            pytest.param(r, marks=pytest.mark.slow)
            for r in ("minimum-norm", "zeroed:upper/tip.y,lower/0.rz")
        ),
    ],
)
def test_held_joints_carry_the_weight_whatever_the_erls(answer, reference):
    code, found = answer(
        *("static", "double-pendulum", "--q", "-30,90", "--deg"),
        *("--formulation", "erls-fem", "--reference", reference),
    )
    assert code == 0
    weight, span = 1.176 * 9.81, 0.5  # [Boscariol2012] Table 2
    upper, lower = (
        span * 0.8660254,
        span * 0.5,
    )  # horizontal spans of the links at -30 deg and 60 deg
    lever = weight * (upper / 2 + upper + lower / 2)
    assert found["encoder"] == pytest.approx({"upper": -0.5235988, "lower": 1.5707963})
    assert found["torque"]["upper"] == pytest.approx(
        lever, rel=2e-3
    )  # links sag by less than 1 mm in 0.6 m
    assert found["torque"]["lower"] == pytest.approx(weight * lower / 2, rel=5e-3)


# --- simulation ----------------------------------------------------------------------------------------------------


def test_bare_robot_falls_from_rest_and_the_run_says_so(lissom, answer, reed, tmp_path):
    result = tmp_path / "out.nc"
    code, out, err = lissom("simulate", reed, *SHORT, "-o", result)
    assert code == 0 and "0.05 s under gravity from rest" in out and "no damping" in out
    code, first = answer("simulate", reed, *SHORT)
    assert code == 0 and first["complete"] and first["t_end"] == pytest.approx(0.05)
    for key in (
        "q",
        "qd",
        "encoder",
        "position",
        "energy",
        "solver",
        "wall_s",
        "cached",
    ):
        assert key in first
    assert first["position"]["rod/tip"] == first["position"]["rod/1"]
    fallen = (
        -0.75 * 9.81 * 0.05**2
    )  # tip of a rigid rod: qdd = 3 g / 2 L; the reed swings by less than 2 mm about it
    assert first["position"]["rod/tip"][1] == pytest.approx(fallen, abs=2e-3)
    assert abs(first["energy"]["residual"]) < 1e-4 * first["energy"]["kinetic"]
    code, again = answer("simulate", result)  # a result file runs again
    assert (
        code == 0
        and again["q"] == first["q"]
        and again["position"] == first["position"]
    )
    with xr.open_dataset(result) as data:
        assert data.attrs["complete"] == 1 and data.sizes["time"] == 51


def test_pictures_of_a_run_are_written(answer, reed, tmp_path):
    picture, page = tmp_path / "run.png", tmp_path / "run.html"
    code, found = answer("simulate", reed, *SHORT, "--plot", picture, "--animate", page)
    assert code == 0 and found["files"] == {
        "plot": str(picture),
        "animation": str(page),
    }
    assert (
        picture.read_bytes().startswith(b"\x89PNG")
        and "<html" in page.read_text()[:200].lower()
    )


def test_settings_reach_scenario_and_robot(answer, reed):
    words = (
        "--set",
        "gravity=[0,9.81,0]",
        "--set",
        "robot.links.rod.beam.material.E=1e12",
    )
    code, found = answer("simulate", reed, *SHORT, *words)
    assert code == 0 and found["qd"]["rod"] > 0


def test_a_run_out_of_all_proportion_raises_a_warning_in_json_and_in_its_file(
    answer, reed, tmp_path
):
    result = tmp_path / "wild.nc"
    table = "inputs.torque.rod={t: [0, 1], value: [0, 1e12]}"
    words = ("--set", table, "--set", "links.*.beam.material.E=70", "-o", result)
    code, found = answer("simulate", reed, *SHORT, *words, "--strict")
    assert code == 1
    lines = (found if "warnings" in found else found["error"]["partial"])["warnings"]
    assert any("material.E is 70 Pa" in line for line in lines)
    assert any("the torque of its table is 1e+12 N m" in line for line in lines)
    with xr.open_dataset(result) as data:
        assert data.attrs["warnings"].splitlines() == lines


def test_failed_run_keeps_what_it_has_and_marks_it(lissom, answer, reed, tmp_path):
    result = tmp_path / "part.nc"
    code, out, err = lissom(
        "simulate", reed, *SHORT, "--set", "solver.max_steps=5", "-o", result
    )
    assert code == 1 and out.count("Traceback") + err.count("Traceback") == 0
    assert (
        "stopped at t = " in err
        and "raise solver.max_steps" in err
        and "marked incomplete" in err
    )
    with xr.open_dataset(result) as data:
        assert (
            data.attrs["complete"] == 0
            and 0 < data.attrs["t_reached"] < 0.05
            and data.sizes["time"] < 51
        )
    code, found = answer("simulate", reed, *SHORT, "--set", "solver.max_steps=5")
    assert code == 1 and found["error"]["partial"]["complete"] is False


def test_a_file_that_ends_too_early_is_no_interrupt(lissom, reed, monkeypatch):
    @contextmanager
    def ending(t_end):
        raise EOFError("marshal data too short")
        yield

    monkeypatch.setattr(watching, "progress", ending)
    code, _, err = lissom("simulate", reed, *SHORT)
    assert code == 1 and "EOFError: marshal data too short" in err
    assert "interrupted" not in err


def test_interrupted_run_keeps_what_it_has_and_exits_with_130(
    lissom, reed, tmp_path, monkeypatch, signals
):
    @contextmanager
    def interrupting(t_end):
        yield lambda t: signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(watching, "progress", interrupting)
    result = tmp_path / "part.nc"
    code, _, err = lissom(
        "simulate", reed, "--set", "t_end=50", "--set", "output_dt=1", "-o", result
    )
    assert code == 130 and "interrupted at t = " in err
    with xr.open_dataset(result) as data:
        assert (
            data.attrs["complete"] == 0
            and data.attrs["reason"] == "the run was interrupted."
        )


# --- bad input -----------------------------------------------------------------------------------------------------

BAD = [
    (("simulate", "{reed}", "--set", "t_edn=3"), "did you mean 't_end'?"),
    (("simulate", "{reed}", "--set", "links.rod.beam.E=3"), "unknown key"),
    (
        ("simulate", "{reed}", "--set", "links.rdo.beam.elements=3"),
        "did you mean 'rod'?",
    ),
    (("simulate", "{reed}", "--set", "t_end"), "must be key=value"),
    (("simulate", "{reed}", "--t-end", "-1"), "must be positive"),
    (("simulate", "{reed}", "--method", "euler"), "must be one of auto, radau"),
    (("simulate", "{reed}", "--formulation", "erls-cmz"), "must be one of"),
    (("simulate", "{reed}", "--reference", "zeroed:rod/9.y"), "no such node"),
    (
        (
            *("simulate", "{reed}", "--formulation", "erls-fem"),
            *("--reference", "zeroed:rod/tip.z"),
        ),
        "do not define an ERLS",
    ),
    (("modes", "{reed}", "--reference", "minimum-norm"), "choose erls-fem or erls-cms"),
    (("modes", "{reed}", "--basis", "nodl"), "did you mean 'nodal'?"),
    (("modes", "{reed}", "--stiffening", "some"), "must be one of none, geometric"),
    (("modes", "{reed}", "--modes", "few"), "must be a whole number, all"),
    (
        (
            *("static", "{reed}", "--formulation", "erls-cms"),
            *("--set", "links.rod.beam.segments=1"),
        ),
        "use nonlinear, or leave segments out",
    ),
    (("simulate", "no-such-robot"), "no such file"),
    (("simulate", "{folder}"), "is a folder"),
    (("simulate", "{reed}", "-o", "{folder}/missing/out.nc"), "does not exist"),
    (("simulate", "{reed}", "-o", "{reed}/out.nc"), "is a file, not a folder"),
    (("simulate", "{reed}", "-o", "{folder}/out.png"), "must end in .nc"),
    (("simulate", "{reed}", "--plot", "{folder}/out.gif"), "must end in .png"),
    (("simulate", "{reed}", "--animate", "/proc/out.html"), "cannot be written"),
    (("static", "{reed}", "--q", "0,1"), "one number for each moving joint: 1 (rod)"),
    (("static", "{reed}", "--q", "nan"), "must be a finite number"),
    (("static", "{reed}", "--q", "30 mm"), "not a unit of this quantity"),
    (("static", "{reed}", "--torque", "1"), "add --free"),
    (("static", "{reed}", "--set", "t_end=3"), "only `lissom simulate` uses this"),
    (("modes", "{reed}", "--count", "0"), "--count"),
    (("modes", "{reed}", "--nonsense"), "--nonsense"),
    (("show", "{reed}", "-o", "{folder}/missing/robot.png"), "does not exist"),
    (("levitate", "{reed}"), "No such command"),
]


@pytest.mark.parametrize(
    "words, message", BAD, ids=[" ".join(words) for words, _ in BAD]
)
def test_bad_input_is_refused_with_code_2_before_anything_is_written(
    lissom, reed, tmp_path, words, message
):
    line = [word.format(reed=reed, folder=tmp_path) for word in words]
    code, out, err = lissom(*line)
    assert code == 2 and out == "" and message in err and "Traceback" not in err
    code, out, _ = lissom(*line, "--json")
    error = json.loads(out)["error"]
    assert code == 2 and message in error["message"]
    assert os.listdir(tmp_path) == ["reed.yaml"]


@pytest.mark.parametrize(
    "words, field",
    [(("--t-end", "-1"), "--t-end"), (("--set", "t_end=-1"), "t_end")],
    ids=["option", "key"],
)
def test_a_wrong_value_is_named_as_it_was_written(lissom, reed, words, field):
    code, _, err = lissom("simulate", reed, *words)
    assert code == 2 and err.startswith(f"error: {field}: -1")


def test_all_that_is_wrong_with_a_command_line_is_said_at_once(lissom, reed, tmp_path):
    code, _, err = lissom(
        "simulate", reed, "-o", tmp_path / "a/b.nc", "--plot", "x.bmp", "--t-end", "0"
    )
    assert code == 2 and len(err.splitlines()) == 3


def test_a_file_that_is_no_result_of_ours_is_refused(lissom, tmp_path):
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    code, _, err = lissom("simulate", tmp_path / "other.nc")
    assert code == 2 and "is not a result of lissom" in err


def test_debug_shows_the_traceback_wherever_it_stands(lissom, reed):
    for line in (
        ("--debug", "static", reed, "--q", "0,1"),
        ("static", reed, "--q", "0,1", "--debug"),
    ):
        code, _, err = lissom(*line)
        assert code == 2 and "Traceback" in err


# --- as a process of its own ---------------------------------------------------------------------------------------


def _process(folder, *words):
    line = [sys.executable, "-m", "lissom.commands.cli", *words]
    environment = os.environ | {"LISSOM_CACHE": str(folder)}
    return subprocess.run(
        line, capture_output=True, text=True, env=environment, timeout=300
    )


def test_second_start_takes_its_compiled_code_from_the_cache(reed, tmp_path):
    line = ("static", reed, "--q", "0.3", "--json")
    first, second = (
        json.loads(_process(tmp_path / "cache", *line).stdout) for _ in range(2)
    )
    assert first["cache"]["misses"] > 0 and not first["cached"]
    assert (
        second["cache"]["misses"] == 0
        and second["cache"]["hits"] > 0
        and second["cached"]
    )
    assert second["torque"] == first["torque"]


def test_a_cache_that_cannot_be_written_stops_nobody(reed):
    done = _process("/proc/nothing", "show", reed)
    assert done.returncode == 0 and "reed" in done.stdout and done.stderr == ""


def test_interrupt_while_building_leaves_with_130_and_no_file(reed, tmp_path):
    line = [
        sys.executable,
        "-m",
        "lissom.commands.cli",
        "simulate",
        reed,
        "-o",
        str(tmp_path / "out.nc"),
    ]
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert (
        process.stdout is not None and "from rest" in process.stdout.readline()
    )  # said before the model is built
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (
        process.returncode == 130
        and err == "interrupted\n"
        and not (tmp_path / "out.nc").exists()
    )


def test_library_and_help_start_without_the_solvers():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "lissom.commands.cli", "--help"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "lissom.solve.march" not in done.stderr and "matplotlib" not in done.stderr


@pytest.mark.slow
def test_debug_says_what_has_no_native_form(lissom, reed, monkeypatch):
    def refuse(*_):
        raise Untranslatable("operation `unheard_of`")

    monkeypatch.setattr(compiled, "function_of", refuse)
    # A structure that no other test has: nothing of it is compiled yet.
    finer = ("--set", "links.rod.beam.elements=3")
    code, _, told = lissom("static", reed, *finer, "--debug")
    line = "_static_held has no native form: operation `unheard_of`; XLA runs it"
    assert code == 0 and told.count(line) == 1 and "Traceback" not in told
    code, _, told = lissom("static", reed, *finer)
    assert code == 0 and "native" not in told


def test_a_line_builds_the_command_that_it_names_and_all_others_for_help():
    named = [command.name for command in cli.app.registered_commands]
    verbs_alone = [name for name, verb in verbs().items() if not verb.group]
    named += [*verbs_alone, "control"]
    for name in named:
        assert list(commands_of(cli.app.with_command(name))) == [name]
    for other in ("--help", "simulat", "mode_map"):
        built = list(commands_of(cli.app.with_command(other)))
        assert built == named


def commands_of(app):
    whole: Any = typer.main.get_command(app)
    return whole.commands
