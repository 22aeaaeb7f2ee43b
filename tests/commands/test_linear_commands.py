"""The commands about linear models: what they print, write and refuse."""

import json

import numpy as np
import pytest
import xarray as xr

import lissom as ls
from lissom.commands.cli import main

POSE = ["double-pendulum", "--q", "0.3,0.7"]


def answer(capsys, *line):
    """The JSON of a command that went well."""
    assert main([*line, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, *line):
    """The message of a command that was refused as bad input."""
    assert main([*line, "--json"]) == 2
    return json.loads(capsys.readouterr().out)["error"]["message"]


def test_linearize_names_everything_and_writes_what_python_reads(capsys, tmp_path):
    path = tmp_path / "m.npz"
    told = answer(capsys, "linearize", *POSE, "-o", str(path))
    lin = ls.LinearModel.load(path)
    assert told["shapes"]["A"] == list(lin.A.shape) and told["inputs"] == [
        "upper.torque",
        "lower.torque",
    ]
    assert "lower/tip.ax" in told["outputs"] and len(told["states"]) == len(lin.A)
    poles = np.array([complex(p["real"], p["imag"]) for p in told["eigenvalues"]])
    assert np.allclose(
        np.sort_complex(poles), np.sort_complex(lin.poles), rtol=1e-6, atol=1e-4
    )
    assert told["point"]["torque"]["upper"] == pytest.approx(lin.operating.torque[0])
    assert main(["linearize", *POSE]) == 0
    assert "28 states" in capsys.readouterr().out


def test_a_wrong_name_is_refused_with_its_option_and_exit_code_2(capsys):
    assert refusal(capsys, "linearize", *POSE, "--outputs", "lower/tip.qx").startswith(
        "--outputs: lower/tip.qx"
    )
    assert "no joint is called 'elbow'" in refusal(
        capsys, "linearize", *POSE, "--inputs", "elbow"
    )
    assert "the name must end in .npz or .mat" in refusal(
        capsys, "linearize", *POSE, "-o", "m.txt"
    )
    assert "--qd" in refusal(capsys, "linearize", *POSE, "--qd", "1,2,3")
    assert "--kp" in refusal(capsys, "linearize", *POSE, "--kp", "soft")


def test_a_frequency_response_is_drawn_and_written(capsys, tmp_path):
    picture, data = tmp_path / "bode.png", tmp_path / "bode.csv"
    line = [
        "frequency-response",
        *POSE,
        "--inputs",
        "upper",
        "--outputs",
        "lower/tip.ay",
        "--band",
        "1:300:40",
    ]
    told = answer(capsys, *line, "--plot", str(picture), "-o", str(data))
    rows = np.genfromtxt(data, delimiter=",", names=True)
    assert (
        picture.stat().st_size > 10_000 and len(rows) == len(told["frequency_hz"]) == 40
    )
    _, real, imag = rows.dtype.names
    assert np.allclose(
        np.hypot(rows[real], rows[imag]), told["responses"][0]["magnitude"]
    )
    assert "--band" in refusal(capsys, *line[:-1], "300:1")


def test_a_mode_map_is_written_drawn_and_followed(capsys, tmp_path):
    picture, data = tmp_path / "map.png", tmp_path / "map.nc"
    line = [
        "mode-map",
        "double-pendulum",
        "--over",
        "lower=-2.5:2.5:11",
        "--locked",
        "--count",
        "3",
    ]
    told = answer(capsys, *line, "--plot", str(picture), "-o", str(data))
    kept = xr.load_dataset(data, engine="h5netcdf")
    assert np.allclose(kept["frequency"].values, told["frequency_hz"])
    straight = np.asarray(told["frequency_hz"])[5]
    assert straight[0] == pytest.approx(8.352, rel=1e-3)
    assert sorted(straight) != list(straight)  # two modes have crossed on the way here
    assert picture.stat().st_size > 10_000


def test_a_map_over_something_that_does_not_exist_is_refused(capsys):
    assert "neither a joint" in refusal(
        capsys, "mode-map", "double-pendulum", "--over", "wrist=0:1:3"
    )
    assert "NAME=START:STOP:POINTS" in refusal(
        capsys, "mode-map", "double-pendulum", "--over", "lower=0:1"
    )
    assert "say over what" in refusal(capsys, "mode-map", "double-pendulum")


def test_a_map_over_a_joint_that_follows_others_is_refused(capsys):
    line = ["mode-map", "four-bar", "--formulation", "erls-fem", "--locked"]
    for axis in ("follower=0:1:3", "coupler.speed=0:1:3"):
        assert "follows from crank" in refusal(capsys, *line, "--over", axis)


def test_matrices_are_written_and_named(capsys, tmp_path):
    path = tmp_path / "m.npz"
    line = ["matrices", "simple-pendulum", "--formulation", "erls-fem", "--q", "0.2"]
    told = answer(capsys, *line, "--qd", "-0.7", "-o", str(path))
    with np.load(path) as data:
        for name, array in told["arrays"].items():
            assert list(data[name].shape) == array["shape"]
    assert told["arrays"]["M"]["printed"].startswith("[Boscariol2012] (22)-(23)")
    assert len(told["coordinates"]) == told["arrays"]["M"]["shape"][0]


def test_matrices_of_a_wrong_pose_or_file_are_refused(capsys, tmp_path):
    line = ["matrices", "double-pendulum"]
    assert "--q" in refusal(capsys, *line, "--q", "0,1,2")
    text = refusal(capsys, *line, "-o", str(tmp_path / "m.txt"))
    assert "-o" in text and ".npz or .mat" in text
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_linear_model_of_a_closed_chain_pairs_values_with_their_joints(capsys):
    told = answer(
        capsys, "linearize", "four-bar", "--formulation", "erls-fem", "--q", "0.5"
    )
    point = told["point"]
    assert list(point["q"]) == ["crank"]
    assert list(point["torque"]) == ["crank", "coupler", "follower"]
    assert point["encoder"]["crank"] == pytest.approx(0.5)
    assert point["encoder"]["coupler"] == pytest.approx(0.39698, abs=1e-4)


def test_modes_on_the_command_line_are_damped_controlled_and_animated(capsys, tmp_path):
    page = tmp_path / "mode.html"
    line = [
        "modes",
        *POSE,
        "--damped",
        "--kp",
        "300,100",
        "--kd",
        "6,2",
        "--count",
        "4",
    ]
    told = answer(capsys, *line, "--animate", str(page), "--mode", "3")
    assert "mode 3" in page.read_text() and len(told["eigenvalue"]) == 4
    assert all(value["real"] < 0 for value in told["eigenvalue"])
    assert told["strain_share"][0]["controller upper"] > 0
