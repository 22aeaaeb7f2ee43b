"""Analyses as a user meets them, beside the same numbers from Python; long ones survive a reload."""

import json
import re
import shlex

import numpy as np
import pytest
from playwright.sync_api import expect
from studio_browser import chromium, opened_page, served_studio
from studio_client import InlineWorker

import lissom as ls
from lissom.commands import cli

pytestmark = pytest.mark.slow
PATIENCE = 240_000  # ms: everything is compiled here
SOURCE = "source=library:simple-pendulum"
STUDY = """lissom: 1
scenario: {robot: simple-pendulum, basis: nodal, initial: {q: [-1.5], elastic: static}}
motion: {t: [0, 0.1], value: [[-1.5], [-1.4]], interpolation: quintic}
sample: 1 ms
controllers:
  soft: {type: pid, gains: {bandwidth: 10, damping: 0.7}}
  stiff: {type: pid, gains: {bandwidth: 20, damping: 0.7}}
  wild: {type: pid, gains: {bandwidth: 40, damping: 0.7}}
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analyse")
    (folder / "two.control.yaml").write_text(STUDY)
    expect.set_options(timeout=PATIENCE)
    with served_studio(folder, InlineWorker) as house:
        yield house


@pytest.fixture(scope="module")
def browser(house):
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser, house):
    page = opened_page(browser, house, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    yield page
    assert not page.complaints
    page.context.close()


def show(page, tab, **others):
    more = "".join(f"&{key}={value}" for key, value in others.items())
    page.evaluate(f"location.hash = '#screen=analyse&{SOURCE}&tab={tab}{more}'")


@pytest.fixture(scope="module")
def model():
    return ls.Model(ls.Robot.load("simple-pendulum"))


def test_modes_are_those_of_python_and_swing_on_the_stage(page, model):
    show(page, "modes", q="0.4")
    count = page.get_by_label("Number of modes")
    expect(count).to_have_value("10")
    expect(page.get_by_label("Hold every joint")).not_to_be_checked()
    count.fill("4")
    page.get_by_label("Hold every joint").check()
    page.locator("#find-modes").click()
    rows = page.locator(".modes tbody tr")
    expect(rows).to_have_count(4)
    wanted = ls.modes(model, model.static([0.4]), locked=True, count=4)
    for k, row in enumerate(rows.all()):
        hz, damping = (float(text) for text in row.locator("td").all_inner_texts()[:2])
        assert hz == pytest.approx(wanted.frequency_hz[k], rel=1e-3)
        assert damping == pytest.approx(100 * wanted.damping_ratio[k], rel=1e-2)
    page.get_by_role("button", name="Show mode 2").click()
    canvas = page.locator(".stage-box canvas[role=img]")
    expect(canvas).to_have_attribute("aria-label", re.compile("mode 2"))
    expect(page).to_have_url(re.compile(r"mode=2"))
    expect(page.locator(".command")).to_contain_text("lissom modes simple-pendulum")


def frequencies(page):
    cells = page.locator(".modes tbody tr td:nth-child(2)").all_inner_texts()
    return [float(text) for text in cells]


def test_command_and_python_do_what_the_screen_does(
    page, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    show(page, "modes", q="0.4")
    page.get_by_label("Formulation").select_option("erls-fem")
    page.get_by_label("Number of modes").fill("3")
    page.locator("#find-modes").click()
    expect(page.locator(".modes tbody tr")).to_have_count(3)
    expect(page.locator(".modes caption")).to_contain_text("erls-fem")
    expect(page).to_have_url(re.compile("formulation=erls-fem"))
    shown = frequencies(page)
    # The lines follow a moment after the table.
    expect(page.locator("pre.python")).to_contain_text("count=3")
    found = {}
    exec(page.locator("pre.python").text_content(), found)
    assert found["model"].formulation_name == "erls-fem"
    assert shown == pytest.approx(found["found"].frequency_hz, rel=1e-3)
    assert (tmp_path / "mode.html").exists()
    capsys.readouterr()
    words = shlex.split(page.locator("pre.command").text_content())
    assert words[:2] == ["lissom", "modes"]
    assert cli.main([*words[1:], "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["formulation"] == "erls-fem"
    assert shown == pytest.approx(answer["frequency_hz"], rel=1e-3)


def test_the_linear_model_is_that_of_python(page, model, tmp_path):
    show(page, "linear", q="0.4")
    expect(page.get_by_label("Hold every joint")).not_to_be_checked()
    page.locator("[data-parameter=kp]").fill("50")
    page.locator("[data-parameter=kd]").fill("2")
    page.locator("#linearize").click()
    expect(page.locator(".chart .u-over")).to_have_count(3)
    wanted = ls.linearize(model, [0.4], kp=50.0, kd=2.0)
    crosses = page.locator(".pole-map .pole")
    assert crosses.count() == len(wanted.poles)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="linear model (.npz)").click()
    path = tmp_path / "model.npz"
    waiting.value.save_as(path)
    found = ls.LinearModel.load(path)
    np.testing.assert_allclose(found.A, wanted.A, rtol=1e-9, atol=1e-6)
    assert page.get_by_label("Inputs", exact=True).input_value() == "rod.torque"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="step (.csv)").click()
    table = np.genfromtxt(waiting.value.path(), delimiter=",", skip_header=1)
    step = ls.step_response(wanted, "rod", "rod.encoder")
    np.testing.assert_allclose(table[:, 1], step.response, rtol=1e-6, atol=1e-12)


def test_an_error_takes_the_answer_before_away(page):
    show(page, "linear", q="0.4")
    page.locator("#linearize").click()
    expect(page.locator(".chart .u-over")).to_have_count(3)
    expect(page.locator(".pole-map")).to_be_visible()
    inputs = page.get_by_label("Inputs", exact=True)
    inputs.fill("rod.torqe")
    page.locator("#linearize").click()
    expect(page.locator(".analyse > .message")).to_contain_text("rod.torqe")
    expect(page.locator(".chart .u-over")).to_have_count(0)
    expect(page.locator(".pole-map")).to_have_count(0)
    # The step response alone.
    inputs.fill("rod.torque")
    page.locator("#linearize").click()
    expect(page.locator(".chart .u-over")).to_have_count(3)
    page.locator("[data-parameter=duration]").fill("-1")
    page.locator("#linearize").click()
    expect(page.locator(".analyse > .message")).not_to_be_empty()
    expect(page.locator(".chart .u-over")).to_have_count(0)
    page.complaints.clear()  # of the browser, about the refusals


def test_modes_that_are_not_found_leave_none_of_another_pose(page):
    show(page, "modes", q="0.4")
    page.locator("#find-modes").click()
    expect(page.locator(".modes tbody tr").first).to_be_visible()
    page.locator("[data-parameter=q]").fill("0.4, 0.1")
    page.locator("#find-modes").click()
    expect(page.locator(".analyse > .message")).not_to_be_empty()
    expect(page.locator(".modes tbody tr")).to_have_count(0)
    expect(page.locator(".analyse .stage .empty")).to_contain_text("Find the modes")
    page.complaints.clear()  # of the browser, about the refusal


def test_another_robot_has_none_of_the_pictures_of_the_one_before(page):
    show(page, "linear", q="0.4")
    page.locator("#linearize").click()
    expect(page.locator(".pole-map")).to_be_visible()
    page.get_by_label("Robot", exact=True).select_option("library:spin-up")
    expect(page.locator(".pole-map")).to_have_count(0)
    expect(page.locator(".chart .u-over")).to_have_count(0)


def test_a_map_waits_in_the_queue_and_survives_a_reload(page, model):
    show(page, "map")
    expect(page.get_by_label("First quantity", exact=True)).to_have_value("rod")
    page.get_by_label("First quantity: points").fill("5")
    page.get_by_label("Hold every joint").check()
    page.locator("#map-modes").click()
    expect(page.locator(".chart .u-over")).to_be_visible()
    page.reload()
    expect(page.locator(".chart .u-over")).to_be_visible()
    row = page.locator("[role=tabpanel]:not([hidden]) .scroll tbody tr").first
    lowest = row.locator("td").first.inner_text()
    angles = np.radians(np.linspace(-90, 90, 5))
    wanted = min(
        ls.modes(model, model.static([q]), locked=True, count=1).frequency_hz[0]
        for q in angles
    )
    assert float(lowest) == pytest.approx(wanted, rel=1e-3)


def test_a_map_over_what_there_is_not_is_refused_in_words(page):
    show(page, "map")
    expect(page.get_by_label("First quantity", exact=True)).to_have_value("rod")
    page.get_by_label("First quantity", exact=True).fill("elbow")
    # The map of an earlier test is the newest, until this one is asked for.
    page.locator("#map-modes").click()
    visible = page.locator("[role=tabpanel]:not([hidden]) .message")
    expect(visible).to_contain_text("is neither a joint")
    expect(page.locator(".chart .u-over")).to_have_count(0)


def test_controllers_are_compared_and_their_runs_can_be_looked_at(page):
    show(page, "control")
    visible = page.get_by_role("tabpanel", name="Controllers")
    visible.get_by_label("Study").select_option("two.control.yaml")
    page.locator("#compare-controllers").click()
    expect(page.locator("img.figure")).to_be_visible()
    names = page.locator("tbody th").all_inner_texts()
    assert names == ["soft", "stiff", "wild"]
    # One that would be unstable is not run: the others are, and the reason is told.
    expect(visible).to_contain_text("unstable on the full robot")
    page.get_by_role("button", name="Look at the runs").click()
    expect(page.locator(".chart .u-over").first).to_be_visible()
    assert "00-soft" in page.url and "01-stiff" in page.url


def test_a_sweep_tells_its_worst_case(page):
    show(page, "sweep")
    analysis = page.get_by_label("Analysis", exact=True)
    expect(analysis).to_have_value("simulate")
    analysis.select_option("static")
    page.get_by_label("Over (a key on each line)").fill("payload.mass: 0:400:3 g")
    page.locator("#start-sweep").click()
    expect(page.locator("img.figure")).to_be_visible()
    worst = page.locator("tbody tr").first.inner_text()
    assert "sag" in worst and "payload.mass = 0.4" in worst
