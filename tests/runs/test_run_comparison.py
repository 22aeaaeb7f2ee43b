"""Runs beside each other, and pictures of runs in files."""

from dataclasses import replace

import numpy as np
import pytest

import lissom as ls
from lissom.describe import DescriptionError
from lissom.runs.plotted_run import plotted_run
from lissom.runs.result_files import run_or_table
from lissom.runs.run_comparison import compare_runs

BODY = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.02]}
JOINT = {"type": "revolute", "origin": {}, "axis": [0, 1, 0]}
LINK = {"name": "bar", "joint": JOINT, "rigid": BODY | {"tip": [0.3, 0, 0]}}
MODEL = ls.Model(ls.Robot.from_dict({"name": "arm", "links": [LINK]}))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    names = []
    for k, q in enumerate((0.3, 0.35)):
        run = ls.simulate(MODEL, [q], t_end=0.1, output_dt=0.01 * (k + 1))
        names.append(str(run.save(folder / f"{k}.nc")))
    return tuple(names)


def test_the_difference_of_two_runs_is_that_of_their_joints_and_tips(files):
    answer = compare_runs(files)
    by_name = {d.quantity: d for d in answer.differences}
    assert set(by_name) == {"q.bar", "position.bar/tip"}
    first, second = (ls.Run.load(name) for name in files)
    # Every second time of the first run is a time of the second.
    apart = np.abs(second.q[:, 0] - first.q[::2, 0])
    assert by_name["q.bar"].largest == pytest.approx(apart.max(), rel=1e-3)
    chord = 0.3 * 2 * np.sin(0.5 * by_name["q.bar"].largest)
    assert by_name["position.bar/tip"].largest == pytest.approx(chord, rel=1e-3)


def test_a_node_that_is_asked_for_is_in_the_table(files):
    answer = compare_runs(files, node="bar/0")
    at_joint = next(d for d in answer.differences if d.quantity == "position.bar/0")
    assert at_joint.largest == 0.0


def test_a_run_differs_from_itself_by_nothing(files, tmp_path):
    copy = tmp_path / "copy.nc"
    copy.write_bytes(open(files[0], "rb").read())
    answer = compare_runs((files[0], str(copy)))
    assert all(d.largest == 0.0 for d in answer.differences)


def test_there_is_no_share_of_a_motion_that_is_none(files, tmp_path):
    still = ls.simulate(MODEL, [0.3], t_end=0.1, output_dt=0.01)
    data = still.data.copy(deep=True)
    hangs = ls.Run(data)
    data["q"][:] = 1e-300 * np.arange(len(still.t))[:, None]
    data["position"][:] = 0.0
    name = str(hangs.save(tmp_path / "still.nc"))
    answer = compare_runs((name, files[0]))
    assert {d.share for d in answer.differences} == {None}
    assert all(d.largest > 0.1 for d in answer.differences if d.quantity == "q.bar")
    # No number with hundreds of digits.
    assert {row[-1] for row in answer.summary().rows} == {"-"}
    assert {d["share"] for d in answer.to_dict()["differences"]} == {None}


def test_a_table_of_a_run_compares_and_plots_as_the_run_does(files, tmp_path):
    tables = [tmp_path / "0.csv", tmp_path / "1.csv"]
    for file, table in zip(files, tables, strict=True):
        ls.Run.load(file).write(table)
    wanted = compare_runs(files).differences
    for names in ((files[0], str(tables[1])), tuple(map(str, tables))):
        answer = compare_runs(names, node="bar/0")
        found = [replace(one, run="") for one in answer.differences[:-1]]
        assert found == [replace(one, run="") for one in wanted]
    same = compare_runs((files[0], str(tables[0])))
    assert all(one.largest == 0.0 for one in same.differences)
    assert "0, a table" in str(same)
    compare_runs(tuple(map(str, tables))).plot(tmp_path / "apart.png")
    what = ("q", "position.bar/tip.z", "energy.kinetic")
    chosen = plotted_run(str(tables[0]), what=what)
    chosen.save(tmp_path / "chosen.csv")
    plotted_run(files[0], what=what).save(tmp_path / "again.csv")
    texts = [(tmp_path / name).read_text() for name in ("chosen.csv", "again.csv")]
    assert texts[0] == texts[1]
    chosen.save(tmp_path / "chosen.png")


