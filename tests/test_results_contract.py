"""What every result promises: plain data as `--json` prints them, its summary as text, pictures, files, warnings.

Each result is made by the command of its verb, so that what is compared is what that command printed. A class of
results that is not listed here fails a test.
"""

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import lissom as ls
from lissom.bodies.link_body import body_of
from lissom.commands import verb_command
from lissom.commands.cli import main
from lissom.files.array_file import read_arrays
from lissom.verbs.perform import perform

SOURCES = Path(ls.__file__).parent
# The command that makes each result; files are those of `folder`.
LINES = {
    "Library": "robots",
    "RobotTable": "show simple-pendulum --q 0.3",
    "Verdict": "validate simple-pendulum",
    "Modes": "modes simple-pendulum --count 3",
    "DampedModes": "modes simple-pendulum --count 3 --damped",
    "LinearModel": "linearize simple-pendulum --outputs rod.encoder",
    "Run": "simulate simple-pendulum --t-end 0.01",
    "RunComparison": "compare first.nc second.nc",
    "PlottedRun": "plot first.nc --what q -o q.png",
    "Equilibrium": "static simple-pendulum --q 0.3",
    "EquationsOfMotion": "matrices simple-pendulum --q 0.3",
    "ModeMap": "mode-map simple-pendulum --over rod=0:1:3 --locked --count 2",
    "ModePolynomials": "mode-map simple-pendulum --over rod=0:1 --locked --count 2 --polynomial 2",
    "FrequencyResponses": "frequency-response simple-pendulum --inputs rod --outputs rod.encoder --band 1:100",
    "StepResponses": "step-response simple-pendulum --inputs rod --outputs rod.encoder --duration 0.1",
    "Installation": "doctor --no-self-test",
    "ImportedRobot": "import arm.urdf",
    "LinkImport": "reduce beam.npz --interface inner=1,tip=3 --modes 6",
    "ControllerDesign": "control design simple-pendulum --law law.yaml",
    "PlannedMotion": "control motion simple-pendulum --law law.yaml",
    "ControllerComparison": "control compare study.yaml",
    "Sweep": "sweep simple-pendulum --over modes=[2,3] --analysis modes --metric first_frequency --store s --workers 1",
}
# No verb returns it alone.
OF_PYTHON = {"State": lambda: ls.Model("simple-pendulum").static([0.3])}
EVERY = (*LINES, *OF_PYTHON)
WITHOUT_PICTURE = {
    "State",  # `model.plot(state)`: it does not know its robot
    "Library",
    "Verdict",
    "Installation",
    "EquationsOfMotion",
    "ImportedRobot",  # `imported.robot.plot()`
    "PlottedRun",  # `save` draws what was asked for
}
WITHOUT_FILE = {
    "Library",
    "RobotTable",
    "Verdict",
    "RunComparison",
    "Equilibrium",
    "Installation",
}
LAW = """type: pid
sample: 2 ms
gains: {kp: [20], kd: [1]}
reference: {t: [0, 0.2], value: [[-1.4], [-1.1]], interpolation: quintic}
"""
STUDY = """scenario: {robot: simple-pendulum, initial: {q: [-1.5]}}
motion: {t: [0, 0.1], value: [[-1.5], [-1.4]], interpolation: quintic}
sample: 1 ms
controllers: {slow: {type: pid, gains: {bandwidth: 5.0}}}
"""
URDF = """<robot name="arm"><link name="base"/><link name="boom"><inertial><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="swing" type="continuous"><parent link="base"/><child link="boom"/></joint></robot>
"""


