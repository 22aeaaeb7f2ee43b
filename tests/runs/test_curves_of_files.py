"""Curves of results: forces in sections, displacements from the ERLS, differences between runs."""

import csv

import numpy as np
import pytest

import lissom as ls
from lissom.describe import DescriptionError
from lissom.runs.curves_of_files import curves_of_files, over_one_axis
from lissom.runs.plotted_run import plotted_run

LENGTH, SIDE, DENSITY, GRAVITY = 1.0, 0.02, 2700.0, 9.81
SECTION = {"shape": "rectangle", "y": SIDE, "z": SIDE}
BEAM = {
    "section": SECTION,
    "material": {"E": 7e10, "nu": 0.33, "density": DENSITY},
    "elements": 3,
}
JOINT = {"type": "revolute", "dh": {"a": LENGTH, "alpha": 0, "d": 0, "theta": 0}}
LINK = {"name": "bar", "joint": JOINT, "beam": BEAM}
ROBOT = {"name": "arm", "gravity": [0, -GRAVITY, 0], "links": [LINK]}
SCENARIO = {
    "robot": ROBOT,
    "t_end": 0.02,
    "output_dt": 0.001,
    "initial": {"q": [0.0], "elastic": "static"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    names = []
    for k, q in enumerate((0.0, 0.1)):
        scenario = ls.Scenario.from_dict(SCENARIO).replace({"initial.q": [q]})
        names.append(str(ls.run_scenario(scenario).save(folder / f"{k}.nc")))
    return tuple(names)


def values_of(panel):
    """Curve by curve, as columns."""
    return np.stack(list(panel.lines.values()), axis=1)


def panel_of(files, what):
    (one,) = curves_of_files(files[:1], [what]).runs
    return one.t, one.panels[0]


def test_the_bending_moment_of_a_held_beam_is_that_of_its_weight(files):
    """Rotations of the nodes are exact: the moment of an element is the mean of w (L - x)^2 / 2 over it."""
    _, panel = panel_of(files, "bar/element*.mz")
    assert list(panel.lines) == ["bar/element0", "bar/element1", "bar/element2"]
    assert panel.unit == "N m"
    w = DENSITY * SIDE**2 * GRAVITY
    left = LENGTH - np.linspace(0, LENGTH, 4)
    moments = w / 6 * -np.diff(left**3) / (LENGTH / 3)
    np.testing.assert_allclose(np.abs(values_of(panel)[0]), moments, rtol=1e-6)


def test_displacements_are_counted_from_the_erls(files):
    _, panel = panel_of(files, "displacement.bar/tip")
    run = ls.Run.load(files[0])
    rigid = run.data["erls_position"].sel(node="bar/3").values
    np.testing.assert_allclose(values_of(panel), run.position("bar/tip") - rigid)


@pytest.mark.slow
def test_differences_are_those_of_the_samples(files):
    answer = curves_of_files(files, ("q", "bar/element0.mz"))
    first, second = (ls.Run.load(name) for name in files)
    (apart,) = answer.differences
    np.testing.assert_allclose(values_of(apart.panels[0]), second.q - first.q)
    own, other = (values_of(one.panels[1]) for one in answer.runs)
    np.testing.assert_allclose(values_of(apart.panels[1]), other - own, atol=1e-12)


@pytest.mark.slow
def test_what_another_run_does_not_have_is_said(files, tmp_path):
    rigid = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1]}
    link = {"name": "rod", "joint": JOINT, "rigid": rigid | {"tip": [1, 0, 0]}}
    model = ls.Model(ls.Robot.from_dict({"name": "other", "links": [link]}))
    other = ls.simulate(model, [0.0], t_end=0.02, output_dt=0.001)
    file = str(other.save(tmp_path / "rod.nc"))
    answer = curves_of_files((files[0], file), ("energy", "position.bar/tip"))
    assert answer.runs[1].missing == ("position.bar/tip",)
    assert [panel.what for panel in answer.differences[0].panels] == ["energy"]


def test_a_long_run_is_thinned_from_its_first_to_its_last_row(files):
    (one,) = curves_of_files(files[:1], ["q"], most_rows=5).runs
    assert one.t[0] == 0.0 and one.t[-1] == pytest.approx(0.02)
    assert values_of(one.panels[0]).shape == (5, 1)


def test_curves_of_runs_lie_over_the_times_of_all(files):
    (one,) = curves_of_files(files[:1], ["q"]).runs
    line = one.panels[0].lines["bar"]
    late = one.changed(one.t[2:] + 3e-4, lambda line: line[2:])
    first, second = over_one_axis([one, late])
    np.testing.assert_array_equal(first.t, np.union1d(one.t, late.t))
    np.testing.assert_array_equal(second.t, first.t)
    own = np.isin(first.t, one.t)
    np.testing.assert_array_equal(first.panels[0].lines["bar"][own], line)
    laid = second.panels[0].lines["bar"]
    assert np.isnan(laid[first.t < late.t[0]]).all()
    inside = (first.t >= late.t[0]) & (first.t <= late.t[-1])
    wanted = np.interp(first.t[inside], late.t, line[2:])
    np.testing.assert_allclose(laid[inside], wanted)


@pytest.mark.slow
def test_the_table_of_a_plot_holds_the_same_numbers(files, tmp_path):
    path = tmp_path / "table.csv"
    what = ("q", "bar/element0.mz")
    plotted_run(files[0], what=what).save(path)
    with open(path) as text:
        head, *rows = csv.reader(text)
    assert head == ["time [s]", "q.bar [rad or m]", "bar/element0 [N m]"]
    _, panel = panel_of(files, "bar/element0.mz")
    written = np.array(rows, dtype=float)[:, 2]
    np.testing.assert_array_equal(written, values_of(panel)[:, 0])


@pytest.mark.slow
def test_the_page_of_a_result_moves(files, tmp_path):
    path = tmp_path / "run.html"
    plotted_run(files[0]).save(path)
    text = path.read_text()
    assert "<canvas" in text and "http://" not in text.replace("http://www.w3.org", "")


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        slow("bar/element7.mz", ["bar/element7.mz", "0 to 2"]),
        slow("rod/element0.mz", ["no link is called 'rod'", "bar"]),
        slow("bar/element0.mq", ["no such signal"]),
        ("moment", ["no such quantity"]),
        ("position.bar/tpi", ["no such node, did you mean 'bar/tip'"]),
        ("q.baar", ["no such part of q, did you mean 'bar'"]),
    ],
)
def test_what_there_is_not_is_refused_by_name(files, what, words):
    with pytest.raises(DescriptionError) as refusal:
        curves_of_files(files, [what])
    for word in words:
        assert word in str(refusal.value)