def test_a_table_of_joints_alone_compares_and_has_no_path_to_draw(files, tmp_path):
    tables = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for file, table in zip(files, tables, strict=True):
        ls.Run.load(file).to_csv(table, ["q"])
    answer = compare_runs(tables)
    assert [one.quantity for one in answer.differences] == ["q.bar"]
    with pytest.raises(DescriptionError, match="holds no positions"):
        answer.plot(tmp_path / "path.png")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("chosen.csv", '"time [s]","q.bar [rad or m]"\n0,1\n', ["time [s], not time"]),
        ("other.csv", "time,speed\n0,1\n", ["column speed: no quantity of a run"]),
        ("half.csv", "time,position.bar/0.x\n0,1\n", None),
        ("hole.csv", "time,position.a/0.x,position.a/1.y\n0,1,2\n", ["are missing"]),
        ("word.csv", "time,q.bar\n0,much\n", ["2: much: must be a number"]),
        ("none.csv", None, ["cannot be read: No such file"]),
    ],
)
def test_other_tables_are_refused(name, text, words, tmp_path):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    if words is None:
        assert run_or_table(str(path)).position("bar/0").shape == (1, 1)
        return
    with pytest.raises(DescriptionError) as refusal:
        run_or_table(str(path))
    message = str(refusal.value)
    assert message.startswith(str(path)) and message.count(name) == 1
    assert all(word in message for word in words), message


def test_what_a_table_does_not_hold_is_refused(files, tmp_path):
    table = str(ls.Run.load(files[0]).write(tmp_path / "run.csv"))
    for what, words in (
        ((), "holds no robot to draw"),
        (("bar/element0.mz",), "follows from the robot"),
        (("displacement.bar/tip",), "no such quantity"),
    ):
        with pytest.raises(DescriptionError, match=words):
            plotted_run(table, what=what).save(tmp_path / "out.png")
    assert not (tmp_path / "out.png").exists()


def test_runs_that_have_nothing_in_common_are_refused(files, tmp_path):
    rod = ls.Model(ls.Robot.from_dict({"name": "a", "links": [LINK | {"name": "rod"}]}))
    run = ls.simulate(rod, [0.3], t_end=0.02, output_dt=0.01)
    other = str(run.save(tmp_path / "rod.nc"))
    with pytest.raises(DescriptionError, match="no joint and no tip in common"):
        compare_runs((files[0], other))


def test_pictures_are_drawn(files, tmp_path):
    overlay, chosen = tmp_path / "overlay.png", tmp_path / "chosen.svg"
    compare_runs(files).plot(overlay)
    what = ("q", "position.bar/tip.z", "energy.kinetic")
    plotted_run(files[0], what=what).save(chosen)
    assert overlay.stat().st_size > 10_000
    assert "position.bar/tip.z" in chosen.read_text()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda f: compare_runs(f[:1]), ["runs", "1", "two"]),
        (lambda f: compare_runs((f[0], f[0])), ["twice"]),
        (
            lambda f: compare_runs((f[0], "none.nc")),
            ["none.nc", "no such file"],
        ),
        (
            lambda f: compare_runs(f, node="fore/tip").plot("x.png"),
            ["fore/tip", "bar/0"],
        ),
        (
            lambda f: compare_runs(f, node="bar/tpi"),
            ["bar/tpi", "bar/tip"],
        ),
        (
            lambda f: plotted_run(f[0], what=("positon",)).save("x.png"),
            ["positon", "'position'"],
        ),
        (
            lambda f: plotted_run(f[0], what=("q.foo",)).save("x.png"),
            ["foo", "bar"],
        ),
    ],
)
def test_bad_requests_are_refused(files, ask, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DescriptionError) as refusal:
        ask(files)
    assert all(word in str(refusal.value) for word in words), str(refusal.value)
    assert not list(tmp_path.iterdir())
