"""`lissom control` on laws that are wrong: one message, exit code 2, and no file."""

import re

import pytest

from lissom.commands.cli import main

MOTION = "reference: {t: [0, 0.2], value: [[-1.4], [-1.1]], interpolation: quintic}\n"
PID = f"type: pid\nsample: 2 ms\n{MOTION}gains: {{kp: [20], kd: [1]}}\n"
LQG = (
    f"type: lqg\nsample: 2 ms\n{MOTION}sensors: [rod.encoder, rod/element0.kz]\n"
    "tolerances: {position: [0.01], torque: [5], energy: 0.01}\n"
    "noise: {torque: [0.1], drift: [0.01], sensors: [1e-4, 1e-3]}\n"
)
MPC = LQG.replace("lqg", "mpc") + "horizon: 20\ncontrol_horizon: 8\n"
HARD = "limits: {torque: [3], deflection: {rod/element0.kz: 1e-7}, hard: true}\n"
ENCODER = LQG.replace(", rod/element0.kz", "").replace("1e-4, 1e-3", "1e-4")


def told(capsys, *words):
    """Exit code and everything that a command says."""
    with pytest.raises(SystemExit) as end:
        raise SystemExit(main(["control", *words]))
    said = capsys.readouterr()
    return end.value.code or 0, " ".join((said.out + said.err).split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "law, message",
    [
        (PID.replace("[20]", "[20, 3]"), ":4: controller.gains.kp: .* got 2"),
        (PID.replace("type: pid", "type: pdi"), ":1: controller.type: .*'pd'"),
        (PID.replace("sample", "sampel"), ":2: controller.sampel: .*'sample'"),
        (PID.replace("2 ms", "-1 ms"), ":2: controller.sample: .* must be positive"),
        (PID.replace("2 ms", "1 s"), ":2: controller.sample: .* the motion of 0.2 s"),
        (PID + "shaper: {modes: [99]}", ":5: controller.shaper.modes: .* mode 99"),
        (LQG.replace("encoder", "encodr"), ":4: controller.sensors: .*'rod.encoder'"),
        (LQG.replace("[5]", "[0]"), ":5: controller.tolerances.torque: .* positive"),
        (
            LQG.replace("element0.kz", "tip.ay").replace("rod.encoder", "rod/tip.ay"),
            ":4: controller.sensors: .* rod/tip.ay is named twice",
        ),
        (
            ENCODER.replace("rod.encoder", "rod/tip.ay"),
            ":4: controller.sensors: .* not detectable: .* rod.torque",
        ),
        (
            ENCODER + "fastest: 1e6\n",
            "not stabilisable: no torque excites mode 2 at .* Hz .* of link rod",
        ),
    ],
)
def test_a_law_that_is_wrong_is_refused_with_its_place(tmp_path, capsys, law, message):
    file, output = tmp_path / "law.yaml", tmp_path / "law.npz"
    file.write_text(law)
    undamped = "robot.damping={alpha: 0, beta: 0}"
    words = ("design", "simple-pendulum", "--law", str(file), "-o", str(output))
    code, said = told(capsys, *words, "--set", undamped)
    assert code == 2
    assert said.count("error:") == 1
    assert re.search(message, said), said
    assert [path.name for path in tmp_path.iterdir()] == ["law.yaml"]


@pytest.mark.slow
def test_a_run_without_a_feasible_torque_goes_on_and_says_so(tmp_path, capsys):
    """With the limit, the time, and what was done about it."""
    file, output = tmp_path / "law.yaml", tmp_path / "run.nc"
    file.write_text(MPC + HARD)
    words = ("run", "simple-pendulum", "--law", str(file), "-o", str(output))
    code, said = told(capsys, *words, "--set", "t_end=0.05")
    assert code == 0
    assert "no torque satisfies all hard limits at" in said
    assert "the limit of rod/element0.kz would be exceeded by" in said
    assert "The previous torque was held there" in said
    assert output.exists()


def test_a_run_without_a_controller_is_refused(tmp_path, capsys):
    output = tmp_path / "run.nc"
    code, said = told(capsys, "run", "simple-pendulum", "-o", str(output))
    assert code == 2
    assert "controller: the scenario has none: name one (--law)" in said
    assert not output.exists()


def test_a_law_file_that_is_not_there_is_refused(tmp_path, capsys):
    missing = str(tmp_path / "nothing.yaml")
    code, said = told(capsys, "design", "simple-pendulum", "--law", missing)
    assert code == 2
    assert "nothing.yaml: no such file" in said
