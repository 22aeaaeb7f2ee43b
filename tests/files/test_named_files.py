"""Files that a file names: its own folder, the library and folders that the user opened, and nothing else."""

import shutil

import pytest

from lissom.commands import cli
from lissom.describe import DescriptionError, Robot, Scenario
from lissom.describe.control_study import ControlStudy
from lissom.describe.controllers import read_controller
from lissom.files.description_files import library_folder
from lissom.files.named_files import OutsideError, known_packages, named_file
from lissom.runs.sources import scenario_of

ROBOT = """\
name: arm
links:
  - name: upper
    joint: {type: revolute}
    fe: {file: FILE}
"""
SCENARIO = "robot: simple-pendulum\ninputs: {torque: {rod: {file: FILE}}}\n"
STUDY = """\
scenario: simple-pendulum
changes: {links.rod.fe.file: FILE}
motion: {t: [0, 1], value: [[0], [1]]}
controllers: {}
"""
LAW = "type: pd\nkp: [1]\nkd: [1]\nreference: {file: FILE}\n"
# The text, what reads it, the field that names a file, and the line of that field.
KINDS = {
    "robot": (ROBOT, Robot.load, "links.upper.fe.file", 5),
    "robot of a scenario": ("t_end: 1\nrobot: FILE\n", Scenario.load, "robot", 2),
    "robot inline": (
        "robot:\n  " + ROBOT.replace("\n", "\n  "),
        Scenario.load,
        "robot.links.upper.fe.file",
        6,
    ),
    "table": (SCENARIO, Scenario.load, "inputs.torque.rod.file", 2),
    "study": (STUDY, ControlStudy.load, "changes.links.rod.fe.file", 2),
    "scenario of a study": (
        STUDY.replace("simple-pendulum", "FILE", 1).replace("file: FILE", "E: 1"),
        ControlStudy.load,
        "scenario",
        1,
    ),
    "robot of a study": (
        STUDY.replace("scenario: simple-pendulum", "scenario: {robot: FILE}"),
        ControlStudy.load,
        "scenario.robot",
        1,
    ),
    "controller": (LAW, lambda path: read_controller(str(path)), "reference.file", 4),
}


@pytest.fixture
def folders(tmp_path):
    """The folder of the files, and one beside it with a secret in it."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.csv").write_text("0,1\n1,2\n")
    (inside / "link.csv").symlink_to(outside / "secret.csv")
    return inside, outside


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["../outside/secret.csv", "ABSOLUTE", "link.csv"])
def test_a_file_outside_of_the_folder_is_refused_with_line_field_and_remedy(
    folders, kind, name
):
    inside, outside = folders
    text, read, field, line = KINDS[kind]
    name = name.replace("ABSOLUTE", str(outside / "secret.csv"))
    path = inside / "own.yaml"
    path.write_text(text.replace("FILE", name))
    with pytest.raises(DescriptionError) as failure:
        read(path)
    problem = failure.value.problems[0]
    assert (problem.file, problem.line) == (str(path), line)
    assert (problem.field, problem.value) == (field, name)
    assert "lies outside of the folder of this file" in problem.message
    assert f"--package NAME={outside}" in problem.message


def test_an_opened_folder_and_its_package_are_read(folders):
    inside, outside = folders
    path = inside / "own.yaml"
    for name in ("../outside/secret.csv", "package://parts/secret.csv"):
        path.write_text(SCENARIO.replace("FILE", name))
        read = Scenario.load(path, packages={"parts": outside})
        assert read.inputs.torque["rod"].value == (1.0, 2.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("package://part/x.csv", "--package part=DIR .*did you mean 'parts'"),
        ("package://parts/../inside/own.yaml", "leaves the folder of its package"),
        ("package://parts//etc/passwd", "leaves the folder of its package"),
        ("package://", "--package NAME=DIR"),
        ("a\x00b", "is not a path"),
        ("a" * 3000, "is not a path: File name too long"),
        ("~nobody-has-this-name/x", "is not a path|outside of the folder"),
    ],
)
def test_packages_are_not_left_and_what_is_not_a_path_is_said(folders, name, message):
    inside, outside = folders
    with known_packages({"parts": outside}):
        with pytest.raises(OutsideError, match=message):
            named_file(name, inside)


def test_what_is_opened_for_one_file_is_closed_again(folders):
    inside, outside = folders
    with known_packages({"parts": outside}), known_packages({"others": inside}):
        assert named_file("package://parts/secret.csv", inside).is_file()
    with pytest.raises(OutsideError, match="package whose folder is not known"):
        named_file("package://parts/secret.csv", inside)


def test_files_of_the_library_keep_their_names_and_saved_robots_move_with_their_folder(
    folders, tmp_path
):
    inside, outside = folders
    robot = Robot.load("solid-arm")
    assert robot.to_dict()["links"][1]["fe"]["file"] == "solid-arm.npz"
    robot.save(inside / "arm.yaml")
    assert Robot.load(inside / "arm.yaml") == robot
    part = inside / "part.npz"
    shutil.copy(library_folder() / "solid-arm.npz", part)
    own = robot.replace({"links.*.fe.file": str(part)})
    own.save(inside / "arm.yaml")
    assert Robot.load(inside / "arm.yaml") == own
    moved = inside.rename(tmp_path / "moved")
    read = Robot.load(moved / "arm.yaml")
    assert read.to_dict()["links"][1]["fe"]["file"] == str(moved / "part.npz")
    own.save(outside / "arm.yaml")
    with pytest.raises(DescriptionError, match="outside of the folder of this file"):
        Robot.load(outside / "arm.yaml")


def test_the_scenario_of_a_result_names_no_file_outside_of_its_folder(folders):
    import json

    import xarray as xr

    inside, outside = folders
    part = outside / "part.npz"
    shutil.copy(library_folder() / "solid-arm.npz", part)
    robot = Robot.load("solid-arm").replace({"links.*.fe.file": str(part)})
    recorded = json.dumps(Scenario(robot=robot).to_dict())
    path = inside / "run.nc"
    attributes = {"scenario": recorded, "lissom": "1.0"}
    xr.Dataset(attrs=attributes).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(DescriptionError, match="--package NAME="):
        scenario_of(str(path))
    with known_packages({"parts": outside}):
        assert scenario_of(str(path)).robot == robot


def test_the_command_line_opens_a_folder_and_refuses_what_is_none(folders, capsys):
    inside, outside = folders
    path = inside / "own.yaml"
    path.write_text(SCENARIO.replace("FILE", "package://parts/secret.csv"))
    line = ["show", str(path)]
    assert cli.main(line) == 2
    assert "inputs.torque.rod.file" in capsys.readouterr().err
    assert cli.main([*line, f"--package=parts={outside}"]) == 0
    assert cli.main(["--package", f"parts={outside}", *line]) == 0
    capsys.readouterr()
    missing = f"parts={outside / 'missing'}"
    for text in ("parts", f"={outside}", missing, "a/b=.", ""):
        assert cli.main([*line, "--package", text]) == 2
        assert "--package" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a" * 3000, "~nobody-has-this-name/x.npz", "a\x00b"])
def test_a_link_in_a_file_that_no_system_has_is_refused(name):
    data = {"name": "arm", "links": [{"name": "upper", "joint": {"type": "revolute"}}]}
    data["links"][0]["fe"] = {"file": name}
    with pytest.raises(DescriptionError, match="links.upper.fe.file: "):
        Robot.from_dict(data)