def classes_of_results() -> set[str]:
    """Names of all final classes below `Result`; class names occur once in the package."""
    bases: dict[str, set[str]] = {}
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {
                    ast.unparse(base).partition("[")[0] for base in node.bases
                }
    found, more = set(), {"Result"}
    while more:
        found |= more
        more = {name for name, above in bases.items() if above & found} - found
    abstract = set().union(*(bases[name] for name in found))
    return found - abstract


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that the command lines read."""
    place = tmp_path_factory.mktemp("results")
    for name, q in {"first.nc": 0.3, "second.nc": 0.31}.items():
        ls.simulate("simple-pendulum", [q], t_end=0.01).save(place / name)
    beam = body_of(ls.Robot.load("simple-pendulum"), 0)
    np.savez(
        place / "beam.npz", K=beam.stiffness, M=beam.mass_matrix, nodes=beam.points
    )
    texts = {"law.yaml": LAW, "study.yaml": STUDY, "arm.urdf": URDF}
    for name, text in texts.items():
        (place / name).write_text(text)
    return place


@pytest.fixture(scope="module")
def made(folder):
    """Results by their classes, with the answer and the JSON of their command; each is made once."""
    return {}


@pytest.fixture
def result(request, folder, made, monkeypatch, capsys):
    """The result of a class."""
    name = request.param
    monkeypatch.chdir(folder)
    if name in OF_PYTHON:
        return OF_PYTHON[name]()
    if name not in made:
        answers = []

        def recorded(*arguments):
            answers.append(perform(*arguments))
            return answers[-1]

        monkeypatch.setattr(verb_command, "perform", recorded)
        code = main([*LINES[name].split(), "--json"])
        said = capsys.readouterr()
        assert code == 0, said
        made[name] = (answers[0], json.loads(said.out))
    return made[name][0].result


def of_classes(names):
    return pytest.mark.parametrize("result", names, indirect=True, ids=names)


def test_every_class_of_results_is_held_to_the_contract():
    assert classes_of_results() == set(EVERY)


@of_classes(EVERY)
def test_a_result_is_what_its_name_says_and_prints_as_its_summary(result, request):
    assert type(result).__name__ == request.node.callspec.params["result"]
    text = repr(result)
    assert text == str(result) == result.shown().text()
    assert text.startswith(result.summary().title)
    assert result.summary().title in result._repr_html_().replace("&gt;", ">")


@of_classes(EVERY)
def test_plain_data_are_what_json_prints(result, request, made):
    data = result.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == through_json(data)
    name = request.node.callspec.params["result"]
    if name in OF_PYTHON:
        return
    answer, printed = made[name]
    said = {key: printed[key] for key in data if key not in ("files", "warnings")}
    wanted = {key: data[key] for key in said}
    assert said == through_json(wanted)
    # The door adds where it wrote files, warnings about the scenario, and what its code came from.
    assert data.get("files", {}).items() <= printed.get("files", {}).items()
    if "warnings" in data:
        assert data["warnings"] == list(result.warnings)
        assert printed["warnings"] == [*answer.warnings_before, *result.warnings]
    outputs = {output.key.partition(".")[0] for output in answer.verb.writes}
    saved_as = {getattr(result, "saved_as", "")}
    assert set(printed) - set(data) <= {*outputs, *saved_as, "cached", "cache"}


def through_json(data: Any) -> Any:
    """Data after a way through JSON: tuples are lists."""
    return json.loads(json.dumps(data))


@of_classes(EVERY)
def test_warnings_are_texts(result):
    assert isinstance(result.warnings, tuple)
    assert all(isinstance(line, str) and line for line in result.warnings)


@of_classes(EVERY)
def test_a_picture_is_a_figure_and_a_file(result, tmp_path):
    if type(result).__name__ in WITHOUT_PICTURE:
        assert not hasattr(result, "plot")
        return
    if "plot" in result.nothing_to:
        pytest.skip("there is nothing to draw of this one")
    path = tmp_path / "picture.png"
    assert isinstance(result.plot(path=path), Figure)
    assert path.read_bytes().startswith(b"\x89PNG")


def arrays_hold(**names):
    """Arrays of a file are those of the result."""

    def check(path, result):
        arrays = read_arrays(path)
        for name, value in names.items():
            np.testing.assert_array_equal(arrays[name], value(result))

    return check


def lines_of(count):
    """A table has a heading, and one line for each row."""

    def check(path, result):
        assert len(path.read_text().splitlines()) == 1 + count(result)

    return check


def loads_equal(load, *names):
    def check(path, result):
        again = load(path)
        for name in names:
            np.testing.assert_array_equal(getattr(again, name), getattr(result, name))

    return check


def polynomials_load(path, result):
    again = ls.ModePolynomials.load(path)
    assert again.to_dict()["text"] == result.to_dict()["text"]


def robot_loads(path, result):
    assert ls.Robot.load(str(path)) == result.robot


def link_loads(path, result):
    link = {"name": "a", "joint": {"type": "revolute"}, "fe": {"file": str(path)}}
    robot = ls.Robot.from_dict({"name": "r", "links": [link]})
    assert robot.links[0].fe.nodes.modes == len(result.link.frequency_hz)


def rows_load(path, result):
    rows = json.loads(path.read_text())
    assert [row["name"] for row in rows] == [row.name for row in result.rows]


def dataset_loads(path, result):
    with xr.open_dataset(path) as data:
        assert data.equals(result.data)


FILES = {
    "State": ("state.npz", loads_equal(ls.State.load, "q", "elastic", "torque")),
    "Modes": ("modes.npz", arrays_hold(frequency_hz=lambda m: m.frequency_hz)),
    "DampedModes": ("modes.npz", arrays_hold(right=lambda m: m.right)),
    "LinearModel": ("m.npz", loads_equal(ls.LinearModel.load, *"ABCD", "state_names")),
    "Run": ("run.nc", loads_equal(ls.Run.load, "t", "q")),
    "PlottedRun": ("q.csv", lines_of(lambda plotted: len(plotted.run.t))),
    "EquationsOfMotion": ("m.npz", arrays_hold(M=lambda found: found.matrices.M)),
    "ModeMap": ("map.npz", arrays_hold(frequency_hz=lambda m: m.frequency_hz)),
    "ModePolynomials": ("modes.npz", polynomials_load),
    "FrequencyResponses": ("f.npz", arrays_hold(frequency_hz=lambda f: f.frequency_hz)),
    "StepResponses": ("s.npz", arrays_hold(t=lambda s: s.t)),
    "ImportedRobot": ("arm.yaml", robot_loads),
    "LinkImport": ("link.npz", link_loads),
    "ControllerDesign": ("law.npz", arrays_hold(poles=lambda found: found.poles)),
    "PlannedMotion": ("motion.csv", lines_of(lambda motion: len(motion.t))),
    "ControllerComparison": ("rows.json", rows_load),
    "Sweep": ("all.nc", dataset_loads),
}


@of_classes(EVERY)
def test_a_file_reads_back_as_what_was_written(result, tmp_path):
    name = type(result).__name__
    if name in WITHOUT_FILE:
        assert not hasattr(result, "save") and name not in FILES
        return
    file, check = FILES[name]
    path = tmp_path / file
    result.save(path)
    check(path, result)
